import { McpAskError } from '../protocol/asking/ask-error.js';
import type { Question } from '../protocol/asking/question.js';
import { actionOf, AnswerFault } from '../protocol/asking/question.js';
import { formParams } from '../protocol/asking/questions.js';
import { digest } from '../protocol/asking/state-sealer.js';
import { isObject, type JsonObject } from '../protocol/json-rpc.js';
import type { McpRevision } from '../protocol/versions.js';
import { argumentsContract } from '../schema/contract.factory.js';
import type { ArgumentsContract } from '../schema/arguments.contract.js';
import { encodeForm } from '../schema/forms/form-encoder.js';
import { formSchema, UnusableFormException, type FormSchema } from '../schema/forms/form-schema.js';
import { ownCopy } from '../schema/foreign/raw.contract.js';
import type { McpSchema } from '../schema/schema-kind.js';
import { formatFault } from './form-formats.js';
import { admitArguments } from './validation.js';
import { InvalidArgumentsException } from './invalid-arguments.exception.js';

/** Forms written in place that are remembered by their text. */
const MAX_WRITTEN = 200;

interface KnownForm {
  readonly form: FormSchema;
  readonly contract: ArgumentsContract;
  /** Whether nothing else looks at the formats of its texts: a JSON Schema takes them for advice. */
  readonly holdsFormats: boolean;
}

/** Forms that users are asked to fill in: each is read once, and its answers are held to it. */
export class FormQuestions {
  private readonly forms = new WeakMap<object, Promise<KnownForm>>();
  private readonly byText = new Map<string, Promise<KnownForm>>();

  /**
   * The question that a form is, in the words of a revision.
   *
   * @throws McpAskError where that revision has no such field
   */
  async question(message: string, schema: unknown, revision: McpRevision): Promise<Question> {
    if (!isObject(schema) && typeof schema !== 'function')
      throw new TypeError(
        'ctx.elicit(message, form): the form must be a class, a Standard Schema or a JSON Schema',
      );
    const known = await this.formOf(schema as McpSchema);
    return {
      kind: 'elicitation',
      method: 'elicitation/create',
      params: formParams(message, encoded(known.form, revision), revision),
      needs: { elicitation: { form: {} } },
      read: (answer) => readForm(answer, known),
    };
  }

  private formOf(schema: McpSchema): Promise<KnownForm> {
    if (isObject(schema) && !('~standard' in schema)) return this.written(schema);
    let read = this.forms.get(schema);
    if (!read) this.forms.set(schema, (read = readContract(schema, false)));
    return read;
  }

  /** A JSON Schema may be written anew in each call, and changed between two: the same text is the same form. */
  private written(schema: JsonObject): Promise<KnownForm> {
    const key = digest(JSON.stringify(ownCopy(schema))).toString('base64url');
    const read = this.byText.get(key) ?? readContract(schema, true);
    this.byText.delete(key);
    this.byText.set(key, read);
    const [oldest] = this.byText.keys();
    if (this.byText.size > MAX_WRITTEN) this.byText.delete(oldest!);
    return read;
  }
}

async function readContract(schema: McpSchema, holdsFormats: boolean): Promise<KnownForm> {
  const contract = await argumentsContract(schema);
  await contract.prepare();
  return { contract, form: formSchema(contract), holdsFormats };
}

function encoded(form: FormSchema, revision: McpRevision): JsonObject {
  try {
    return encodeForm(form, revision) as JsonObject;
  } catch (thrown) {
    throw thrown instanceof UnusableFormException ? new McpAskError('unsupported', thrown.message) : thrown;
  }
}

/** What an answer holds; of one that declines, whatever came with it is nothing. */
async function readForm(answer: JsonObject, { form, contract, holdsFormats }: KnownForm): Promise<unknown> {
  const action = actionOf(answer);
  if (action !== 'accept') return { action };
  const { content } = answer;
  if (!isObject(content)) throw new AnswerFault('accepts without "content"');
  if (holdsFormats) assertFormats(form, content);
  try {
    return { action, content: await admitArguments(contract, content, false) };
  } catch (thrown) {
    if (thrown instanceof InvalidArgumentsException)
      throw new AnswerFault(`does not fit its form: ${thrown.issues.join('; ')}`);
    throw thrown;
  }
}

function assertFormats({ fields }: FormSchema, content: JsonObject): void {
  const faults = fields.flatMap((field) => {
    const fault = formatFault('format' in field ? field.format : undefined, content[field.name]);
    return fault === undefined ? [] : [`${field.name}: ${fault}`];
  });
  if (faults.length > 0) throw new AnswerFault(`does not fit its form: ${faults.join('; ')}`);
}
