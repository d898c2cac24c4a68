// A strict application that publishes declarations of its own: compiled against the packed library, in ESM and in
// CommonJS, with every declaration checked. What its methods return is left to be inferred.
import { Injectable, Module, type ExecutionContext, type INestApplication } from '@nestjs/common';
import { IsString } from 'class-validator';
import {
  content,
  InjectMcpRegistry,
  jsonSchemaOf,
  McpArgs,
  McpCompletion,
  McpContext,
  McpDispatcher,
  McpEventBus,
  McpExecutionContext,
  McpModule,
  McpPrompt,
  McpRegistry,
  McpResource,
  McpTool,
  schema,
  serveMcpOverStdio,
  type McpChange,
  type McpPeer,
} from 'nest-mcp';

export class TicketDto {
  @IsString()
  id!: string;
}

export const ticketSchema = jsonSchemaOf(TicketDto);
export const itemSchema = schema.object({ id: schema.property('string') }, ['id']);

@Injectable()
export class Handlers {
  constructor(
    @InjectMcpRegistry() readonly registry: McpRegistry,
    readonly dispatcher: McpDispatcher,
  ) {}

  @McpTool({ description: 'One block of each type', output: { type: 'array', items: ticketSchema } })
  async blocks({ id }: TicketDto, ctx: McpContext) {
    await ctx.progress(1);
    ctx.log.info({ id });
    return [
      content.text(id),
      content.image(new Uint8Array(1), 'image/png'),
      content.audio(new Uint8Array(1), 'audio/wav'),
      content.link('ticket://T-1', 'ticket'),
      content.resource('ticket://T-1', 'text'),
    ];
  }

  @McpTool()
  about(ctx: McpContext) {
    const { client, caller, era, revision, transport, meta, signal, request } = ctx;
    return { client, caller, era, revision, transport, meta, signal, request };
  }

  @McpResource({ uri: 'ticket://{id}', cache: { ttlMs: 1000, scope: 'private' } })
  ticket({ id }: TicketDto) {
    return content.resource(`ticket://${id}`, 'text');
  }

  @McpPrompt({ args: TicketDto })
  triage(@McpArgs() { id }: { id: string }) {
    return { role: 'user' as const, content: content.link(`ticket://${id}`, 'ticket') };
  }

  @McpCompletion({ prompt: 'triage', argument: 'id' })
  ids(typed: string) {
    return ['T-1'].filter((id) => id.startsWith(typed));
  }

  add() {
    return this.registry.addTool({ name: 'add', input: TicketDto }, ({ id }: TicketDto, ctx) => [
      id,
      ctx.client,
    ]);
  }

  exposed() {
    return this.registry.describe();
  }

  serve(peer: McpPeer) {
    return this.dispatcher.handleMessage('{}', peer);
  }
}

export class Bus extends McpEventBus {
  readonly seen: McpChange[] = [];

  publish(change: McpChange) {
    this.seen.push(change);
  }

  subscribe(listener: (change: McpChange) => void) {
    return () => void listener;
  }
}

export function callOf(context: ExecutionContext) {
  const call = McpExecutionContext.create(context);
  return { kind: call.kind, context: call.getContext(), args: call.getArgs<TicketDto>() };
}

@Module({
  imports: [McpModule.forRoot({ name: 'types', version: '1.0.0', bus: Bus })],
  providers: [Bus, Handlers],
})
export class AppModule {}

export function configureApp(app: INestApplication) {
  app.useGlobalPipes();
}

export const serve = () => serveMcpOverStdio(AppModule, { configure: configureApp });
