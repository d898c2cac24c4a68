import type { McpCaller } from '../protocol/call-origin.js';
import { ErrorCode } from '../protocol/error-codes.js';
import { isObject } from '../protocol/json-rpc.js';
import { McpError } from '../protocol/mcp-error.js';
import { InvalidOptionException } from './option-checks.js';

/** Tells who is calling from a request that has passed the guards. */
export type CallerOf = (request: unknown) => McpCaller | undefined;

/** What is no caller would leave sessions unbound. */
export function checkedCaller(caller: (request: unknown) => McpCaller | undefined): CallerOf {
  if (typeof caller !== 'function')
    throw new InvalidOptionException(
      'caller',
      'must be a function: (request) => ({ id: request.user.name })',
    );
  return (request) => {
    const found: unknown = caller(request);
    if (found === undefined || found === null) return undefined;
    if (isObject(found) && typeof found['id'] === 'string' && found['id'] !== '')
      return found as unknown as McpCaller;
    throw new McpError(
      ErrorCode.InternalError,
      'Cannot tell who is calling: the option `caller` of McpModule has to return { id } with a text, or undefined.',
    );
  };
}

export function defaultCaller(request: unknown): McpCaller | undefined {
  const user = isObject(request) ? request['user'] : undefined;
  if (user === undefined || user === null) return undefined;
  const { sub, id, userId } = user as Record<string, unknown>;
  const found = sub ?? id ?? userId;
  if (typeof found === 'string' || typeof found === 'number' || typeof found === 'bigint')
    return { id: String(found) };
  throw new McpError(
    ErrorCode.InternalError,
    'Cannot tell who is calling: request.user has none of sub, id and userId. Set the option `caller` of McpModule.',
  );
}
