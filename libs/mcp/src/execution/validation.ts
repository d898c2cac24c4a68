import type { ArgumentsContract } from '../schema/arguments.contract.js';
import { InvalidArgumentsException } from './invalid-arguments.exception.js';

/**
 * The arguments as the handler's pipes get them: the published schema on the raw JSON first, then, unless
 * the application does it, the DTO's instance or what the Standard Schema made of them.
 *
 * @throws InvalidArgumentsException naming each field
 */
export async function admitArguments(
  contract: ArgumentsContract,
  sent: Record<string, unknown>,
  isValidatedByApp: boolean,
): Promise<unknown> {
  const raw = contract.withoutUnknown ? contract.withoutUnknown(sent) : sent;
  const issues = contract.checkRaw(raw);
  const found = Array.isArray(issues) ? (issues as readonly string[]) : await issues;
  if (found.length > 0) throw new InvalidArgumentsException(found);
  if (isValidatedByApp) return raw;
  const made = await contract.instantiate(raw);
  if ('issues' in made) throw new InvalidArgumentsException(made.issues);
  return made.value;
}
