import {
  ForbiddenException,
  Injectable,
  Scope,
  SetMetadata,
  type CallHandler,
  type CanActivate,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { Reflector } from '@nestjs/core';
import { IsInt, Min } from 'class-validator';
import { McpExecutionContext } from 'nest-mcp';
import type { Observable } from 'rxjs';

export class SumDto {
  @IsInt()
  @Min(0)
  a: number;

  @IsInt()
  b: number;
}

/** What ran, in order. */
export const ran: string[] = [];

/** No module provides it; what it depends on is there in every module. */
@Injectable()
export class FoundGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    ran.push('FoundGuard');
    return this.reflector.get<boolean | undefined>('closed', context.getHandler()) !== true;
  }
}

/** Refuses with a text of its own. */
export class DenyGuard implements CanActivate {
  canActivate(): boolean {
    ran.push('DenyGuard');
    throw new ForbiddenException('not for you');
  }
}

@Injectable()
export class Door {
  isOpen = true;
}

/** A module provides it, with what it depends on. */
@Injectable()
export class DoorGuard implements CanActivate {
  constructor(private readonly door: Door) {}

  canActivate(): boolean {
    ran.push('DoorGuard');
    return this.door.isOpen;
  }
}

/** What a guard that nothing can make depends on. */
@Injectable()
export class Nowhere {}

@Injectable()
export class HopelessGuard implements CanActivate {
  constructor(readonly nowhere: Nowhere) {}

  canActivate(): boolean {
    return true;
  }
}

/** A module provides it, a new one for each request. */
@Injectable({ scope: Scope.REQUEST })
export class ScopedGuard implements CanActivate {
  static made = 0;
  private readonly number = ++ScopedGuard.made;

  canActivate(): boolean {
    ran.push(`ScopedGuard ${this.number}`);
    return true;
  }
}

export const Roles = (...roles: string[]) => SetMetadata('roles', roles);

/** Global: looks for roles on the handler, as a guard of routes does. */
@Injectable()
export class RolesGuard implements CanActivate {
  constructor(private readonly reflector: Reflector) {}

  canActivate(context: ExecutionContext): boolean {
    if (context.getType<string>() !== 'mcp') return true;
    const roles = this.reflector.getAllAndOverride<string[] | undefined>('roles', [
      context.getHandler(),
      context.getClass(),
    ]);
    ran.push('RolesGuard');
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string | undefined> }>();
    return !roles || roles.includes(headers['x-role'] ?? '');
  }
}

/** Global: notes what goes through. */
@Injectable()
export class NotingInterceptor implements NestInterceptor {
  intercept(context: ExecutionContext, next: CallHandler): Observable<unknown> {
    if (context.getType<string>() === 'mcp')
      ran.push(`intercepts ${McpExecutionContext.create(context).getContext().name}`);
    return next.handle();
  }
}
