import { Type } from 'class-transformer';
import { IsArray, IsIn, IsNumber, IsOptional, IsPositive, IsString, ValidateNested } from 'class-validator';
import { property, whole, type CorpusEntry } from './entry.js';

abstract class ShapeDto {
  @IsOptional()
  @IsString()
  label?: string;
}

class CircleDto extends ShapeDto {
  @IsPositive()
  radius: number;
}

class SquareDto extends ShapeDto {
  @IsNumber()
  side: number;
}

/** Declares the member that tells the variants apart, as it has to when it is kept. */
class KeptCircleDto extends CircleDto {
  @IsIn(['circle'])
  kind: 'circle';
}

class KeptSquareDto extends SquareDto {
  @IsString()
  kind: string;
}

const SHAPES = {
  discriminator: {
    property: 'kind',
    subTypes: [
      { value: CircleDto, name: 'circle' },
      { value: SquareDto, name: 'square' },
    ],
  },
};

const KEPT = {
  keepDiscriminatorProperty: true,
  discriminator: {
    property: 'kind',
    subTypes: [
      { value: KeptCircleDto, name: 'circle' },
      { value: KeptSquareDto, name: 'square' },
    ],
  },
};

export class DiscriminatedDto {
  @ValidateNested()
  @Type(() => ShapeDto as never, SHAPES)
  shape: CircleDto | SquareDto;
}

export class DiscriminatedKeptDto {
  @ValidateNested()
  @Type(() => ShapeDto as never, KEPT)
  shape: KeptCircleDto | KeptSquareDto;
}

export class DiscriminatedListDto {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => ShapeDto as never, SHAPES)
  shapes: (CircleDto | SquareDto)[];
}

export class DiscriminatedKeptListDto {
  @ValidateNested({ each: true })
  @Type(() => ShapeDto as never, KEPT)
  shapes: (KeptCircleDto | KeptSquareDto)[];
}

export class DiscriminatedOptionalDto {
  @IsOptional()
  @ValidateNested()
  @Type(() => ShapeDto as never, SHAPES)
  shape?: CircleDto | SquareDto;
}

/** One class behind two names. */
export class DiscriminatedAliasDto {
  @ValidateNested()
  @Type(() => Object, {
    discriminator: {
      property: 'kind',
      subTypes: [
        { value: SquareDto, name: 'square' },
        { value: SquareDto, name: 'box' },
      ],
    },
  })
  shape: SquareDto;
}

abstract class NodeDto {}

class TextNodeDto extends NodeDto {
  @IsString()
  text: string;
}

class GroupNodeDto extends NodeDto {
  @IsArray()
  @ValidateNested({ each: true })
  @Type(() => NodeDto as never, {
    discriminator: {
      property: 'type',
      subTypes: [
        { value: TextNodeDto, name: 'text' },
        { value: GroupNodeDto, name: 'group' },
      ],
    },
  })
  nodes: NodeDto[];
}

export class DocumentDto {
  @ValidateNested()
  @Type(() => GroupNodeDto)
  root: GroupNodeDto;
}

const circle = { kind: 'circle', radius: 1, label: 'a' };
const square = { kind: 'square', side: 2 };

export const entries: readonly CorpusEntry[] = [
  property(
    DiscriminatedDto,
    'shape',
    [circle, square],
    [
      { kind: 'circle', side: 1 },
      { kind: 'circle', radius: -1 },
    ],
    {
      pool: [
        { radius: 1 },
        { kind: 'line' },
        { kind: 'square', side: 1, radius: 1 },
        { kind: null, radius: 1 },
        [circle],
      ],
    },
  ),
  property(
    DiscriminatedKeptDto,
    'shape',
    [circle, square],
    [{ kind: 'circle', side: 1 }, { kind: 'square' }],
    {
      pool: [{ radius: 1 }, { kind: 'line', side: 1 }],
    },
  ),
  property(
    DiscriminatedListDto,
    'shapes',
    [[circle, square], []],
    [[{ kind: 'square', side: 'a' }], [{ kind: 'circle' }]],
    { pool: [[{ side: 1 }], [null], [circle, { kind: 'line' }]] },
  ),
  property(
    DiscriminatedKeptListDto,
    'shapes',
    [[square, circle]],
    [[{ kind: 'circle', side: 1 }], [{ kind: 'square' }]],
  ),
  property(DiscriminatedOptionalDto, 'shape', [circle, undefined], [{ kind: 'circle' }]),
  property(DiscriminatedAliasDto, 'shape', [square, { kind: 'box', side: 1 }], [{ kind: 'box' }]),
  whole(DocumentDto, {
    accepts: [
      {
        root: {
          nodes: [
            { type: 'text', text: 'a' },
            { type: 'group', nodes: [{ type: 'text', text: 'b' }] },
          ],
        },
      },
      { root: { nodes: [] } },
    ],
    refuses: [
      { root: { nodes: [{ type: 'text', text: 1 }] } },
      { root: { nodes: [{ type: 'group', nodes: [{ type: 'text' }] }] } },
    ],
  }),
];
