import {
  Injectable,
  Module,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
  type Type,
} from '@nestjs/common';
import { IsBoolean, IsString } from 'class-validator';
import {
  McpContext,
  McpExecutionContext,
  McpModule,
  McpPrompt,
  McpResource,
  McpTool,
  type McpModuleOptions,
} from 'nest-mcp';

class BoxDto {
  @IsString() box: string;
}

class YesDto {
  @IsBoolean() yes: boolean;
}

/** What ran, who may enter, and what a box costs: of one test at a time. */
export const vault = { runs: [] as string[], members: new Set<string>(), price: 10 };

@Injectable()
class MembersOnly implements CanActivate {
  canActivate(context: ExecutionContext): boolean {
    return vault.members.has(McpExecutionContext.create(context).getContext().caller?.id ?? '');
  }
}

@Injectable()
class VaultTools {
  @McpTool()
  openBox({ box }: BoxDto, ctx: McpContext): Promise<string> {
    return this.ask(`openBox ${box}`, `Open ${box}?`, ctx);
  }

  @McpTool()
  shutBox({ box }: BoxDto, ctx: McpContext): Promise<string> {
    return this.ask(`shutBox ${box}`, `Open ${box}?`, ctx);
  }

  @McpPrompt({ name: 'openBox' })
  openPrompt({ box }: BoxDto, ctx: McpContext): Promise<string> {
    return this.ask(`openPrompt ${box}`, `Open ${box}?`, ctx);
  }

  @McpResource('box://one')
  openResource(ctx: McpContext): Promise<string> {
    return this.ask('openResource', 'Open one?', ctx);
  }

  @McpTool()
  @UseGuards(MembersOnly)
  forMembers({ box }: BoxDto, ctx: McpContext): Promise<string> {
    return this.ask(`forMembers ${box}`, `Open ${box}?`, ctx);
  }

  @McpTool()
  async buyBox(ctx: McpContext): Promise<string> {
    const { price } = vault;
    return this.ask(`buyBox ${price}`, `Pay ${price}?`, ctx);
  }

  @McpTool()
  async burnBox(ctx: McpContext): Promise<string> {
    const first = await this.ask('burnBox', 'Take the box out?', ctx);
    return `${first}, ${await this.ask('burnBox 2', 'Burn it?', ctx)}`;
  }

  @McpTool()
  async countTo(ctx: McpContext): Promise<string> {
    for (let number = 1; ; number++) await this.ask(`countTo ${number}`, `${number}?`, ctx);
  }

  @McpTool()
  async keepMuch(ctx: McpContext): Promise<string> {
    await ctx.once('much', () => 'x'.repeat(40_000));
    return this.ask('keepMuch', 'Keep it?', ctx);
  }

  @McpTool()
  plain(): string {
    vault.runs.push('plain');
    return 'plain';
  }

  private async ask(run: string, message: string, ctx: McpContext): Promise<string> {
    vault.runs.push(run);
    const answer = await ctx.elicit(message, YesDto);
    return `${message} ${answer.action === 'accept' ? answer.content.yes : answer.action}`;
  }
}

const CALLER_HEADER = 'x-caller';

/** Whoever the header says is calling: that guards find out who it is is proved elsewhere. */
function callerOf(request: unknown) {
  const id = (request as { headers: Record<string, string | undefined> }).headers[CALLER_HEADER];
  return id ? { id } : undefined;
}

export function vaultModule(options: Pick<McpModuleOptions, 'stateKeys' | 'limits' | 'legacy'> = {}): Type {
  @Module({
    imports: [McpModule.forRoot({ name: 'vault', version: '1.0.0', caller: callerOf, ...options })],
    providers: [VaultTools, MembersOnly],
  })
  class VaultModule {}
  return VaultModule;
}
