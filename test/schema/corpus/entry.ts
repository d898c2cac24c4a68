import type { ClassTransformOptions } from 'class-transformer';

export type Json = Record<string, unknown>;

/** Any class whose instances are objects. */
export type Class = new (...args: never[]) => object;

/** One DTO of the corpus with arguments whose outcome is known, and some whose outcome is left to the judges. */
export interface CorpusEntry {
  readonly name: string;
  readonly dto: Class;
  /** Arguments that a call accepts. Further values are made from the first. */
  readonly accepts: readonly Json[];
  /** Arguments that a call refuses. The first one's refusal is shown in the docs. */
  readonly refuses: readonly Json[];
  /** Arguments at the edges, on which the judges only have to agree. */
  readonly edges: readonly Json[];
  /** Values for every property of the DTO, in addition to the common ones. */
  readonly pool: readonly unknown[];
  /**
   * What plain class-transformer has to be told to be a judge here, as a Nest user would tell it: classes that
   * only the compiler knows, defaults under @Expose().
   */
  readonly assuming: ClassTransformOptions;
}

type Verdicts = Partial<Omit<CorpusEntry, 'dto'>>;

/** An entry whose arguments are given whole. */
export function whole(dto: Class, verdicts: Verdicts = {}): CorpusEntry {
  return { name: dto.name, dto, accepts: [], refuses: [], edges: [], pool: [], assuming: {}, ...verdicts };
}

/** An entry about one property: each value stands for the arguments that have just that member. */
export function property(
  dto: Class,
  name: string,
  accepts: readonly unknown[],
  refuses: readonly unknown[],
  more: Omit<Verdicts, 'accepts' | 'refuses'> = {},
): CorpusEntry {
  const wrap = (values: readonly unknown[]) =>
    values.map((value): Json => (value === undefined ? {} : { [name]: value }));
  return whole(dto, { ...more, accepts: wrap(accepts), refuses: wrap(refuses) });
}
