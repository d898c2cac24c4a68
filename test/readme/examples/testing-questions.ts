import type { Server } from 'node:http';
import type { INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import request from 'supertest';
import { AskingModule } from './asking.js';

/** The test that docs/asking.md shows. */
export async function testAQuestion(): Promise<void> {
  const moduleRef = await Test.createTestingModule({ imports: [AskingModule] }).compile();
  const app = moduleRef.createNestApplication<INestApplication<Server>>();
  await app.init();

  const _meta = {
    'io.modelcontextprotocol/protocolVersion': '2026-07-28',
    'io.modelcontextprotocol/clientCapabilities': { elicitation: { form: {} } },
  };
  const deleteTicket = (id: number, more: object = {}) =>
    request(app.getHttpServer())
      .post('/mcp')
      .set({ 'mcp-protocol-version': '2026-07-28', 'mcp-method': 'tools/call', 'mcp-name': 'deleteTicket' })
      .send({
        jsonrpc: '2.0',
        id,
        method: 'tools/call',
        params: { name: 'deleteTicket', arguments: { id: 'T-1' }, _meta, ...more },
      });

  const asked = await deleteTicket(1).expect(200);
  expect(asked.body.result.inputRequests.why.params.message).toBe('Why delete T-1?');
  const { requestState } = asked.body.result;
  const inputResponses = { why: { action: 'accept', content: { reason: 'Sent twice' } } };
  const answered = await deleteTicket(2, { requestState, inputResponses }).expect(200);
  expect(answered.body.result.content[0].text).toBe('Deleted T-1');

  await app.close();
}
