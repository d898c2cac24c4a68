import { type CanActivate, type ExecutionContext, Injectable } from '@nestjs/common';

/** Stands for the guards that an application has: it knows staff by a header. */
@Injectable()
export class StaffGuard implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    const { headers } = context.switchToHttp().getRequest<{ headers: Record<string, string> }>();
    return headers['x-staff'] === 'yes';
  }
}
