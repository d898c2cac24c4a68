/** How a DTO is looked at: what reads or writes it, and which of its properties and rules count there. */
export interface DtoView {
  /** Which way the values go: into a handler (the default), or out of it. */
  readonly direction?: 'input' | 'output';
  /** As in class-validator's `ValidatorOptions`. Without groups the rules of every group count. */
  readonly groups?: readonly string[];
  readonly strictGroups?: boolean;
  readonly always?: boolean;
  /** Only properties with a rule of class-validator get through, as under its `whitelist`. */
  readonly whitelist?: boolean;
  /** Only properties with an `@Expose()` get through, as under class-transformer's `excludeExtraneousValues`. */
  readonly exposedOnly?: boolean;
  /** As `groups` of class-transformer: which `@Expose({ groups })` count. */
  readonly exposeGroups?: readonly string[];
  /** class-transformer makes the types that `@Type()` names, and is told of no declared ones. */
  readonly typedOnly?: boolean;
  /** The handler is given the arguments as they were sent, without what initialisers set. */
  readonly keepsPlain?: boolean;
}

/** Text that is the same for views that look at a DTO in the same way. */
export function viewKey({
  direction = 'input',
  groups = [],
  strictGroups = false,
  always = false,
  whitelist = false,
  exposedOnly = false,
  exposeGroups = [],
  typedOnly = false,
  keepsPlain = false,
}: DtoView): string {
  const flags = [strictGroups, always, whitelist, exposedOnly, typedOnly, keepsPlain];
  return JSON.stringify([direction, [...groups].sort(), [...exposeGroups].sort(), ...flags]);
}
