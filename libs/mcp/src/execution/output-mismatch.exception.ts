/** A handler returned what its output schema does not allow. */
export class OutputMismatchException extends Error {
  override readonly name = 'OutputMismatchException';

  /** @param issues one line for each fault: path and rule */
  constructor(readonly issues: readonly string[]) {
    super(`The output does not match its schema:\n${issues.map((issue) => `- ${issue}`).join('\n')}`);
  }
}
