import type { McpRegistry } from '../discovery/mcp.registry.js';
import { choicesOfHandler } from '../discovery/argument.choices.js';
import type { McpSettings } from '../mcp.settings.js';
import type { ChangeFeed } from '../protocol/changes.js';
import { LOG_LEVELS, readLogLevel } from '../protocol/client-log.js';
import type { ServerFeatures } from '../protocol/descriptors.js';
import type { Answer, Delivery, Method } from '../protocol/dispatcher.js';
import { methodNotFound } from '../protocol/message-parser.js';
import type { OpenStreams } from '../protocol/open-streams.js';
import type { ResultEncoder } from '../protocol/result-encoder.js';
import { REVISIONS } from '../protocol/versions.js';
import { invalidParams } from './answers.js';
import type { CallRunner } from './call.runner.js';
import { CompletionHandler } from './completion.handler.js';
import { Listing } from './listing.js';
import { PromptsHandler } from './prompts.handler.js';
import { ResourceFinder } from './resource.finder.js';
import { ResourcesHandler } from './resources.handler.js';
import { SubscriptionsHandler } from './subscriptions.handler.js';
import { ToolsHandler } from './tools.handler.js';

/** What the methods work with. */
export interface MethodParts {
  readonly registry: McpRegistry;
  readonly encoder: ResultEncoder;
  readonly settings: McpSettings;
  readonly runner: CallRunner;
  readonly feed: ChangeFeed;
  readonly streams: OpenStreams;
}

type Group = keyof ServerFeatures | 'logging' | 'subscriptions' | 'always';

/**
 * Every method of this server. One that belongs to a feature is there as long as the feature is offered, so that what
 * is declared and what answers never differ.
 */
export class MethodTable {
  private readonly methods: ReadonlyMap<string, Method & { readonly group: Group }>;
  private readonly completion: CompletionHandler;
  private known: { readonly version: number; readonly features: ServerFeatures } | undefined;

  constructor(private readonly parts: MethodParts) {
    const { registry, encoder, settings, runner, feed, streams } = parts;
    const finder = new ResourceFinder(registry.resources);
    const tools = new ToolsHandler(registry.tools, runner, encoder);
    const prompts = new PromptsHandler(registry.prompts, runner, encoder);
    const resources = new ResourcesHandler(finder, runner, encoder);
    this.completion = new CompletionHandler(registry, runner, choicesOfHandler, encoder);
    const subscriptions = new SubscriptionsHandler(
      finder,
      feed,
      streams,
      runner,
      encoder,
      () => this.features,
      settings.limits.handlerTime,
    );
    const lists = listings(parts);
    const served = REVISIONS.filter((revision) =>
      [...settings.revisions.modern, ...settings.revisions.legacy].includes(revision),
    );
    Object.values(lists).forEach((list) => list.prepare(served));

    const both = (group: Group, answer: Method['answer']) => ({ era: 'both' as const, group, answer });
    const legacy = (group: Group, answer: Method['answer']) => ({ era: 'legacy' as const, group, answer });
    const modern = (group: Group, answer: Method['answer']) => ({ era: 'modern' as const, group, answer });
    const pong = { result: '{}' };
    this.methods = new Map<string, Method & { group: Group }>([
      ['server/discover', modern('always', () => this.discover())],
      ['ping', legacy('always', () => pong)],
      ['tools/list', both('tools', (delivery) => lists.tools.answer(delivery))],
      ['tools/call', both('tools', (delivery) => tools.call(delivery))],
      ['resources/list', both('resources', (delivery) => lists.resources.answer(delivery))],
      ['resources/templates/list', both('resources', (delivery) => lists.templates.answer(delivery))],
      ['resources/read', both('resources', (delivery) => resources.read(delivery))],
      ['resources/subscribe', legacy('resources', (delivery) => subscriptions.subscribe(delivery))],
      ['resources/unsubscribe', legacy('resources', (delivery) => subscriptions.unsubscribe(delivery))],
      ['prompts/list', both('prompts', (delivery) => lists.prompts.answer(delivery))],
      ['prompts/get', both('prompts', (delivery) => prompts.get(delivery))],
      ['completion/complete', both('completions', (delivery) => this.completion.complete(delivery))],
      ['logging/setLevel', legacy('logging', (delivery) => this.setLevel(delivery))],
      ['subscriptions/listen', modern('subscriptions', (delivery) => subscriptions.listen(delivery))],
    ]);
  }

  get(name: string): Method | undefined {
    const method = this.methods.get(name);
    return method && this.isOffered(method.group) ? method : undefined;
  }

  /** What is offered now. What was offered once stays offered, since clients were told so. */
  get features(): ServerFeatures {
    const { tools, resources, prompts } = this.parts.registry;
    // Each of them only grows, so the sum tells of any change.
    const version = tools.version + resources.version + prompts.version;
    if (this.known?.version !== version) {
      const completions = this.known?.features.completions === true || this.completion.isOffered;
      this.known = {
        version,
        features: {
          tools: tools.isOffered,
          resources: resources.isOffered,
          prompts: prompts.isOffered,
          completions,
        },
      };
    }
    return this.known.features;
  }

  private isOffered(group: Group): boolean {
    if (group === 'always') return true;
    const { features } = this;
    if (group === 'logging' || group === 'subscriptions')
      return features.tools || features.resources || features.prompts;
    return features[group];
  }

  private discover(): Answer {
    const { encoder, settings } = this.parts;
    return { result: encoder.discover(settings.revisions.modern, this.features) };
  }

  /** Source: Logging, 2025-11-25. */
  private async setLevel({ request, origin }: Delivery): Promise<Answer> {
    // Nobody would remember it.
    if (!origin.peer) return { error: methodNotFound(request.method) };
    const level = readLogLevel(request.params?.['level']);
    if (!level) return invalidParams(`"level" must be one of ${LOG_LEVELS.join(', ')}`);
    await origin.peer.setLogLevel(level);
    return { result: this.parts.encoder.emptyResult(origin.revision) };
  }
}

function listings({ registry, encoder, settings: { pageSize } }: MethodParts) {
  const { tools, resources, prompts } = registry;
  const version = (catalog: { readonly version: number }) => () => catalog.version;
  const resourcesOf = (isTemplate: boolean) =>
    [...resources.exposed()]
      .map(({ registration }) => registration.descriptor)
      .filter((descriptor) => descriptor.isTemplate === isTemplate);
  return {
    tools: new Listing({
      method: 'tools/list',
      pageSize,
      version: version(tools),
      items: (revision) =>
        [...tools.exposed()].map(({ registration: { descriptor } }) => ({
          name: descriptor.name,
          json: encoder.tool(descriptor, revision),
        })),
      result: (page, revision) => encoder.page('tools', page, revision),
    }),
    resources: new Listing({
      method: 'resources/list',
      pageSize,
      version: version(resources),
      items: (revision) =>
        resourcesOf(false).map((descriptor) => ({
          name: descriptor.uri,
          json: encoder.resource(descriptor, revision),
        })),
      result: (page, revision) => encoder.page('resources', page, revision),
    }),
    templates: new Listing({
      method: 'resources/templates/list',
      pageSize,
      version: version(resources),
      items: (revision) =>
        resourcesOf(true).map((descriptor) => ({
          name: descriptor.uri,
          json: encoder.resource(descriptor, revision),
        })),
      result: (page, revision) => encoder.page('resourceTemplates', page, revision),
    }),
    prompts: new Listing({
      method: 'prompts/list',
      pageSize,
      version: version(prompts),
      items: (revision) =>
        [...prompts.exposed()].map(({ registration: { descriptor } }) => ({
          name: descriptor.name,
          json: encoder.prompt(descriptor, revision),
        })),
      result: (page, revision) => encoder.page('prompts', page, revision),
    }),
  };
}
