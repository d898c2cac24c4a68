import { startupBanner } from './startup-banner.js';

describe('startupBanner', () => {
  const lines = startupBanner({
    url: 'http://localhost:3000',
    exposed: [
      { kind: 'tool', name: 'getTicket', schemaBytes: 1 },
      { kind: 'tool', name: 'closeTicket', schemaBytes: 1 },
      { kind: 'resource', name: 'ticket', uri: 'ticket://{id}', schemaBytes: 1 },
      { kind: 'prompt', name: 'triageTicket', schemaBytes: 1 },
    ],
  }).split('\n');

  it('says what is exposed where', () => {
    expect(lines).toEqual(
      expect.arrayContaining([
        'MCP        http://localhost:3000/mcp',
        'Tools      getTicket, closeTicket',
        'Resources  ticket://{id}',
        'Prompts    triageTicket',
      ]),
    );
  });

  it('shows client configuration that is JSON', () => {
    const start = lines.indexOf('{');
    const config: unknown = JSON.parse(lines.slice(start, lines.indexOf('}') + 1).join('\n'));
    expect(config).toMatchObject({
      mcpServers: { helpdesk: { type: 'http', url: 'http://localhost:3000/mcp' } },
    });
  });
});
