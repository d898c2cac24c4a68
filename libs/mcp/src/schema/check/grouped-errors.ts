import type { _ as CodeTemplate, Code, CodeKeywordDefinition, ErrorObject, KeywordCxt } from 'ajv';

type Template = typeof CodeTemplate;
type Describe = Extract<NonNullable<CodeKeywordDefinition['error']>['params'], (context: never) => unknown>;
type Start = ReturnType<KeywordCxt['gen']['var']>;

/** Keywords that need not be met by everything they judge, and report what was not met as one error. */
const GROUPING: ReadonlySet<string> = new Set(['anyOf', 'oneOf', 'contains', 'propertyNames']);

/**
 * The same keyword, whose error holds the errors that it sums up. ajv leaves them in front of it in one flat list, in
 * which those of a schema that refers to itself can't be told apart.
 * @param template ajv's own for pieces of code; importing it here would load ajv with this file
 */
export function grouping(definition: CodeKeywordDefinition, template: Template): CodeKeywordDefinition {
  if (!GROUPING.has(String(definition.keyword))) return definition;
  const { error } = definition;
  const params: Describe = (context) => {
    const own = typeof error?.params === 'function' ? error.params(context) : error?.params;
    return template`{...${own ?? template`null`}, groups: ${context.params.groups}}`;
  };
  return {
    ...definition,
    trackErrors: true,
    error: { message: 'must be valid', ...error, params },
    code(context: KeywordCxt, ruleType?: string) {
      group(context, template);
      definition.code(context, ruleType);
    },
  };
}

function group(context: KeywordCxt, template: Template): void {
  const { gen, errsCount } = context;
  const isContains = context.keyword === 'contains';
  const starts: Start[] = [];
  const subschema = context.subschema.bind(context);
  context.subschema = (applied, valid) => {
    // Declared by `var`, as the keyword's own code opens blocks around later alternatives.
    if (!isContains) starts[Number(applied.schemaProp ?? 0)] = gen.var('_start', template`errors`);
    return subschema(applied, valid);
  };
  const report = context.error.bind(context);
  context.error = (append, ...others) => {
    const list = Array.from({ length: Math.max(starts.length, 1) }, (_, index) => starts[index] ?? errsCount);
    const code = list.reduce<Code>((all, start) => template`${all}${start ?? 0},`, template``);
    const take = gen.scopeValue('func', { ref: takeGroups });
    const groups = gen.const('groups', template`${take}(vErrors, [${code}])`);
    gen.code(template`errors = ${list[0] ?? 0}`);
    context.setParams({ groups }, true);
    report(append, ...others);
  };
}

/** Takes the errors from the first start on out of the list. */
function takeGroups(errors: ErrorObject[] | null, starts: readonly number[]): ErrorObject[][] {
  if (!errors) return [];
  const groups = starts.map((start, index) => errors.slice(start, starts[index + 1]));
  errors.length = starts[0] ?? errors.length;
  return groups;
}
