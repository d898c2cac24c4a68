import { type DtoGraph, type DtoNode, type DtoProperty, readGraph, sharedNodes } from './dto-graph.js';
import { type DtoView, viewKey } from '../metadata/dto-view.js';
import { type Class, freezeSchema, type JsonSchema, MIRROR_KEYWORD } from '../json-schema.js';
import type { OwnFragment } from './own-fragments.js';
import type { Container } from './property-type.resolver.js';
import { MAX_NESTING } from '../schema-bounds.js';
import { schemaKind } from '../schema-kind.js';
import { mergeKeywords, orNull } from './schema-keywords.js';
import { SchemaTooLargeException } from '../schema.exception.js';
import { swaggerDescription } from '../metadata/swagger-metadata.js';

export type { DtoView } from '../metadata/dto-view.js';

/** What building a DTO's schema found out: the schema itself, and the classes behind it. */
export interface DtoSchemaPlan {
  readonly schema: JsonSchema;
  readonly graph: DtoGraph;
  /** What `@McpProperty({ schema })` adds, to be checked at boot. */
  readonly ownFragments: readonly OwnFragment[];
}

const plans = new WeakMap<Class, Map<string, DtoSchemaPlan>>();

/**
 * The JSON Schema (2020-12) a DTO class publishes: a closed object whose members are its decorated properties. Built
 * once for a class, and frozen. Throws a `SchemaException` for a class that can't be published.
 *
 * @example
 * jsonSchemaOf(SearchTicketsDto); // { type: 'object', properties: { … }, additionalProperties: false }
 * @publicApi
 */
export function jsonSchemaOf(dto: Class): JsonSchema {
  if (!isDto(dto))
    throw new TypeError('jsonSchemaOf() takes a DTO class, as in jsonSchemaOf(SearchTicketsDto)');
  return dtoSchemaPlan(dto).schema;
}

function isDto(value: unknown): boolean {
  try {
    return schemaKind(value).kind === 'dto';
  } catch {
    return false;
  }
}

/** The schema of a DTO with the resolved classes it was built from, once per class and view. */
export function dtoSchemaPlan(dto: Class, view: DtoView = {}): DtoSchemaPlan {
  const views = plans.get(dto) ?? new Map<string, DtoSchemaPlan>();
  plans.set(dto, views);
  const key = viewKey(view);
  let plan = views.get(key);
  if (!plan) {
    const graph = readGraph(dto, view);
    plan = {
      schema: freezeSchema(new SchemaWriter(graph).write()),
      graph,
      ownFragments: ownFragments(graph),
    };
    views.set(key, plan);
  }
  return plan;
}

function ownFragments({ nodes }: DtoGraph): OwnFragment[] {
  return nodes.flatMap(({ dto, members }) =>
    members
      .filter(({ shape }) => Object.keys(shape.fragment).length > 0)
      .map(({ name, shape }) => ({ dto, property: name, schema: shape.fragment })),
  );
}

/** Writes one graph of DTOs as one schema document. */
class SchemaWriter {
  private readonly names: ReadonlyMap<DtoNode, string>;

  constructor(private readonly graph: DtoGraph) {
    this.names = definitionNames(sharedNodes(graph));
  }

  write(): JsonSchema {
    const schema = this.body(this.graph.root, 0);
    const definitions = [...this.names].map(([node, name]) => [name, this.described(node, 0)] as const);
    return definitions.length === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) };
  }

  private described(node: DtoNode, depth: number): JsonSchema {
    const description = swaggerDescription(node.dto);
    const body = this.body(node, depth);
    return description === undefined ? body : { ...body, description };
  }

  private body({ members }: DtoNode, depth: number): JsonSchema {
    if (depth >= MAX_NESTING) throw new SchemaTooLargeException(this.graph.root.dto, 'depth');
    const properties = members.map((member) => [member.publishedName, this.property(member, depth)] as const);
    const required = members.filter(({ isRequired }) => isRequired).map((member) => member.publishedName);
    return {
      type: 'object',
      ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    };
  }

  private property({ shape, nested, defaultValue }: DtoProperty, depth: number): JsonSchema {
    const target = this.target(nested, depth + 1);
    const own = shape.container === 'none' ? shape.value : shape.element;
    // Rules that make a list of each entry mean rows, and what is nested is in them.
    const isRow = nested.length > 0 && own.type === 'array';
    const held = isRow ? contain('list', target, own) : mergeKeywords(target, own);
    const contained =
      shape.container === 'none'
        ? held
        : contain(shape.container, shape.isNullableElement ? orNull(held) : held, shape.value);
    const complete = withItems(mergeKeywords(contained, shape.fragment));
    return annotated(shape.isNullable ? orNull(complete) : complete, shape.annotations, defaultValue);
  }

  private target(nested: readonly DtoNode[], depth: number): JsonSchema {
    const targets = nested.map((node) => this.reference(node, depth));
    return targets.length > 1 ? { anyOf: targets } : (targets[0] ?? {});
  }

  private reference(node: DtoNode, depth: number): JsonSchema {
    const name = this.names.get(node);
    return name === undefined ? this.described(node, depth) : { $ref: `#/$defs/${name}` };
  }
}

function contain(container: Exclude<Container, 'none'>, element: JsonSchema, own: JsonSchema): JsonSchema {
  const entry = withItems(element);
  return container === 'map'
    ? mergeKeywords({ type: 'object', additionalProperties: entry }, own)
    : mergeKeywords({ type: 'array', items: entry }, own);
}

// Some clients drop a whole tool over an array without items, so one of unknown entries says that much.
function withItems(schema: JsonSchema): JsonSchema {
  return schema.type === 'array' && schema.items === undefined ? { ...schema, items: {} } : schema;
}

function annotated(schema: JsonSchema, annotations: JsonSchema, defaultValue: unknown): JsonSchema {
  const kept = Object.entries(annotations).filter(
    ([name]) => !('$ref' in schema) || BESIDE_REFERENCE.has(name),
  );
  return {
    ...schema,
    ...Object.fromEntries(kept),
    ...(defaultValue === undefined ? {} : { default: defaultValue }),
  };
}

// Readers that do more than ignore what stands next to a $ref still stumble over all but these and the default. A
// header is never right there, and has to be seen to be refused.
const BESIDE_REFERENCE: ReadonlySet<string> = new Set(['description', MIRROR_KEYWORD]);

function definitionNames(nodes: Iterable<DtoNode>): Map<DtoNode, string> {
  const names = new Map<DtoNode, string>();
  const taken = new Set<string>();
  for (const node of nodes) {
    const wanted = node.tag ? `${node.dto.name}_${node.tag.value}` : node.dto.name;
    // Only characters that need no escaping in a JSON pointer or a URI fragment.
    const base = wanted.replace(/[^\w.-]/g, '_') || 'Dto';
    let name = base;
    for (let suffix = 2; taken.has(name); suffix += 1) name = `${base}_${suffix}`;
    taken.add(name);
    names.set(node, name);
  }
  return names;
}
