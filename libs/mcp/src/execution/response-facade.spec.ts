import { answerOf, responseFacade } from './response-facade.js';

/** What the facade needs of Express: Node's response with Express's setters. */
class ExpressLike {
  readonly headers = new Map<string, unknown>();
  readonly calls: string[] = [];
  headersSent = false;
  statusCode = 200;
  locals: Record<string, unknown> = {};

  setHeader(name: string, value: unknown): this {
    this.headers.set(name.toLowerCase(), value);
    return this;
  }
  getHeader(name: string): unknown {
    return this.headers.get(name.toLowerCase());
  }
  removeHeader(name: string): void {
    this.headers.delete(name.toLowerCase());
  }
  appendHeader(name: string, value: unknown): this {
    return this.setHeader(name, [this.getHeader(name), value].flat().filter(Boolean));
  }
  set(name: string, value: unknown): this {
    return this.setHeader(name, value);
  }
  header(name: string, value: unknown): this {
    return this.setHeader(name, value);
  }
  get(name: string): unknown {
    return this.getHeader(name);
  }
  vary(name: string): this {
    return this.setHeader('vary', name);
  }
  status(): this {
    return this.forbidden('status');
  }
  json(): this {
    return this.forbidden('json');
  }
  send(): this {
    return this.forbidden('send');
  }
  end(): this {
    return this.forbidden('end');
  }
  write(): this {
    return this.forbidden('write');
  }
  redirect(): this {
    return this.forbidden('redirect');
  }
  writeHead(): this {
    return this.forbidden('writeHead');
  }
  flushHeaders(): this {
    return this.forbidden('flushHeaders');
  }
  private forbidden(name: string): this {
    this.calls.push(name);
    return this;
  }
}

/** Fastify's reply: thenable, with Node's response behind `raw`. */
class FastifyLike {
  readonly raw = new ExpressLike();
  readonly fields = new Map<string, unknown>();
  sent = false;

  header(name: string, value: unknown): this {
    this.fields.set(name.toLowerCase(), value);
    return this;
  }
  getHeader(name: string): unknown {
    return this.fields.get(name.toLowerCase());
  }
  removeHeader(name: string): this {
    this.fields.delete(name.toLowerCase());
    return this;
  }
  // eslint-disable-next-line unicorn/no-thenable -- Fastify's reply is thenable
  then(): never {
    throw new Error('awaited');
  }
}

type Loose = Record<string, (...args: unknown[]) => Loose> & {
  statusCode: number;
  headersSent: boolean;
  sent: boolean;
  writableEnded: boolean;
  locals: Record<string, unknown>;
  raw: Loose;
};
const facadeOf = (real?: object) => responseFacade(real) as Loose;

describe('an answer on the response', () => {
  it.each([
    ['status(418).json(body)', (res: Loose) => res['status']!(418)['json']!({ a: 1 }), 418, { a: 1 }],
    ['status(418).send(body)', (res: Loose) => res['status']!(418)['send']!('no'), 418, 'no'],
    ['code(404).send(body)', (res: Loose) => res['code']!(404)['send']!('no'), 404, 'no'],
    ['json(body)', (res: Loose) => res['json']!([1]), 200, [1]],
    ['end()', (res: Loose) => res['end']!(), 200, undefined],
    ['end(text)', (res: Loose) => res['end']!('x'), 200, 'x'],
    ['sendStatus(403)', (res: Loose) => res['sendStatus']!(403), 403, undefined],
    ['redirect(url)', (res: Loose) => res['redirect']!('/login'), 302, undefined],
    ['redirect(301, url)', (res: Loose) => res['redirect']!(301, '/login'), 301, undefined],
    ['writeHead(400).end(text)', (res: Loose) => res['writeHead']!(400, { a: 'b' })['end']!('x'), 400, 'x'],
    [
      'type(..).status(400).json(body)',
      (res: Loose) => res['type']!('json')['status']!(400)['json']!(1),
      400,
      1,
    ],
  ])('by %s becomes the outcome and writes nothing', (_, act, status, body) => {
    for (const real of [new ExpressLike(), undefined]) {
      const facade = facadeOf(real);
      act(facade);
      expect(answerOf(facade)).toEqual({ status, body });
      expect(real?.calls ?? []).toEqual([]);
      expect(real?.statusCode ?? 200).toBe(200);
    }
  });

  it('is all that was written, also in parts and under headers of writeHead', () => {
    const real = new ExpressLike();
    const facade = facadeOf(real);
    facade['writeHead']!(422, { 'x-reason': 'busy', 'content-length': '3' });
    facade['write']!('a');
    facade['write']!(Buffer.from('b'));
    facade['end']!('c', () => undefined);
    expect(answerOf(facade)).toEqual({ status: 422, body: 'abc' });
    expect(real.headers).toEqual(new Map([['x-reason', 'busy']]));
  });

  it('is empty when the end has nothing but a callback', () => {
    const facade = facadeOf(new ExpressLike());
    facade['end']!(() => undefined);
    expect(answerOf(facade)).toEqual({ status: 200, body: undefined });
  });

  it('takes the status from the property as well', () => {
    const facade = facadeOf(new ExpressLike());
    facade.statusCode = 409;
    facade['end']!('taken');
    expect([facade.statusCode, answerOf(facade)]).toEqual([409, { status: 409, body: 'taken' }]);
  });

  it('counts once: the first one stays', () => {
    const facade = facadeOf(new ExpressLike());
    facade['status']!(400)['json']!('first');
    facade['status']!(500)['json']!('second');
    expect(answerOf(facade)).toEqual({ status: 400, body: 'first' });
  });

  it('is none while only status and headers are set', () => {
    const facade = facadeOf(new ExpressLike());
    facade['status']!(201)['setHeader']!('x-a', '1')['writeHead']!(202);
    facade['flushHeaders']!();
    expect(answerOf(facade)).toBeUndefined();
  });

  it('shows in the flags that filters ask', () => {
    const facade = facadeOf(new ExpressLike());
    expect([facade.headersSent, facade.sent, facade.writableEnded]).toEqual([false, false, false]);
    facade['end']!();
    expect([facade.headersSent, facade.sent, facade.writableEnded]).toEqual([true, true, true]);
  });

  it('is not shown by what was sent on the real response', () => {
    const real = new ExpressLike();
    real.headersSent = true;
    expect(facadeOf(real).headersSent).toBe(false);
  });
});

describe('headers', () => {
  it.each(['setHeader', 'header', 'set'])('reach the real response by %s', (setter) => {
    const real = new ExpressLike();
    const facade = facadeOf(real);
    expect(facade[setter]!('X-Rate', '5')).toBe(facade);
    expect(real.headers.get('x-rate')).toBe('5');
    expect(facade['getHeader']!('x-rate')).toBe('5');
    expect(facade[setter]!('x-rate')).toBe('5');
  });

  it('reach it as a group, a map, and one after the other', () => {
    const real = new ExpressLike();
    const facade = facadeOf(real);
    facade['set']!({ 'x-a': '1', 'content-type': 'text/html' });
    facade['setHeaders']!(
      new Map([
        ['x-b', '2'],
        ['content-length', '3'],
      ]),
    );
    facade['setHeaders']!(new Headers({ 'x-c': '3', 'transfer-encoding': 'chunked' }));
    facade['appendHeader']!('x-a', '4');
    facade['vary']!('Origin');
    expect(Object.fromEntries(real.headers)).toEqual({
      'x-a': ['1', '4'],
      'x-b': '2',
      'x-c': '3',
      vary: 'Origin',
    });
    facade['removeHeader']!('x-a');
    expect(real.headers.has('x-a')).toBe(false);
  });

  it.each([
    'Content-Type',
    'content-length',
    'Transfer-Encoding',
    'connection',
    'Content-Encoding',
    'trailer',
    'upgrade',
    'keep-alive',
    'Mcp-Session-Id',
    'MCP-Protocol-Version',
  ])('of the wire never do: %s', (name) => {
    const real = new ExpressLike();
    const facade = facadeOf(real);
    real.setHeader(name, 'ours');
    for (const setter of ['setHeader', 'header', 'set', 'appendHeader']) facade[setter]!(name, 'theirs');
    facade['removeHeader']!(name);
    expect(real.getHeader(name)).toBe('ours');
  });

  it('are dropped once the real response is sent, without an error', () => {
    const express = new ExpressLike();
    express.headersSent = true;
    expect(() => facadeOf(express)['setHeader']!('x-a', '1')).not.toThrow();
    expect(express.headers.size).toBe(0);
    const fastify = new FastifyLike();
    fastify.sent = true;
    facadeOf(fastify)['header']!('x-a', '1');
    expect(fastify.fields.size).toBe(0);
  });

  it('are taken without effect where there is no response, as on stdio', () => {
    const facade = facadeOf();
    expect(facade['setHeader']!('x-a', '1')['status']!(400)).toBe(facade);
    expect(facade['setHeader']!('x-a')).toBeUndefined();
  });

  it('reach a Fastify reply by its own setter, whatever name was called', () => {
    const real = new FastifyLike();
    const facade = facadeOf(real);
    facade['header']!('x-a', '1');
    facade['headers']!({ 'x-b': '2', 'content-length': '5' });
    facade['set']!('x-c', '3');
    expect(Object.fromEntries(real.fields)).toEqual({ 'x-a': '1', 'x-b': '2', 'x-c': '3' });
  });
});

describe('the facade', () => {
  it('is not thenable, so that it can be awaited', async () => {
    const facade = facadeOf(new FastifyLike());
    expect(facade['then']).toBeUndefined();
    expect('then' in facade).toBe(false);
    expect(await Promise.resolve(facade)).toBe(facade);
  });

  it('shares its state with the raw response behind a Fastify reply', () => {
    const real = new FastifyLike();
    const facade = facadeOf(real);
    expect(facade.raw).toBe(facade.raw);
    facade.raw.statusCode = 409;
    expect(facade.statusCode).toBe(409);
    facade.raw['setHeader']!('x-a', '1');
    facade.raw['end']!('x');
    expect(answerOf(facade)).toEqual({ status: 409, body: 'x' });
    expect(answerOf(facade.raw)).toEqual({ status: 409, body: 'x' });
    expect([facade.sent, facade.raw.headersSent]).toEqual([true, true]);
    expect([real.raw.calls, real.raw.getHeader('x-a')]).toEqual([[], '1']);
  });

  it('has no raw response where there is none', () => {
    expect(facadeOf(new ExpressLike()).raw).toBeUndefined();
    expect(facadeOf().raw).toBeUndefined();
  });

  it('passes other members on, bound to the real response', () => {
    const real = new ExpressLike();
    const facade = facadeOf(real);
    facade.locals['a'] = 1;
    expect(real.locals).toEqual({ a: 1 });
    expect('locals' in facade).toBe(true);
    expect(facade instanceof ExpressLike).toBe(true);
    const { getHeader } = facade;
    real.setHeader('x-a', '1');
    expect(getHeader!('x-a')).toBe('1');
  });

  it('of one call knows nothing of another call on the same response', () => {
    const real = new ExpressLike();
    const [first, second] = [facadeOf(real), facadeOf(real)];
    first['status']!(400)['end']!('x');
    expect([answerOf(second), second.statusCode]).toEqual([undefined, 200]);
  });
});
