import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { McpDispatcher, McpRegistry, type McpPeer } from 'nest-mcp';
import request from 'supertest';
import { modernMessage } from '../../support/wire.js';
import { AppModule } from '../example.js';

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
