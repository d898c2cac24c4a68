import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { McpDispatcher, McpRegistry, type McpPeer } from 'nest-mcp';
import request from 'supertest';
import { modernMessage } from '../../support/wire.js';
import { AppModule } from '../example.js';
import { BasicsModule } from './basics.js';

/** The tests that the README shows. */
export async function testATool(): Promise<void> {
  const moduleRef = await Test.createTestingModule({ imports: [AppModule] }).compile();
  const app = moduleRef.createNestApplication<INestApplication<Server>>();
  await app.init();

  await request(app.getHttpServer())
    .post('/mcp')
    .set({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'searchTickets' })
    .send({
      jsonrpc: '2.0',
      id: 1,
      method: 'tools/call',
      params: {
        name: 'searchTickets',
        arguments: { status: 'open' },
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientCapabilities': {},
        },
      },
    })
    .expect(200);

  const message = modernMessage('tools/call', { name: 'searchTickets', arguments: {} });

  const exposed = app.get(McpRegistry).describe(); // [{ kind: 'tool', name: 'searchTickets', … }]
  const peer: McpPeer = { send: () => {}, request: { headers: { authorization: 'Bearer demo-agent' } } };
  const answer = await app.get(McpDispatcher).handleMessage(JSON.stringify(message), peer);

  expect(exposed).toEqual([{ kind: 'tool', name: 'searchTickets', schemaBytes: expect.any(Number) }]);
  expect(JSON.parse(Buffer.from(answer!).toString())).toMatchObject({
    result: { structuredContent: { tickets: [{ id: 'T-1' }] } },
  });

  await app.close();
}

export async function testASession(): Promise<void> {
  const moduleRef = await Test.createTestingModule({ imports: [BasicsModule] }).compile();
  const app = moduleRef.createNestApplication<INestApplication<Server>>();
  await app.init();

  const post = (body: object, headers = {}) =>
    request(app.getHttpServer()).post('/mcp').set(headers).send(body);
  const params = {
    protocolVersion: '2025-11-25',
    capabilities: {},
    clientInfo: { name: 'test', version: '1' },
  };
  const opened = await post({ jsonrpc: '2.0', id: 0, method: 'initialize', params }).expect(200);
  const session = { 'mcp-session-id': opened.get('mcp-session-id') };
  await post({ jsonrpc: '2.0', method: 'notifications/initialized' }, session).expect(202);

  const call = { name: 'export', arguments: {}, _meta: { progressToken: 1 } };
  const called = await post({ jsonrpc: '2.0', id: 1, method: 'tools/call', params: call }, session);
  const events = called.text.match(/(?<=^data: ).+/gm) ?? []; // a stream, since progress precedes the result
  const messages = events.map((data) => JSON.parse(data) as { method?: string; result?: object });

  await request(app.getHttpServer()).delete('/mcp').set(session).expect(204);

  expect(messages.map(({ method, result }) => method ?? result)).toEqual([
    'notifications/progress',
    'notifications/progress',
    'notifications/progress',
    { content: [{ type: 'text', text: 'A,B,C' }] },
  ]);
  await app.close();
}
