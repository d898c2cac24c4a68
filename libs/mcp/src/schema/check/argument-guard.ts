import { formatPath, type PathStep } from '../issue-path.js';
import { MAX_NESTING, RESERVED_MEMBERS } from '../schema-bounds.js';

/**
 * Refuses what no schema may let through, at any depth and also inside free-form objects: member names that
 * class-transformer and class-validator stumble over, and nesting too deep to walk. One line, or undefined.
 */
export function guardArguments(raw: unknown): string | undefined {
  const fault = findFault(raw, 0);
  return fault && `${formatPath(fault.steps.reverse())}: ${fault.problem}`;
}

interface Fault {
  readonly problem: string;
  /** From the innermost step outwards, as they are collected on the way back. */
  readonly steps: PathStep[];
}

// The depth bound is also what keeps this recursion, and all later ones over the same value, off the stack's end.
function findFault(value: unknown, depth: number): Fault | undefined {
  if (typeof value !== 'object' || value === null) return undefined;
  if (depth > MAX_NESTING) return { problem: `is nested deeper than ${MAX_NESTING} levels`, steps: [] };
  return Array.isArray(value)
    ? faultInList(value, depth)
    : faultInObject(value as Record<string, unknown>, depth);
}

function faultInList(list: readonly unknown[], depth: number): Fault | undefined {
  for (let index = 0; index < list.length; index += 1) {
    const fault = findFault(list[index], depth + 1);
    if (fault) return within(fault, index);
  }
  return undefined;
}

function faultInObject(members: Record<string, unknown>, depth: number): Fault | undefined {
  for (const name of Object.keys(members)) {
    if (RESERVED_MEMBERS.has(name)) return { problem: 'is not an allowed member name', steps: [name] };
    const fault = findFault(members[name], depth + 1);
    if (fault) return within(fault, name);
  }
  return undefined;
}

function within(fault: Fault, step: PathStep): Fault {
  fault.steps.push(step);
  return fault;
}
