import { Injectable, Module } from '@nestjs/common';
import { IsInt, IsString } from 'class-validator';
import { content, McpModule, McpTool, type JsonSchema } from 'nest-mcp';
import { z } from 'zod';

const BYTES = Uint8Array.from([0, 255, 62, 63, 254]);
/** The same bytes within a larger buffer, of which nothing else may be sent. */
const AROUND = Buffer.concat([Buffer.from('before'), BYTES, Buffer.from('after')]);
const VIEW = AROUND.subarray(6, 6 + BYTES.length);
export const BASE64 = 'AP8+P/4=';

export const ANNOTATIONS = {
  audience: ['user' as const],
  priority: 0.5,
  lastModified: '2026-01-01T00:00:00Z',
};
export const META = { 'example.com/a': 1 };
export const ICONS = [
  { src: 'https://example.com/i.svg', mimeType: 'image/svg+xml', theme: 'dark' as const },
];

class AreaDto {
  @IsString()
  unit: string;

  @IsInt()
  size: number;
}

const LIST = z.array(z.object({ id: z.int(), tag: z.string() }));

const ALTERNATIVES: JsonSchema = {
  anyOf: [
    {
      type: 'object',
      properties: { found: { const: true }, id: { type: 'integer' } },
      required: ['found', 'id'],
    },
    { type: 'object', properties: { found: { const: false } }, required: ['found'] },
  ],
};

const TREE: JsonSchema = {
  $ref: '#/$defs/node',
  $defs: {
    node: {
      type: 'object',
      properties: { name: { type: 'string' }, children: { type: 'array', items: { $ref: '#/$defs/node' } } },
      required: ['name'],
      additionalProperties: false,
    },
  },
};

const KINDS: JsonSchema = { type: ['integer', 'boolean', 'null', 'string'] };

/** What `scalar` gives: all that is told apart from nothing by being there alone. */
export const SCALARS: Readonly<Record<string, unknown>> = {
  zero: 0,
  no: false,
  nothing: null,
  empty: '',
  text: 'x',
};

class KindDto {
  @IsString()
  kind: string;
}

@Injectable()
class ContentTools {
  @McpTool({ title: 'Blocks', description: 'Every kind of block', icons: ICONS, meta: META })
  blocks() {
    return [
      content.text('a text', { annotations: ANNOTATIONS, meta: META }),
      content.image(VIEW, 'image/png', { annotations: { audience: ['assistant'] } }),
      content.image(BASE64, 'image/png'),
      content.audio(BYTES, 'audio/wav', { annotations: ANNOTATIONS, meta: META }),
      content.link('ticket://7', 'Ticket 7', {
        title: 'The seventh',
        description: 'About a printer',
        mimeType: 'application/json',
        size: 7,
        icons: ICONS,
        annotations: ANNOTATIONS,
      }),
      content.resource('note://1', 'a note', 'text/markdown', { meta: META }),
      content.resource('blob://1', VIEW),
    ];
  }

  @McpTool()
  oneBlock() {
    return content.text('alone');
  }

  @McpTool()
  bytes() {
    return VIEW;
  }

  @McpTool()
  structuredAlone() {
    return { structuredContent: { a: 1 } };
  }

  @McpTool()
  contentAlone() {
    return { content: [{ type: 'text', text: 'only' }] };
  }

  @McpTool()
  whole() {
    return {
      content: [{ type: 'text', text: 'said' }],
      structuredContent: { a: 1 },
      isError: false,
      _meta: META,
    };
  }

  @McpTool()
  looseList() {
    return { structuredContent: [1, 2] };
  }

  @McpTool()
  rows() {
    return [
      { type: 'text', subject: 'no block' },
      { type: 'image', subject: 'nor this' },
    ];
  }

  @McpTool({ output: { type: 'array', items: { type: 'object', properties: { type: { type: 'string' } } } } })
  typedRows() {
    return [{ type: 'text' }, { type: 'resource' }];
  }

  @McpTool({ output: AreaDto })
  area() {
    return { unit: 'm2', size: 4, secret: 'not published' };
  }

  @McpTool({ output: LIST })
  list() {
    return [{ id: 1, tag: 'a', secret: 'not published' }];
  }

  @McpTool({ output: KINDS })
  scalar({ kind }: KindDto) {
    return SCALARS[kind];
  }

  @McpTool({ output: ALTERNATIVES })
  alternatives({ kind }: KindDto): object {
    return kind === 'found' ? { found: true, id: 7 } : { found: kind === 'wrong' };
  }

  @McpTool({ output: TREE })
  tree() {
    return { name: 'root', children: [{ name: 'leaf' }, { name: 'branch', children: [{ name: 'twig' }] }] };
  }
}

@Module({ imports: [McpModule.forRoot({ name: 'content', version: '1.0.0' })], providers: [ContentTools] })
export class ContentModule {}
