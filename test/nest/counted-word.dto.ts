import {
  IsInt,
  IsOptional,
  IsString,
  Validate,
  ValidatorConstraint,
  type ValidatorConstraintInterface,
} from 'class-validator';

/** How often a `WordDto` was made and its own rule asked. */
export const counts = { made: 0, judged: 0 };

@ValidatorConstraint()
class CountingRule implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    counts.judged++;
    return value !== 'bad';
  }
  defaultMessage(): string {
    return 'word must not be bad';
  }
}

export class WordDto {
  constructor() {
    counts.made++;
  }

  @IsString()
  @Validate(CountingRule)
  word: string;

  @IsOptional()
  @IsInt()
  times?: number;
}
