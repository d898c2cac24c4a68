import { Injectable } from '@nestjs/common';
import { McpContext, McpTool } from 'nest-mcp';

/** Stands for the handlers that an application has. */
@Injectable()
export class WhoTools {
  @McpTool({ description: 'Tells who is calling', readOnly: true })
  whoAmI(ctx: McpContext) {
    return `${ctx.caller?.id} in ${ctx.revision}, over ${ctx.transport}`;
  }
}
