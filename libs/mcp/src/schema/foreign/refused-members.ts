import type { LazyCheck } from '../check/schema-check.js';
import type { JsonSchema } from '../json-schema.js';
import { dropUnknown } from '../walk/unknown-members.js';

type Raw = Record<string, unknown>;

/**
 * Takes unknown members off arguments that a closed schema refuses; what it takes comes back as it is.
 * @param check that of the same schema, prepared: one that is not yet compiled is not waited for
 */
export function droppingRefused(schema: JsonSchema, check: LazyCheck): (raw: Raw) => Raw {
  return (raw) => {
    const issues = check.ofArguments(raw);
    if (Array.isArray(issues)) return issues.length === 0 ? raw : (dropUnknown(schema, raw) as Raw);
    // Why it can't be compiled is for the check itself to say.
    issues.catch(() => undefined);
    return dropUnknown(schema, raw) as Raw;
  };
}
