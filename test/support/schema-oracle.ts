import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  CallToolResultSchema,
  CompleteResultSchema,
  DiscoverResultSchema,
  EmptyResultSchema,
  GetPromptResultSchema,
  InitializeResultSchema,
  JSONRPCMessageSchema,
  ListPromptsResultSchema,
  ListResourcesResultSchema,
  ListResourceTemplatesResultSchema,
  ListToolsResultSchema,
  ReadResourceResultSchema,
} from '@modelcontextprotocol/core';
import { Ajv as AjvDraft7, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import type { McpRevision } from 'nest-mcp';

type Json = Record<string, unknown>;

/** The result type of each method, by the names that the official schemas use in every revision. */
const RESULT_TYPES: Record<string, string> = {
  initialize: 'InitializeResult',
  ping: 'EmptyResult',
  'server/discover': 'DiscoverResult',
  'tools/list': 'ListToolsResult',
  'tools/call': 'CallToolResult',
  'resources/list': 'ListResourcesResult',
  'resources/templates/list': 'ListResourceTemplatesResult',
  'resources/read': 'ReadResourceResult',
  'resources/subscribe': 'EmptyResult',
  'resources/unsubscribe': 'EmptyResult',
  'prompts/list': 'ListPromptsResult',
  'prompts/get': 'GetPromptResult',
  'completion/complete': 'CompleteResult',
  'logging/setLevel': 'EmptyResult',
  'subscriptions/listen': 'SubscriptionsListenResult',
};

/** The notification types, by their methods. */
const NOTIFICATION_TYPES: Record<string, string> = {
  'notifications/progress': 'ProgressNotification',
  'notifications/message': 'LoggingMessageNotification',
  'notifications/cancelled': 'CancelledNotification',
  'notifications/tools/list_changed': 'ToolListChangedNotification',
  'notifications/prompts/list_changed': 'PromptListChangedNotification',
  'notifications/resources/list_changed': 'ResourceListChangedNotification',
  'notifications/resources/updated': 'ResourceUpdatedNotification',
  'notifications/subscriptions/acknowledged': 'SubscriptionsAcknowledgedNotification',
};

/** The types of what a server asks a client, by their methods. */
const REQUEST_TYPES: Record<string, string> = {
  ping: 'PingRequest',
  'elicitation/create': 'ElicitRequest',
  'sampling/createMessage': 'CreateMessageRequest',
  'roots/list': 'ListRootsRequest',
};

/** What may ask in rounds, and for what. */
const ASKING_METHODS = ['tools/call', 'prompts/get', 'resources/read'];
const INPUT_REQUESTS = ['elicitation/create', 'sampling/createMessage', 'roots/list'];

const ZOD_RESULTS: Record<string, { safeParse(value: unknown): { success: boolean; error?: unknown } }> = {
  InitializeResult: InitializeResultSchema,
  EmptyResult: EmptyResultSchema,
  DiscoverResult: DiscoverResultSchema,
  ListToolsResult: ListToolsResultSchema,
  CallToolResult: CallToolResultSchema,
  ListResourcesResult: ListResourcesResultSchema,
  ListResourceTemplatesResult: ListResourceTemplatesResultSchema,
  ReadResourceResult: ReadResourceResultSchema,
  ListPromptsResult: ListPromptsResultSchema,
  GetPromptResult: GetPromptResultSchema,
  CompleteResult: CompleteResultSchema,
};

const MODERN_ONLY = ['resultType', 'ttlMs', 'cacheScope'];
const SUBSCRIPTION = 'io.modelcontextprotocol/subscriptionId';
const SERVER_INFO = 'io.modelcontextprotocol/serverInfo';

/**
 * Judges every message that a server sends. With `MCP_SCHEMA_DIR` by the official JSON Schemas of each
 * revision, otherwise by the official packages' own parsers, which are laxer.
 */
export class SchemaOracle {
  private readonly validators = new Map<string, ValidateFunction>();
  private readonly directory = process.env['MCP_SCHEMA_DIR'];

  constructor() {
    if (!this.directory)
      process.stderr.write('MCP_SCHEMA_DIR is not set: the strict schema check is skipped\n');
  }

  /**
   * What is wrong with a message, if anything.
   * @param method the method that a response answers; undefined for what answers no readable request
   */
  fault(message: unknown, revision: McpRevision, method: string | undefined): string | undefined {
    const { result, error, id, method: notified } = message as Json;
    if (error !== undefined && id === null)
      return revision <= '2025-06-18' ? undefined : 'error with "id": null';
    if (error !== undefined && id === undefined && revision <= '2025-06-18') return undefined;
    return (
      this.check(envelopeType(message as Json, revision), message, revision) ??
      (typeof notified === 'string' ? this.methodFault(notified, message as Json, revision) : undefined) ??
      (result === undefined || method === undefined
        ? undefined
        : this.resultFault(result as Json, revision, method))
    );
  }

  private methodFault(method: string, message: Json, revision: McpRevision): string | undefined {
    return 'id' in message
      ? this.requestFault(method, message, revision)
      : this.notificationFault(method, message, revision);
  }

  private requestFault(method: string, message: Json, revision: McpRevision): string | undefined {
    if (revision >= '2026-07-28') return `the request ${method} reached a client of ${revision}`;
    const type = REQUEST_TYPES[method];
    return type ? this.check(type, message, revision) : `no request type is known for ${method}`;
  }

  private notificationFault(method: string, message: Json, revision: McpRevision): string | undefined {
    const type = NOTIFICATION_TYPES[method];
    if (!type) return `no notification type is known for ${method}`;
    const meta = (message['params'] as Json | undefined)?.['_meta'] as Json | undefined;
    if (revision < '2026-07-28' && meta && SUBSCRIPTION in meta)
      return `${SUBSCRIPTION} reached a client of ${revision}`;
    return this.check(type, message, revision);
  }

  private resultFault(result: Json, revision: McpRevision, method: string): string | undefined {
    const type = RESULT_TYPES[method];
    if (!type) return `no result type is known for ${method}`;
    if (revision < '2026-07-28') {
      const leaked = MODERN_ONLY.find((member) => member in result);
      const meta = result['_meta'] as Json | undefined;
      if (leaked ?? (meta && SERVER_INFO in meta))
        return `${leaked ?? SERVER_INFO} reached a client of ${revision}`;
    } else if (result['resultType'] === 'input_required') return this.roundFault(result, revision, method);
    else if (result['resultType'] !== 'complete') return 'resultType is missing';
    return this.check(type, result, revision);
  }

  /** What no schema says of a result that asks. Source: Multi Round-Trip Requests, 2026-07-28. */
  private roundFault(result: Json, revision: McpRevision, method: string): string | undefined {
    if (!ASKING_METHODS.includes(method)) return `${method} was answered by input_required`;
    const { inputRequests, requestState } = result;
    if (inputRequests === undefined && requestState === undefined)
      return 'neither inputRequests nor requestState';
    for (const request of Object.values((inputRequests ?? {}) as Record<string, Json>)) {
      const type = INPUT_REQUESTS.includes(request['method'] as string)
        ? REQUEST_TYPES[request['method'] as string]
        : undefined;
      if (!type) return `an input request is ${String(request['method'])}`;
      if ('id' in request || 'jsonrpc' in request) return 'an input request is a whole message';
      const fault = this.directory && this.check(type, request, revision);
      if (fault) return fault;
    }
    return this.check('InputRequiredResult', result, revision);
  }

  private check(type: string, value: unknown, revision: McpRevision): string | undefined {
    if (!this.directory) return zodFault(type, value);
    const validate = this.validator(type, revision);
    if (validate(value)) return undefined;
    return `${type} of ${revision}: ${JSON.stringify(validate.errors)} in ${JSON.stringify(value)}`;
  }

  private validator(type: string, revision: McpRevision): ValidateFunction {
    const key = `${revision}#${type}`;
    let validate = this.validators.get(key);
    if (!validate) {
      const schema = JSON.parse(readFileSync(join(this.directory!, `${revision}.json`), 'utf8')) as Json;
      const group = '$defs' in schema ? '$defs' : 'definitions';
      const options = { strict: false, validateFormats: false, allErrors: true };
      const ajv = group === '$defs' ? new Ajv2020(options) : new AjvDraft7(options);
      ajv.addSchema(schema, revision);
      validate = ajv.compile({ $ref: `${revision}#/${group}/${type}` });
      this.validators.set(key, validate);
    }
    return validate;
  }
}

function envelopeType(message: Json, revision: McpRevision): string {
  if ('method' in message) return 'id' in message ? 'JSONRPCRequest' : 'JSONRPCNotification';
  const isNew = revision >= '2025-11-25';
  if ('error' in message) return isNew ? 'JSONRPCErrorResponse' : 'JSONRPCError';
  return isNew ? 'JSONRPCResultResponse' : 'JSONRPCResponse';
}

function zodFault(type: string, value: unknown): string | undefined {
  const isEnvelope = type.startsWith('JSONRPC');
  const parsed = isEnvelope
    ? JSONRPCMessageSchema.safeParse(withSafeId(value as Json))
    : ZOD_RESULTS[type]?.safeParse(value);
  return !parsed || parsed.success ? undefined : `${type}: ${String(parsed.error)}`;
}

/** The packages' parsers take no integer beyond 2^53, which the schemas do. */
function withSafeId(message: Json): Json {
  return Number.isInteger(message['id']) && !Number.isSafeInteger(message['id'])
    ? { ...message, id: '' }
    : message;
}
