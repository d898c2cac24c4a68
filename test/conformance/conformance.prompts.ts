import { Injectable } from '@nestjs/common';
import { IsString, Matches } from 'class-validator';
import { content, McpCompletion, McpPrompt, McpProperty, type McpContentBlock } from 'nest-mcp';
import { PNG } from './sample.files.js';

class TwoArguments {
  @IsString()
  @McpProperty({ description: 'First test argument' })
  arg1!: string;

  @IsString()
  @McpProperty({ description: 'Second test argument' })
  arg2!: string;
}

class ResourceArgument {
  @Matches(/^[a-z][a-z0-9+.-]*:/i)
  @McpProperty({ description: 'Address of the resource to embed' })
  resourceUri!: string;
}

const KNOWN_VALUES = ['paris', 'park', 'party'];

/** The prompts that the official suite gets. */
@Injectable()
export class ConformancePrompts {
  @McpPrompt({ name: 'test_simple_prompt', description: 'One text, no arguments' })
  simple(): string {
    return 'This is a simple prompt for testing.';
  }

  @McpPrompt({ name: 'test_prompt_with_arguments', description: 'Repeats its two arguments' })
  withArguments({ arg1, arg2 }: TwoArguments): string {
    return `Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`;
  }

  @McpCompletion({ prompt: 'test_prompt_with_arguments', argument: 'arg1' })
  completeArg1(prefix: string): string[] {
    return KNOWN_VALUES.filter((value) => value.startsWith(prefix));
  }

  @McpPrompt({ name: 'test_prompt_with_embedded_resource', description: 'A resource and a text about it' })
  withResource({ resourceUri }: ResourceArgument): McpContentBlock[] {
    return [
      content.resource(resourceUri, 'Embedded resource content for testing.', 'text/plain'),
      content.text('Please process the embedded resource above.'),
    ];
  }

  @McpPrompt({ name: 'test_prompt_with_image', description: 'A picture and a text about it' })
  withImage(): McpContentBlock[] {
    return [content.image(PNG, 'image/png'), content.text('Please analyze the image above.')];
  }
}
