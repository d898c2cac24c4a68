import { Injectable } from '@nestjs/common';
import { IsOptional, IsString } from 'class-validator';
import { McpArgs, McpProperty, McpTool, type JsonSchema } from 'nest-mcp';

/** Keywords that no DTO has: all of them have to reach the client as they stand. */
const CONTACT: JsonSchema = {
  $schema: 'https://json-schema.org/draft/2020-12/schema',
  type: 'object',
  $defs: {
    address: {
      $anchor: 'addressDef',
      type: 'object',
      properties: { street: { type: 'string' }, city: { type: 'string' } },
    },
  },
  properties: {
    name: { type: 'string' },
    address: { $ref: '#/$defs/address' },
    contactMethod: { type: 'string', enum: ['phone', 'email'] },
    phone: { type: 'string' },
    email: { type: 'string' },
  },
  allOf: [{ anyOf: [{ required: ['phone'] }, { required: ['email'] }] }],
  if: { properties: { contactMethod: { const: 'phone' } }, required: ['contactMethod'] },
  // eslint-disable-next-line unicorn/no-thenable -- the keyword of JSON Schema
  then: { required: ['phone'] },
  else: { required: ['email'] },
  additionalProperties: false,
};

class RegionArgs {
  @IsString()
  @IsOptional()
  @McpProperty({ description: 'Where to run it', header: 'Region' })
  region?: string;

  @IsString()
  @IsOptional()
  @McpProperty({ description: 'What to run' })
  query?: string;
}

/** Tools whose schemas the suite looks at. */
@Injectable()
export class SchemaTools {
  @McpTool({ name: 'json_schema_2020_12_tool', description: 'Has a schema of many keywords', input: CONTACT })
  contact(@McpArgs() args: JsonSchema): string {
    return `Called with ${JSON.stringify(args)}`;
  }

  @McpTool({ name: 'test_x_mcp_header', description: 'Has an argument that clients repeat in a header' })
  region({ region = 'anywhere', query = 'nothing' }: RegionArgs): string {
    return `Ran ${query} in ${region}`;
  }
}
