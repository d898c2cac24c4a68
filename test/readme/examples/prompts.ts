import { Injectable, Module } from '@nestjs/common';
import { IsEnum, IsInt, IsOptional, IsString, Max } from 'class-validator';
import { content, McpArgs, McpCompletion, McpModule, McpPrompt, McpProperty } from 'nest-mcp';
import { Tickets } from './tickets.js';

enum Tone {
  Friendly = 'friendly',
  Formal = 'formal',
}

class TriageDto {
  @IsString()
  @McpProperty({ description: 'Id of the ticket, like T-1' })
  id: string;

  @IsOptional()
  @IsEnum(Tone)
  tone?: Tone = Tone.Friendly;

  @IsOptional()
  @IsInt()
  @Max(500)
  words?: number = 100;
}

class AssignDto {
  @IsOptional()
  @IsString()
  team?: string;

  @IsString()
  agent: string;
}

@Injectable()
class TicketPrompts {
  constructor(private readonly tickets: Tickets) {}

  @McpPrompt({ title: 'Triage a ticket', description: 'Judges a ticket and drafts a reply' })
  triage({ id, tone, words }: TriageDto) {
    return [
      content.resource(`ticket://${id}`, JSON.stringify(this.tickets.find(id)), 'application/json'),
      `Say how urgent this ticket is. Then draft a ${tone} reply of at most ${words} words.`,
    ];
  }

  @McpPrompt({ description: 'Begins every conversation' })
  hello() {
    return 'Which tickets wait for me?';
  }

  @McpPrompt({ description: 'Shows by example how replies are written' })
  example() {
    return {
      description: 'A reply as we like it',
      messages: [
        { role: 'user', content: 'I cannot log in.' },
        { role: 'assistant', content: 'I am sorry to hear that. Which browser do you use?' },
      ],
    };
  }

  @McpPrompt({ description: 'Hands a ticket over' })
  assign({ agent }: AssignDto) {
    return `Hand the ticket over to ${agent}.`;
  }

  @McpCompletion({ prompt: 'assign', argument: 'agent' })
  agents(typed: string, @McpArgs() { team = 'support' }: { team?: string }) {
    return TEAMS[team]?.filter((name) => name.startsWith(typed));
  }
}

const TEAMS: Record<string, string[]> = { support: ['Maya', 'Mats'], billing: ['Jonas'] };

@Module({
  imports: [McpModule.forRoot({ name: 'helpdesk', version: '1.0.0' })],
  providers: [Tickets, TicketPrompts],
})
export class PromptsModule {}
