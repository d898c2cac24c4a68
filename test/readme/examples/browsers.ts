import { Module, type INestApplication } from '@nestjs/common';
import { mcpCors, McpModule } from 'nest-mcp';
import { WhoTools } from './who.tools.js';

const PAGES = ['https://app.example.com'];

/** For `main.ts`. */
export function allowPages(app: INestApplication) {
  app.enableCors(mcpCors({ origin: PAGES }));
}

@Module({
  imports: [McpModule.forRoot({ name: 'helpdesk', version: '1.0.0', http: { allowedOrigins: PAGES } })],
  providers: [WhoTools],
})
export class BrowsersModule {}
