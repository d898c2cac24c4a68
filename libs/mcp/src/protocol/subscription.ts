import type { ChangeListener, ListKind, McpChange } from './changes.js';
import { changeMessage } from './change-messages.js';
import { ErrorCode } from './error-codes.js';
import { isObject, notificationMessage, type JsonObject, type RequestId, type RpcError } from './json-rpc.js';
import { META_SUBSCRIPTION } from './request-meta.js';

/** Addresses that one request may listen for. */
export const MAX_LISTENED_URIS = 100;
/** Characters of a request that listens: all of it is kept as long as its stream is open. */
export const MAX_LISTEN_LENGTH = 128 * 1024;

/** What a client listens for. */
export interface SubscriptionFilter {
  readonly lists: ReadonlySet<ListKind>;
  readonly uris: ReadonlySet<string>;
}

const FLAGS: readonly (readonly [string, ListKind])[] = [
  ['toolsListChanged', 'tools'],
  ['promptsListChanged', 'prompts'],
  ['resourcesListChanged', 'resources'],
];

/** Reads `params.notifications` of `subscriptions/listen`. Source: Subscriptions, 2026-07-28. */
export function readFilter(params: JsonObject | undefined): SubscriptionFilter | RpcError {
  const asked = params?.['notifications'];
  if (!isObject(asked)) return invalid('"notifications" must be an object');
  const lists = new Set<ListKind>();
  for (const [flag, list] of FLAGS) {
    const wanted = asked[flag];
    if (wanted !== undefined && typeof wanted !== 'boolean')
      return invalid(`"notifications.${flag}" must be true or false`);
    if (wanted) lists.add(list);
  }
  const uris: unknown = asked['resourceSubscriptions'] ?? [];
  if (!Array.isArray(uris) || !uris.every((uri) => typeof uri === 'string'))
    return invalid('"notifications.resourceSubscriptions" must be a list of texts');
  const distinct = new Set(uris as string[]);
  if (distinct.size > MAX_LISTENED_URIS)
    return invalid(`"notifications.resourceSubscriptions" has more than ${MAX_LISTENED_URIS} addresses`);
  return { lists, uris: distinct };
}

/** One `subscriptions/listen` that is open: passes on what its client asked for and may have. */
export class Subscription implements ChangeListener {
  /**
   * @param id of the request, on every message of this subscription
   * @param filter what is honoured
   */
  constructor(
    private readonly id: RequestId,
    private readonly filter: SubscriptionFilter,
    private readonly send: (message: string) => void,
  ) {}

  /** The first message: what is honoured of what was asked. */
  acknowledge(): void {
    const { lists, uris } = this.filter;
    const flags = FLAGS.filter(([, list]) => lists.has(list)).map(([flag]) => [flag, true]);
    const honoured = {
      ...Object.fromEntries(flags),
      ...(uris.size > 0 ? { resourceSubscriptions: [...uris] } : {}),
    } as JsonObject;
    this.send(
      notificationMessage(
        'notifications/subscriptions/acknowledged',
        `{"notifications":${JSON.stringify(honoured)},"_meta":{"${META_SUBSCRIPTION}":${this.id.text}}}`,
      ),
    );
  }

  notify(change: McpChange): void {
    const { lists, uris } = this.filter;
    const isAsked = change.kind === 'list' ? lists.has(change.list) : uris.has(change.uri);
    if (isAsked) this.send(changeMessage(change, this.id));
  }
}

function invalid(why: string): RpcError {
  return { code: ErrorCode.InvalidParams, message: `Invalid params: ${why}` };
}
