import { SetMetadata } from '@nestjs/common';
import type { Role } from './user.js';

export const ROLES_KEY = 'roles';

/** Without it, every known caller may call the handler. */
export const Roles = (...roles: Role[]) => SetMetadata(ROLES_KEY, roles);
