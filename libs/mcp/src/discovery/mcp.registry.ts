import { Injectable } from '@nestjs/common';
import type { McpPromptOptions } from '../decorators/prompt.decorator.js';
import type { McpResourceOptions } from '../decorators/resource.decorator.js';
import type { McpToolOptions } from '../decorators/tool.decorator.js';
import type { ListKind, McpChange } from '../protocol/changes.js';
import type { CompletionResult, PromptResult, ReadResult, ToolResult } from '../protocol/content.js';
import { isUri } from '../protocol/uri.js';
import { AddedHandlers, type Added, type AddedGuard, type AddedHandler } from './added.handlers.js';
import { UnprotectedHandlerException } from './boot.exceptions.js';
import { Catalog, type Claim, type Exposed } from './catalog.js';
import { assertTarget } from './completion.targets.js';
import { HandlerExplorer, type FoundHandler } from './handler.explorer.js';
import { OptionChecks } from './option.checks.js';
import { Placement, type Activate, type Prepared } from './placement.js';
import { CompletionRegistrar } from './registrars/completion.registrar.js';
import { PROMPT_OPTIONS, PromptRegistrar } from './registrars/prompt.registrar.js';
import { RESOURCE_OPTIONS, ResourceRegistrar } from './registrars/resource.registrar.js';
import { TOOL_OPTIONS, ToolRegistrar } from './registrars/tool.registrar.js';
import type {
  CompletionRegistration,
  HandlerActivator,
  PromptRegistration,
  ResourceRegistration,
  ToolRegistration,
} from './registration.js';

/** One thing that is exposed, for reports and tests. @publicApi */
export interface McpExposed {
  kind: 'tool' | 'resource' | 'prompt';
  name: string;
  /** Of a resource its address, of a template the template. */
  uri?: string;
  /** Size of its schemas, of arguments and results, as JSON. */
  schemaBytes: number;
}

/** How something is added at run time, beside what it is. @publicApi */
export interface McpAdded {
  name: string;
  /** Takes the place of what has that name, or that address, already; without it a taken name throws. */
  replace?: boolean;
  /** Run as on a decorated method, after the global ones: classes, or instances. */
  guards?: AddedGuard[];
}

/** One item of a set that is exposed as a whole. Members that no tool has are left alone. @publicApi */
export type McpExposable = McpToolOptions & { name: string; handler: AddedHandler; guards?: AddedGuard[] };

/**
 * What this server exposes, at run time: tools, resources and prompts are added, replaced, removed and disabled, and
 * clients that listen are told. What is added goes through the same pipeline as decorated methods: global guards,
 * interceptors, pipes and filters, then the guards that are given with it.
 *
 * @example
 * constructor(@InjectMcpRegistry() private readonly registry: McpRegistry) {}
 * async onModuleInit() {
 *   await this.registry.addTool({ name: 'add', input: AddDto, guards: [StaffGuard] }, ({ a, b }: AddDto) => a + b);
 * }
 * @publicApi
 */
@Injectable()
export class McpRegistry {
  /** @internal */
  readonly tools = new Catalog<ToolRegistration, ToolResult>('tool', () => this.announceList('tools'));
  /** @internal */
  readonly resources = new Catalog<ResourceRegistration, ReadResult>('resource', () =>
    this.announceList('resources'),
  );
  /** @internal */
  readonly prompts = new Catalog<PromptRegistration, PromptResult>('prompt', () =>
    this.announceList('prompts'),
  );
  /** @internal */
  readonly completions = new Catalog<CompletionRegistration, CompletionResult>('completion');
  private readonly placement = new Placement();
  /** What was said of names before they were known; nothing once they are. */
  private early: (() => void)[] | undefined = [];
  private announce: ((change: McpChange) => void) | undefined;

  /** @internal */
  constructor(
    private readonly explorer: HandlerExplorer,
    private readonly added: AddedHandlers,
    private readonly toolRegistrar: ToolRegistrar,
    private readonly resourceRegistrar: ResourceRegistrar,
    private readonly promptRegistrar: PromptRegistrar,
    private readonly completionRegistrar: CompletionRegistrar,
  ) {}

  /**
   * @internal Registers what is decorated, and readies what was added before, once, at start.
   * @param announce told of every later change
   */
  async start(activator: HandlerActivator, announce: (change: McpChange) => void): Promise<void> {
    this.placement.start(activator);
    for (const found of this.explorer.findHandlers()) await this.discover(found);
    this.placement.placeWaiting();
    const early = this.early?.splice(0) ?? [];
    this.early = undefined;
    for (const work of early) work();
    for (const { registration } of this.completions.exposed()) assertTarget(registration, this);
    this.announce = announce;
  }

  /**
   * Adds a tool. It is exposed once the promise resolves, but not before the application is initialised.
   *
   * @throws McpBootException at once for a name that is taken, an option that cannot be meant and the like; the promise
   * rejects with one where a schema or a guard turns out to be of no use
   */
  addTool(options: McpToolOptions & McpAdded, handler: AddedHandler): Promise<void> {
    const { claim, guards, where, rest } = addedOf('tool', options, TOOL_OPTIONS);
    return this.placement.place(TOOL, this.tools, [this.addedTool(rest, handler, { guards, where })], claim);
  }

  /** Adds a resource, or with braces in the address a template of resources; see `addTool`. */
  addResource(options: McpResourceOptions & McpAdded, handler: AddedHandler): Promise<void> {
    const { claim, guards, where, rest: resource } = addedOf('resource', options, RESOURCE_OPTIONS);
    const takesArguments = /[{}]/.test(resource.uri);
    const { location, prepare } = this.added.locate(handler, { guards, where, takesArguments });
    const draft = this.resourceRegistrar.draft(location, named(resource));
    return this.placement.place(RESOURCE, this.resources, [{ draft, prepare }], claim);
  }

  /** Adds a prompt; see `addTool`. */
  addPrompt(options: McpPromptOptions & McpAdded, handler: AddedHandler): Promise<void> {
    const { claim, guards, where, rest: prompt } = addedOf('prompt', options, PROMPT_OPTIONS);
    const takesArguments = prompt.args !== undefined;
    const { location, prepare } = this.added.locate(handler, { guards, where, takesArguments });
    const draft = this.promptRegistrar.draft(location, named(prompt));
    return this.placement.place(PROMPT, this.prompts, [{ draft, prepare }], claim);
  }

  /**
   * Exposes a whole existing set of tools without changing it for local use: each item's `handler` is called on the
   * item, with the arguments and the context, behind the global guards, these, and its own `guards`. All of it, or where
   * one item cannot be exposed nothing.
   */
  exposeAll(items: readonly McpExposable[], options: { guards?: AddedGuard[] } = {}): Promise<void> {
    const guards = guardsOfSet(items, options);
    const prepared = items.map((item) => {
      const where = `McpRegistry.exposeAll(), ${JSON.stringify(item.name)}`;
      return this.addedTool(toolOptionsOf(item), (args, ctx) => item.handler(args, ctx), {
        guards: [...guards, ...guardsIn(item, where)],
        where,
        marked: item.handler,
      });
    });
    return this.placement.place(TOOL, this.tools, prepared, 'new');
  }

  /** What is exposed, in the order it is listed: tools, resources, prompts. */
  describe(): McpExposed[] {
    const tools = [...this.tools.exposed()].map(({ registration: { descriptor } }) => ({
      kind: 'tool' as const,
      name: descriptor.name,
      schemaBytes: bytesOf(descriptor.inputSchema) + bytesOf(descriptor.outputSchema),
    }));
    const resources = [...this.resources.exposed()].map(({ registration: { descriptor, contract } }) => ({
      kind: 'resource' as const,
      name: descriptor.name,
      uri: descriptor.uri,
      schemaBytes: descriptor.isTemplate ? bytesOf(contract.schema) : 0,
    }));
    const prompts = [...this.prompts.exposed()].map(({ registration: { descriptor, contract } }) => ({
      kind: 'prompt' as const,
      name: descriptor.name,
      schemaBytes: bytesOf(contract.schema),
    }));
    return [...tools, ...resources, ...prompts];
  }

  /** Takes something away; false where there is nothing of that name. A resource goes by its address as well. */
  remove(kind: McpExposed['kind'], name: string): boolean {
    const key = this.keyOf(kind, name);
    return key !== undefined && this.catalog(kind).remove(key);
  }

  /**
   * Hides something or shows it again: what is disabled is not listed, and unknown to whoever calls it. Before the
   * application is initialised it is remembered for what is declared, and held to a name that is there at start.
   *
   * @throws TypeError where there is nothing of that name
   */
  setEnabled(kind: McpExposed['kind'], name: string, enabled: boolean): void {
    if (this.early && this.keyOf(kind, name) === undefined) {
      this.early.push(() => this.setEnabled(kind, name, enabled));
      return;
    }
    const key = this.keyOf(kind, name);
    if (key === undefined || !this.catalog(kind).setEnabled(key, enabled))
      throw new TypeError(`McpRegistry.setEnabled(): there is no ${kind} ${JSON.stringify(name)}`);
  }

  /**
   * Tells those who subscribed to this address, or listen for it, that its content changed. Several of one turn of the
   * event loop are one. Characters that no URI has, an `ä` in an id for example, are encoded as in a link.
   *
   * @throws TypeError for what is no URI for another reason
   */
  notifyResourceUpdated(uri: string): void {
    this.announce?.({ kind: 'resource', uri: isUri(uri) ? uri : encodedUri(uri) });
  }

  private discover({ location, mark }: FoundHandler): Promise<void> {
    switch (mark.kind) {
      case 'tool':
        return this.placement.place(
          TOOL,
          this.tools,
          [{ draft: this.toolRegistrar.draft(location, mark.options) }],
          'declared',
        );
      case 'resource':
        return this.placement.place(
          RESOURCE,
          this.resources,
          [{ draft: this.resourceRegistrar.draft(location, mark.options) }],
          'declared',
        );
      case 'prompt':
        return this.placement.place(
          PROMPT,
          this.prompts,
          [{ draft: this.promptRegistrar.draft(location, mark.options) }],
          'declared',
        );
      case 'completion':
        return this.placement.place(
          COMPLETION,
          this.completions,
          [{ draft: this.completionRegistrar.draft(location, mark.options) }],
          'declared',
        );
    }
  }

  private addedTool(
    options: McpToolOptions & { name: string },
    handler: AddedHandler,
    added: Omit<Added, 'takesArguments'>,
  ): Prepared<ToolRegistration> {
    const takesArguments = options.input !== undefined;
    const { location, prepare } = this.added.locate(handler, { ...added, takesArguments });
    return { draft: this.toolRegistrar.draft(location, named(options)), prepare };
  }

  /** @internal The template that was declared like that. */
  templateOf(uri: string): Exposed<ResourceRegistration, ReadResult> | undefined {
    for (const exposed of this.resources.exposed()) {
      const { descriptor } = exposed.registration;
      if (descriptor.isTemplate && descriptor.uri === uri) return exposed;
    }
    return undefined;
  }

  private keyOf(kind: McpExposed['kind'], name: string): string | undefined {
    const catalog = this.catalog(kind);
    if (catalog.has(name)) return name;
    if (kind !== 'resource') return undefined;
    const byUri = this.resources.namesOf(({ descriptor }) => descriptor.uri === name);
    const found =
      byUri.length > 0 ? byUri : this.resources.namesOf(({ descriptor }) => descriptor.name === name);
    if (found.length > 1)
      throw new TypeError(
        `McpRegistry: ${found.length} resources are named ${JSON.stringify(name)}: give the address instead`,
      );
    return found[0];
  }

  private catalog(kind: McpExposed['kind']): Catalog<unknown, unknown> {
    switch (kind) {
      case 'tool':
        return this.tools as Catalog<unknown, unknown>;
      case 'resource':
        return this.resources as Catalog<unknown, unknown>;
      case 'prompt':
        return this.prompts as Catalog<unknown, unknown>;
      default:
        throw new TypeError(
          `McpRegistry: ${JSON.stringify(kind)} is no kind: write 'tool', 'resource' or 'prompt'`,
        );
    }
  }

  private announceList(list: ListKind): void {
    this.announce?.({ kind: 'list', list });
  }
}

const TOOL: Activate<ToolRegistration, ToolResult> = (activator, made) => activator.tool(made);
const RESOURCE: Activate<ResourceRegistration, ReadResult> = (activator, made) => activator.resource(made);
const PROMPT: Activate<PromptRegistration, PromptResult> = (activator, made) => activator.prompt(made);
const COMPLETION: Activate<CompletionRegistration, CompletionResult> = (activator, made) =>
  activator.completion(made);

/** Without a name it would go by that of our own method; an empty one is refused. */
function named<Options extends { name: string }>(options: Options): Options {
  return { ...options, name: options.name ?? '' };
}

/** @throws TypeError for what is no URI, however it is written */
function encodedUri(uri: unknown): string {
  try {
    const written = encodeURI(uri as string);
    if (typeof uri === 'string' && isUri(written)) return written;
  } catch {
    // A lone surrogate has no encoding.
  }
  throw new TypeError(`McpRegistry.notifyResourceUpdated(): ${JSON.stringify(uri)} is no URI`);
}

/** What is said of something that is added, apart from what it is. */
function addedOf<Options extends McpAdded>(
  kind: McpExposed['kind'],
  options: Options,
  known: readonly string[],
) {
  const { replace, guards: _guards, ...rest } = options;
  const where = `McpRegistry.add${kind[0]!.toUpperCase()}${kind.slice(1)}(${JSON.stringify(options.name)})`;
  new OptionChecks(kind, where).names([...known, 'guards', 'replace'], options);
  const claim: Claim = replace ? 'replace' : 'new';
  return { claim, guards: guardsIn(options, where), where, rest };
}

/** The guards that something is given, as a list: anything else would be left out. */
function guardsIn({ guards = [] }: { guards?: AddedGuard[] }, where: string): readonly AddedGuard[] {
  if (Array.isArray(guards)) return guards;
  throw new UnprotectedHandlerException(where, '`guards` is no list: write guards: [TheGuard]');
}

function guardsOfSet(items: unknown, options: { guards?: AddedGuard[] }): readonly AddedGuard[] {
  const where = 'McpRegistry.exposeAll()';
  if (!Array.isArray(items)) throw new TypeError(`${where} takes a list of tools`);
  const unknown = Array.isArray(options) ? 'a list' : Object.keys(options).find((name) => name !== 'guards');
  if (unknown === undefined) return guardsIn(options, where);
  throw new UnprotectedHandlerException(
    where,
    `its second argument has ${unknown}, which nothing reads: write { guards: [TheGuard] }`,
  );
}

/** The members of an item that are options of a tool. */
function toolOptionsOf(item: McpExposable): McpToolOptions & { name: string } {
  const known = Object.entries(item).filter(([name]) => TOOL_OPTIONS.includes(name));
  return Object.fromEntries(known) as McpToolOptions & { name: string };
}

function bytesOf(schema: object | undefined): number {
  return schema ? Buffer.byteLength(JSON.stringify(schema)) : 0;
}
