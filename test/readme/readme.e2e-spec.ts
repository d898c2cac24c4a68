import { readdirSync, readFileSync } from 'node:fs';
import { startApp, type RunningApp } from '../support/app.js';
import { connectV2 } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import { AppModule } from './example.js';
import { blocksOf, pageOf, unprovenOf } from './pages.js';

const read = (path: string) => readFileSync(new URL(path, import.meta.url), 'utf8');

describe('the first example of the README', () => {
  let running: RunningApp;
  const traffic = new Traffic();

  beforeAll(async () => {
    running = await startApp(AppModule);
  });

  afterAll(async () => {
    await running.close();
    await traffic.verify();
  });

  it('is the one that is tested here, in 25 lines', () => {
    const shown = /```ts\n([\s\S]*?)```/.exec(read('../../README.md'))?.[1];
    expect(shown).toBe(read('./example.ts'));
    expect(shown?.trimEnd().split('\n').length).toBeLessThanOrEqual(25);
  });

  it('publishes the DTO as the schema, validates by it and answers', async () => {
    const client = await connectV2(running.mcp, 'auto', traffic);
    const { tools } = await client.listTools();
    expect(tools).toMatchObject([
      {
        name: 'searchTickets',
        inputSchema: {
          type: 'object',
          properties: { status: { enum: ['open', 'closed'] } },
          additionalProperties: false,
        },
      },
    ]);
    const found = await client.callTool({ name: 'searchTickets', arguments: { status: 'closed' } });
    expect(found.structuredContent).toEqual({
      tickets: [{ id: 'T-1', subject: 'Cannot log in', status: 'closed' }],
    });
    const refused = await client.callTool({ name: 'searchTickets', arguments: { status: 'lost' } });
    expect(refused).toMatchObject({
      isError: true,
      content: [
        {
          type: 'text',
          text: 'Invalid arguments for searchTickets:\n- status: must be one of "open", "closed"',
        },
      ],
    });
    await client.close();
  });
});

/** `examples.e2e-spec.ts` runs what they show, `test/clients` and `test/stdio` the entry file of the helpdesk. */
const PAGES = [
  'README.md',
  'docs/resources.md',
  'docs/prompts.md',
  'docs/logging.md',
  'docs/changes.md',
  'docs/sessions.md',
  'docs/asking.md',
  'docs/transports.md',
];

describe('every example', () => {
  it.each(PAGES)('of %s stands in a source that a test runs', (path) => {
    const blocks = blocksOf(pageOf(path));
    expect(blocks.length).toBeGreaterThan(0);
    expect(blocks.flatMap(unprovenOf)).toEqual([]);
  });
});

describe('every link', () => {
  const pages = [...PAGES, 'docs/dto-schema.md', 'docs/requirements.md'];
  const anchorOf = (heading: string) =>
    heading
      .toLowerCase()
      .replace(/[^\w\- ]/g, '')
      .replaceAll(' ', '-');

  it.each(pages)('of %s leads somewhere', (path) => {
    const folder = path.includes('/') ? 'docs/' : '';
    const links = Array.from(pageOf(path).matchAll(/\]\(([^)\s]+)\)/g), ([, target]) => target!);
    const lost = links.filter((target) => {
      if (/^https?:/.test(target)) return false;
      const [file, anchor] = target.split('#') as [string, string?];
      const resolved = file === '' ? path : `${folder}${file}`;
      if (isFolder(resolved)) return false;
      const headings = Array.from(pageOf(resolved).matchAll(/^#+ (.*)$/gm), ([, heading]) =>
        anchorOf(heading!),
      );
      return anchor !== undefined && !headings.includes(anchor);
    });
    expect(lost).toEqual([]);
  });

  function isFolder(path: string): boolean {
    try {
      return readdirSync(new URL(`../../${path}`, import.meta.url)).length > 0;
    } catch {
      return false;
    }
  }
});
