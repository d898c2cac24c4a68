import {
  BadRequestException,
  Catch,
  HttpException,
  Injectable,
  Module,
  UseFilters,
  UsePipes,
  type ExceptionFilter,
  type PipeTransform,
} from '@nestjs/common';
import { Type } from 'class-transformer';
import {
  ArrayMaxSize,
  IsArray,
  IsBoolean,
  IsEnum,
  IsIn,
  IsInt,
  IsNumber,
  IsOptional,
  IsString,
  Max,
  ValidateNested,
} from 'class-validator';
import {
  content,
  McpArgs,
  McpContext,
  McpError,
  McpModule,
  McpPrompt,
  McpProperty,
  schema,
  type McpPromptMessage,
} from 'nest-mcp';
import { z } from 'zod';

enum Tone {
  Kind = 'kind',
  Blunt = 'blunt',
}

class RangeDto {
  @IsInt()
  from: number;

  @IsInt()
  to: number;
}

export class ReviewDto {
  @IsString()
  @McpProperty({ title: 'Topic', description: 'What to look at' })
  topic: string;

  @IsOptional()
  @IsInt()
  @Max(50)
  limit = 10;

  @IsOptional()
  @IsNumber()
  score?: number;

  @IsOptional()
  @IsBoolean()
  strict = false;

  @IsOptional()
  @IsEnum(Tone)
  tone: Tone = Tone.Kind;

  @IsOptional()
  @IsIn([1, 2, 3])
  @McpProperty({ description: 'How urgent' })
  priority?: number;

  @IsOptional()
  @IsArray()
  @ArrayMaxSize(3)
  @IsString({ each: true })
  tags: string[] = [];

  @IsOptional()
  @ValidateNested()
  @Type(() => RangeDto)
  range?: RangeDto;
}

class NoteDto {
  @IsOptional()
  @IsString()
  note?: string;
}

class HowDto {
  @IsString()
  how: string;
}

const CITY = z.object({ city: z.string().describe('Where'), days: z.int().default(3) });

const REPORT = schema.object(
  { year: schema.property('integer', 'Which year', { title: 'Year' }), draft: schema.property('boolean') },
  ['year'],
);

/** A picture of one pixel is not needed: what counts are the bytes. */
export const BYTES = Uint8Array.from([0, 255, 62, 63, 254]);
const AROUND = Buffer.concat([Buffer.from('before'), BYTES, Buffer.from('after')]);
/** A view into a larger buffer, of which only these bytes may be sent. */
export const VIEW = AROUND.subarray(6, 6 + BYTES.length);
export const BASE64 = 'AP8+P/4=';

@Catch()
class TellingFilter implements ExceptionFilter {
  catch(error: Error) {
    return `It did not work: ${error.message}`;
  }
}

@Injectable()
class RefusingPipe implements PipeTransform {
  transform(value: unknown, { type }: { type: string }) {
    if (type === 'body') throw new BadRequestException(['how is not to be told']);
    return value;
  }
}

/** How often `slow` was told to stop. */
export const stopped: string[] = [];

@Injectable()
class Prompts {
  @McpPrompt({
    title: 'Review',
    description: 'Looks at a topic',
    icons: [{ src: 'https://example.com/review.png', mimeType: 'image/png', sizes: ['48x48'] }],
    meta: { 'example.com/team': 'support' },
  })
  review(args: ReviewDto, ctx: McpContext) {
    const classes = [args instanceof ReviewDto, args.range === undefined || args.range instanceof RangeDto];
    return JSON.stringify({ args, classes, name: ctx.name, method: ctx.method });
  }

  @McpPrompt({ args: CITY })
  forecast(@McpArgs() args: z.output<typeof CITY>) {
    return JSON.stringify(args);
  }

  @McpPrompt({ args: REPORT })
  report(@McpArgs() args: Record<string, unknown>) {
    return JSON.stringify(args);
  }

  @McpPrompt('plain')
  hello() {
    return 'Hello';
  }

  @McpPrompt()
  everyContent(): McpPromptMessage[] {
    const annotations = { audience: ['user' as const], priority: 0.5, lastModified: '2026-01-01T00:00:00Z' };
    const meta = { 'example.com/a': 1 };
    return [
      { role: 'user', content: content.text('a text', { annotations, meta }) },
      { role: 'assistant', content: content.image(VIEW, 'image/png') },
      { role: 'user', content: content.audio(BYTES, 'audio/wav', { annotations }) },
      { role: 'user', content: content.resource('note://1', 'a note', 'text/markdown') },
      { role: 'user', content: content.resource('blob://1', VIEW) },
      {
        role: 'assistant',
        content: content.link('ticket://7', 'Ticket 7', {
          title: 'The seventh',
          size: 7,
          icons: [{ src: 'https://example.com/t.png' }],
          meta,
        }),
      },
    ];
  }

  @McpPrompt()
  whole(): object {
    return {
      description: 'A whole result',
      messages: [
        { role: 'assistant', content: { type: 'text', text: 'one' } },
        { role: 'user', content: { type: 'resource', resource: { uri: 'note://2', text: 'untyped' } } },
      ],
      _meta: { 'example.com/b': 2 },
    };
  }

  @McpPrompt()
  give({ how }: HowDto): unknown {
    switch (how) {
      case 'undefined':
        return undefined;
      case 'null':
        return null;
      case 'empty list':
        return [];
      case 'unknown object':
        return { hello: 'world' };
      case 'bytes':
        return BYTES;
      case 'bad Base64':
        return { type: 'image', data: 'a-b_', mimeType: 'image/png' };
      case 'image without a type':
        return { role: 'user', content: { type: 'image', data: BASE64 } };
      case 'embedded without content':
        return { type: 'resource', resource: { uri: 'note://3' } };
      case 'link that is no uri':
        return { type: 'resource_link', uri: 'not a uri', name: 'x' };
      case 'another role':
        return { role: 'system', content: 'x' };
      default:
        throw new Error(`secret ${how}`);
    }
  }

  @McpPrompt()
  refuse({ how }: HowDto): never {
    if (how === 'mcp') throw new McpError(-31001, 'Closed on Sundays', { open: 'Monday' });
    throw new HttpException(`Status ${how}`, Number(how));
  }

  @McpPrompt()
  @UseFilters(TellingFilter)
  filtered(): never {
    throw new Error('no paper');
  }

  @McpPrompt()
  @UsePipes(RefusingPipe)
  piped({ how }: HowDto) {
    return how;
  }

  @McpPrompt({ timeout: 30 })
  async slow(_args: NoteDto, { signal }: McpContext) {
    await new Promise<void>((resolve) => signal.addEventListener('abort', () => resolve()));
    stopped.push((signal.reason as Error).name);
    return 'too late';
  }
}

@Module({ imports: [McpModule.forRoot({ name: 'prompts', version: '1.0.0' })], providers: [Prompts] })
export class PromptsModule {}

@Module({ imports: [McpModule.forRoot({ name: 'none', version: '1.0.0' })] })
export class NothingModule {}
