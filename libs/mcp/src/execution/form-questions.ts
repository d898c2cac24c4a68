import type { Question } from '../protocol/asking/question.js';
import { actionOf, AnswerFault } from '../protocol/asking/question.js';
import { formParams } from '../protocol/asking/questions.js';
import { digest } from '../protocol/asking/state-sealer.js';
import { isObject, type JsonObject } from '../protocol/json-rpc.js';
import type { McpRevision } from '../protocol/versions.js';
import { argumentsContract } from '../schema/contract.factory.js';
import type { ArgumentsContract } from '../schema/arguments.contract.js';
import { encodeForm } from '../schema/forms/form-encoder.js';
import { formSchema, type FormSchema } from '../schema/forms/form-schema.js';
import type { McpSchema } from '../schema/schema-kind.js';
import { admitArguments } from './validation.js';
import { InvalidArgumentsException } from './invalid-arguments.exception.js';

/** Forms written in place that are remembered by their text. */
const MAX_WRITTEN = 500;

interface KnownForm {
  readonly form: FormSchema;
  readonly contract: ArgumentsContract;
}

/** Forms that users are asked to fill in: each is read once, and its answers are held to it. */
export class FormQuestions {
  private readonly forms = new WeakMap<object, Promise<KnownForm>>();
  private readonly byText = new Map<string, Promise<KnownForm>>();

  /** The question that a form is, in the words of a revision. */
  async question(message: string, schema: unknown, revision: McpRevision): Promise<Question> {
    if (!isObject(schema) && typeof schema !== 'function')
      throw new TypeError(
        'ctx.elicit(message, form): the form must be a class, a Standard Schema or a JSON Schema',
      );
    const { form, contract } = await this.formOf(schema as McpSchema);
    const requestedSchema = encodeForm(form, revision) as JsonObject;
    return {
      kind: 'elicitation',
      method: 'elicitation/create',
      params: formParams(message, requestedSchema, revision),
      needs: { elicitation: { form: {} } },
      read: (answer) => readForm(answer, contract),
    };
  }

  private formOf(schema: McpSchema): Promise<KnownForm> {
    const known = this.forms.get(schema);
    if (known) return known;
    const read = isObject(schema) && !('~standard' in schema) ? this.written(schema) : readContract(schema);
    this.forms.set(schema, read);
    return read;
  }

  /** A JSON Schema may be written anew in each call: the same text is the same form. */
  private written(schema: JsonObject): Promise<KnownForm> {
    const text = digest(schema).toString('base64url');
    const read = this.byText.get(text) ?? readContract(schema);
    this.byText.delete(text);
    this.byText.set(text, read);
    const [oldest] = this.byText.keys();
    if (this.byText.size > MAX_WRITTEN) this.byText.delete(oldest!);
    return read;
  }
}

async function readContract(schema: McpSchema): Promise<KnownForm> {
  const contract = await argumentsContract(schema);
  await contract.prepare();
  return { contract, form: formSchema(contract) };
}

/** What an answer holds; of one that declines, whatever came with it is nothing. */
async function readForm(answer: JsonObject, contract: ArgumentsContract): Promise<unknown> {
  const action = actionOf(answer);
  if (action !== 'accept') return { action };
  const { content } = answer;
  if (!isObject(content)) throw new AnswerFault('accepts without "content"');
  try {
    return { action, content: await admitArguments(contract, content, false) };
  } catch (thrown) {
    if (thrown instanceof InvalidArgumentsException)
      throw new AnswerFault(`does not fit its form: ${thrown.issues.join('; ')}`);
    throw thrown;
  }
}
