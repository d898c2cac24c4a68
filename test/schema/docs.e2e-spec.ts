import 'reflect-metadata';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { IsEnum, IsInt, IsOptional, IsString, Max, MinLength } from 'class-validator';
import { jsonSchemaOf, McpProperty } from 'nest-mcp';
import { documentedDecorators, generatedParts, knownDecorators, withParts } from './docs-table.js';

enum Status {
  Open = 'open',
  Closed = 'closed',
}

/** The example of the page. */
class SearchTicketsDto {
  @McpProperty({ description: 'Words to look for' })
  @IsString()
  @MinLength(2)
  query: string;

  @IsOptional()
  @IsEnum(Status)
  status?: Status;

  @IsInt()
  @Max(100)
  limit: number = 20;
}

const PAGE = join(process.cwd(), 'docs/dto-schema.md');

describe('docs/dto-schema.md', () => {
  it('has a row for every decorator of class-validator', () => {
    expect(documentedDecorators().sort()).toEqual(knownDecorators());
    expect(knownDecorators().length).toBeGreaterThan(100);
  });

  it('shows the schema that its example really has', () => {
    const page = readFileSync(PAGE, 'utf8');
    const [, shown] = /```json\n(.*?)```/s.exec(page)!;
    expect(JSON.parse(shown!)).toEqual(jsonSchemaOf(SearchTicketsDto));
  });

  it('has words for every refusal', async () => {
    const { decorators } = await generatedParts();
    const rows = decorators!.split('\n').slice(2);
    expect(rows.filter((row) => !/ \| (?:nothing: any value is taken|`.*: .*`) \| /.test(row))).toEqual([]);
    // Neither without a reason, nor with a class of the application or the text of a function in it.
    expect(rows.filter((row) => /: `$|Dto|Constraint|=>|undefined`/.test(row.split(' | ').at(-2)!))).toEqual(
      [],
    );
  });

  it('says what the code does', async () => {
    const page = readFileSync(PAGE, 'utf8');
    for (const part of ['decorators', 'stricter']) expect(page).toContain(`<!-- generated: ${part} -->\n`);
    const generated = withParts(page, await generatedParts());
    if (process.env['UPDATE_DOCS']) writeFileSync(PAGE, generated);
    // Written anew with UPDATE_DOCS=1.
    expect(readFileSync(PAGE, 'utf8')).toBe(generated);
  });
});
