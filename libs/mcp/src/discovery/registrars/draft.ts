import { InvalidNameException } from '../boot.exceptions.js';
import type { HandlerLocation } from '../registration.js';

/** A registration of which all is known that does not have to be waited for. */
export interface Draft<Registration> {
  /** What it is found by: the name, of a resource its address. */
  readonly key: string;
  /** The same as it was declared, for messages. */
  readonly label: string;
  /** Where it was declared, for messages. */
  readonly place: string;
  /** Makes the contracts; what is wrong with a schema is a named exception. */
  complete(): Promise<Registration>;
}

export function placeOf({ where, host }: HandlerLocation): string {
  return `${where} (${host.metatype.name})`;
}

const LEGAL_NAME = /^[A-Za-z0-9_.-]{1,128}$/;
const SAFE_NAME = /^[A-Za-z0-9_-]{1,64}$/;

/** The name of a tool or prompt. Source: Tools, Tool Names, 2025-11-25. */
export function checkedName(
  kind: 'tool' | 'prompt',
  name: string,
  where: string,
  warn: (message: string) => void,
): string {
  if (typeof name !== 'string' || !LEGAL_NAME.test(name)) throw new InvalidNameException(kind, name, where);
  if (!SAFE_NAME.test(name))
    warn(
      `${where}: ${kind} name "${name}" is legal, but some clients take only 1 to 64 letters, digits, "_" and "-"`,
    );
  return name;
}
