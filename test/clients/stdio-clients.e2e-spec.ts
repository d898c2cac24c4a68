import { jest } from '@jest/globals';
import { compile, type Compiled } from '../support/compiled.js';
import { connectV1Stdio, connectV2Stdio, type ServerCommand } from '../support/official-clients.js';
import { Traffic } from '../support/traffic.js';
import {
  followProgress,
  makeMistakes,
  TOOLS,
  useEveryTool,
  withOptionsThird,
  type AnyClient,
} from './client-cases.js';

const traffic = new Traffic();
let compiled: Compiled;

type Connect = (server: ServerCommand) => Promise<AnyClient>;

const v2 =
  (mode: 'auto' | 'legacy'): Connect =>
  async (server) =>
    (await connectV2Stdio(server, mode, traffic)) as unknown as AnyClient;

const v1: Connect = async (server) => withOptionsThird(await connectV1Stdio(server, traffic));

const CLIENTS: [string, Connect, string | undefined][] = [
  ['v2 client, auto', v2('auto'), '2026-07-28'],
  ['v2 client, legacy', v2('legacy'), '2025-11-25'],
  ['v1 client', v1, undefined],
];

// Each client starts a process, the v2 client even two to find out what it talks to.
jest.setTimeout(30_000);

beforeAll(() => {
  compiled = compile();
});

afterAll(async () => {
  compiled.remove();
  await traffic.verify();
});

describe.each(CLIENTS)('the helpdesk over stdio to the %s', (_name, connect, revision) => {
  let client: AnyClient;

  beforeAll(async () => {
    client = await connect({
      entry: compiled.entry('src/main.stdio.ts'),
      env: { HELPDESK_TOKEN: 'demo-admin' },
    });
  });

  afterAll(() => client.close());

  it('is met in the revision that the client would take', () => {
    expect(client.getNegotiatedProtocolVersion?.()).toBe(revision);
  });

  it('lists every tool', async () => {
    expect(client.getServerVersion()).toMatchObject({ name: 'helpdesk', version: '1.0.0' });
    expect((await client.listTools()).tools.map((tool) => tool.name)).toEqual(TOOLS);
  });

  it('calls every tool', async () => {
    await expect(useEveryTool(client)).resolves.toBeUndefined();
  });

  it('gets progress before the result', async () => {
    await expect(followProgress(client)).resolves.toBeUndefined();
  });

  it('C1, H6: is told what is wrong with its arguments, and of unknown tools by an error', async () => {
    await expect(makeMistakes(client)).resolves.toBeUndefined();
  });
});

describe.each(CLIENTS)('a tool that only a cancellation ends, called by the %s', (_name, connect) => {
  it('S-042: is aborted, and the channel serves on', async () => {
    let log = '';
    let look = () => {};
    const logged = async (text: string) => {
      while (!log.includes(text)) await new Promise<void>((resolve) => (look = resolve));
    };
    const client = await connect({
      entry: compiled.entry('test/stdio/fixtures/serve.ts'),
      onStderr: (text) => {
        log += text;
        look();
      },
    });
    const controller = new AbortController();
    const call = client.callTool({ name: 'hold', arguments: { text: 'me' } }, { signal: controller.signal });
    const refused = call.then(() => 'answered', String);
    await logged('holding me');
    controller.abort('not needed any more');
    expect(await refused).toContain('not needed any more');
    await logged('aborted me: AbortError: The client cancelled the call');
    const { content } = await client.callTool({ name: 'echo', arguments: { text: 'still here' } });
    expect(content).toEqual([{ type: 'text', text: 'still here' }]);
    await client.close();
  });
});
