import { fileURLToPath } from 'node:url';
import type { McpExposed } from 'nest-mcp';

/** What is served where, and client configuration that can be pasted as it is. */
export function startupBanner({ url, exposed }: { url: string; exposed: McpExposed[] }): string {
  const namesOf = (wanted: McpExposed['kind']) =>
    exposed
      .filter(({ kind }) => kind === wanted)
      .map(({ name, uri }) => uri ?? name)
      .join(', ');
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
    `REST       ${url}/tickets, ${url}/customers, ${url}/articles, ${url}/health`,
    `MCP        ${url}/mcp`,
    `Tools      ${namesOf('tool')}`,
    `Resources  ${namesOf('resource')}`,
    `Prompts    ${namesOf('prompt')}`,
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
