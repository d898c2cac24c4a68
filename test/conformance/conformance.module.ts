import { Module } from '@nestjs/common';
import { McpModule } from 'nest-mcp';
import { AskingTools } from './asking.tools.js';
import { ConformancePrompts } from './conformance.prompts.js';
import { ConformanceResources } from './conformance.resources.js';
import { ConformanceTools } from './conformance.tools.js';
import { DiagnosticTools } from './diagnostic.tools.js';
import { SchemaTools } from './schema.tools.js';

@Module({
  imports: [McpModule.forRoot({ name: 'conformance', version: '1.0.0' })],
  providers: [
    AskingTools,
    ConformanceTools,
    DiagnosticTools,
    SchemaTools,
    ConformanceResources,
    ConformancePrompts,
  ],
})
export class ConformanceModule {}
