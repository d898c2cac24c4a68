import { Inject, Injectable } from '@nestjs/common';
import type { McpResourceOptions } from '../../decorators/resource.decorator.js';
import { MCP_SETTINGS } from '../../mcp.constants.js';
import type { McpSettings } from '../../mcp.settings.js';
import type { ResourceDescriptor } from '../../protocol/descriptors.js';
import { isObject } from '../../protocol/json-rpc.js';
import { uriFault } from '../../protocol/uri.js';
import { UriTemplate, UriTemplateException } from '../../protocol/uri-template.js';
import { templateFault, templateSchema } from '../../schema/forms/template-params.js';
import { textContract } from '../../schema/forms/text.contract.js';
import { UnusableArgumentsException } from '../boot.exceptions.js';
import { HandlerBinder, registrationOf } from '../handler.binder.js';
import { NAMED_OPTIONS, OptionChecks } from '../option.checks.js';
import type { HandlerLocation, ResourceRegistration } from '../registration.js';
import { placeOf, type Draft } from './draft.js';

/** All that may be said of a resource. */
export const RESOURCE_OPTIONS: readonly string[] = [
  ...NAMED_OPTIONS,
  'uri',
  'mimeType',
  'size',
  'params',
  'cache',
  'annotations',
  'timeout',
] satisfies (keyof McpResourceOptions)[];
const MEDIA_TYPE = /^[\w!#$&^.+-]+\/[\w!#$&^.+-]+(?:\s*;.*)?$/;
const ISO_DATE = /^\d{4}-\d\d-\d\d(?:T|$)/;
const ANNOTATIONS = ['audience', 'priority', 'lastModified'];

/** Turns methods into resources and templates of resources; refuses every mistake it can see. */
@Injectable()
export class ResourceRegistrar {
  constructor(
    private readonly binder: HandlerBinder,
    @Inject(MCP_SETTINGS) private readonly settings: McpSettings,
  ) {}

  draft(location: HandlerLocation, options: McpResourceOptions): Draft<ResourceRegistration> {
    const { where } = location;
    const checks = new OptionChecks('resource', where);
    checkOptions(options, checks);
    const template = templateOf(options.uri, checks);
    checkAgainst(template, options, checks);
    const bound = this.binder.bind(location, {
      kind: 'resource',
      option: template && 'params',
      input: options.params,
      fallback: template && templateSchema(template.variables),
    });
    return {
      // Of templates that match the same addresses only the first could ever be reached.
      key: template ? template.shape : options.uri,
      label: options.uri,
      place: placeOf(location),
      complete: async () => {
        const contract = textContract(await this.binder.contract(bound, 'resource'));
        const fault = template && templateFault(contract.schema, template.variables);
        if (fault) throw new UnusableArgumentsException(where, new Error(fault));
        return {
          ...registrationOf(bound, contract, options.timeout),
          descriptor: descriptorOf(options, options.name ?? location.methodName, template !== undefined),
          template,
          cache: { ...this.settings.cache, ...definedOf(options.cache) },
        };
      },
    };
  }
}

function definedOf(given: object = {}): object {
  return Object.fromEntries(Object.entries(given).filter(([, value]) => value !== undefined));
}

function checkOptions(options: McpResourceOptions, checks: OptionChecks): void {
  checks.names(RESOURCE_OPTIONS, options ?? {});
  if (typeof options?.uri !== 'string' || options.uri === '')
    checks.refuse('uri', "is required: write @McpResource({ uri: 'ticket://{id}' })");
  if (options.name !== undefined && (typeof options.name !== 'string' || options.name === ''))
    checks.refuse('name', 'must be a text that is not empty');
  checks.named(options);
  checks.timeout(options.timeout);
  checks.schema('params', options.params);
  const { mimeType, size, annotations, cache } = options;
  if (mimeType !== undefined && !(typeof mimeType === 'string' && MEDIA_TYPE.test(mimeType)))
    checks.refuse('mimeType', "must be a media type, such as 'text/markdown'");
  if (size !== undefined && !(Number.isSafeInteger(size) && size >= 0))
    checks.refuse('size', 'must be a number of bytes, 0 or more');
  checks.object('annotations', annotations);
  checks.names(ANNOTATIONS, annotations ?? {}, 'annotations.');
  const { priority, audience, lastModified } = annotations ?? {};
  if (priority !== undefined && !(typeof priority === 'number' && priority >= 0 && priority <= 1))
    checks.refuse('annotations.priority', 'must be a number from 0 to 1');
  if (audience !== undefined && !(Array.isArray(audience) && audience.every((one) => isAudience(one))))
    checks.refuse('annotations.audience', "must be a list of 'user' and 'assistant'");
  if (lastModified !== undefined && !isDate(lastModified))
    checks.refuse(
      'annotations.lastModified',
      "must be a date and time by ISO 8601, such as '2026-07-28T09:00:00Z'",
    );
  checks.object('cache', cache);
  checks.names(['ttlMs', 'scope'], cache ?? {}, 'cache.');
  if (cache?.ttlMs !== undefined && !(Number.isSafeInteger(cache.ttlMs) && cache.ttlMs >= 0))
    checks.refuse('cache.ttlMs', 'must be an integer of milliseconds, 0 or more');
  checks.oneOf('cache.scope', cache?.scope, ['public', 'private']);
}

function isDate(value: unknown): boolean {
  return typeof value === 'string' && ISO_DATE.test(value) && !Number.isNaN(Date.parse(value));
}

function isAudience(value: unknown): boolean {
  return value === 'user' || value === 'assistant';
}

function templateOf(uri: string, checks: OptionChecks): UriTemplate | undefined {
  if (!/[{}]/.test(uri)) {
    const fault = uriFault(uri);
    return fault === undefined ? undefined : checks.refuse('uri', `has ${JSON.stringify(uri)}: it ${fault}`);
  }
  try {
    return UriTemplate.parse(uri);
  } catch (error) {
    if (error instanceof UriTemplateException)
      return checks.refuse('uri', `has ${JSON.stringify(uri)}: ${error.message}`);
    throw error;
  }
}

function checkAgainst(
  template: UriTemplate | undefined,
  { size, params }: McpResourceOptions,
  checks: OptionChecks,
): void {
  if (template && size !== undefined)
    checks.refuse('size', 'is for a fixed address: the resources of a template each have their own');
  if (!template && params !== undefined)
    checks.refuse('params', 'is for a template: a fixed address has no variables, write them in braces');
}

function descriptorOf(options: McpResourceOptions, name: string, isTemplate: boolean): ResourceDescriptor {
  const { uri, title, description, icons, meta, mimeType, size, annotations } = options;
  return {
    uri,
    isTemplate,
    name,
    title,
    description,
    icons,
    meta: isObject(meta) ? meta : undefined,
    mimeType,
    size,
    annotations,
  };
}
