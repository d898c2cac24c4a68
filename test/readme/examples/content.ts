import { Injectable, Module } from '@nestjs/common';
import { IsInt } from 'class-validator';
import { content, McpContext, McpModule, McpTool } from 'nest-mcp';
import { DOT } from './tickets.js';

class WeekDto {
  @IsInt()
  week: number;
}

/** Stands for what draws a chart. */
const draw = async (_week: number) => DOT;

@Injectable()
class ChartTools {
  @McpTool({ description: 'Draws the tickets of a week', readOnly: true })
  async chart({ week }: WeekDto) {
    const png = await draw(week);
    return [
      content.text(`Week ${week}`),
      content.image(png, 'image/png', { annotations: { audience: ['user'] } }),
      content.link('ticket://T-1', 'The oldest open ticket', { mimeType: 'application/json' }),
    ];
  }

  @McpTool({ description: 'Counts the tickets of a week', readOnly: true })
  count({ week }: WeekDto, ctx: McpContext) {
    ctx.log.debug({ week }, 'statistics');
    const count = week * 2;
    if (count > 100) ctx.log.warning(`Week ${week} had ${count} tickets`, 'statistics');
    return { week, count };
  }
}

@Module({
  imports: [McpModule.forRoot({ name: 'helpdesk', version: '1.0.0' })],
  providers: [ChartTools],
})
export class ContentModule {}
