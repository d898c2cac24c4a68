import { annotationsFor } from './content.js';
import type { PromptDescriptor, ResourceDescriptor, ToolAnnotations, ToolDescriptor } from './descriptors.js';
import { isObject } from './json-rpc.js';
import { eraOf, type McpRevision } from './versions.js';

/** Whether what is named has a `title`, and types have `_meta`. */
export const hasTitle = (revision: McpRevision): boolean => revision >= '2025-06-18';
export const hasIcons = (revision: McpRevision): boolean => revision >= '2025-11-25';

/** An item of `tools/list`. Source: Tools, all revisions. */
export function toolItem(tool: ToolDescriptor, revision: McpRevision): string {
  const { name, title, description, icons, annotations, meta } = tool;
  return JSON.stringify({
    name,
    title: hasTitle(revision) ? title : undefined,
    description,
    icons: hasIcons(revision) ? icons : undefined,
    ...schemasFor(tool, revision),
    annotations: hintsFor(annotations, title, revision),
    _meta: hasTitle(revision) ? meta : undefined,
  });
}

/** An item of `resources/list`, or of `resources/templates/list`. Source: Resources, all revisions. */
export function resourceItem(resource: ResourceDescriptor, revision: McpRevision): string {
  const { uri, isTemplate, name, title, description, icons, mimeType, annotations, size, meta } = resource;
  return JSON.stringify({
    [isTemplate ? 'uriTemplate' : 'uri']: uri,
    name,
    title: hasTitle(revision) ? title : undefined,
    description,
    icons: hasIcons(revision) ? icons : undefined,
    mimeType,
    annotations: annotationsFor(annotations, revision),
    size: isTemplate ? undefined : size,
    _meta: hasTitle(revision) ? meta : undefined,
  });
}

/** An item of `prompts/list`. Source: Prompts, all revisions. */
export function promptItem(prompt: PromptDescriptor, revision: McpRevision): string {
  const isTitled = hasTitle(revision);
  const { name, title, description, icons, meta } = prompt;
  const args = prompt.arguments.map((argument) => ({
    name: argument.name,
    title: isTitled ? argument.title : undefined,
    description: argument.description,
    required: argument.required,
  }));
  return JSON.stringify({
    name,
    title: isTitled ? title : undefined,
    description,
    icons: hasIcons(revision) ? icons : undefined,
    arguments: args.length > 0 ? args : undefined,
    _meta: isTitled ? meta : undefined,
  });
}

type Schema = Record<string, unknown>;

function schemasFor(
  tool: ToolDescriptor,
  revision: McpRevision,
): { inputSchema: Schema; outputSchema: Schema | undefined } {
  const { inputSchema, legacyInputSchema, outputSchema, legacyOutputSchema } = tool;
  if (eraOf(revision) === 'modern') return { inputSchema, outputSchema };
  return {
    inputSchema: withObjectProperties(legacyInputSchema),
    outputSchema:
      legacyOutputSchema && revision >= '2025-06-18' ? withObjectProperties(legacyOutputSchema) : undefined,
  };
}

/** The legacy revisions know no `true` or `false` as the schema of a property, so their clients refuse the list. */
function withObjectProperties(schema: Schema): Schema {
  const { properties } = schema;
  if (!isObject(properties)) return schema;
  const members = Object.entries(properties);
  if (!members.some(([, member]) => typeof member === 'boolean')) return schema;
  const written = members.map(([name, member]) => [name, member === true ? {} : member || { not: {} }]);
  return { ...schema, properties: Object.fromEntries(written) as unknown };
}

function hintsFor(annotations: ToolAnnotations, title: string | undefined, revision: McpRevision): unknown {
  if (revision === '2024-11-05') return undefined;
  return revision === '2025-03-26' && title !== undefined ? { title, ...annotations } : annotations;
}
