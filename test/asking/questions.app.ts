import { Injectable, Module, type Type } from '@nestjs/common';
import { Type as TypeOf } from 'class-transformer';
import {
  IsArray,
  IsDate,
  IsEmail,
  IsEnum,
  IsInt,
  IsISO8601,
  IsOptional,
  IsString,
  IsUrl,
  Max,
  ValidateNested,
} from 'class-validator';
import {
  content,
  McpAskError,
  McpCompletion,
  McpContext,
  McpModule,
  McpPrompt,
  McpResource,
  McpSuspension,
  McpTool,
  type McpModuleOptions,
  type McpSamplingMessage,
  type McpTextBlock,
} from 'nest-mcp';

enum Cabin {
  economy = 'economy',
  business = 'business',
}

class BagsDto {
  @IsInt() @Max(3) bags: number;
}

class AllShapesDto {
  @IsEnum(Cabin) cabin: Cabin;
  @IsEmail() email: string;
  @IsOptional() @IsUrl() site?: string;
  @IsOptional() @IsISO8601() day?: string;
  @IsOptional() @IsEnum(Cabin, { each: true }) also?: Cabin[];
}

class AddressDto {
  @IsString() street: string;
}

class NestedDto {
  @ValidateNested() @TypeOf(() => AddressDto) address: AddressDto;
}

class ListDto {
  @IsArray() @ValidateNested({ each: true }) @TypeOf(() => AddressDto) addresses: AddressDto[];
}

class DateDto {
  @IsDate() @TypeOf(() => Date) day: Date;
}

class FormDto {
  @IsString() form: string;
}

const FORMS: Record<string, new () => object> = { nested: NestedDto, list: ListDto, date: DateDto };

class CityDto {
  @IsString() city: string;
}

class MessagesDto {
  @IsString() messages: string;
}

/** What handlers saw, in order; of one test at a time. */
export const seen: string[] = [];

/** Notes why a question failed, and lets the error pass. */
async function noting<T>(question: Promise<T>): Promise<T> {
  try {
    return await question;
  } catch (thrown) {
    seen.push(McpAskError.is(thrown) ? thrown.fault : (thrown as Error).name);
    throw thrown;
  }
}

const WEATHER = { name: 'weather', inputSchema: { type: 'object' } };
const user = (text: string): McpSamplingMessage => ({ role: 'user', content: content.text(text) });

@Injectable()
class Questions {
  @McpTool()
  async bags(ctx: McpContext): Promise<string> {
    return JSON.stringify(await noting(ctx.elicit('How many bags?', BagsDto)));
  }

  @McpPrompt({ name: 'bags' })
  bagsPrompt(ctx: McpContext): Promise<string> {
    return this.bags(ctx);
  }

  @McpResource('ask://bags')
  bagsResource(ctx: McpContext): Promise<string> {
    return this.bags(ctx);
  }

  @McpTool()
  async bagsAndCabin(ctx: McpContext): Promise<string> {
    seen.push('run');
    const answers = await Promise.all([
      ctx.elicit('How many bags?', BagsDto, { key: 'bags' }),
      ctx.elicit('Where do you sit?', AllShapesDto, { key: 'shapes' }),
    ]);
    return JSON.stringify(answers.map(({ action }) => action));
  }

  @McpTool()
  async allShapes(ctx: McpContext): Promise<string> {
    return JSON.stringify(await ctx.elicit('Where do you sit?', AllShapesDto));
  }

  @McpTool()
  async anyForm({ form }: FormDto, ctx: McpContext): Promise<string> {
    try {
      return JSON.stringify(await ctx.elicit('Which one?', FORMS[form]!));
    } catch (thrown) {
      if (!(thrown instanceof McpSuspension)) seen.push((thrown as Error).message);
      throw thrown;
    }
  }

  @McpTool()
  async afterProgress(ctx: McpContext): Promise<string> {
    await ctx.progress(1);
    return JSON.stringify(await noting(ctx.elicit('How many bags?', BagsDto)));
  }

  @McpTool()
  async chatty(ctx: McpContext): Promise<string> {
    await ctx.progress(1);
    ctx.log.info('before');
    try {
      return JSON.stringify(await ctx.elicit('How many bags?', BagsDto));
    } catch (thrown) {
      seen.push(String(thrown instanceof McpSuspension));
      await ctx.progress(2);
      ctx.log.info('after');
      await ctx.elicit('And then?', BagsDto).catch((again: Error) => seen.push(again.name));
      await ctx
        .once('late', () => seen.push('late work'))
        .catch((again: unknown) => seen.push((again as Error).name));
      return 'the handler made this of it';
    }
  }

  @McpTool()
  async signIn(ctx: McpContext): Promise<string> {
    return (await ctx.elicitUrl('Please sign in', 'https://login.example/start')).action;
  }

  @McpTool()
  async signInNowhere(ctx: McpContext): Promise<string> {
    return (await ctx.elicitUrl('Please sign in', 'login')).action;
  }

  @McpTool()
  async weather(ctx: McpContext): Promise<string> {
    const messages = [user('How is the weather?')];
    const first = await noting(ctx.sample({ messages, maxTokens: 100, tools: [WEATHER] }));
    const results = [first.content]
      .flat()
      .filter((block) => block.type === 'tool_use')
      .map(({ id }) => ({ type: 'tool_result' as const, toolUseId: id, content: [content.text('rain')] }));
    messages.push({ role: 'assistant', content: first.content }, { role: 'user', content: results });
    const second = await ctx.sample({
      messages,
      maxTokens: 100,
      tools: [WEATHER],
      toolChoice: { mode: 'none' },
    });
    return (second.content as McpTextBlock).text;
  }

  @McpTool()
  async sample({ messages }: MessagesDto, ctx: McpContext): Promise<string> {
    const { model } = await noting(
      ctx.sample({ messages: JSON.parse(messages) as McpSamplingMessage[], maxTokens: 10 }),
    );
    return model;
  }

  @McpTool()
  async roots(ctx: McpContext): Promise<string> {
    return (await noting(ctx.roots())).map(({ uri }) => uri).join(' ');
  }

  @McpTool()
  async count(ctx: McpContext): Promise<string> {
    for (let number = 1; ; number++) await ctx.elicit(`${number}?`, BagsDto);
  }

  @McpTool({ timeout: 250 })
  async patient(ctx: McpContext): Promise<string> {
    return JSON.stringify(await ctx.elicit('How many bags?', BagsDto));
  }

  @McpTool({ timeout: 250 })
  async forgetful(ctx: McpContext): Promise<string> {
    await ctx.elicit('How many bags?', BagsDto);
    return new Promise(() => undefined);
  }

  @McpPrompt()
  travel({ city }: CityDto): string {
    return city;
  }

  @McpCompletion({ prompt: 'travel', argument: 'city' })
  async cities(_typed: string, ctx: McpContext): Promise<string[]> {
    await noting(ctx.elicit('How many bags?', BagsDto));
    return ['Bern'];
  }
}

export function questionsModule(options: Pick<McpModuleOptions, 'limits' | 'legacy'> = {}): Type {
  @Module({
    imports: [McpModule.forRoot({ name: 'questions', version: '1.0.0', ...options })],
    providers: [Questions],
  })
  class QuestionsModule {}
  return QuestionsModule;
}
