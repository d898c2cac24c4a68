import { isObject } from './json-rpc.js';

/** Levels of log messages to the client, least first. Source: Logging, all revisions; RFC 5424. */
export const LOG_LEVELS = [
  'debug',
  'info',
  'notice',
  'warning',
  'error',
  'critical',
  'alert',
  'emergency',
] as const;

/** @publicApi */
export type McpLogLevel = (typeof LOG_LEVELS)[number];

/**
 * Sends log messages to the client that made the call, one function for each level.
 *
 * `data` is anything JSON can carry, an `Error` by name and message; `logger` names what it comes from. Never put
 * credentials or personal data into it.
 * @publicApi
 */
export type McpClientLog = Readonly<Record<McpLogLevel, (data: unknown, logger?: string) => void>>;

export function readLogLevel(value: unknown): McpLogLevel | undefined {
  return LOG_LEVELS.find((level) => level === value);
}

/** Whether a message of that level is wanted where the client asked for `threshold`. */
export function isWanted(level: McpLogLevel, threshold: McpLogLevel | undefined): boolean {
  return threshold !== undefined && LOG_LEVELS.indexOf(level) >= LOG_LEVELS.indexOf(threshold);
}

/** The functions of a log, each bound to its level. */
export function clientLog(
  write: (level: McpLogLevel, data: unknown, logger: string | undefined) => void,
): McpClientLog {
  const entries = LOG_LEVELS.map((level) => [
    level,
    (data: unknown, logger?: string) => write(level, data, logger),
  ]);
  return Object.freeze(Object.fromEntries(entries) as McpClientLog);
}

/** Characters that the data of one message may have. */
const MAX_DATA = 256 * 1024;

/**
 * The params of `notifications/message` as JSON text. What JSON cannot carry, and what is too much for a message, is
 * said to be so, and never thrown.
 *
 * @param plainOf takes out of an instance what is hidden from clients
 */
export function logParams(
  level: McpLogLevel,
  data: unknown,
  logger: string | undefined,
  plainOf: (data: unknown) => unknown,
): string {
  const name = typeof logger === 'string' ? `,"logger":${JSON.stringify(logger)}` : '';
  return `{"level":"${level}"${name},"data":${jsonOf(data, plainOf)}}`;
}

function jsonOf(data: unknown, plainOf: (data: unknown) => unknown): string {
  try {
    const json = JSON.stringify(data instanceof Error ? data : plainOf(data), withErrors) ?? 'null';
    return json.length > MAX_DATA ? '"[data too large for a log message]"' : json;
  } catch {
    return '"[data that JSON cannot carry]"';
  }
}

function withErrors(_name: string, value: unknown): unknown {
  if (value instanceof Error) return { name: value.name, message: value.message };
  return typeof value === 'bigint' ? String(value) : value;
}

/** The level that the request asks for in its metadata. Source: Logging, 2026-07-28. */
export const META_LOG_LEVEL = 'io.modelcontextprotocol/logLevel';

/** Nothing where the request asks for no messages, `undefined` in `level`; a level that is none is a fault. */
export function levelOfRequest(meta: unknown): { level: McpLogLevel | undefined } | undefined {
  const asked = isObject(meta) ? meta[META_LOG_LEVEL] : undefined;
  if (asked === undefined) return { level: undefined };
  const level = readLogLevel(asked);
  return level && { level };
}
