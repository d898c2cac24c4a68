import { DECORATOR_OF, type HandlerMark } from '../decorators/handler.mark.js';
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
/** What was typed so far of the argument that is completed. */
export const TYPED_SLOT = 102;
/** The arguments that are filled in beside the one that is completed. */
export const FILLED_SLOT = 103;

/** What the parameters of a handler may be. */
export interface ParameterPlan {
  readonly kind: HandlerMark['kind'];
  /** The option that names the schema of the arguments; none where the handler has no arguments. */
  readonly option: 'input' | 'params' | 'args' | undefined;
  /** What that option says. */
  readonly input?: McpSchema | undefined;
  /** The schema where neither the option nor the parameter's type says one. */
  readonly fallback?: McpSchema;
}

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
export function bindParameters(location: HandlerLocation, plan: ParameterPlan): McpSchema | undefined {
  let declared: McpSchema | undefined;
  let bound: number | undefined;
  const { count, bind } = bindEach(location, (index, type, { types, isMarked }) => {
    if (bound !== undefined) {
      const taken = `the arguments are parameter ${bound + 1} already. ${mendOf(plan)}`;
      throw new UnusableParameterException(location.where, index, taken);
    }
    bound = index;
    declared = argumentsSchema(location, index, type, plan, isMarked);
    // What a schema makes is of no class, so pipes have none to judge it by.
    const { kind, schema } = schemaKind(declared);
    const seen = kind === 'dto' ? schema : Object;
    if (seen !== type) declareType(location, types, index, seen);
    return ARGUMENTS_SLOT;
  });
  if (bound === undefined && plan.option !== undefined) bind(HIDDEN_SLOT, count);
  return declared ?? plan.input ?? plan.fallback;
}

/**
 * The parameters of a handler that completes: the text so far, where the type is `string` or nothing is known of the
 * types, and the arguments that are filled in already, where the parameter is marked or of another type.
 */
export function bindCompletion(location: HandlerLocation): void {
  const bound = new Set<number>();
  bindEach(location, (index, type, { isMarked }) => {
    const isText = !isMarked && (type === String || (type === undefined && !bound.has(TYPED_SLOT)));
    const slot = isText ? TYPED_SLOT : FILLED_SLOT;
    if (bound.has(slot) || (slot === FILLED_SLOT && !isMarked && type !== undefined && type !== Object)) {
      throw new UnusableParameterException(
        location.where,
        index,
        'a completion takes the text so far, the other arguments and the context: ' +
          'method(typed: string, @McpArgs() filled: Record<string, string>, ctx: McpContext). ' +
          'Other parameters need a decorator made with createParamDecorator().',
      );
    }
    bound.add(slot);
    return slot;
  });
}

type Bind = (slot: number, index: number) => void;

/** Binds the context and the application's own decorators, and asks for the slot of every other parameter. */
function bindEach(
  location: HandlerLocation,
  slotOf: (index: number, type: unknown, seen: { types: unknown[]; isMarked: boolean }) => number,
): { count: number; bind: Bind } {
  const { classRef, methodName, method, where, host } = location;
  const prototype = classRef.prototype as object;
  const types = Reflect.getMetadata('design:paramtypes', prototype, methodName) as unknown[] | undefined;
  const custom = customEntries(classRef, methodName);
  const argsIndex = Reflect.getMetadata(ARGS_METADATA, classRef, methodName) as number | undefined;
  const contextIndex = Reflect.getMetadata(CONTEXT_METADATA, classRef, methodName) as number | undefined;
  const last = Math.max(-1, argsIndex ?? -1, contextIndex ?? -1, ...custom.keys());
  const count = Math.max(types?.length ?? method.length, last + 1);
  const seenTypes = Array.from({ length: count }, (_, index) => types?.[index]);

  const entries: Record<string, ParamEntry> = {};
  const bind = (slot: number, index: number) => {
    entries[`${slot}:${index}`] = { index, data: undefined, pipes: [] };
  };
  for (const [index, type] of seenTypes.entries()) {
    const customEntry = custom.get(index);
    if (customEntry) {
      assertPipesRegistered(where, host, customEntry.entry.pipes);
      entries[customEntry.key] = customEntry.entry;
    } else if (index === contextIndex || (index !== argsIndex && type === McpContext))
      bind(CONTEXT_SLOT, index);
    else bind(slotOf(index, type, { types: seenTypes, isMarked: index === argsIndex }), index);
  }
  Reflect.defineMetadata(PARAMS_METADATA, entries, classRef, methodName);
  return { count, bind };
}

/**
 * Makes the class that `input` names the type of the parameter, as if it were written there: pipes go by
 * that type, and a `ValidationPipe` of the application would pass by one that it cannot see.
 */
function declareType(
  { classRef, methodName }: HandlerLocation,
  types: readonly unknown[],
  index: number,
  type: Class,
): void {
  const declared = types.map((seen, at) => (at === index ? type : (seen ?? Object)));
  Reflect.defineMetadata('design:paramtypes', declared, classRef.prototype as object, methodName);
}

function mendOf({ kind, option }: ParameterPlan): string {
  if (option === undefined)
    return 'A resource with a fixed address has no arguments: it takes the context, if it wants, method(ctx: McpContext).';
  const args = option === 'params' ? 'the variables of its address' : 'its arguments';
  return (
    `A ${kind} takes ${args} as one DTO class and, if it wants, the context: ` +
    'method(args: SomeDto, ctx: McpContext). Other parameters need a decorator made with createParamDecorator().'
  );
}

function argumentsSchema(
  { where }: HandlerLocation,
  index: number,
  type: unknown,
  plan: ParameterPlan,
  isMarked: boolean,
): McpSchema {
  const { kind, option, input, fallback } = plan;
  if (option === undefined) throw new UnusableParameterException(where, index, mendOf(plan));
  if (typeof type === 'function' && !NOT_A_DTO.has(type)) {
    if (input === undefined || isMarked || schemaKind(input).kind === 'dto') return input ?? (type as Class);
    throw new UnusableParameterException(
      where,
      index,
      `it is typed as the class ${type.name}, but the option \`${option}\` is a schema, which makes no instance of it. ` +
        `Type the parameter by what the schema gives, leave \`${option}\` out, or mark the parameter @McpArgs().`,
    );
  }
  const isUntyped = type === undefined || type === Object;
  const said = input ?? fallback;
  if (said && (isMarked || isUntyped)) return said;
  const seen = isUntyped
    ? 'its type is not there at run time (an interface, a type, `import type`, or a compiler without decorator metadata)'
    : `${(type as { name?: string }).name ?? 'its type'} is no class of arguments`;
  const decorator = DECORATOR_OF[kind].replace(')', `{ ${option}: SomeDto })`);
  const mend = isUntyped ? ` Name the DTO or schema: ${decorator}, and mark the parameter @McpArgs().` : '';
  throw new UnusableParameterException(where, index, `${seen}. ${mendOf(plan)}${mend}`);
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
