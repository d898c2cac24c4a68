import { randomUUID } from 'node:crypto';
import { Injectable, Logger } from '@nestjs/common';
import { LOG_CONTEXT } from '../mcp.constants.js';
import { McpAskError } from '../protocol/asking/ask-error.js';
import { errorResult, type ToolResult } from '../protocol/content.js';
import { ErrorCode } from '../protocol/error-codes.js';
import { isObject, quote, type RpcError } from '../protocol/json-rpc.js';
import type { McpEra } from '../protocol/versions.js';
import { McpError } from '../protocol/mcp-error.js';
import { InvalidArgumentsException } from './invalid-arguments.exception.js';
import { OutputMismatchException } from './output-mismatch.exception.js';
import { resourceNotFound } from '../protocol/resource-errors.js';
import { kindOf } from './mcp-execution-context.js';
import { isPipeFault } from './pipe-faults.js';
import { toPlain, UnserialisableResultException } from './plain-value.js';

/** What is called, as far as an error tells of it. */
export interface CalledHandler {
  readonly method: string;
  readonly name: string;
  readonly era: McpEra;
}

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

  /**
   * A thrown value as the error of what has no result that could tell of a failure: a resource, a prompt, a completion.
   * An `HttpException` below 500 keeps its message and has its status as code; one that a pipe threw tells of the
   * arguments, and a 404 of a resource that it is not there.
   */
  toMcpError(thrown: unknown, called: CalledHandler): McpError {
    if (safely(() => McpError.is(thrown))) return thrown as McpError;
    return safely(() => this.foreseenError(thrown, called)) ?? this.unforeseenError(thrown, called);
  }

  /** The fixed text for what nobody foresaw; the log has the rest under the same id. */
  unforeseenError(thrown: unknown, { method, name }: CalledHandler): McpError {
    const id = this.log(thrown, `${kindOf(method)} ${quote(name)}`);
    return new McpError(ErrorCode.InternalError, `The ${kindOf(method)} failed (reference ${id})`);
  }

  /** The error for an answer on the response itself, with a status from 400 to 499. */
  refusedError(status: number, text: string, { method, name, era }: CalledHandler): McpError {
    return status === 404 && kindOf(method) === 'resource'
      ? resourceNotFound(name, era, text)
      : new McpError(status, text);
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
      return errorResult(argumentsText(thrown, tool));
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
    const text = McpAskError.is(thrown) ? thrown.message : clientText(thrown);
    return text === undefined ? undefined : errorResult(text);
  }

  private foreseenError(thrown: unknown, called: CalledHandler): McpError | undefined {
    const isResource = kindOf(called.method) === 'resource';
    const invalid = (text: string) =>
      new McpError(ErrorCode.InvalidParams, text, isResource ? { uri: called.name } : undefined);
    if (thrown instanceof InvalidArgumentsException)
      return invalid(argumentsText(thrown, quote(called.name)));
    if (McpAskError.is(thrown)) return new McpError(ErrorCode.InternalError, thrown.message);
    const text = clientText(thrown);
    if (text === undefined) return undefined;
    return isPipeFault(thrown)
      ? invalid(text)
      : this.refusedError((thrown as HttpExceptionLike).getStatus(), text, called);
  }

  private log(thrown: unknown, where: string): string {
    const id = randomUUID();
    this.logger.error(`${where} failed (reference ${id}): ${describe(thrown)}`);
    return id;
  }
}

function argumentsText({ issues }: InvalidArgumentsException, called: string): string {
  return `Invalid arguments for ${called}:\n${issues.map((issue) => `- ${issue}`).join('\n')}`;
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
