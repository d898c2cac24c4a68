import { BadRequestException } from '@nestjs/common';

/** The arguments of a call break the tool's contract. Filters see it as any other 400. */
export class InvalidArgumentsException extends BadRequestException {
  /** @param issues one line for each fault: path and rule */
  constructor(readonly issues: readonly string[]) {
    super([...issues]);
  }
}
