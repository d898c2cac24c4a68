import { ADAPTERS, startApp } from '../support/app.js';
import { RawConnection } from './raw-connection.js';
import { wireApp } from './wire.app.js';

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
});
