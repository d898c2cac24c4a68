import type { RuleMetadata } from './class-metadata.js';

/** What the conditions on a property come to: `@IsOptional()` and `@ValidateIf()`. */
export interface Presence {
  /** The property may be missing. */
  readonly isOptional: boolean;
  /** A condition lets null through unseen: `@ValidateIf((_, value) => value !== null)`, and so not `@IsOptional()`. */
  readonly declaresNull: boolean;
  /** class-validator takes null, `@IsOptional()` included. */
  readonly skipsNull: boolean;
  /** The rules hold only sometimes, so no more than the type of the property can be said. */
  readonly isConditional: boolean;
}

type Condition = (object: unknown, value: unknown) => unknown;

const SAMPLES: readonly unknown[] = ['', 'x', 0, 1, true, false, [], {}];

/** Reads the conditions of a property. class-validator runs the rules only when all of them hold. */
export function presenceOf(rules: readonly RuleMetadata[]): Presence {
  const conditions = rules.filter(({ type }) => type === 'conditionalValidation');
  const isOptionalMarked = conditions.some(({ name }) => name === 'isOptional');
  const probes = conditions
    .filter(({ name }) => name !== 'isOptional')
    .map(({ constraints }) => probe(constraints?.[0] as Condition));
  const isConditional = probes.includes('other');
  const skips = (value: Skipped) => probes.some((skipped) => skipped !== 'other' && skipped.includes(value));
  const declaresNull = !isConditional && skips('null');
  return {
    isOptional: isOptionalMarked || isConditional || skips('undefined'),
    declaresNull,
    skipsNull: isOptionalMarked || declaresNull,
    isConditional,
  };
}

type Skipped = 'undefined' | 'null';

/**
 * Tries a condition on values of every kind. One that looks at nothing but the value, and is false for undefined or
 * null only, says what the property may be; any other depends on the call.
 */
function probe(condition: Condition): readonly Skipped[] | 'other' {
  let touched = false;
  const object = new Proxy(
    {},
    everyTrap(() => (touched = true)),
  );
  const holds = (value: unknown) => Boolean(condition(object, value));
  try {
    const skipped = [
      ...(holds(undefined) ? [] : (['undefined'] as const)),
      ...(holds(null) ? [] : (['null'] as const)),
    ];
    const isPlain = SAMPLES.every(holds);
    return touched || !isPlain ? 'other' : skipped;
  } catch {
    return 'other';
  }
}

function everyTrap(notice: () => void): ProxyHandler<object> {
  const names = Object.getOwnPropertyNames(Reflect) as (keyof typeof Reflect & keyof ProxyHandler<object>)[];
  const traps = names.map((name) => [
    name,
    (...args: never[]): unknown => {
      notice();
      return (Reflect[name] as (...given: never[]) => unknown)(...args);
    },
  ]);
  return Object.fromEntries(traps) as ProxyHandler<object>;
}
