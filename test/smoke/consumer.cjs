// A CommonJS application without types: loads the built package as its users would, and calls a tool.
const assert = require('node:assert/strict');
const { once } = require('node:events');
const { PassThrough } = require('node:stream');
require('reflect-metadata');
const { Injectable, Logger, Module } = require('@nestjs/common');
const { McpModule, McpTool, serveMcpOverStdio } = require('../../libs/mcp');

class Tools {
  hello() {
    return 'hello from CommonJS';
  }
}
const descriptor = Object.getOwnPropertyDescriptor(Tools.prototype, 'hello');
McpTool({ description: 'Says hello' })(Tools.prototype, 'hello', descriptor);
Injectable()(Tools);
class App {}
Module({ imports: [McpModule.forRoot({ name: 'cjs', version: '1.0.0' })], providers: [Tools] })(App);

async function main() {
  Logger.overrideLogger(false);
  const input = new PassThrough();
  const output = new PassThrough();
  const served = serveMcpOverStdio(App, { input, output });
  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': {},
  };
  input.write(
    `${JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'hello', _meta } })}\n`,
  );
  const [line] = await once(output, 'data');
  assert.equal(JSON.parse(line).result.content[0].text, 'hello from CommonJS');
  input.end();
  await served;
  process.stdout.write(`${Object.keys(require('../../libs/mcp')).sort().join(' ')}\n`);
}

void main();
