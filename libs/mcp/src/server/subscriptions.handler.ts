import { McpContext } from '../protocol/call-context.js';
import type { EndReason } from '../protocol/call-lifetime.js';
import { readCallOptions } from '../protocol/call-options.js';
import type { ChangeFeed } from '../protocol/changes.js';
import type { ServerFeatures } from '../protocol/descriptors.js';
import type { Answer, Delivery } from '../protocol/dispatcher.js';
import { ErrorCode } from '../protocol/error-codes.js';
import { DUPLICATE_ID } from '../protocol/in-flight.js';
import { methodNotFound } from '../protocol/message-parser.js';
import { McpError } from '../protocol/mcp-error.js';
import type { OpenStreams } from '../protocol/open-streams.js';
import type { ResultEncoder } from '../protocol/result-encoder.js';
import {
  MAX_LISTEN_LENGTH,
  readFilter,
  Subscription,
  type SubscriptionFilter,
} from '../protocol/subscription.js';
import { MAX_FOLLOWED, MAX_FOLLOWED_LENGTH, type LegacyPeer } from '../protocol/legacy/legacy-peer.js';
import { endedError, invalidParams } from './answers.js';
import type { Call, CallRunner, ResultWriter } from './call.runner.js';
import type { FoundResource, ResourceFinder } from './resource.finder.js';

/** Who is told of changes: `subscriptions/listen` of 2026-07-28, `resources/subscribe` before. */
export class SubscriptionsHandler {
  private readonly emptyWriter: ResultWriter<void>;

  constructor(
    private readonly finder: ResourceFinder,
    private readonly feed: ChangeFeed,
    private readonly streams: OpenStreams,
    private readonly runner: CallRunner,
    private readonly encoder: ResultEncoder,
    private readonly features: () => ServerFeatures,
    /** ms that the guards of what is listened for may take. */
    private readonly timeLimit: number,
  ) {
    this.emptyWriter = {
      roughSize: () => 0,
      encode: (_value, revision) => encoder.emptyResult(revision),
      ended: endedError,
    };
  }

  /** Stays open until its client or the server ends it. Source: Subscriptions, 2026-07-28. */
  async listen(delivery: Delivery): Promise<Answer> {
    const { request, origin, lifetime, channel } = delivery;
    const asked = readFilter(request.params);
    if ('code' in asked) return { error: asked };
    if (request.source.text.length > MAX_LISTEN_LENGTH)
      return invalidParams(`a request that listens has at most ${MAX_LISTEN_LENGTH} characters`);
    if (!origin.outlet) return refused('This request is answered as a stream: accept text/event-stream');
    if (channel?.has(request.id)) return refused(DUPLICATE_ID);
    const caller = origin.callerOf()?.id;
    const full = this.streams.refusal(caller);
    if (full !== undefined) return { ...refused(full), busy: true };
    if (!lifetime.isOpen) return undefined;

    let end: (reason: EndReason) => void = () => undefined;
    const ended = new Promise<EndReason>((resolve) => (end = resolve));
    const release = this.streams.add(caller, () => end('shutdown'));
    const leave = channel?.listen(request.id, lifetime);
    lifetime.onEnd = end;
    const timer = setTimeout(() => lifetime.end('timeout'), this.timeLimit);
    let forget: (() => void) | undefined;
    try {
      // Guards may take their time; an end does not wait for them.
      const filter = await Promise.race([this.honoured(asked, delivery), ended.then(() => undefined)]);
      if (filter && lifetime.isOpen) {
        const subscription = new Subscription(request.id, filter, origin.outlet.listen());
        subscription.acknowledge();
        forget = this.feed.add(subscription);
        clearTimeout(timer);
      }
      // What a client reads as the end comes from here alone: when it goes away itself, nothing is sent.
      const reason = await ended;
      if (reason === 'timeout') return failed(`The guards did not finish within ${this.timeLimit} ms`);
      if (reason !== 'shutdown') return undefined;
      return forget
        ? { result: this.encoder.subscriptionResult(request.id) }
        : { ...refused('The server is shutting down'), busy: true };
    } finally {
      clearTimeout(timer);
      lifetime.finish();
      forget?.();
      leave?.();
      release();
    }
  }

  /** `resources/subscribe`. Source: Resources, Subscriptions, 2025-11-25. */
  subscribe(delivery: Delivery): Answer | Promise<Answer> {
    const { request, origin } = delivery;
    const { peer } = origin;
    if (!peer) return { error: methodNotFound(request.method) };
    const found = this.finder.find(request.params?.['uri'], origin.era);
    return this.runner.run(delivery, {
      name: found.uri,
      raw: found.raw,
      timeout: found.resource.registration.timeout,
      writer: this.emptyWriter,
      handler: followed(found, peer),
    });
  }

  /** `resources/unsubscribe`: of what is not followed, or not there any more, as well. */
  async unsubscribe({ request, origin }: Delivery): Promise<Answer> {
    if (!origin.peer) return { error: methodNotFound(request.method) };
    const uri = request.params?.['uri'];
    if (typeof uri !== 'string') return invalidParams('"uri" must be a string');
    await origin.peer.unfollow(uri);
    return { result: this.encoder.emptyResult(origin.revision) };
  }

  /** What is offered here, and of the addresses those that this caller may read. */
  private async honoured(
    { lists, uris }: SubscriptionFilter,
    delivery: Delivery,
  ): Promise<SubscriptionFilter | undefined> {
    const features = this.features();
    const options = readCallOptions(delivery.request);
    if ('code' in options) throw new McpError(options.code, options.message);
    const allowed = new Set<string>();
    for (const uri of features.resources ? uris : []) {
      if (!delivery.lifetime.isOpen) return undefined;
      if (await this.mayRead(uri, delivery, options)) allowed.add(uri);
    }
    return { lists: new Set([...lists].filter((list) => features[list])), uris: allowed };
  }

  private async mayRead(
    uri: string,
    { request, origin, lifetime }: Delivery,
    options: Exclude<ReturnType<typeof readCallOptions>, { code: number }>,
  ): Promise<boolean> {
    try {
      const { resource, raw } = this.finder.find(uri, origin.era);
      const subject = { id: request.id, method: request.method, name: uri, params: undefined, ...options };
      // Neither log messages nor progress of a guard come before the acknowledgement, nor on such a stream at all.
      const silent = { ...origin, stream: undefined };
      await resource.handler.admit(raw, new McpContext(silent, subject, lifetime), silent);
      return true;
    } catch {
      // Refused or unknown: it is left out of what is acknowledged, which tells the client.
      return false;
    }
  }
}

/** The guards of a resource, and then its address is one that the peer follows. */
function followed({ uri, resource }: FoundResource, peer: LegacyPeer): Call<void>['handler'] {
  return {
    invoke: async (raw, context, origin) => {
      await resource.handler.admit(raw, context, origin);
      // Whoever cancelled meanwhile, or was told that it took too long, follows nothing.
      if (context.signal.aborted || (await peer.follow(uri))) return;
      throw new McpError(
        ErrorCode.InvalidRequest,
        `Too many subscriptions: at most ${MAX_FOLLOWED} resources, of ${MAX_FOLLOWED_LENGTH} characters together`,
      );
    },
  };
}

function refused(message: string) {
  return { error: { code: ErrorCode.InvalidRequest, message } };
}

function failed(message: string) {
  return { error: { code: ErrorCode.InternalError, message } };
}
