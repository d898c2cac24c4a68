import { type DtoGraph, type DtoProperty, readGraph, sharedClasses } from './dto-graph.js';
import { type Class, freezeSchema, type JsonSchema } from './json-schema.js';
import { MAX_NESTING } from './schema-bounds.js';
import { mergeKeywords } from './schema-keywords.js';
import { SchemaTooLargeException } from './schema.exception.js';

/** What building a DTO's schema found out: the schema itself, and the classes behind it. */
export interface DtoSchemaPlan {
  readonly schema: JsonSchema;
  readonly graph: DtoGraph;
}

const plans = new WeakMap<Class, DtoSchemaPlan>();

/**
 * The complete JSON Schema (2020-12) a DTO class publishes: a closed object whose members are its decorated
 * properties. Built once per class and frozen. What the schema says holds before class-validator is asked, so
 * `null` is refused for an `@IsOptional()` property (leave it out instead), and dates are text.
 */
export function dtoSchema(dto: Class): JsonSchema {
  return dtoSchemaPlan(dto).schema;
}

/** The schema of a DTO with the resolved classes it was built from, once per class. */
export function dtoSchemaPlan(dto: Class): DtoSchemaPlan {
  let plan = plans.get(dto);
  if (!plan) {
    const graph = readGraph(dto);
    plan = { schema: freezeSchema(new SchemaWriter(dto, graph).write()), graph };
    plans.set(dto, plan);
  }
  return plan;
}

/** Writes one graph of DTOs as one schema document. */
class SchemaWriter {
  private readonly shared: ReadonlySet<Class>;
  private readonly names: ReadonlyMap<Class, string>;

  constructor(
    private readonly root: Class,
    private readonly graph: DtoGraph,
  ) {
    this.shared = sharedClasses(root, graph);
    this.names = definitionNames(this.shared);
  }

  write(): JsonSchema {
    const schema = this.body(this.root, 0);
    const definitions = [...this.names].map(([dto, name]) => [name, this.body(dto, 0)] as const);
    return definitions.length === 0 ? schema : { ...schema, $defs: Object.fromEntries(definitions) };
  }

  private body(dto: Class, depth: number): JsonSchema {
    if (depth >= MAX_NESTING) throw new SchemaTooLargeException(this.root, 'depth');
    const members = this.graph.get(dto) ?? [];
    const properties = members.map((member) => [member.publishedName, this.property(member, depth)] as const);
    const required = members.filter(({ isRequired }) => isRequired).map((member) => member.publishedName);
    return {
      type: 'object',
      ...(properties.length > 0 ? { properties: Object.fromEntries(properties) } : {}),
      ...(required.length > 0 ? { required } : {}),
      additionalProperties: false,
    };
  }

  private property({ shape, defaultValue }: DtoProperty, depth: number): JsonSchema {
    const nested = shape.nested ? this.reference(shape.nested, depth + 1) : {};
    const schema =
      shape.container === 'none'
        ? mergeKeywords(nested, shape.value)
        : contain(shape.container, mergeKeywords(nested, shape.element), shape.value);
    const complete = withItems(schema);
    return defaultValue === undefined ? complete : { ...complete, default: defaultValue };
  }

  private reference(dto: Class, depth: number): JsonSchema {
    const name = this.names.get(dto);
    return name === undefined ? this.body(dto, depth) : { $ref: `#/$defs/${name}` };
  }
}

function contain(container: 'list' | 'map', element: JsonSchema, own: JsonSchema): JsonSchema {
  const entry = withItems(element);
  if (container === 'map') return mergeKeywords({ type: 'object', additionalProperties: entry }, own);
  const { uniqueItems, ...rest } = own;
  const list = mergeKeywords({ type: 'array', items: entry }, rest);
  // On entries of any other type uniqueness is a deep comparison of all pairs, and class-validator means identity.
  const isComparable = ['string', 'number', 'integer', 'boolean'].includes(String(entry.type));
  return uniqueItems === true && isComparable ? { ...list, uniqueItems } : list;
}

// Some clients drop a whole tool over an array without items, so one of unknown entries says that much.
function withItems(schema: JsonSchema): JsonSchema {
  return schema.type === 'array' && schema.items === undefined ? { ...schema, items: {} } : schema;
}

function definitionNames(classes: Iterable<Class>): Map<Class, string> {
  const names = new Map<Class, string>();
  const taken = new Set<string>();
  for (const dto of classes) {
    // Only characters that need no escaping in a JSON pointer or a URI fragment.
    const base = dto.name.replace(/[^\w.-]/g, '_') || 'Dto';
    let name = base;
    for (let suffix = 2; taken.has(name); suffix += 1) name = `${base}_${suffix}`;
    taken.add(name);
    names.set(dto, name);
  }
  return names;
}
