import 'reflect-metadata';
import { ARGS_METADATA, CONTEXT_METADATA } from './metadata-keys.js';

/**
 * Marks the parameter that takes the arguments. Only needed where its type does not say it: an interface,
 * or plain JavaScript; `McpToolOptions.input` names the DTO then.
 *
 * @example @McpTool({ input: SearchDto }) search(@McpArgs() query: Search) {}
 * @publicApi
 */
export function McpArgs(): ParameterDecorator {
  return mark('@McpArgs()', ARGS_METADATA);
}

/**
 * Marks the parameter that takes the `McpContext`. Only needed where its type does not say it.
 * @publicApi
 */
export function McpCtx(): ParameterDecorator {
  return mark('@McpCtx()', CONTEXT_METADATA);
}

function mark(decorator: string, key: string): ParameterDecorator {
  return (target, method, index) => {
    if (method === undefined)
      throw new TypeError(`${decorator} belongs on a method's parameter, not on a constructor's`);
    if (Reflect.hasOwnMetadata(key, target.constructor, method)) {
      throw new TypeError(
        `${decorator} stands twice on ${target.constructor.name}.${String(method)}: keep one`,
      );
    }
    Reflect.defineMetadata(key, index, target.constructor, method);
  };
}
