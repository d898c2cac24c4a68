import { Injectable } from '@nestjs/common';
import { type Role, ROLES, type User } from './user.js';

const DEMO_TOKENS = 'demo-viewer:viewer:Vera, demo-agent:agent:Maya, demo-admin:admin:Jonas';

/**
 * Who a bearer token belongs to. `HELPDESK_TOKENS` lists them as `token:role:name`, separated by commas;
 * without it the demo tokens hold, though never in production.
 */
@Injectable()
export class TokensService {
  private readonly users: ReadonlyMap<string, User>;

  constructor(env: NodeJS.ProcessEnv) {
    const configured = env.HELPDESK_TOKENS?.trim();
    if (!configured && env.NODE_ENV === 'production') {
      throw new Error('Set HELPDESK_TOKENS="token:role:name,…": the demo tokens do not work in production');
    }
    this.users = parseTokens(configured || DEMO_TOKENS);
  }

  userOf(token: string): User | undefined {
    return this.users.get(token);
  }
}

function parseTokens(list: string): Map<string, User> {
  const users = new Map<string, User>();
  // Errors give an entry's position, not its text: tokens do not belong in a log.
  for (const [index, entry] of list.split(',').entries()) {
    const [token, role, name, ...rest] = entry.split(':').map((part) => part.trim());
    if (!token || !name || !isRole(role) || rest.length > 0) {
      throw new Error(
        `HELPDESK_TOKENS: entry ${index + 1} is not token:role:name (roles: ${ROLES.join(', ')})`,
      );
    }
    if (users.has(token)) {
      throw new Error(`HELPDESK_TOKENS: entry ${index + 1} repeats a token`);
    }
    users.set(token, { id: name.toLowerCase().replace(/\s+/g, '-'), name, role });
  }
  return users;
}

function isRole(text: string | undefined): text is Role {
  return ROLES.some((role) => role === text);
}
