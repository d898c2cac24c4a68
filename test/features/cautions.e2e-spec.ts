import {
  ForbiddenException,
  HttpException,
  Injectable,
  Module,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { IsInt, IsString } from 'class-validator';
import { McpModule, McpResource, McpTool } from 'nest-mcp';
import { ADAPTERS, startApp, type RunningApp } from '../support/app.js';
import { Traffic } from '../support/traffic.js';
import { callTool, modern, textOf } from '../support/wire.js';

const CALLS = 2;

/** Lets only members of the staff pass. */
@Injectable()
class StaffGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
    if (headers['x-role'] === 'staff') return true;
    throw new ForbiddenException('For the staff alone');
  }
}

/** Lets a few calls pass and no more. */
@Injectable()
class RateGuard implements CanActivate {
  private left = CALLS;

  canActivate(): boolean {
    if (this.left-- > 0) return true;
    throw new HttpException('Too many requests', 429);
  }
}

class TicketIdDto {
  @IsInt()
  id: number;
}

class TicketDto {
  @IsInt()
  id: number;

  @IsString()
  subject: string;
}

@Injectable()
class TicketHandlers {
  runs = 0;

  @McpTool({ output: TicketDto })
  @UseGuards(StaffGuard, RateGuard)
  ticket({ id }: TicketIdDto) {
    this.runs++;
    return { id, subject: 'Printer', passwordHash: 'secret' };
  }

  @McpResource({ uri: 'ticket://public', cache: { ttlMs: 60_000, scope: 'public' } })
  @UseGuards(StaffGuard)
  shared() {
    this.runs++;
    return 'the same for everyone who may read it';
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'cautions', version: '1.0.0' })],
  providers: [TicketHandlers],
})
class CautionsModule {}

const STAFF = { 'x-role': 'staff' };

describe.each(ADAPTERS)('what a server owes to those behind it, on %s', (adapter) => {
  const traffic = new Traffic();
  let running: RunningApp;
  let handlers: TicketHandlers;

  beforeAll(async () => {
    running = await startApp(CautionsModule, { adapter });
    handlers = running.app.get(TicketHandlers);
  });
  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it('S-105: validates what a tool is sent, asks who calls, limits how often, and cleans what it gives', async () => {
    const call = async (id: unknown, headers = {}) => {
      const { body, result } = await callTool(running.mcp, 'ticket', { id }, headers);
      traffic.observe(body, '2026-07-28', 'tools/call');
      return result;
    };
    expect(await call(1)).toMatchObject({ isError: true, content: [{ text: 'For the staff alone' }] });
    expect(textOf(await call('1', STAFF))).toContain('- id: must be an integer');
    expect(handlers.runs).toBe(0);
    const result = await call(1, STAFF);
    expect(result['structuredContent']).toEqual({ id: 1, subject: 'Printer' });
    expect(JSON.stringify(result)).not.toContain('secret');
    expect(await call(1, STAFF)).toMatchObject({ isError: true, content: [{ text: 'Too many requests' }] });
    expect(handlers.runs).toBe(1);
  });

  it('S-117: asks who reads a resource that may be cached for everyone', async () => {
    handlers.runs = 0;
    const read = async (headers = {}) => {
      const reply = await modern(running.mcp, 'resources/read', { uri: 'ticket://public' }, headers);
      traffic.observe(reply.body, '2026-07-28', 'resources/read');
      return reply;
    };
    expect((await read()).error).toMatchObject({ code: 403, message: 'For the staff alone' });
    expect(handlers.runs).toBe(0);
    expect((await read(STAFF)).result).toMatchObject({ ttlMs: 60_000, cacheScope: 'public' });
    expect((await read()).error.code).toBe(403);
    expect(handlers.runs).toBe(1);
  });
});
