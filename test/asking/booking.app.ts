import {
  Catch,
  Injectable,
  Module,
  UseFilters,
  UseInterceptors,
  type CallHandler,
  type ExceptionFilter,
  type ExecutionContext,
  type NestInterceptor,
} from '@nestjs/common';
import { IsIn, IsString } from 'class-validator';
import { McpContext, McpModule, McpPrompt, McpResource, McpTool } from 'nest-mcp';
import { catchError, of, retry, tap, type Observable } from 'rxjs';

export class SeatDto {
  @IsIn(['A', 'B']) seat: string;
}

export class MealDto {
  @IsString() meal: string;
}

/** What handlers and what stands round them did, in order; of one test at a time. */
export const journal: string[] = [];

@Catch()
class CatchAll implements ExceptionFilter {
  catch(): string {
    journal.push('filter');
    return 'a filter made this of it';
  }
}

@Injectable()
class CatchError implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler<string>): Observable<string> {
    return next.handle().pipe(catchError(() => of('an interceptor made this of it')));
  }
}

@Injectable()
class RetryThrice implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler<string>): Observable<string> {
    return next.handle().pipe(retry(3));
  }
}

/** As one that holds a database transaction open round the handler. */
@Injectable()
class InTransaction implements NestInterceptor {
  intercept(_context: ExecutionContext, next: CallHandler<string>): Observable<string> {
    journal.push('begin');
    return next.handle().pipe(
      tap({
        next: () => void journal.push('commit'),
        error: () => void journal.push('rollback'),
      }),
    );
  }
}

type Booking = new () => object;

/** The same handlers as tools, prompts or resources: what they ask comes out in the same way. */
function bookingOf(Mark: (name: string) => MethodDecorator): Booking {
  @Injectable()
  class Handlers {
    @Mark('inSequence')
    async inSequence(ctx: McpContext): Promise<string> {
      journal.push('run');
      const seat = await this.seat(ctx);
      const meal = await ctx.elicit(`Which meal at ${seat}?`, MealDto);
      return `${seat}, ${meal.action === 'accept' ? meal.content.meal : meal.action}`;
    }

    @Mark('atOnce')
    async atOnce(ctx: McpContext): Promise<string> {
      journal.push('run');
      const [seat, meal] = await Promise.all([
        ctx.elicit('Which seat?', SeatDto, { key: 'seat' }),
        ctx.elicit('Which meal?', MealDto, { key: 'meal' }),
      ]);
      return JSON.stringify([seat, meal]);
    }

    @Mark('catchesAll')
    async catchesAll(ctx: McpContext): Promise<string> {
      try {
        return await this.seat(ctx);
      } catch {
        journal.push('caught');
        return 'the handler made this of it';
      }
    }

    @Mark('underFilter')
    @UseFilters(CatchAll)
    underFilter(ctx: McpContext): Promise<string> {
      return this.seat(ctx);
    }

    @Mark('underCatchError')
    @UseInterceptors(CatchError)
    underCatchError(ctx: McpContext): Promise<string> {
      return this.seat(ctx);
    }

    @Mark('underRetry')
    @UseInterceptors(RetryThrice)
    underRetry(ctx: McpContext): Promise<string> {
      journal.push('run');
      return this.seat(ctx);
    }

    @Mark('withFinally')
    async withFinally(ctx: McpContext): Promise<string> {
      try {
        return await this.seat(ctx);
      } finally {
        journal.push('finally');
      }
    }

    @Mark('inTransaction')
    @UseInterceptors(InTransaction)
    async inTransaction(ctx: McpContext): Promise<string> {
      const seat = await this.seat(ctx);
      journal.push('write');
      return seat;
    }

    @Mark('withOnce')
    async withOnce(ctx: McpContext): Promise<string> {
      journal.push('run');
      const order = await ctx.once('order', () => {
        journal.push('order');
        return { number: 7, at: new Date(0) };
      });
      return `${JSON.stringify(order)} ${await this.seat(ctx)}`;
    }

    /** The instance of the form is what comes, not its like. */
    private async seat(ctx: McpContext): Promise<string> {
      const answer = await ctx.elicit('Which seat?', SeatDto);
      return answer.action === 'accept' && answer.content instanceof SeatDto
        ? answer.content.seat
        : answer.action;
    }
  }

  return Handlers;
}

@Module({
  imports: [McpModule.forRoot({ name: 'booking', version: '1.0.0' })],
  providers: [
    bookingOf((name) => McpTool({ name })),
    bookingOf((name) => McpPrompt({ name })),
    bookingOf((name) => McpResource(`booking://${name}`)),
  ].map((useClass) => ({ provide: useClass, useClass })),
})
export class BookingModule {}
