import { Logger } from '@nestjs/common';
import { LOG_CONTEXT } from '../mcp.constants.js';
import type { McpContext } from '../protocol/call-context.js';
import { quote } from '../protocol/json-rpc.js';

/** A call that runs, until its line is written. */
export interface CallLogEntry {
  close(context: McpContext, outcome: string): void;
}

/** One line per call at debug level: method, name, caller, duration, outcome. Never arguments, bodies or tokens. */
export class CallLog {
  private readonly logger = new Logger(LOG_CONTEXT);

  /** Nothing where debug lines are off, so that a call costs no text then. */
  open(method: string, name: string): CallLogEntry | undefined {
    if (!isDebugging()) return undefined;
    const start = performance.now();
    return {
      close: (context, outcome) => {
        const ms = (performance.now() - start).toFixed(1);
        this.logger.debug(`${method} ${quote(name)} caller=${callerText(context)} ${ms} ms ${outcome}`);
      },
    };
  }

  /** A message that was refused before any call: the client's mistake, so no more than a debug line. */
  refused(transport: string, code: number, message: string): void {
    if (isDebugging()) this.logger.debug(`${transport} refused ${code} ${quote(message)}`);
  }
}

function callerText(context: McpContext): string {
  try {
    const caller = context.caller;
    return caller ? quote(caller.id) : 'none';
  } catch {
    return 'unknown';
  }
}

interface LoggerInternals {
  readonly staticInstanceRef?: { isLevelEnabled?(level: string): boolean };
  readonly logLevels?: readonly string[];
}

/** Nest 11 tells of every level as disabled where none was chosen, and writes all of them. */
function isDebugging(): boolean {
  if (Logger.isLevelEnabled('debug')) return true;
  const { staticInstanceRef: instance, logLevels } = Logger as unknown as LoggerInternals;
  return instance !== undefined && logLevels === undefined && instance.isLevelEnabled?.('debug') !== false;
}
