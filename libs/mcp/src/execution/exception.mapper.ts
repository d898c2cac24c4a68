import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { LOG_CONTEXT } from '../mcp.constants.js';
import { errorResult, type ToolResult } from '../protocol/content.js';
import { ErrorCode } from '../protocol/error-codes.js';
import { isObject, type RpcError } from '../protocol/json-rpc.js';
import { McpError } from '../protocol/mcp-error.js';
import { InvalidArgumentsException } from './invalid-arguments.exception.js';
import { OutputMismatchException } from './output-mismatch.exception.js';
import { toPlain, UnserialisableResultException } from './plain-value.js';

/** What is thrown in a handler's pipeline, as what the client reads; the rest of it goes to the log alone. */
@Injectable()
export class ExceptionMapper {
  private readonly logger = new Logger(LOG_CONTEXT);

  /**
   * A thrown value as a result that a model can act on. An `HttpException` below 500 keeps its message;
   * anything else becomes a fixed text with a correlation id.
   *
   * @throws McpError as it is: it chooses the JSON-RPC error itself
   */
  toToolResult(thrown: unknown, tool: string): ToolResult {
    if (safely(() => McpError.is(thrown))) throw thrown;
    return safely(() => this.foreseen(thrown, tool)) ?? this.unexpected(thrown, tool);
  }

  /** The fixed text for what nobody foresaw; the log has the rest under the same id. */
  unexpected(thrown: unknown, tool: string): ToolResult {
    return errorResult(`The tool failed (reference ${this.log(thrown, tool)})`);
  }

  /** The JSON-RPC form of a failure outside a handler. */
  toRpcError(thrown: unknown, method: string): RpcError {
    return {
      code: ErrorCode.InternalError,
      message: `Internal error (reference ${this.log(thrown, method)})`,
    };
  }

  private foreseen(thrown: unknown, tool: string): ToolResult | undefined {
    if (thrown instanceof InvalidArgumentsException) {
      return errorResult(
        `Invalid arguments for ${tool}:\n${thrown.issues.map((issue) => `- ${issue}`).join('\n')}`,
      );
    }
    if (thrown instanceof UnserialisableResultException) {
      const id = this.log(thrown, tool);
      return errorResult(`The tool returned a value that JSON cannot carry (reference ${id})`);
    }
    if (thrown instanceof OutputMismatchException) {
      const id = randomUUID();
      this.logger.error(`${tool} failed (reference ${id}): ${thrown.message}`);
      return errorResult(`The output does not match the tool's output schema (reference ${id})`);
    }
    const text = clientText(thrown);
    return text === undefined ? undefined : errorResult(text);
  }

  private log(thrown: unknown, where: string): string {
    const id = randomUUID();
    this.logger.error(`${where} failed (reference ${id}): ${describe(thrown)}`);
    return id;
  }
}

interface HttpExceptionLike {
  getStatus(): number;
  getResponse(): unknown;
}

/** By shape, so that an exception of another copy of Nest counts as well. */
function isHttpException(thrown: unknown): thrown is HttpExceptionLike & Error {
  return (
    thrown instanceof Error &&
    typeof (thrown as Partial<HttpExceptionLike>).getStatus === 'function' &&
    typeof (thrown as Partial<HttpExceptionLike>).getResponse === 'function'
  );
}

function clientText(thrown: unknown): string | undefined {
  if (!isHttpException(thrown) || thrown.getStatus() >= 500) return undefined;
  const body = thrown.getResponse();
  if (typeof body === 'string') return body;
  const message = (body as { message?: unknown } | null)?.message;
  if (typeof message === 'string') return message;
  if (Array.isArray(message))
    return linesOf(message)
      .map((line) => `- ${line}`)
      .join('\n');
  // The exception's own message is made of the name of its class here.
  return body === null || body === undefined ? thrown.message : jsonText(body);
}

/** What class-validator's own error has, of any of its copies. */
interface ValidationErrorLike {
  property: string;
  constraints?: Record<string, string>;
  children?: unknown[];
}

function isValidationError(line: unknown): line is ValidationErrorLike {
  return (
    isObject(line) && typeof line['property'] === 'string' && ('constraints' in line || 'children' in line)
  );
}

/** One text for each fault. As text, a `ValidationError` would name its class and show the value. */
function linesOf(faults: readonly unknown[], path = ''): string[] {
  return faults.flatMap((fault) => {
    if (typeof fault === 'string') return [path === '' ? fault : `${path}.${fault}`];
    if (!isValidationError(fault)) return [jsonText(fault)];
    return [
      ...linesOf(Object.values(fault.constraints ?? {}), path),
      ...linesOf(fault.children ?? [], path === '' ? fault.property : `${path}.${fault.property}`),
    ];
  });
}

function jsonText(value: unknown): string {
  return JSON.stringify(toPlain(value)) ?? '';
}

/** Even a thrown value whose members throw must not take the call with it. */
function safely<T>(look: () => T): T | undefined {
  try {
    return look();
  } catch {
    return undefined;
  }
}

const MAX_CAUSES = 5;

/** For the log: the stack, and those of its causes. */
function describe(thrown: unknown): string {
  const lines: string[] = [];
  let at = thrown;
  do {
    lines.push(safely(() => shown(at)) ?? 'thrown value that cannot be shown');
    at = safely(() => (at instanceof Error ? at.cause : undefined));
  } while (at !== undefined && lines.length < MAX_CAUSES);
  return lines.join('\ncaused by: ');
}

function shown(thrown: unknown): string {
  return thrown instanceof Error ? (thrown.stack ?? String(thrown)) : `thrown: ${String(thrown)}`;
}
