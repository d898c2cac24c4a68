import { Injectable } from '@nestjs/common';
import { IsBoolean, IsString } from 'class-validator';
import {
  content,
  McpContext,
  McpPrompt,
  McpTool,
  type JsonSchema,
  type McpElicited,
  type McpSamplingMessage,
  type McpTextBlock,
} from 'nest-mcp';

class NameDto {
  @IsString() name: string;
}

class ColorDto {
  @IsString() color: string;
}

class ContextDto {
  @IsString() context: string;
}

class ConfirmDto {
  @IsBoolean() ok: boolean;
}

class SignUpDto {
  @IsString() username: string;
  @IsString() email: string;
}

class PromptDto {
  @IsString() prompt: string;
}

class MessageDto {
  @IsString() message: string;
}

const titles = [
  { const: 'value1', title: 'First Option' },
  { const: 'value2', title: 'Second Option' },
  { const: 'value3', title: 'Third Option' },
];
const options = ['option1', 'option2', 'option3'];

const DEFAULTS: JsonSchema = {
  type: 'object',
  properties: {
    name: { type: 'string', default: 'John Doe' },
    age: { type: 'integer', default: 30 },
    score: { type: 'number', default: 95.5 },
    status: { type: 'string', enum: ['active', 'inactive', 'pending'], default: 'active' },
    verified: { type: 'boolean', default: true },
  },
};

const ENUMS: JsonSchema = {
  type: 'object',
  properties: {
    untitledSingle: { type: 'string', enum: options },
    titledSingle: { type: 'string', oneOf: titles },
    legacyEnum: { type: 'string', enum: ['opt1', 'opt2'], enumNames: ['Option One', 'Option Two'] },
    untitledMulti: { type: 'array', items: { type: 'string', enum: options } },
    titledMulti: { type: 'array', items: { anyOf: titles } },
  },
};

const user = (text: string): McpSamplingMessage => ({ role: 'user', content: content.text(text) });

const said = <T>({ action, ...more }: McpElicited<T>) =>
  `The user said ${action}: ${JSON.stringify('content' in more ? more.content : null)}`;

/** Tools and a prompt that ask the client, in sessions and in rounds. */
@Injectable()
export class AskingTools {
  @McpTool({ name: 'test_sampling', description: "Asks the client's model" })
  async sampling({ prompt }: PromptDto, ctx: McpContext): Promise<string> {
    const messages = [user(prompt)];
    const sampled = await ctx.sample({ messages, maxTokens: 100 });
    return `The model said: ${(sampled.content as Partial<McpTextBlock>).text ?? ''}`;
  }

  @McpTool({ name: 'test_elicitation', description: 'Asks the user for a name and an address' })
  async elicitation({ message }: MessageDto, ctx: McpContext): Promise<string> {
    return said(await ctx.elicit(message, SignUpDto));
  }

  @McpTool({ name: 'test_elicitation_sep1034_defaults', description: 'A form whose fields have defaults' })
  async defaults(ctx: McpContext): Promise<string> {
    return said(await ctx.elicit('Please check these values', DEFAULTS));
  }

  @McpTool({ name: 'test_elicitation_sep1330_enums', description: 'A form of choices' })
  async enums(ctx: McpContext): Promise<string> {
    return said(await ctx.elicit('Please choose', ENUMS));
  }

  @McpTool({ name: 'test_input_required_result_elicitation', description: 'Asks for a name' })
  async askName(ctx: McpContext): Promise<string> {
    return said(await ctx.elicit('What is your name?', NameDto, { key: 'user_name' }));
  }

  @McpTool({ name: 'test_input_required_result_sampling', description: "Asks the client's model" })
  async askModel(ctx: McpContext): Promise<string> {
    const messages = [user('What is the capital of France?')];
    const { model } = await ctx.sample({ messages, maxTokens: 100 }, { key: 'capital_question' });
    return `Answered by ${model}`;
  }

  @McpTool({ name: 'test_input_required_result_list_roots', description: "Asks for the client's roots" })
  async askRoots(ctx: McpContext): Promise<string> {
    const roots = await ctx.roots({ key: 'client_roots' });
    return `There are ${roots.length} roots`;
  }

  @McpTool({ name: 'test_input_required_result_request_state', description: 'Keeps a state' })
  async keepState(ctx: McpContext): Promise<string> {
    const step = await ctx.once('step', () => 'state-ok');
    await ctx.elicit('Please confirm', ConfirmDto, { key: 'confirm' });
    return step;
  }

  @McpTool({
    name: 'test_input_required_result_multiple_inputs',
    description: 'Asks for three things at once',
  })
  async askAll(ctx: McpContext): Promise<string> {
    const messages = [user('Greet the user')];
    const [name, greeting, roots] = await Promise.all([
      ctx.elicit('What is your name?', NameDto, { key: 'user_name' }),
      ctx.sample({ messages, maxTokens: 50 }, { key: 'greeting' }),
      ctx.roots({ key: 'client_roots' }),
    ]);
    return `${said(name)}, greeted by ${greeting.model}, ${roots.length} roots`;
  }

  @McpTool({ name: 'test_input_required_result_multi_round', description: 'Asks twice' })
  async askTwice(ctx: McpContext): Promise<string> {
    const name = await ctx.elicit('What is your name?', NameDto, { key: 'step1' });
    const color = await ctx.elicit('What is your favourite colour?', ColorDto, { key: 'step2' });
    return `${said(name)}, ${said(color)}`;
  }

  @McpTool({ name: 'test_input_required_result_tampered_state', description: 'Keeps a state that is sealed' })
  async keepSealed(ctx: McpContext): Promise<string> {
    return said(await ctx.elicit('Please confirm', ConfirmDto, { key: 'confirm' }));
  }

  @McpTool({ name: 'test_input_required_result_capabilities', description: 'Asks what the client can do' })
  async askWhatCan(ctx: McpContext): Promise<string> {
    const { capabilities } = ctx.client;
    const messages = [user('Say something')];
    await Promise.all([
      capabilities['elicitation']
        ? ctx.elicit('What is your name?', NameDto, { key: 'user_name' })
        : undefined,
      capabilities['sampling'] ? ctx.sample({ messages, maxTokens: 50 }, { key: 'greeting' }) : undefined,
    ]);
    return 'Asked what could be asked';
  }

  @McpPrompt({ name: 'test_input_required_result_prompt', description: 'Asks for a context' })
  async promptWithContext(ctx: McpContext): Promise<string> {
    const answer = await ctx.elicit('What is the context?', ContextDto, { key: 'user_context' });
    return `Use this: ${said(answer)}`;
  }
}
