export const ROLES = ['viewer', 'agent', 'admin'] as const;

export type Role = (typeof ROLES)[number];

/** Who is calling: set on the request by BearerGuard. */
export interface User {
  id: string;
  name: string;
  role: Role;
}

export interface AuthenticatedRequest {
  headers: { authorization?: string };
  user?: User;
}
