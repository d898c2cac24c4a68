import {
  IsArray,
  IsInt,
  IsOptional,
  IsString,
  registerDecorator,
  Validate,
  ValidateBy,
  ValidatorConstraint,
  type ValidationArguments,
  type ValidationOptions,
  type ValidatorConstraintInterface,
} from 'class-validator';
import { property, whole, type CorpusEntry } from './entry.js';

function IsPalindrome(options?: ValidationOptions): PropertyDecorator {
  return (target, name) =>
    registerDecorator({
      name: 'isPalindrome',
      target: target.constructor,
      propertyName: name as string,
      options,
      validator: {
        validate: (value: unknown) =>
          typeof value === 'string' && value === Array.from(value).reverse().join(''),
        defaultMessage: ({ property: field }: ValidationArguments) => `${field} must read the same backwards`,
      },
    });
}

function IsFree(options?: ValidationOptions): PropertyDecorator {
  return ValidateBy(
    {
      name: 'isFree',
      async: true,
      validator: {
        validate: async (value: unknown) => {
          await Promise.resolve();
          return value !== 'taken';
        },
        defaultMessage: () => '$property is taken already',
      },
    } as Parameters<typeof ValidateBy>[0],
    options,
  );
}

@ValidatorConstraint({ name: 'isEven' })
class IsEvenConstraint implements ValidatorConstraintInterface {
  validate(value: unknown): boolean {
    return typeof value === 'number' && value % 2 === 0;
  }

  defaultMessage({ property: field }: ValidationArguments): string {
    return `${field} must be even`;
  }
}

@ValidatorConstraint({ async: true })
class IsKnownConstraint implements ValidatorConstraintInterface {
  async validate(value: unknown, { constraints }: ValidationArguments): Promise<boolean> {
    await Promise.resolve();
    return (constraints as unknown[]).includes(value);
  }

  defaultMessage(): string {
    return '$property is not known';
  }
}

export class PalindromeDto {
  @IsPalindrome()
  word: string;
}

export class PalindromeTextDto {
  @IsString()
  @IsPalindrome()
  word: string;
}

export class FreeNameDto {
  @IsString()
  @IsFree()
  name: string;
}

export class FreeNamesDto {
  @IsArray()
  @IsString({ each: true })
  @IsFree({ each: true })
  names: string[];
}

export class EvenDto {
  @Validate(IsEvenConstraint)
  count: number;
}

export class EvenIntsDto {
  @IsInt({ each: true })
  @Validate(IsEvenConstraint, { each: true })
  counts: number[];
}

export class KnownDto {
  @Validate(IsKnownConstraint, ['a', 'b'])
  key: string;
}

export class OptionalKnownDto {
  @IsOptional()
  @Validate(IsKnownConstraint, ['a', 'b'])
  key?: string;
}

/** Compares two properties, as a password and its repetition. */
export class RepeatedDto {
  @IsString()
  password: string;

  @ValidateBy({
    name: 'sameAsPassword',
    validator: { validate: (value, args) => value === (args!.object as RepeatedDto).password },
  })
  repeated: string;
}

export const entries: readonly CorpusEntry[] = [
  property(PalindromeDto, 'word', ['anna', ''], ['ann', undefined]),
  property(PalindromeTextDto, 'word', ['anna'], ['ann', 1, undefined]),
  property(FreeNameDto, 'name', ['free'], ['taken', 1]),
  property(FreeNamesDto, 'names', [['free'], []], [['free', 'taken'], [1]]),
  property(EvenDto, 'count', [2, 0], [1]),
  property(EvenIntsDto, 'counts', [[2], []], [[2, 1], [0.5]]),
  property(KnownDto, 'key', ['a'], ['c', undefined]),
  property(OptionalKnownDto, 'key', ['a', undefined], ['c']),
  whole(RepeatedDto, {
    accepts: [{ password: 'a', repeated: 'a' }],
    refuses: [{ password: 'a', repeated: 'b' }, { password: 'a' }],
  }),
];
