import type { ArgumentsContract } from '../arguments.contract.js';
import { fromText, type Texts } from './text-values.js';

/**
 * The same contract for values that arrive as text, as those of prompts and of resource templates do: they become
 * values of the declared types first, and then pass the contract as any others.
 */
export function textContract(contract: ArgumentsContract): ArgumentsContract {
  const { schema, dto } = contract;
  return {
    schema,
    ...(dto ? { dto } : {}),
    prepare: () => contract.prepare(),
    withoutUnknown: (raw) => {
      const values = fromText(schema, raw as Record<string, Texts>);
      return contract.withoutUnknown ? contract.withoutUnknown(values) : values;
    },
    checkRaw: (raw) => contract.checkRaw(raw),
    instantiate: (raw) => contract.instantiate(raw),
  };
}
