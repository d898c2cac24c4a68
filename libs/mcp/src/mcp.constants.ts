/** Injection token of the options as given, before defaults. */
export const MCP_OPTIONS = Symbol.for('nest-mcp:options');

/** Injection token of the settings: the options with every default filled in. */
export const MCP_SETTINGS = Symbol.for('nest-mcp:settings');

/** Injection token of the module class, so that nothing imports it. */
export const MODULE_CLASS = Symbol.for('nest-mcp:module-class');

/** Context of every log line of this library. */
export const LOG_CONTEXT = 'Mcp';
