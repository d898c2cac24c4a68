/** Keys of what the decorators store. Strings, so that two copies of this library read the same. */

/** On the method's prototype and name, and again on the function itself: `HandlerMark`. */
export const HANDLER_METADATA = 'nest-mcp:handler';

/** On the class and method: index of the parameter marked `@McpArgs()`. */
export const ARGS_METADATA = 'nest-mcp:args';

/** On the class and method: index of the parameter marked `@McpCtx()`. */
export const CONTEXT_METADATA = 'nest-mcp:context';

/** On the class and method: parameter bindings in the form Nest's pipeline reads. Written at start. */
export const PARAMS_METADATA = 'nest-mcp:params';

/** On the endpoint's route handler, so that it is recognised wherever Nest mounts it. */
export const ENDPOINT_METADATA = 'nest-mcp:endpoint';

/** Nest's mark of a class whose methods are entry points, so that scoped global enhancers attach to it. */
export const ENTRY_PROVIDER_METADATA = '__entryProvider__';

/** In the context of class-validator's `Allow()` on a property: `McpPropertyOptions`. */
export const PROPERTY_CONTEXT = 'nest-mcp:property';
