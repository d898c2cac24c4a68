import type {
  _ as CodeTemplate,
  Ajv,
  CodeKeywordDefinition,
  ErrorObject,
  KeywordCxt,
  KeywordDefinition,
  Options,
} from 'ajv';
import { type JsonSchema, MIRROR_KEYWORD } from '../json-schema.js';
import { type Dialect, mentions } from '../schema-dialect.js';
import { bounded, BRANCHING } from './evaluation-budget.js';
import { withChoicesAtOnce } from './choice-lists.js';
import { isMultipleOf } from './multiple-of.js';
import { hasRepeatedItem } from '../walk/unique-items.js';

/** Two compilers of one dialect: one whose checks stop at the first error, and one whose checks find all of them. */
export type Compilers = Readonly<Record<'first' | 'all', Pick<Ajv, 'compile'>>>;
interface SharedCompilers {
  readonly compilers: Promise<Compilers>;
  /** Schemas that may still be compiled by them. */
  places: number;
}

interface AjvModule {
  readonly make: (options: Options) => Ajv;
  readonly template: typeof CodeTemplate;
}

const OPTIONS: Options = {
  strict: false,
  // Formats are advice; class-validator judges what they describe.
  validateFormats: false,
  // Most schemas are this library's own, and checking them would cost more than compiling them.
  validateSchema: false,
  meta: false,
  logger: false,
  // Messages name the known members, which only the parent schema knows.
  verbose: true,
};

/** A compiler keeps all that it compiles: forms written in each call would pile up in one that is never let go of. */
const MAX_COMPILED = 200;

/** Keywords of our own, which a schema may only hold with a value that makes sense. */
const ANNOTATIONS: readonly KeywordDefinition[] = [
  { keyword: MIRROR_KEYWORD, metaSchema: { type: 'string' } },
  { keyword: 'enumNames', metaSchema: { type: 'array', items: { type: 'string' } } },
];

/** Takes the place of ajv's own, which compares all pairs of items that are objects or lists. */
const UNIQUE_ITEMS: KeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  errors: false,
  validate: (isWanted: boolean, list: readonly unknown[]) => !isWanted || !hasRepeatedItem(list),
};

const modules = new Map<Dialect, Promise<AjvModule>>();
const shared = new Map<string, SharedCompilers>();
const judges = new Map<Dialect, Promise<Ajv>>();

/** The compilers for a schema. ajv is loaded by the first call, as an application may never need it. */
export function compilersFor(schema: JsonSchema, dialect: Dialect): Promise<Compilers> {
  const tracks = mentions(schema, ['unevaluatedItems', 'unevaluatedProperties']);
  // Identifiers live as long as a compiler does, so schemas that have some can't meet in one.
  if (mentions(schema, ['$id'])) return makeCompilers(dialect, tracks);
  const kind = `${dialect} ${tracks}`;
  let current = shared.get(kind);
  if (!current || current.places === 0)
    shared.set(kind, (current = { compilers: makeCompilers(dialect, tracks), places: MAX_COMPILED }));
  current.places--;
  return current.compilers;
}

/** What the meta-schema of its dialect has against a schema; null when it is sound. */
export async function metaSchemaErrors(
  schema: JsonSchema,
  dialect: Dialect,
): Promise<readonly ErrorObject[] | null> {
  const judge = await once(judges, dialect, async () => {
    const { make } = await ajvModule(dialect);
    return make({ strict: false, validateFormats: false, logger: false, allErrors: true, verbose: true });
  });
  // The dialect is settled; ajv would look for a meta-schema of exactly the name that `$schema` has.
  const { $schema: _, ...body } = schema;
  return (await judge.validateSchema(body)) === true ? null : (judge.errors ?? []);
}

/** @param tracks whether the schema asks which members and items other keywords have judged */
async function makeCompilers(dialect: Dialect, tracks: boolean): Promise<Compilers> {
  const { make, template } = await ajvModule(dialect);
  const equipped = (options: Options) => {
    const ajv = equip(make(options), template);
    // Else every alternative is judged, also after one that fits: twice the work with each level of a recursion.
    ajv.opts.unevaluated = tracks;
    return ajv;
  };
  // In draft-07 nothing beside a reference counts.
  const options = { ...OPTIONS, ignoreKeywordsWithRef: dialect === 'draft-07' };
  return { first: equipped(options), all: equipped({ ...options, allErrors: true }) };
}

function equip(ajv: Ajv, template: typeof CodeTemplate): Ajv {
  // A schema may call itself anything; of old, `id` was what `$id` is now, and ajv throws for it.
  ajv.removeKeyword('id').removeKeyword('uniqueItems').addKeyword(UNIQUE_ITEMS);
  for (const annotation of ANNOTATIONS) ajv.addKeyword(annotation);
  const multipleOf = ajv.getKeyword('multipleOf') as CodeKeywordDefinition;
  ajv.removeKeyword('multipleOf').addKeyword(decimal(multipleOf, template));
  for (const keyword of BRANCHING) {
    const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition;
    ajv.removeKeyword(keyword).addKeyword(bounded(definition, template));
  }
  for (const keyword of ['enum', 'anyOf', 'oneOf']) {
    const definition = ajv.getKeyword(keyword) as CodeKeywordDefinition;
    ajv.removeKeyword(keyword).addKeyword(withChoicesAtOnce(definition, template));
  }
  return ajv;
}

/**
 * ajv's own divides as floating-point numbers do, and no digits of `multipleOfPrecision` suit all: few take for
 * multiples what lies beside those of a large integer, and many refuse those of a fraction that are large.
 */
function decimal(definition: CodeKeywordDefinition, template: typeof CodeTemplate): CodeKeywordDefinition {
  return {
    ...definition,
    code(context: KeywordCxt, ruleType?: string) {
      if (Number.isInteger(context.schema)) {
        definition.code(context, ruleType);
        return;
      }
      const isMultiple = context.gen.scopeValue('func', { ref: isMultipleOf });
      context.fail(template`!${isMultiple}(${context.data}, ${context.schemaCode})`);
    },
  };
}

function ajvModule(dialect: Dialect): Promise<AjvModule> {
  return once(modules, dialect, async () => {
    if (dialect === 'draft-07') {
      const { Ajv: AjvDraft7, _: template } = await import('ajv');
      return { make: (options) => new AjvDraft7(options), template };
    }
    const { Ajv2020, _: template } = await import('ajv/dist/2020.js');
    return { make: (options) => new Ajv2020(options), template };
  });
}

function once<K, V>(made: Map<K, Promise<V>>, key: K, make: () => Promise<V>): Promise<V> {
  const present = made.get(key);
  if (present) return present;
  const value = make();
  made.set(key, value);
  return value;
}
