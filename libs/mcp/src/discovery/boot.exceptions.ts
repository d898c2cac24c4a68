import { McpBootException } from '../mcp.exceptions.js';

/** Two handlers of one server claim a name. */
export class DuplicateToolException extends McpBootException {
  constructor(name: string, first: string, second: string) {
    super(
      `Tool "${name}" is declared twice: by ${first} and by ${second}. ` +
        `Give one of them another name, @McpTool({ name: '…' }); a class provided by two modules counts twice, ` +
        `provide it in one and export it.`,
    );
  }
}

/** A name that clients would refuse. Source: Tools, Tool Names, 2025-11-25. */
export class InvalidToolNameException extends McpBootException {
  constructor(name: string, where: string) {
    super(
      `${where}: ${JSON.stringify(name)} cannot be a tool's name. ` +
        `Write 1 to 128 letters, digits, "_", "-" or ".", @McpTool({ name: '…' }).`,
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

/** A member of `McpToolOptions` that cannot be meant. */
export class InvalidToolOptionException extends McpBootException {
  constructor(where: string, option: string, problem: string) {
    super(`${where}: @McpTool() option \`${option}\` ${problem}`);
  }
}

/** `@McpTool()` stands on a route. */
export class RouteToolException extends McpBootException {
  constructor(where: string) {
    super(
      `${where} is a route: a route cannot be a tool. ` +
        `Move @McpTool() to a method of its own, in this class or in a provider, that calls the same service.`,
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
