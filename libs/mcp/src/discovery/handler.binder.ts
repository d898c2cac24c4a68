import { Inject, Injectable, Logger } from '@nestjs/common';
import { ApplicationConfig } from '@nestjs/core';
import { LOG_CONTEXT, MCP_SETTINGS } from '../mcp.constants.js';
import type { McpSettings } from '../mcp.settings.js';
import type { ArgumentsContract } from '../schema/arguments.contract.js';
import { argumentsContract } from '../schema/contract.factory.js';
import { schemaKind, type McpSchema } from '../schema/schema-kind.js';
import { RouteHandlerException, UnusableArgumentsException } from './boot.exceptions.js';
import { bindCompletion, bindParameters, type ParameterPlan } from './parameter.binder.js';
import { assertProtected } from './protection.check.js';
import type { HandlerLocation } from './registration.js';
import { validationPlan, type ValidationPlan } from './validation.plan.js';

/** A handler whose parameters are bound and whose protection is sure; its contract is still to be made. */
export interface BoundHandler {
  readonly location: HandlerLocation;
  readonly input: McpSchema | undefined;
  readonly plan: ValidationPlan;
  readonly isValidatedByApp: boolean;
  readonly skipsValidationPipe: boolean;
}

/** What all kinds of handlers have in common at start: binding, protection, the contract of the arguments. */
@Injectable()
export class HandlerBinder {
  private readonly logger = new Logger(LOG_CONTEXT);

  constructor(
    private readonly config: ApplicationConfig,
    @Inject(MCP_SETTINGS) private readonly settings: McpSettings,
  ) {}

  bind(location: HandlerLocation, parameters: ParameterPlan): BoundHandler {
    this.assertFit(location, parameters.kind);
    const input = bindParameters(location, parameters);
    const isDto = input !== undefined && schemaKind(input).kind === 'dto';
    const plan: ValidationPlan = isDto
      ? validationPlan(location, this.config, this.settings.validation)
      : { isByApp: false };
    return {
      location,
      input,
      plan,
      isValidatedByApp: plan.isByApp,
      skipsValidationPipe: isDto && this.settings.validation === 'own',
    };
  }

  /** Binds a handler that completes an argument. */
  bindCompletion(location: HandlerLocation): BoundHandler {
    this.assertFit(location, 'completion');
    bindCompletion(location);
    const plan = { isByApp: false };
    return { location, input: undefined, plan, isValidatedByApp: false, skipsValidationPipe: false };
  }

  private assertFit(location: HandlerLocation, kind: ParameterPlan['kind']): void {
    if (Reflect.hasMetadata('path', location.method)) throw new RouteHandlerException(kind, location.where);
    assertProtected(location, this.config);
  }

  async contract(
    { location: { where }, input, plan }: BoundHandler,
    kind: string,
    unknownMembers?: 'refuse' | 'drop',
  ): Promise<ArgumentsContract> {
    const contract = await this.made(input, where, { unknownMembers, view: plan.view });
    // Mostly a class whose properties lack their decorators, and a client would never learn of them.
    if (contract.dto && contract.schema.properties === undefined)
      this.logger.warn(
        `${where}: ${contract.dto.name} has no decorated property, so the ${kind} takes no arguments`,
      );
    return contract;
  }

  warn(message: string): void {
    this.logger.warn(message);
  }

  private async made(
    input: McpSchema | undefined,
    where: string,
    options: Parameters<typeof argumentsContract>[1],
  ): Promise<ArgumentsContract> {
    try {
      const contract = await argumentsContract(input, options);
      await contract.prepare();
      return contract;
    } catch (error) {
      throw new UnusableArgumentsException(where, error as Error);
    }
  }
}

/** The part of a registration that a bound handler gives. */
export function registrationOf(
  bound: BoundHandler,
  contract: ArgumentsContract,
  timeout: number | undefined,
) {
  const { location, isValidatedByApp, skipsValidationPipe } = bound;
  return { location, contract, isValidatedByApp, skipsValidationPipe, timeout };
}
