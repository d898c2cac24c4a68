import { declaredProperties, publishedName } from './class-metadata.js';
import type { Class } from './json-schema.js';
import { defaultsOf } from './property-defaults.js';
import { isRequiredByRules, type PropertyShape, resolveProperty } from './property-type.resolver.js';
import { MAX_CLASSES, MAX_INLINED_BODIES, RESERVED_MEMBERS } from './schema-bounds.js';
import { ReservedPropertyException, SchemaTooLargeException } from './schema.exception.js';

/** One property of a DTO, resolved. */
export interface DtoProperty {
  readonly name: string;
  readonly publishedName: string;
  readonly shape: PropertyShape;
  readonly isRequired: boolean;
  readonly defaultValue?: unknown;
}

/** The DTO classes reachable from one class, each with its resolved properties. */
export type DtoGraph = ReadonlyMap<Class, readonly DtoProperty[]>;

/** Resolves a DTO and every DTO nested in it. */
export function readGraph(root: Class): DtoGraph {
  const graph = new Map<Class, readonly DtoProperty[]>();
  const pending = [root];
  // Grows while it is read, so that definitions are named in the order they are first used.
  for (const dto of pending) {
    if (graph.has(dto)) continue;
    if (graph.size === MAX_CLASSES) throw new SchemaTooLargeException(root, 'classes');
    graph.set(dto, propertiesOf(dto));
    pending.push(...nestedIn(graph, dto));
  }
  return graph;
}

/**
 * The classes that need a definition of their own: those that contain themselves, and, where writing everything
 * inline would repeat too much, those that are used more than once.
 */
export function sharedClasses(root: Class, graph: DtoGraph): Set<Class> {
  const shared = new Set([...graph.keys()].filter((dto) => reaches(graph, dto, dto)));
  if (inlinedBodies(root, graph, shared) <= MAX_INLINED_BODIES) return shared;
  const uses = new Map<Class, number>();
  for (const dto of graph.keys()) {
    for (const nested of nestedIn(graph, dto)) uses.set(nested, (uses.get(nested) ?? 0) + 1);
  }
  for (const [dto, count] of uses) if (count > 1) shared.add(dto);
  return shared;
}

function propertiesOf(dto: Class): DtoProperty[] {
  const defaults = defaultsOf(dto);
  return [...declaredProperties(dto)].map(([name, rules]) => {
    const external = publishedName(dto, name);
    const reserved = [name, external].find((candidate) => RESERVED_MEMBERS.has(candidate));
    if (reserved !== undefined) throw new ReservedPropertyException(dto, reserved);
    return {
      name,
      publishedName: external,
      shape: resolveProperty(dto, name, rules),
      isRequired: !defaults.filled.has(name) && isRequiredByRules(rules),
      ...(defaults.published.has(name) ? { defaultValue: defaults.published.get(name) } : {}),
    };
  });
}

function nestedIn(graph: DtoGraph, dto: Class): Class[] {
  return (graph.get(dto) ?? []).flatMap(({ shape }) => (shape.nested ? [shape.nested] : []));
}

function reaches(graph: DtoGraph, from: Class, target: Class): boolean {
  const seen = new Set<Class>();
  const pending = nestedIn(graph, from);
  for (let dto = pending.pop(); dto; dto = pending.pop()) {
    if (dto === target) return true;
    if (seen.has(dto)) continue;
    seen.add(dto);
    pending.push(...nestedIn(graph, dto));
  }
  return false;
}

// Memoised, so that two uses of a class at each of many levels are counted and not walked.
function inlinedBodies(root: Class, graph: DtoGraph, shared: ReadonlySet<Class>): number {
  const counts = new Map<Class, number>();
  const count = (dto: Class): number => {
    const known = counts.get(dto);
    if (known !== undefined) return known;
    const nested = nestedIn(graph, dto).filter((inner) => !shared.has(inner));
    const bodies = nested.reduce((sum, inner) => sum + count(inner), 1);
    counts.set(dto, bodies);
    return bodies;
  };
  return [root, ...shared].reduce((sum, dto) => sum + count(dto), 0);
}
