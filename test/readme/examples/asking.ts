import { Injectable, Module } from '@nestjs/common';
import { IsBoolean, IsEmail, IsIn, IsInt, IsOptional, IsString, Length, Max, Min } from 'class-validator';
import { McpAskError, McpContext, McpModule, McpProperty, McpTool } from 'nest-mcp';

process.env['MCP_STATE_KEY'] ??= 'a secret of thirty-two bytes or more';

class TicketIdDto {
  @IsString() id: string;
}

class ReasonDto {
  @IsString()
  @Length(1, 200)
  reason: string;
}

class ConfirmDto {
  @IsBoolean() confirmed: boolean;
}

class BookingDto {
  @IsEmail()
  email: string;

  @IsInt()
  @Min(1)
  @Max(9)
  bags: number = 1; // a default

  @IsIn(['a', 'w'])
  @McpProperty({ enumTitles: { a: 'Aisle', w: 'Window' } })
  seat: string;

  @IsOptional()
  @IsIn(['vegan', 'halal', 'kosher'], { each: true })
  meals?: string[]; // several of them
}

@Injectable()
export class Tickets {
  readonly deleted: string[] = [];

  delete(id: string, reason: string): Promise<void> {
    this.deleted.push(`${id}: ${reason}`);
    return Promise.resolve();
  }
}

@Injectable()
export class Orders {
  reserved = 0;

  reserve(id: string) {
    this.reserved++;
    return { number: this.reserved, device: `a phone for ${id}` };
  }

  release = (number: number) => `Released ${number}`;
  confirm = (number: number) => `Ordered ${number}`;
}

@Injectable()
export class TicketTools {
  constructor(
    private readonly tickets: Tickets,
    private readonly orders: Orders,
  ) {}

  @McpTool({ description: 'Deletes a ticket' })
  async deleteTicket({ id }: TicketIdDto, ctx: McpContext) {
    const answer = await ctx.elicit(`Why delete ${id}?`, ReasonDto, { key: 'why' });
    if (answer.action !== 'accept') return 'Nothing was deleted'; // declined, or closed
    await this.tickets.delete(id, answer.content.reason); // an instance of ReasonDto
    return `Deleted ${id}`;
  }

  @McpTool({ description: 'Orders a replacement' })
  async replaceDevice({ id }: TicketIdDto, ctx: McpContext) {
    const order = await ctx.once('order', () => this.orders.reserve(id)); // once, whatever the rounds
    const answer = await ctx.elicit(`Order ${order.device}?`, ConfirmDto, { key: 'order' });
    if (answer.action !== 'accept' || !answer.content.confirmed) return this.orders.release(order.number);
    return this.orders.confirm(order.number);
  }
}

@Injectable()
export class BookingTools {
  @McpTool()
  async book(ctx: McpContext) {
    const answer = await ctx.elicit('Your seat, please', BookingDto);
    return answer.action === 'accept' ? `${answer.content.seat} for ${answer.content.email}` : 'Not booked';
  }

  @McpTool()
  async workspace(ctx: McpContext) {
    try {
      return (await ctx.roots()).map(({ uri }) => uri);
    } catch (error) {
      if (!McpAskError.is(error) || error.fault !== 'unsupported') throw error;
      return ['file:///default']; // this client cannot say
    }
  }
}

@Module({
  imports: [
    McpModule.forRoot({ name: 'helpdesk', version: '1.0.0', stateKeys: [process.env.MCP_STATE_KEY!] }),
  ],
  providers: [TicketTools, BookingTools, Tickets, Orders],
})
export class AskingModule {}
