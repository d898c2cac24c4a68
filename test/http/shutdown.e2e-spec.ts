import { once } from 'node:events';
import { Agent, request } from 'node:https';
import { connect as connectSocket } from 'node:net';
import { connect as connectSecure } from 'node:tls';
import { ADAPTERS, startApp } from '../support/app.js';
import { modernHeaders, modernMessage } from '../support/wire.js';
import { RawConnection } from './raw-connection.js';
import { SELF_SIGNED } from './self-signed.js';
import { HeldCalls, wireApp } from './wire.app.js';

/** Calls a tool over TLS; gives the body of the answer. */
function callSecurely(agent: Agent, port: number, name: string, args: object): Promise<string> {
  const params = { name, arguments: args };
  const headers = {
    'content-type': 'application/json',
    accept: 'application/json',
    ...modernHeaders('tools/call', params),
  };
  return new Promise((resolve, reject) => {
    const options = { host: '127.0.0.1', port, path: '/mcp', method: 'POST', agent, headers };
    request(options, (response) => {
      let text = '';
      response
        .setEncoding('utf8')
        .on('data', (chunk: string) => (text += chunk))
        .on('end', () => resolve(text));
    })
      .on('error', reject)
      .end(JSON.stringify(modernMessage('tools/call', params)));
  });
}

describe.each(ADAPTERS)('an application that closes on %s', (adapter) => {
  it('answers a body that is still coming with 503 and lets it go', async () => {
    const running = await startApp(wireApp(), { adapter });
    const connection = await RawConnection.open(running.url);
    const half = '{"jsonrpc":"2.0","id":1,';
    connection.write(
      `POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\ncontent-length: 100\r\n\r\n${half}`,
    );
    // A whole request on another connection shows that the half one has arrived.
    await fetch(running.mcp, { method: 'POST' });
    const closed = running.close();
    const answer = await connection.answer();
    expect([answer.status, answer.headers['connection'], answer.headers['retry-after']]).toEqual([
      503,
      'close',
      '1',
    ]);
    expect(answer.text).toBe(
      '{"jsonrpc":"2.0","error":{"code":-32600,"message":"The server is shutting down"}}',
    );
    connection.destroy();
    await closed;
  });

  it('A16: does not wait for connections on which nothing was ever asked', async () => {
    const running = await startApp(wireApp(), { adapter });
    const spare = await RawConnection.open(running.url);
    // Connections are taken in the order they come, so the spare one is there when this is answered.
    await fetch(running.mcp, { method: 'POST' });
    await running.close();
    await spare.closed;
  });

  it('A16: nor over TLS, agreed on or not, and answers there what runs', async () => {
    // Nothing here may take all of the grace.
    const limits = { shutdownGrace: 60_000 };
    const running = await startApp(wireApp({ limits }), { adapter, httpsOptions: SELF_SIGNED });
    const port = Number(new URL(running.url).port);
    const spare = connectSecure({ port, host: '127.0.0.1', rejectUnauthorized: false });
    await once(spare, 'secureConnect');
    const silent = connectSocket(port, '127.0.0.1');
    // The head of a handshake without its rest.
    const unfinished = connectSocket(port, '127.0.0.1').on('connect', () =>
      unfinished.write(Buffer.from([22, 3, 1, 2, 0])),
    );
    const closed = [spare, silent, unfinished].map(async (socket) => {
      socket.on('error', () => undefined).resume();
      if (!socket.closed) await once(socket, 'close');
    });
    await Promise.all([once(silent, 'connect'), once(unfinished, 'connect')]);
    const agent = new Agent({ keepAlive: true, rejectUnauthorized: false });
    await callSecurely(agent, port, 'hello', {});
    const held = running.app.get(HeldCalls).of('secure');
    const answer = callSecurely(agent, port, 'hold', { key: 'secure' });
    await held.started;
    const over = running.close();
    held.release();
    expect(await answer).toContain('secure let go');
    await over;
    await Promise.all(closed);
    agent.destroy();
  });
});
