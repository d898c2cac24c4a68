import { ForbiddenException, Injectable, type LoggerService, type ModuleMetadata } from '@nestjs/common';
import { IsInt, IsOptional, IsString, Max, Min } from 'class-validator';
import { McpContext, McpModule, McpTool, type McpModuleOptions } from 'nest-mcp';

export class EchoDto {
  @IsString()
  text: string;
}

export class StepsDto {
  @IsInt()
  @Min(0)
  @Max(100)
  count: number;

  @IsOptional()
  @IsString()
  text?: string;
}

export class HoldDto {
  @IsString()
  key: string;

  @IsOptional()
  @IsInt()
  progress?: number;
}

export class SizeDto {
  @IsInt()
  size: number;
}

/** A call of the tool `hold`: it runs until it is let go or its signal aborts. */
class HeldCall {
  readonly started: Promise<McpContext>;
  /** Resolves with the name of the abort's reason. */
  readonly aborted: Promise<string>;
  /** Resolves when the handler has returned. */
  readonly over: Promise<void>;
  readonly released: Promise<void>;
  start: (context: McpContext) => void;
  abort: (reason: string) => void;
  finish: () => void;
  release: () => void;

  constructor() {
    this.started = new Promise((resolve) => (this.start = resolve));
    this.aborted = new Promise((resolve) => (this.abort = resolve));
    this.over = new Promise((resolve) => (this.finish = resolve));
    this.released = new Promise((resolve) => (this.release = resolve));
  }
}

/** Lets a test follow and steer the calls of `hold`, by events and without waiting for luck. */
@Injectable()
export class HeldCalls {
  private readonly calls = new Map<string, HeldCall>();

  of(key: string): HeldCall {
    let call = this.calls.get(key);
    if (!call) this.calls.set(key, (call = new HeldCall()));
    return call;
  }
}

@Injectable()
export class WireTools {
  /** How often a tool's method was entered. */
  entered = 0;

  constructor(private readonly held: HeldCalls) {}

  @McpTool({ description: 'Gives the text back', title: 'Echo', readOnly: true })
  echo(args: EchoDto): string {
    this.entered++;
    return args.text;
  }

  @McpTool({ description: 'Takes nothing', readOnly: true })
  hello(): { greeting: string } {
    this.entered++;
    return { greeting: 'hello' };
  }

  @McpTool({ description: 'Reports progress' })
  async steps({ count, text = '' }: StepsDto, ctx: McpContext): Promise<string> {
    for (let step = 1; step <= count; step++) await ctx.progress(step, count, text);
    return text === '' ? `${count} steps` : text;
  }

  @McpTool({ description: 'Runs until it is let go' })
  async hold({ key, progress }: HoldDto, ctx: McpContext): Promise<string> {
    const call = this.held.of(key);
    if (progress !== undefined) await ctx.progress(progress);
    const aborted = new Promise<void>((resolve) => {
      ctx.signal.addEventListener('abort', () => {
        call.abort((ctx.signal.reason as DOMException).name);
        resolve();
      });
    });
    call.start(ctx);
    await Promise.race([call.released, aborted]);
    // What a handler says after its call has ended is dropped.
    if (ctx.signal.aborted) await ctx.progress(1_000_000);
    call.finish();
    return `${key} let go`;
  }

  @McpTool({ description: 'Tells what the server knows of the caller' })
  whoami(ctx: McpContext): Record<string, unknown> {
    const { client, era, revision, sessionId, requestId, caller } = ctx;
    return { client, era, revision, sessionId, requestId, caller };
  }

  @McpTool({ description: 'Never settles', timeout: 20 })
  stall(): Promise<string> {
    return new Promise(() => undefined);
  }

  @McpTool({ description: 'Gives many characters' })
  big({ size }: SizeDto): string {
    return 'x'.repeat(size);
  }

  @McpTool({ description: 'Fails as nobody foresaw' })
  fail(): never {
    throw new Error('canary of a stack');
  }

  @McpTool({ description: 'Fails as the application means it' })
  refuse(): never {
    throw new ForbiddenException('not today');
  }
}

/** A small application with the tools above. */
export function wireApp(
  options: Partial<McpModuleOptions> = {},
  more: Pick<ModuleMetadata, 'providers' | 'controllers'> = {},
): ModuleMetadata & { module: new () => object } {
  class WireModule {}
  return {
    module: WireModule,
    imports: [McpModule.forRoot({ name: 'wire', version: '1.2.3', ...options })],
    controllers: more.controllers ?? [],
    providers: [HeldCalls, WireTools, ...(more.providers ?? [])],
  };
}

export interface LogLine {
  readonly level: string;
  readonly text: string;
}

/** Keeps every line that the application logs. */
export class LogRecorder implements LoggerService {
  readonly lines: LogLine[] = [];
  readonly log = this.at('log');
  readonly error = this.at('error');
  readonly warn = this.at('warn');
  readonly debug = this.at('debug');
  readonly verbose = this.at('verbose');
  readonly fatal = this.at('fatal');

  ofLevel(...levels: string[]): string[] {
    return this.lines.filter(({ level }) => levels.includes(level)).map(({ text }) => text);
  }

  private at(level: string) {
    return (...parts: unknown[]): void => {
      this.lines.push({ level, text: parts.map(String).join(' ') });
    };
  }
}
