import {
  createParamDecorator,
  Injectable,
  Module,
  SetMetadata,
  UseGuards,
  type CanActivate,
  type ExecutionContext,
} from '@nestjs/common';
import { IsEnum, IsInt, IsOptional, IsString, Max } from 'class-validator';
import {
  jsonSchemaOf,
  McpContext,
  McpExecutionContext,
  McpModule,
  McpProperty,
  McpTool,
  schema,
} from 'nest-mcp';
import { z } from 'zod';

/** Stands for the configuration that an application has. */
@Injectable()
class ConfigService {
  get(name: 'version'): string {
    return { version: '1.2.3' }[name];
  }
}

@Module({ providers: [ConfigService], exports: [ConfigService] })
class ConfigModule {}

const mcp = McpModule.forRootAsync({
  path: 'mcp', // needed before the factory runs, so it stands beside it
  imports: [ConfigModule],
  inject: [ConfigService],
  useFactory: (config: ConfigService) => ({ name: 'helpdesk', version: config.get('version') }),
});

interface User {
  name: string;
}

const Roles = (...roles: string[]) => SetMetadata('roles', roles);
const CurrentUser = createParamDecorator((): User => ({ name: 'Jonas' }));

enum Status {
  Open = 'open',
  Closed = 'closed',
}

class TicketIdDto {
  @IsString()
  id: string;
}

class TicketDto {
  @IsString()
  id: string;

  @IsString()
  subject: string;
}

class SearchTicketsDto {
  @IsOptional()
  @IsEnum(Status)
  @McpProperty({ description: 'Only tickets in this state', enumTitles: { open: 'Waiting for us' } })
  status?: Status;

  @IsOptional()
  @IsString()
  @McpProperty({ header: 'Region' })
  region?: string;

  @IsInt()
  @Max(100)
  limit = 20; // optional, published with its default
}

const Search = z.object({
  query: z.string().describe('Words to look for'),
  limit: z.int().max(100).default(20),
});

@Injectable()
class ScopeGuard implements CanActivate {
  canActivate(context: ExecutionContext) {
    if (context.getType<string>() !== 'mcp') return true;
    const call = McpExecutionContext.create(context);
    return call.getContext().caller?.scopes?.includes('tickets') ?? false;
  }
}

@Injectable()
class TicketTools {
  @McpTool({
    title: 'Delete a ticket',
    description: 'Deletes a ticket and its comments for good',
    annotations: { destructiveHint: true },
    timeout: 10_000,
  })
  @Roles('admin') // your own guard's decorator, unchanged
  async deleteTicket({ id }: TicketIdDto, ctx: McpContext, @CurrentUser() user: User) {
    return `${user.name} deleted ${id} over ${ctx.transport}`;
  }

  @McpTool()
  searchTickets({ status, limit, region }: SearchTicketsDto) {
    return { status, limit, region };
  }

  @McpTool({ input: Search })
  search({ query, limit }: z.infer<typeof Search>) {
    return `${limit} of ${query}`;
  }

  @McpTool({ input: schema.object({ id: schema.property('string', 'Ticket id') }, ['id']) })
  read({ id }: { id: string }) {
    return `Ticket ${id}`;
  }

  @McpTool({ output: { type: 'array', items: jsonSchemaOf(TicketDto) } })
  openTickets() {
    return [{ id: 'T-1', subject: 'Cannot log in' }];
  }

  @McpTool()
  @UseGuards(ScopeGuard)
  secret() {
    return 'the secret';
  }

  @McpTool()
  async export(ctx: McpContext) {
    const rows = ['a', 'b', 'c'];
    for (const [done, row] of rows.entries()) {
      ctx.signal.throwIfAborted(); // cancelled, hung up, out of time, shutting down
      await ctx.progress(done, rows.length, `${done} rows`); // nothing is sent unless the client asked
      rows[done] = row.toUpperCase();
    }
    return rows.join();
  }
}

@Module({ imports: [mcp], providers: [TicketTools] })
export class BasicsModule {}
