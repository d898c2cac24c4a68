/** How a DTO is looked at: what reads or writes it, and which of its validation groups count. */
export interface DtoView {
  /** Which way the values go: into a handler (the default), or out of it. */
  readonly direction?: 'input' | 'output';
  /** As in class-validator's `ValidatorOptions`. Without groups the rules of every group count. */
  readonly groups?: readonly string[];
  readonly strictGroups?: boolean;
  readonly always?: boolean;
}

/** Text that is the same for views that look at a DTO in the same way. */
export function viewKey({ direction = 'input', groups = [], strictGroups, always }: DtoView): string {
  return JSON.stringify([direction, [...groups].sort(), strictGroups ?? false, always ?? false]);
}
