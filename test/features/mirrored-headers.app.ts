import { Injectable, Module } from '@nestjs/common';
import { Type } from 'class-transformer';
import { IsBoolean, IsInt, IsOptional, IsString, ValidateNested } from 'class-validator';
import { McpArgs, McpModule, McpProperty, McpTool, schema } from 'nest-mcp';
import { z } from 'zod';

class TenantDto {
  @IsOptional()
  @IsString()
  @McpProperty({ header: 'Tenant-Id' })
  tenant?: string | null;
}

class MirroredDto {
  @IsOptional()
  @IsString()
  @McpProperty({ header: 'Region' })
  region?: string | null;

  @IsOptional()
  @IsInt()
  @McpProperty({ header: 'Count' })
  count?: number | null;

  @IsOptional()
  @IsBoolean()
  @McpProperty({ header: 'Dry-Run' })
  dry?: boolean | null;

  @IsOptional()
  @ValidateNested()
  @Type(() => TenantDto)
  where?: TenantDto;

  @IsOptional()
  @IsString()
  free?: string;
}

const RAW_INPUT = schema.object({
  region: schema.property('string', 'Where', { 'x-mcp-header': 'Region' }),
  where: {
    type: 'object',
    properties: { tenant: { type: 'string', 'x-mcp-header': 'Tenant-Id' } },
  },
});

const ZOD_INPUT = z.object({
  region: z.string().meta({ 'x-mcp-header': 'Region' }).optional(),
  count: z.int().meta({ 'x-mcp-header': 'Count' }).optional(),
});

/** The arguments of calls that reached a handler. */
export const reached: unknown[] = [];

const note = (args: unknown) => {
  reached.push(args);
  return JSON.stringify(args);
};

@Injectable()
class MirroredTools {
  @McpTool()
  mirrored(args: MirroredDto) {
    return note(args);
  }

  @McpTool({ input: RAW_INPUT })
  raw(@McpArgs() args: unknown) {
    return note(args);
  }

  @McpTool({ input: ZOD_INPUT })
  zod(@McpArgs() args: unknown) {
    return note(args);
  }
}

/** For a tool that is added at run time. */
export const ADDED = { name: 'added', input: RAW_INPUT };
export const addedHandler = note;

@Module({ imports: [McpModule.forRoot({ name: 'mirrored', version: '1.0.0' })], providers: [MirroredTools] })
export class MirroredModule {}
