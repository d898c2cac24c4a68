import { Injectable, type CanActivate, type ExecutionContext } from '@nestjs/common';
import { APP_GUARD } from '@nestjs/core';
import { McpPrompt, McpResource, type McpModuleOptions } from 'nest-mcp';
import { TicketDto } from '../features/changes.app.js';
import { wireApp } from '../http/wire.app.js';

/** Takes the caller's name from a header, as a token guard of an application would from a token. */
@Injectable()
class NameGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const request = context
      .switchToHttp()
      .getRequest<{ headers?: Record<string, unknown>; user?: unknown }>();
    const name = request.headers?.['x-user'];
    if (typeof name === 'string') request.user = { id: name };
    return true;
  }
}

@Injectable()
class Desk {
  @McpResource({ uri: 'note://all' })
  notes(): string {
    return 'notes';
  }

  @McpResource({ uri: 'ticket://{id}' })
  ticket({ id }: TicketDto): string {
    return id;
  }

  @McpPrompt({ description: 'Greets' })
  greet(): string {
    return 'Say hello';
  }
}

/** The tools of the wire, and what clients are told changes of. Callers are known by the header `x-user`. */
export function sessionsApp(options: Partial<McpModuleOptions> = {}) {
  return wireApp(options, { providers: [Desk, { provide: APP_GUARD, useClass: NameGuard }] });
}
