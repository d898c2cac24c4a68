import { Injectable } from '@nestjs/common';
import type { McpToolOptions } from '../../decorators/tool.decorator.js';
import type { ToolAnnotations, ToolDescriptor } from '../../protocol/descriptors.js';
import type { ArgumentsContract } from '../../schema/arguments.contract.js';
import { freezeSchema } from '../../schema/json-schema.js';
import { mirroredArguments, withoutMirrors, type MirroredArgument } from '../../schema/mirrored-arguments.js';
import { outputContract, type OutputContract } from '../../schema/output.contract.js';
import type { McpSchema } from '../../schema/schema-kind.js';
import { UnusableArgumentsException, UnusableOutputException } from '../boot.exceptions.js';
import { HandlerBinder, registrationOf } from '../handler.binder.js';
import { NAMED_OPTIONS, OptionChecks } from '../option.checks.js';
import type { HandlerLocation, ToolRegistration } from '../registration.js';
import { checkedName, placeOf, type Draft } from './draft.js';

/** All that may be said of a tool. */
export const TOOL_OPTIONS: readonly string[] = [
  ...NAMED_OPTIONS,
  'input',
  'output',
  'unknownMembers',
  'readOnly',
  'annotations',
  'timeout',
] satisfies (keyof McpToolOptions)[];
const HINTS: readonly (keyof ToolAnnotations)[] = [
  'readOnlyHint',
  'destructiveHint',
  'idempotentHint',
  'openWorldHint',
];

/** Turns methods into tools; refuses every mistake it can see. */
@Injectable()
export class ToolRegistrar {
  constructor(private readonly binder: HandlerBinder) {}

  draft(location: HandlerLocation, options: McpToolOptions): Draft<ToolRegistration> {
    const { where } = location;
    const name = checkedName('tool', options.name ?? location.methodName, where, (message) =>
      this.binder.warn(message),
    );
    checkOptions(options, where);
    const bound = this.binder.bind(location, { kind: 'tool', option: 'input', input: options.input });
    return {
      key: name,
      label: name,
      place: placeOf(location),
      complete: async () => {
        const contract = await this.binder.contract(bound, 'tool', options.unknownMembers);
        const output = await outputOf(options.output, where);
        return {
          ...registrationOf(bound, contract, options.timeout),
          descriptor: descriptorOf(name, options, contract, output),
          output,
          mirrored: mirroredOf(contract, where),
        };
      },
    };
  }
}

function checkOptions(options: McpToolOptions, where: string): void {
  const checks = new OptionChecks('tool', where);
  checks.names(TOOL_OPTIONS, options);
  checks.named(options);
  checks.object('annotations', options.annotations);
  checks.names(HINTS, options.annotations ?? {}, 'annotations.');
  checks.flags(options.annotations ?? {}, HINTS, 'annotations.');
  checks.flags({ readOnly: options.readOnly }, ['readOnly']);
  checks.oneOf('unknownMembers', options.unknownMembers, ['refuse', 'drop']);
  checks.timeout(options.timeout);
  checks.schema('input', options.input);
  checks.schema('output', options.output);
}

function mirroredOf({ schema }: ArgumentsContract, where: string): MirroredArgument[] {
  try {
    return mirroredArguments(schema);
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
    legacyInputSchema: freezeSchema(withoutMirrors(contract.schema)),
    outputSchema: output?.schema,
    legacyOutputSchema: output?.legacySchema,
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
