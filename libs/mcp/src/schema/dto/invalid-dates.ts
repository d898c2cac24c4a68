import type { PathStep } from '../issue-path.js';
import { MAX_NESTING } from '../schema-bounds.js';
import type { DtoGraph, DtoNode, DtoProperty } from './dto-graph.js';

type Path = readonly PathStep[];

/** Finds Dates that were made of text that is none, whether or not a rule of the DTO looks for them. */
export class InvalidDates {
  private constructor(
    private readonly root: DtoNode,
    private readonly ways: ReadonlyMap<DtoNode, readonly DtoProperty[]>,
  ) {}

  /** What looks through the instances of a graph, or undefined where none can have such a Date. */
  static of({ root, nodes }: DtoGraph): InvalidDates | undefined {
    const ways = new Map<DtoNode, readonly DtoProperty[]>();
    // Once more for as long as it finds something, as a class may reach itself.
    for (let found = -1; found < ways.size;) {
      found = ways.size;
      for (const node of nodes) {
        const members = node.members.filter(
          ({ shape, nested }) => shape.isDate || nested.some((inner) => ways.has(inner)),
        );
        if (members.length > 0) ways.set(node, members);
      }
    }
    return ways.has(root) ? new InvalidDates(root, ways) : undefined;
  }

  /** The published paths of the invalid Dates of an instance. */
  in(value: object): Path[] {
    const found: Path[] = [];
    this.visitNode(this.root, value, [], found);
    return found;
  }

  private visitNode(node: DtoNode, value: object, path: Path, found: Path[]): void {
    // An initialiser may have made an object that holds itself.
    if (path.length > 2 * MAX_NESTING) return;
    for (const { name, publishedName, nested } of this.ways.get(node) ?? [])
      this.visit((value as Record<string, unknown>)[name], nested, [...path, publishedName], found);
  }

  private visit(value: unknown, nested: readonly DtoNode[], path: Path, found: Path[]): void {
    if (typeof value !== 'object' || value === null) return;
    if (value instanceof Date) {
      if (Number.isNaN(value.getTime())) found.push(path);
    } else if (value instanceof Map) {
      for (const [key, entry] of value) this.visit(entry, nested, [...path, String(key)], found);
    } else if (Array.isArray(value) || value instanceof Set) {
      for (const [index, entry] of [...(value as Iterable<unknown>)].entries())
        this.visit(entry, nested, [...path, index], found);
    } else {
      const node = nested.find(({ dto }) => dto === value.constructor);
      if (node) this.visitNode(node, value, path, found);
    }
  }
}
