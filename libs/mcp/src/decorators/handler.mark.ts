import 'reflect-metadata';
import type { McpIcon } from '../protocol/descriptors.js';
import type { McpCompletionOf } from './completion.decorator.js';
import { ENTRY_PROVIDER_METADATA, HANDLER_METADATA } from './metadata-keys.js';
import type { McpPromptOptions } from './prompt.decorator.js';
import type { McpResourceOptions } from './resource.decorator.js';
import type { McpToolOptions } from './tool.decorator.js';

/** What tools, resources and prompts have in common. @publicApi */
export interface McpNamed {
  /** The name for programs; default: the method's name. */
  name?: string;
  /** The name for people. */
  title?: string;
  /** What it is or does, for the model that chooses. */
  description?: string;
  icons?: McpIcon[];
  /** `_meta` of the item in the list. */
  meta?: Record<string, unknown>;
}

/** What a decorator says of a method. */
export type HandlerMark =
  | { readonly kind: 'tool'; readonly options: McpToolOptions }
  | { readonly kind: 'resource'; readonly options: McpResourceOptions }
  | { readonly kind: 'prompt'; readonly options: McpPromptOptions }
  | { readonly kind: 'completion'; readonly options: McpCompletionOf };

/** How each kind of handler is decorated, for messages. */
export const DECORATOR_OF = {
  tool: '@McpTool()',
  resource: '@McpResource()',
  prompt: '@McpPrompt()',
  completion: '@McpCompletion()',
} as const satisfies Record<HandlerMark['kind'], string>;

/** The decorator that puts a mark on a method. */
export function markHandler(mark: HandlerMark): MethodDecorator {
  return (target, key, descriptor) => {
    const value: unknown = (descriptor as PropertyDescriptor | undefined)?.value;
    const owner = typeof target === 'function' ? target.name : target.constructor.name;
    const place = `${DECORATOR_OF[mark.kind]} on ${owner}.${String(key)}`;
    if (typeof target === 'function' || typeof key === 'symbol' || typeof value !== 'function') {
      throw new TypeError(
        `${place}: only an instance method can be a ${mark.kind}, ` +
          'not a property, an accessor, a static method or one that is named by a symbol',
      );
    }
    const other = Reflect.getOwnMetadata(HANDLER_METADATA, target, key) as HandlerMark | undefined;
    if (other) {
      throw new TypeError(
        `${place}: it is marked ${DECORATOR_OF[other.kind]} already. Give each a method of its own that calls the same service.`,
      );
    }
    Reflect.defineMetadata(HANDLER_METADATA, mark, target, key);
    Reflect.defineMetadata(HANDLER_METADATA, mark, value);
    Reflect.defineMetadata(ENTRY_PROVIDER_METADATA, true, target.constructor);
  };
}
