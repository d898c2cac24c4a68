import { levelOfRequest, META_LOG_LEVEL, LOG_LEVELS, type McpLogLevel } from './client-log.js';
import { ErrorCode } from './error-codes.js';
import type { JsonObject, RequestMessage, RpcError } from './json-rpc.js';
import { isObject } from './json-rpc.js';
import { readProgressToken } from './request-meta.js';

/** What a request says of how it is to be served, beside what it asks for. */
export interface CallOptions {
  readonly meta: JsonObject;
  readonly progressToken: string | undefined;
  readonly logLevel: McpLogLevel | undefined;
}

/** Reads the metadata that every request may carry. Sources: Progress, all revisions; Logging, 2026-07-28. */
export function readCallOptions({ params, source }: RequestMessage): CallOptions | RpcError {
  const meta = params?.['_meta'];
  const progressToken = readProgressToken(params, source.text);
  if (typeof progressToken === 'object') return progressToken;
  const asked = levelOfRequest(meta);
  if (!asked)
    return {
      code: ErrorCode.InvalidParams,
      message: `Invalid params: params._meta["${META_LOG_LEVEL}"] must be one of ${LOG_LEVELS.join(', ')}`,
    };
  return { meta: isObject(meta) ? meta : {}, progressToken, logLevel: asked.level };
}
