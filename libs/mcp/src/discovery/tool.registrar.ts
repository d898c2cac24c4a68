import { Inject, Injectable, Logger } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import type { McpToolOptions } from '../decorators/tool.decorator.js';
import { LOG_CONTEXT, MCP_SETTINGS } from '../mcp.constants.js';
import type { McpSettings } from '../mcp.settings.js';
import type { ToolAnnotations, ToolDescriptor } from '../protocol/result-encoder.js';
import type { ArgumentsContract, ContractOptions } from '../schema/arguments.contract.js';
import { argumentsContract } from '../schema/contract.factory.js';
import { outputContract, type OutputContract } from '../schema/output.contract.js';
import { schemaKind, type McpSchema } from '../schema/schema-kind.js';
import {
  DuplicateToolException,
  InvalidToolNameException,
  InvalidToolOptionException,
  RouteToolException,
  UnusableArgumentsException,
  UnusableOutputException,
} from './boot.exceptions.js';
import { HandlerExplorer, type FoundTool } from './handler.explorer.js';
import { bindParameters } from './parameter.binder.js';
import { assertProtected } from './protection.check.js';
import type { ToolRegistration } from './registration.js';
import { type ValidationPlan, validationPlan } from './validation.plan.js';

const LEGAL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const SAFE_NAME = /^[A-Za-z0-9_-]{1,64}$/;
const MAX_TIMEOUT = 2 ** 31 - 1;

/** Turns decorated methods into registrations, once; refuses every mistake it can see. */
@Injectable()
export class ToolRegistrar {
  private readonly logger = new Logger(LOG_CONTEXT);

  constructor(
    private readonly explorer: HandlerExplorer,
    private readonly config: ApplicationConfig,
    @Inject(MCP_SETTINGS) private readonly settings: McpSettings,
  ) {}

  /** The tools by name, in the order they were found. */
  async register(): Promise<Map<string, ToolRegistration>> {
    const tools = new Map<string, ToolRegistration>();
    for (const found of this.explorer.findTools()) {
      const tool = await this.registration(found);
      const { name } = tool.descriptor;
      const { where, host } = tool.location;
      const taken = tools.get(name)?.location;
      if (taken)
        throw new DuplicateToolException(name, placeOf(taken.where, taken.host), placeOf(where, host));
      tools.set(name, tool);
    }
    return tools;
  }

  private async registration({ location, options }: FoundTool): Promise<ToolRegistration> {
    const { where, method } = location;
    if (Reflect.hasMetadata('path', method)) throw new RouteToolException(where);
    const name = this.checkName(options.name ?? location.methodName, where);
    checkOptions(options, where);
    assertProtected(location, this.config);
    const input = bindParameters(location, options.input);
    const isDto = input !== undefined && schemaKind(input).kind === 'dto';
    const plan: ValidationPlan = isDto
      ? validationPlan(location, this.config, this.settings.validation)
      : { isByApp: false };
    const { unknownMembers } = options;
    const contract = await contractOf(input, { unknownMembers, view: plan.view }, where);
    const output = await outputOf(options.output, where);
    this.checkTaken(contract, where);
    return {
      location,
      descriptor: descriptorOf(name, options, contract, output),
      contract,
      isValidatedByApp: plan.isByApp,
      skipsValidationPipe: isDto && this.settings.validation === 'own',
      output,
      timeout: options.timeout,
    };
  }

  /** Mostly a class whose properties lack their decorators, and a client would never learn of them. */
  private checkTaken({ dto, schema }: ArgumentsContract, where: string): void {
    if (!dto || schema.properties !== undefined) return;
    this.logger.warn(`${where}: ${dto.name} has no decorated property, so the tool takes no arguments`);
  }

  private checkName(name: string, where: string): string {
    if (!LEGAL_NAME.test(name)) throw new InvalidToolNameException(name, where);
    if (!SAFE_NAME.test(name)) {
      this.logger.warn(
        `${where}: tool name "${name}" is legal, but some clients take only 1 to 64 letters, digits, "_" and "-"`,
      );
    }
    return name;
  }
}

function placeOf(where: string, host: { metatype: { name: string } }): string {
  return `${where} (${host.metatype.name})`;
}

const OPTIONS: readonly (keyof McpToolOptions)[] = [
  'name',
  'title',
  'description',
  'icons',
  'meta',
  'input',
  'output',
  'unknownMembers',
  'readOnly',
  'annotations',
  'timeout',
];
const HINTS: readonly (keyof ToolAnnotations)[] = [
  'readOnlyHint',
  'destructiveHint',
  'idempotentHint',
  'openWorldHint',
];

/** A name that nothing reads would do nothing. */
function checkNames(where: string, known: readonly string[], given: object, group = ''): void {
  const unknown = Object.keys(given).find((name) => !known.includes(name));
  if (unknown === undefined) return;
  throw new InvalidToolOptionException(
    where,
    `${group}${unknown}`,
    `is unknown; known are ${known.join(', ')}`,
  );
}

function checkOptions(options: McpToolOptions, where: string): void {
  checkNames(where, OPTIONS, options);
  checkNames(where, HINTS, options.annotations ?? {}, 'annotations.');
  const { timeout, icons, unknownMembers } = options;
  if (unknownMembers !== undefined && !['refuse', 'drop'].includes(unknownMembers))
    throw new InvalidToolOptionException(where, 'unknownMembers', "must be 'refuse' or 'drop'");
  if (timeout !== undefined && !(Number.isInteger(timeout) && timeout > 0 && timeout <= MAX_TIMEOUT)) {
    throw new InvalidToolOptionException(
      where,
      'timeout',
      `must be an integer from 1 to ${MAX_TIMEOUT}, in milliseconds`,
    );
  }
  for (const option of ['input', 'output'] as const) checkSchema(option, options[option], where);
  const bad = icons?.find(({ src }) => !/^(https|data):/.test(src));
  if (bad) {
    throw new InvalidToolOptionException(
      where,
      'icons',
      `has ${JSON.stringify(bad.src)}: clients load only https: and data: addresses`,
    );
  }
}

function checkSchema(option: 'input' | 'output', schema: McpSchema | undefined, where: string): void {
  if (schema === undefined) return;
  try {
    schemaKind(schema);
  } catch (error) {
    throw new InvalidToolOptionException(where, option, `is of no use: ${(error as Error).message}`);
  }
}

async function contractOf(
  input: McpSchema | undefined,
  options: ContractOptions,
  where: string,
): Promise<ArgumentsContract> {
  try {
    const contract = await argumentsContract(input, options);
    await contract.prepare();
    return contract;
  } catch (error) {
    throw new UnusableArgumentsException(where, error as Error);
  }
}

async function outputOf(schema: McpSchema | undefined, where: string): Promise<OutputContract | undefined> {
  if (schema === undefined) return undefined;
  try {
    const contract = await outputContract(schema);
    await contract.prepare();
    return contract;
  } catch (error) {
    throw new UnusableOutputException(where, error as Error);
  }
}

function descriptorOf(
  name: string,
  options: McpToolOptions,
  contract: ArgumentsContract,
  output: OutputContract | undefined,
): ToolDescriptor {
  const { title, description, icons, meta } = options;
  return {
    name,
    title,
    description,
    icons,
    meta,
    inputSchema: contract.schema,
    outputSchema: output?.schema,
    annotations: annotationsOf(options),
  };
}

function annotationsOf({ readOnly, annotations = {} }: McpToolOptions): ToolAnnotations {
  const readOnlyHint = annotations.readOnlyHint ?? readOnly ?? false;
  return {
    readOnlyHint,
    destructiveHint: annotations.destructiveHint ?? !readOnlyHint,
    idempotentHint: annotations.idempotentHint ?? readOnlyHint,
    openWorldHint: annotations.openWorldHint ?? true,
  };
}
