import type { _ as CodeTemplate, CodeKeywordDefinition, KeywordCxt } from 'ajv';
import { isJsonObject } from '../json-schema.js';

/** What an alternative may have beside its one value without judging anything. */
const SAID_OF_CHOICE: ReadonlySet<string> = new Set([
  'const',
  'title',
  'description',
  '$comment',
  'deprecated',
]);

/**
 * The same keyword, which finds a value among its choices at once. ajv compares each value with each choice, and compiles
 * each alternative: a list of many, judged by a list of many, would stop all else for minutes.
 *
 * @param template ajv's own for pieces of code; importing it here would load ajv with this file
 */
export function withChoicesAtOnce(
  definition: CodeKeywordDefinition,
  template: typeof CodeTemplate,
): CodeKeywordDefinition {
  return {
    ...definition,
    code(context: KeywordCxt, ruleType?: string) {
      const choices = choicesOf(context.keyword, context.schema);
      if (!choices) {
        definition.code(context, ruleType);
        return;
      }
      const has = context.gen.scopeValue('func', { ref: (value: unknown) => choices.has(value) });
      context.setParams({ passing: template`null`, groups: template`[]` });
      context.fail(template`!${has}(${context.data})`);
    },
  };
}

/** The values of a list, or of alternatives of one value each; nothing where that is not all there is to judge. */
function choicesOf(keyword: string, schema: unknown): ReadonlySet<unknown> | undefined {
  if (!Array.isArray(schema)) return undefined;
  const values = keyword === 'enum' ? (schema as unknown[]) : schema.map(choiceOf);
  const choices = new Set(values);
  const areSingle = keyword !== 'oneOf' || choices.size === values.length;
  return areSingle && values.every(isPlain) ? choices : undefined;
}

/** The one value of an alternative. An object stands for what is no such alternative. */
function choiceOf(branch: unknown): unknown {
  const isChoice =
    isJsonObject(branch) &&
    Object.keys(branch).every(
      (keyword) => SAID_OF_CHOICE.has(keyword) || (keyword === 'type' && branch.type === typeof branch.const),
    );
  return isChoice && 'const' in branch ? branch.const : {};
}

function isPlain(value: unknown): boolean {
  return typeof value !== 'object' || value === null;
}
