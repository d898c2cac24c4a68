import { isObject, type JsonObject } from '../json-rpc.js';
import { isUri } from '../uri.js';
import type { McpRevision } from '../versions.js';
import { actionOf, AnswerFault, type Question } from './question.js';
import { assertHas, FIRST_WITH_ELICITATION, FIRST_WITH_URLS } from './revision-needs.js';

/** The parameters of a form, in the words of a revision. Source: Elicitation, 2025-06-18 on. */
export function formParams(message: string, requestedSchema: JsonObject, revision: McpRevision): JsonObject {
  assertText(message, 'elicit');
  assertHas(revision, FIRST_WITH_ELICITATION, 'elicitation/create');
  return {
    ...(revision >= FIRST_WITH_URLS ? { mode: 'form' } : {}),
    message,
    requestedSchema,
  };
}

/** Asks the user to open an address. Source: Elicitation, URL Mode, 2025-11-25 on. */
export function urlQuestion(message: string, url: string, revision: McpRevision): Question {
  assertText(message, 'elicitUrl');
  const address = addressOf(url);
  if (address === undefined)
    throw new TypeError(`ctx.elicitUrl(message, url): ${JSON.stringify(url)} is no http(s) URL`);
  assertHas(revision, FIRST_WITH_URLS, 'elicitation/create in url mode');
  return {
    kind: 'elicitation',
    method: 'elicitation/create',
    params: { mode: 'url', message, url: address },
    needs: { elicitation: { url: {} } },
    read: (answer) => ({ action: actionOf(answer) }),
  };
}

/** Asks what the client works on. Source: Roots, all revisions. */
export function rootsQuestion(): Question {
  return {
    kind: 'roots',
    method: 'roots/list',
    params: undefined,
    needs: { roots: {} },
    read: ({ roots }) => {
      if (!Array.isArray(roots) || !roots.every(isRoot))
        throw new AnswerFault('has no "roots" with addresses');
      return roots as unknown;
    },
  };
}

/** As it is given where it is a URI; what browsers take beside that, such as a space, as the URI it stands for. */
function addressOf(url: unknown): string | undefined {
  if (typeof url !== 'string' || !URL.canParse(url)) return undefined;
  const { href, protocol } = new URL(url);
  if (protocol !== 'http:' && protocol !== 'https:') return undefined;
  return [url, href].find((address) => isUri(address) && address.includes('://'));
}

function isRoot(value: unknown): boolean {
  if (!isObject(value)) return false;
  const { uri, name } = value;
  return typeof uri === 'string' && (name === undefined || typeof name === 'string');
}

function assertText(message: unknown, method: string): void {
  if (typeof message !== 'string') throw new TypeError(`ctx.${method}: the message must be a text`);
}
