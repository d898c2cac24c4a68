import { McpContext } from '../protocol/call-context.js';
import type { Class } from '../schema/json-schema.js';
import { schemaKind, type McpSchema } from '../schema/schema-kind.js';
import { ARGS_METADATA, CONTEXT_METADATA, PARAMS_METADATA } from '../decorators/metadata-keys.js';
import { UnusableParameterException } from './boot.exceptions.js';
import { assertPipesRegistered } from './protection.check.js';
import type { HandlerLocation } from './registration.js';

/** Numbers that Nest's pipeline knows a parameter's source by: 3 is a route's body, so pipes treat arguments as one. */
export const ARGUMENTS_SLOT = 3;
/** No number of Nest's: pipes see a `custom` parameter and leave it alone. */
export const CONTEXT_SLOT = 100;
/** Behind the last parameter of a method that takes no arguments: they are checked all the same. */
export const HIDDEN_SLOT = 101;

interface ParamEntry {
  readonly index: number;
  readonly data: unknown;
  readonly pipes: unknown[];
}

const ROUTE_ARGUMENTS = '__routeArguments__';
const CUSTOM_MARK = '__customRouteArgs__';

/** Types that reflection gives for what is not a class of the application. */
const NOT_A_DTO = new Set<unknown>([
  Object,
  String,
  Number,
  Boolean,
  Array,
  Date,
  Map,
  Set,
  Promise,
  Function,
  Symbol,
  BigInt,
  RegExp,
  Buffer,
  Uint8Array,
]);

/**
 * Decides what each parameter of a handler gets, writes it where Nest's pipeline looks for it, and
 * returns the class or schema of the arguments. Refuses what nothing can be bound to.
 */
export function bindParameters(
  location: HandlerLocation,
  input: McpSchema | undefined,
): McpSchema | undefined {
  const { classRef, methodName, method } = location;
  const prototype = classRef.prototype as object;
  const types = Reflect.getMetadata('design:paramtypes', prototype, methodName) as unknown[] | undefined;
  const custom = customEntries(classRef, methodName);
  const argsIndex = Reflect.getMetadata(ARGS_METADATA, classRef, methodName) as number | undefined;
  const contextIndex = Reflect.getMetadata(CONTEXT_METADATA, classRef, methodName) as number | undefined;
  const last = Math.max(-1, argsIndex ?? -1, contextIndex ?? -1, ...custom.keys());
  const count = Math.max(types?.length ?? method.length, last + 1);

  const entries: Record<string, ParamEntry> = {};
  const bind = (slot: number, index: number) =>
    (entries[`${slot}:${index}`] = { index, data: undefined, pipes: [] });
  let declared: McpSchema | undefined;
  let bound: number | undefined;
  for (let index = 0; index < count; index++) {
    const type = types?.[index];
    const customEntry = custom.get(index);
    if (customEntry) {
      assertPipesRegistered(location.where, location.host, customEntry.entry.pipes);
      entries[customEntry.key] = customEntry.entry;
    } else if (index === contextIndex || (index !== argsIndex && type === McpContext))
      bind(CONTEXT_SLOT, index);
    else {
      if (bound !== undefined) {
        throw new UnusableParameterException(
          location.where,
          index,
          `the arguments are parameter ${bound + 1} already. ${MEND}`,
        );
      }
      bound = index;
      declared = argumentsSchema(location, index, type, input, index === argsIndex);
      bind(ARGUMENTS_SLOT, index);
      // What a schema makes is of no class, so pipes have none to judge it by.
      const { kind, schema } = schemaKind(declared);
      const seen = kind === 'dto' ? schema : Object;
      if (seen !== type) declareType(location, types, count, index, seen);
    }
  }
  if (bound === undefined) bind(HIDDEN_SLOT, count);
  Reflect.defineMetadata(PARAMS_METADATA, entries, classRef, methodName);
  return declared ?? input;
}

/**
 * Makes the class that `input` names the type of the parameter, as if it were written there: pipes go by
 * that type, and a `ValidationPipe` of the application would pass by one that it cannot see.
 */
function declareType(
  { classRef, methodName }: HandlerLocation,
  types: readonly unknown[] | undefined,
  count: number,
  index: number,
  type: Class,
): void {
  const declared = Array.from({ length: count }, (_, at) => (at === index ? type : (types?.[at] ?? Object)));
  Reflect.defineMetadata('design:paramtypes', declared, classRef.prototype as object, methodName);
}

const MEND =
  'A tool takes its arguments as one DTO class and, if it wants, the context: ' +
  'method(args: SomeDto, ctx: McpContext). Other parameters need a decorator made with createParamDecorator().';

function argumentsSchema(
  { where }: HandlerLocation,
  index: number,
  type: unknown,
  input: McpSchema | undefined,
  isMarked: boolean,
): McpSchema {
  if (typeof type === 'function' && !NOT_A_DTO.has(type)) {
    if (input === undefined || isMarked || schemaKind(input).kind === 'dto') return input ?? (type as Class);
    throw new UnusableParameterException(
      where,
      index,
      `it is typed as the class ${type.name}, but the option \`input\` is a schema, which makes no instance of it. ` +
        'Type the parameter by what the schema gives, leave `input` out, or mark the parameter @McpArgs().',
    );
  }
  const isUntyped = type === undefined || type === Object;
  if (input && (isMarked || isUntyped)) return input;
  const seen = isUntyped
    ? 'its type is not there at run time (an interface, a type, `import type`, or a compiler without decorator metadata)'
    : `${(type as { name?: string }).name ?? 'its type'} is no class of arguments`;
  const mend = isUntyped
    ? ' Name the DTO or schema: @McpTool({ input: SomeDto }), and mark the parameter @McpArgs().'
    : '';
  throw new UnusableParameterException(where, index, `${seen}. ${MEND}${mend}`);
}

/** The application's own parameter decorators, made with `createParamDecorator()`. */
function customEntries(
  classRef: object,
  methodName: string,
): Map<number, { key: string; entry: ParamEntry }> {
  const all = (Reflect.getMetadata(ROUTE_ARGUMENTS, classRef, methodName) ?? {}) as Record<
    string,
    ParamEntry
  >;
  const custom = Object.entries(all).filter(([key]) => key.includes(CUSTOM_MARK));
  return new Map(custom.map(([key, entry]) => [entry.index, { key, entry }]));
}
