import type { ErrorObject } from 'ajv';

/** The errors an error sums up, apart for each alternative; of other keywords there is one group at most. */
export function groupsOf({ params }: ErrorObject): readonly (readonly ErrorObject[])[] {
  return (params as { groups?: readonly (readonly ErrorObject[])[] }).groups ?? [];
}
