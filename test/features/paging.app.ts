import { Injectable, Module, type Type } from '@nestjs/common';
import { McpModule, McpPrompt, McpResource, McpTool, type McpModuleOptions } from 'nest-mcp';

export const COUNT = 250;

const numbers = Array.from({ length: COUNT }, (_, index) => index);
const padded = (index: number) => String(index).padStart(3, '0');

/** Names and addresses, in an order that is neither that of the alphabet nor of the numbers. */
const shuffled = numbers.map((index) => padded((index * 97) % COUNT));

/** Tools and prompts are named alike: a cursor of one list must be unknown to the other all the same. */
export const TOOL_NAMES = shuffled.map((number) => `item-${number}`);
export const PROMPT_NAMES = TOOL_NAMES;
export const RESOURCE_URIS = shuffled.map((number) => `item://fixed/${number}`);
export const TEMPLATE_URIS = shuffled.map((number) => `part://${number}/{id}`);

/** A class of many handlers, as if each had been written. */
function manyHandlers(): Type {
  class ManyHandlers {}
  const add = (name: string, decorate: MethodDecorator) => {
    const value = () => name;
    Object.defineProperty(ManyHandlers.prototype, name, { value, configurable: true, writable: true });
    const descriptor = Object.getOwnPropertyDescriptor(ManyHandlers.prototype, name)!;
    decorate(ManyHandlers.prototype, name, descriptor);
  };
  for (const name of TOOL_NAMES) add(`tool-${name}`, McpTool({ name, description: `Does ${name}` }));
  for (const name of PROMPT_NAMES) add(`prompt-${name}`, McpPrompt({ name, description: `Says ${name}` }));
  for (const [index, uri] of RESOURCE_URIS.entries()) add(`resource-${index}`, McpResource(uri));
  for (const [index, uri] of TEMPLATE_URIS.entries()) add(`template-${index}`, McpResource(uri));
  return Injectable()(ManyHandlers) ?? ManyHandlers;
}

/** How long what is read may be kept, where the resource says it and where it does not. */
@Injectable()
class CachedResources {
  @McpResource('hints://default')
  plain() {
    return 'plain';
  }

  @McpResource({ uri: 'hints://public', cache: { ttlMs: 5_000, scope: 'public' } })
  shared() {
    return 'shared';
  }

  @McpResource({ uri: 'hints://time/{id}', cache: { ttlMs: 1 } })
  timed() {
    return 'timed';
  }

  @McpResource({ uri: 'hints://private', cache: { ttlMs: 0, scope: 'private' } })
  own() {
    return 'own';
  }

  @McpTool('tool')
  tool() {
    return 'called';
  }

  @McpPrompt('prompt')
  prompt() {
    return 'said';
  }
}

type Options = Partial<Pick<McpModuleOptions, 'pageSize' | 'cache' | 'limits'>>;

/** An application with that many of everything. */
export function pagedModule(options: Options = {}): Type {
  @Module({
    imports: [McpModule.forRoot({ name: 'paged', version: '1.0.0', ...options })],
    providers: [manyHandlers()],
  })
  class PagedModule {}
  return PagedModule;
}

export function cachedModule(options: Options = {}): Type {
  @Module({
    imports: [McpModule.forRoot({ name: 'cached', version: '1.0.0', ...options })],
    providers: [CachedResources],
  })
  class CachedModule {}
  return CachedModule;
}
