import { type CanActivate, type ExecutionContext, Injectable, UnauthorizedException } from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { IS_PUBLIC } from './public.decorator.js';
import { TokensService } from './tokens.service.js';
import type { AuthenticatedRequest } from './user.js';

type SetHeader = (name: string, value: string) => unknown;

@Injectable()
export class BearerGuard implements CanActivate {
  constructor(
    private readonly reflector: Reflector,
    private readonly tokens: TokensService,
  ) {}

  canActivate(context: ExecutionContext): boolean {
    if (this.reflector.getAllAndOverride<boolean>(IS_PUBLIC, [context.getHandler(), context.getClass()])) {
      return true;
    }
    const request = context.switchToHttp().getRequest<AuthenticatedRequest>();
    const token = /^Bearer +(\S+)$/i.exec(request.headers.authorization ?? '')?.[1];
    const user = token && this.tokens.userOf(token);
    if (!user) {
      challenge(context);
      throw new UnauthorizedException(token ? 'Unknown token' : 'A bearer token is required');
    }
    request.user = user;
    return true;
  }
}

/** Express responses have `setHeader`, Fastify replies `header`. */
function challenge(context: ExecutionContext): void {
  const response = context.switchToHttp().getResponse<{ setHeader?: SetHeader; header?: SetHeader }>();
  const setHeader = response.setHeader ?? response.header;
  setHeader?.call(response, 'WWW-Authenticate', 'Bearer');
}
