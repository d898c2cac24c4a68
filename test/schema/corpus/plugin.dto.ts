import { IsInt, IsOptional, IsString } from 'class-validator';
import { whole, type CorpusEntry } from './entry.js';

enum Color {
  Red = 'red',
  Green = 'green',
}

class PluginPartDto {
  label: string;

  static _OPENAPI_METADATA_FACTORY() {
    return { label: { required: true, type: () => String, description: 'What it says' } };
  }
}

/** What the compiler plugin of Swagger writes into a class. */
export class PluginDto {
  @IsString()
  title: string;

  @IsOptional()
  @IsInt()
  count?: number = 5;

  color: Color;

  size?: 'small' | 'large';

  tags: string[];

  rates: Record<string, number>;

  note: string | null;

  part: PluginPartDto;

  static _OPENAPI_METADATA_FACTORY() {
    return {
      title: { required: true, type: () => String, description: 'The title', example: 'Printer' },
      count: { required: false, type: () => Number, default: 5, minimum: 1 },
      color: { required: true, enum: Color },
      size: { required: false, enum: ['small', 'large'] },
      tags: { required: true, type: () => [String] },
      rates: { required: true, type: 'object', additionalProperties: { type: 'number' } },
      note: { required: true, type: () => String, nullable: true },
      part: { required: true, type: () => PluginPartDto },
    };
  }
}

const all = {
  title: 'a',
  count: 1,
  color: 'red',
  size: 'small',
  tags: ['a'],
  rates: { a: 1 },
  note: 'b',
  part: { label: 'c' },
};
const { count: _count, size: _size, ...required } = all;

export const entries: readonly CorpusEntry[] = [
  whole(PluginDto, {
    accepts: [all, required, { ...all, note: null }],
    refuses: [{ ...all, color: 'Red' }, { ...all, title: 1 }, { ...all, tags: [1] }, { title: 'a' }],
  }),
];
