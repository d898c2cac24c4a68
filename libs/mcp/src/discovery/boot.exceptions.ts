import { DECORATOR_OF, type HandlerMark } from '../decorators/handler.mark.js';
import { McpBootException } from '../mcp.exceptions.js';

type HandlerKind = HandlerMark['kind'];

/** Two handlers of one server claim a name or an address. */
export class DuplicateHandlerException extends McpBootException {
  /** @param taken how the first was declared: templates of one shape need not have one text */
  constructor(kind: HandlerKind, name: string, first: string, second: string, taken = name) {
    super(
      (name === taken
        ? `${capitalised(kind)} "${name}" is declared twice: by ${first} and by ${second}. `
        : `${capitalised(kind)} "${name}" of ${second} matches the same addresses as "${taken}" of ${first}, ` +
          'and would never be read. ') +
        `${remedy(kind)}; a class provided by two modules counts twice, provide it in one and export it.`,
    );
  }
}

/** A name that clients would refuse. Source: Tools, Tool Names, 2025-11-25. */
export class InvalidNameException extends McpBootException {
  constructor(kind: HandlerKind, name: string, where: string) {
    super(
      `${where}: ${JSON.stringify(name)} cannot be a ${kind}'s name. ` +
        `Write 1 to 128 letters, digits, "_", "-" or ".", ${DECORATOR_OF[kind].replace(')', "{ name: '…' })")}.`,
    );
  }
}

/** A parameter that nothing can be bound to. */
export class UnusableParameterException extends McpBootException {
  constructor(where: string, index: number, problem: string) {
    super(`${where}, parameter ${index + 1}: ${problem}`);
  }
}

/** The arguments' class or schema cannot be published. */
export class UnusableArgumentsException extends McpBootException {
  constructor(where: string, cause: Error) {
    super(`${where}: ${cause.message}`, { cause });
  }
}

/** The class or schema of the option `output` cannot be published. */
export class UnusableOutputException extends McpBootException {
  constructor(where: string, cause: Error) {
    super(`${where}, output: ${cause.message}`, { cause });
  }
}

/** `validation: 'app'`, and the application validates nothing here. */
export class UnvalidatedHandlerException extends McpBootException {
  constructor(where: string) {
    super(
      `${where}: McpModule has validation: 'app', but no pipe of the application reaches this handler. ` +
        "Bind one, app.useGlobalPipes(new ValidationPipe({ transform: true })), or write validation: 'auto'.",
    );
  }
}

/** An option of a decorator, or of the registry, that cannot be meant. */
export class InvalidHandlerOptionException extends McpBootException {
  constructor(kind: HandlerKind, where: string, option: string, problem: string) {
    super(`${where}: ${DECORATOR_OF[kind]} option \`${option}\` ${problem}`);
  }
}

/** A decorator stands on a route. */
export class RouteHandlerException extends McpBootException {
  constructor(kind: HandlerKind, where: string) {
    super(
      `${where} is a route: a route cannot be a ${kind}. ` +
        `Move ${DECORATOR_OF[kind]} to a method of its own, in this class or in a provider, that calls the same service.`,
    );
  }
}

/** `@McpCompletion()` names what is not there. */
export class UnknownCompletionTargetException extends McpBootException {
  constructor(where: string, problem: string) {
    super(`${where}: @McpCompletion() ${problem}`);
  }
}

/** What is added at run time as a handler cannot be called. */
export class UnusableHandlerException extends McpBootException {
  constructor(where: string, handler: unknown) {
    super(`${where}: its handler is ${handler === null ? 'null' : typeof handler}: give a function`);
  }
}

/** A guard of a handler that is added at run time cannot be had. */
export class UnknownGuardException extends McpBootException {
  constructor(where: string, guard: string, cause: unknown) {
    super(
      `${where}: the guard ${guard} cannot be made. Provide it in a module: providers: [${guard}]. ` +
        (cause instanceof Error ? cause.message : String(cause)),
      { cause },
    );
  }
}

/** Guards or other enhancers of a handler would be skipped silently. */
export class UnprotectedHandlerException extends McpBootException {
  constructor(where: string, problem: string) {
    super(`${where} cannot be protected as declared: ${problem}`);
  }
}

/** The module is imported without its options, or twice. */
export class ModuleImportException extends McpBootException {}

function capitalised(kind: HandlerKind): string {
  return `${kind[0]!.toUpperCase()}${kind.slice(1)}`;
}

/** How two that claim the same are told apart. */
function remedy(kind: HandlerKind): string {
  if (kind === 'completion') return 'Leave one of them out';
  if (kind === 'resource') return "Give one of them another address, @McpResource({ uri: '…' })";
  return `Give one of them another name, ${DECORATOR_OF[kind].replace(')', "{ name: '…' })")}`;
}
