import { Module } from '@nestjs/common';
import { McpModule } from 'nest-mcp';
import { ConformanceTools } from './conformance.tools.js';

@Module({
  imports: [McpModule.forRoot({ name: 'conformance', version: '1.0.0' })],
  providers: [ConformanceTools],
})
export class ConformanceModule {}
