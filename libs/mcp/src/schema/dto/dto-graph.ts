import { builtInsTake } from './built-in-rules.js';
import type { DtoView } from '../metadata/dto-view.js';
import type { Class, JsonSchema } from '../json-schema.js';
import { type InitialValue, type InitialValues, initialValuesOf } from '../metadata/property-defaults.js';
import { propertiesOf, type PropertyFacts } from '../metadata/property-facts.js';
import { type DtoUse, type PropertyShape, resolveProperty, type Tag } from './property-type.resolver.js';
import { MAX_CLASSES, MAX_INLINED_BODIES, RESERVED_MEMBERS } from '../schema-bounds.js';
import { mergeKeywords } from './schema-keywords.js';
import {
  ConstructorException,
  EmptyOutputException,
  ExcludedPropertyException,
  RemovedDiscriminatorException,
  ReservedPropertyException,
  SchemaTooLargeException,
  SharedNameException,
  StatedDefaultException,
} from '../schema.exception.js';
import { isLetThrough, publishedName } from '../metadata/transform-metadata.js';
import { rulesByProperty } from '../metadata/class-metadata.js';

/** One property of a DTO, resolved. */
export interface DtoProperty {
  readonly name: string;
  readonly publishedName: string;
  readonly shape: PropertyShape;
  readonly isRequired: boolean;
  readonly defaultValue?: unknown;
  /** The DTOs of its shape, as nodes of the graph. */
  readonly nested: readonly DtoNode[];
}

/** One DTO class of a graph; a variant is a node of its own for each value of its discriminator. */
export interface DtoNode {
  readonly dto: Class;
  readonly tag?: Tag;
  readonly members: readonly DtoProperty[];
}

/** The DTOs reachable from one class, in the order they are first used. */
export interface DtoGraph {
  readonly root: DtoNode;
  readonly nodes: readonly DtoNode[];
}

interface OpenNode extends DtoNode {
  members: readonly DtoProperty[];
}

/** Resolves a DTO and every DTO nested in it. */
export function readGraph(dto: Class, view: DtoView): DtoGraph {
  const known = new Map<Class, Map<string, OpenNode>>();
  const nodes: OpenNode[] = [];
  const nodeOf = ({ dto: one, tag }: DtoUse): DtoNode => {
    const variants = known.get(one) ?? new Map<string, OpenNode>();
    known.set(one, variants);
    const key = tag ? JSON.stringify([tag.property, tag.value, tag.isKept]) : '';
    let node = variants.get(key);
    if (!node) {
      if (nodes.length === MAX_CLASSES) throw new SchemaTooLargeException(dto, 'classes');
      node = { dto: one, ...(tag ? { tag } : {}), members: [] };
      variants.set(key, node);
      nodes.push(node);
    }
    return node;
  };
  const root = nodeOf({ dto });
  // Grows while it is read, so that definitions are named in the order they are first used.
  for (const node of nodes) node.members = membersOf(node, view, nodeOf);
  return { root, nodes };
}

/**
 * The nodes that need a definition of their own: those that contain themselves, and, where writing everything
 * inline would repeat too much, those that are used more than once.
 */
export function sharedNodes({ root, nodes }: DtoGraph): Set<DtoNode> {
  const shared = new Set(recursiveNodes(nodes));
  if (inlinedBodies(root, shared) <= MAX_INLINED_BODIES) return shared;
  const uses = new Map<DtoNode, number>();
  for (const node of nodes) for (const inner of nestedIn(node)) uses.set(inner, (uses.get(inner) ?? 0) + 1);
  for (const [node, count] of uses) if (count > 1) shared.add(node);
  return shared;
}

function membersOf(node: DtoNode, view: DtoView, nodeOf: (use: DtoUse) => DtoNode): DtoProperty[] {
  const { dto, tag } = node;
  const initial = initialValuesOf(dto);
  if (!initial.instance && view.direction !== 'output') throw new ConstructorException(dto);
  refuseExcluded(dto, view, initial);
  const facts = propertiesOf(dto, view).filter(({ name }) => !isFunction(initial.values.get(name)));
  const members = facts.map((one): DtoProperty => {
    const shape = resolveProperty(one);
    const external = publishedName(dto, one.name, view);
    const reserved = [one.name, external].find((candidate) => RESERVED_MEMBERS.has(candidate));
    if (reserved !== undefined) throw new ReservedPropertyException(dto, reserved);
    return {
      name: one.name,
      publishedName: external,
      shape,
      nested: shape.nested.map(nodeOf),
      ...defaultOf(one, shape, initial),
    };
  });
  refuseSharedNames(dto, members);
  if (members.length === 0 && view.direction === 'output') throw new EmptyOutputException(dto);
  return tag ? tagged(dto, members, tag, view) : members;
}

/**
 * An initialiser that class-validator takes makes its property optional, and is published. One that its own rules
 * refuse (`title = ''` under `@IsNotEmpty()`) is none: a call without the property fails, so it is required.
 */
function defaultOf(
  { dto, name, rules, view, own }: PropertyFacts,
  shape: PropertyShape,
  { instance, values }: InitialValues,
): Pick<DtoProperty, 'isRequired' | 'defaultValue'> {
  const initial = values.get(name);
  const isAccepted = initial !== undefined && builtInsTake(instance ?? {}, rules, initial.value, view);
  const isTaken = isAccepted && (initial.value !== null || shape.isNullable);
  // Where no initialiser reaches the handler, none is a default, whatever states it.
  const published = isTaken && !view.keepsPlain ? initial.json : undefined;
  if (own.stated && !view.keepsPlain && JSON.stringify(own.stated.value) !== JSON.stringify(published))
    throw new StatedDefaultException(dto, name, own.stated.value);
  return {
    // Also where the rules would spare its absence: it never is absent.
    isRequired: (shape.isRequired && !isTaken) || (initial !== undefined && !isAccepted),
    ...(published === undefined ? {} : { defaultValue: published }),
  };
}

function isFunction(initial: InitialValue | undefined): boolean {
  return typeof initial?.value === 'function';
}

function refuseExcluded(dto: Class, view: DtoView, { instance, values }: InitialValues): void {
  if (view.direction === 'output') return;
  for (const [name, rules] of rulesByProperty(dto, view)) {
    const value = values.get(name)?.value;
    if (!isLetThrough(dto, name, view) && !builtInsTake(instance ?? {}, rules, value, view))
      throw new ExcludedPropertyException(dto, name);
  }
}

function refuseSharedNames(dto: Class, members: readonly DtoProperty[]): void {
  const owners = new Map<string, string>();
  for (const { name, publishedName: external } of members) {
    const other = owners.get(external);
    if (other !== undefined) throw new SharedNameException(dto, name, other, external);
    owners.set(external, name);
  }
}

/** The members of a variant, with the one that tells it apart. */
function tagged(dto: Class, members: readonly DtoProperty[], tag: Tag, view: DtoView): DtoProperty[] {
  const declared = members.find((member) => member.publishedName === tag.property);
  if (declared?.isRequired && !tag.isKept && view.direction !== 'output')
    throw new RemovedDiscriminatorException(dto, declared.name);
  const allowed: JsonSchema = { type: 'string', enum: [tag.value] };
  const shape: PropertyShape = {
    ...(declared?.shape ?? PLAIN_SHAPE),
    value: mergeKeywords(declared?.shape.value ?? {}, allowed),
    isNullable: false,
  };
  const member: DtoProperty = {
    name: declared?.name ?? tag.property,
    publishedName: tag.property,
    shape,
    isRequired: true,
    nested: [],
  };
  return [member, ...members.filter((one) => one !== declared)];
}

const PLAIN_SHAPE: PropertyShape = {
  container: 'none',
  value: {},
  element: {},
  nested: [],
  isMutated: false,
  isDate: false,
  isNullable: false,
  isNullableElement: false,
  isRequired: true,
  fragment: {},
  annotations: {},
  stricter: new Set(),
  looser: new Set(),
};

function nestedIn({ members }: DtoNode): DtoNode[] {
  return members.flatMap(({ nested }) => nested);
}

/** The nodes that reach themselves. */
function recursiveNodes(nodes: readonly DtoNode[]): DtoNode[] {
  return nodes.filter((node) => reaches(node, node));
}

function reaches(from: DtoNode, target: DtoNode): boolean {
  const seen = new Set<DtoNode>();
  const pending = nestedIn(from);
  for (let node = pending.pop(); node; node = pending.pop()) {
    if (node === target) return true;
    if (seen.has(node)) continue;
    seen.add(node);
    pending.push(...nestedIn(node));
  }
  return false;
}

// Memoised, so that two uses of a class at each of many levels are counted and not walked.
function inlinedBodies(root: DtoNode, shared: ReadonlySet<DtoNode>): number {
  const counts = new Map<DtoNode, number>();
  const count = (node: DtoNode): number => {
    const known = counts.get(node);
    if (known !== undefined) return known;
    const bodies = nestedIn(node)
      .filter((inner) => !shared.has(inner))
      .reduce((sum, inner) => sum + count(inner), 1);
    counts.set(node, bodies);
    return bodies;
  };
  return [root, ...shared].reduce((sum, node) => sum + count(node), 0);
}
