import { fileURLToPath } from 'node:url';

/** What is served where, and client configuration that can be pasted as it is. */
export function startupBanner({ url, tools }: { url: string; tools: string[] }): string {
  const overHttp = {
    type: 'http',
    url: `${url}/mcp`,
    headers: { Authorization: 'Bearer demo-agent' },
  };
  const overStdio = {
    command: 'node',
    args: [fileURLToPath(new URL('./main.stdio.js', import.meta.url))],
    env: { HELPDESK_TOKEN: 'demo-agent' },
  };
  return [
    '',
    `REST   ${url}/tickets, ${url}/customers, ${url}/health`,
    `MCP    ${url}/mcp`,
    `Tools  ${tools.join(', ')}`,
    '',
    'Client configuration, over HTTP:',
    clientConfig(overHttp),
    '',
    'Or over stdio:',
    clientConfig(overStdio),
    '',
    '',
  ].join('\n');
}

function clientConfig(server: object): string {
  return JSON.stringify({ mcpServers: { helpdesk: server } }, null, 2);
}
