import { McpBootException } from './mcp.exceptions.js';
import type { McpModuleOptions } from './mcp.options.js';
import { InvalidOptionException } from './settings/option-checks.js';
import { settingsOf } from './mcp.settings.js';
import { McpError } from './protocol/mcp-error.js';

const required = { name: 'helpdesk', version: '1.0.0' };
const given = (more: Record<string, unknown>) => ({ ...required, ...more }) as unknown as McpModuleOptions;

describe('defaults', () => {
  it('are the documented ones', () => {
    const settings = settingsOf(required);
    expect(settings.limits).toEqual({
      body: 4_194_304,
      line: 10_485_760,
      depth: 64,
      tokens: 100_000,
      bodyTime: 30_000,
      handlerTime: 60_000,
      inFlight: 1_000,
      inFlightPerChannel: 100,
      streams: 1_024,
      streamsPerCaller: 16,
      streamBuffer: 1_048_576,
      streamStall: 30_000,
      replayEvents: 1_000,
      replayBytes: 1_048_576,
      replayTime: 300_000,
      replayTotal: 67_108_864,
      resultSize: 8_388_608,
      stateSize: 32_768,
      rounds: 8,
      stateTime: 600_000,
      askTime: 600_000,
      shutdownGrace: 5_000,
    });
    expect(settings.sessions).toEqual({ idle: 1_800_000, max: 1_000, maxPerCaller: 20 });
    expect([settings.legacy, settings.publicPath]).toEqual(['sessions', '']);
    expect([settings.sessionStore, settings.eventStore]).toEqual([undefined, undefined]);
    expect(settings.stateKeys).toEqual([]);
    expect(settings.pageSize).toBe(100);
    expect(settings.cache).toEqual({ ttlMs: 0, scope: 'private' });
    expect([settings.keepAlive, settings.bus]).toEqual([15_000, undefined]);
    expect([settings.readBody, settings.responses]).toEqual(['after-guards', 'auto']);
    expect([settings.allowedHosts.size, settings.allowedOrigins.size]).toEqual([0, 0]);
    expect(settings.revisions.modern).toEqual(['2026-07-28']);
    expect(settings.revisions.legacy).toEqual(['2025-11-25', '2025-06-18', '2025-03-26', '2024-11-05']);
  });

  it('stay for what is not given, and are the same for the next server', () => {
    const settings = settingsOf({ ...required, limits: { body: 5, line: undefined }, sessions: { max: 1 } });
    expect(settings.limits).toMatchObject({ body: 5, line: 10_485_760, depth: 64 });
    expect(settings.sessions).toEqual({ idle: 1_800_000, max: 1, maxPerCaller: 20 });
    expect(settingsOf(required).limits.body).toBe(4_194_304);
  });
});

describe('what is given', () => {
  it('is taken', () => {
    const icons = [{ src: 'https://example.com/a.png' }, { src: 'data:image/png;base64,AA==' }];
    const settings = settingsOf({
      ...required,
      title: 'Helpdesk',
      instructions: 'Be kind.',
      websiteUrl: 'https://example.com',
      icons,
      revisions: ['2025-03-26', '2026-07-28'],
      pageSize: 7,
      http: {
        allowedHosts: ['API.example.com', '[::1]', '10.0.0.1'],
        allowedOrigins: ['https://App.example.com/', 'http://localhost:3000', 'https://a.example:443'],
        readBody: 'before-guards',
        responses: 'json',
      },
      limits: { depth: 1, bodyTime: 2 ** 31 - 1 },
    });
    expect(settings.server).toEqual({
      ...required,
      title: 'Helpdesk',
      instructions: 'Be kind.',
      websiteUrl: 'https://example.com',
      icons,
    });
    expect([settings.revisions.modern, settings.revisions.legacy]).toEqual([['2026-07-28'], ['2025-03-26']]);
    expect(settings).toMatchObject({ pageSize: 7, readBody: 'before-guards', responses: 'json' });
    expect([...settings.allowedHosts]).toEqual(['api.example.com', '[::1]', '10.0.0.1']);
    expect([...settings.allowedOrigins]).toEqual([
      'https://app.example.com',
      'http://localhost:3000',
      'https://a.example',
    ]);
    expect(settings.limits).toMatchObject({ depth: 1, bodyTime: 2_147_483_647 });
  });
});

describe('what is given of changes and lists', () => {
  class Bus {
    publish(): void {}
    subscribe(): void {}
  }
  class Inherited extends Bus {}
  class Half {
    publish(): void {}
  }

  it('is taken, each hint by itself', () => {
    expect(settingsOf(given({ cache: { ttlMs: 5 } })).cache).toEqual({ ttlMs: 5, scope: 'private' });
    expect(settingsOf(given({ cache: { scope: 'public', ttlMs: undefined } })).cache).toEqual({
      ttlMs: 0,
      scope: 'public',
    });
    expect(settingsOf(given({ http: { keepAlive: 1 } })).keepAlive).toBe(1_000);
    expect(settingsOf(given({ http: { keepAlive: 2_147_483 } })).keepAlive).toBe(2_147_483_000);
    for (const bus of [Bus, Inherited]) expect(settingsOf(given({ bus })).bus).toBe(bus);
  });

  it.each([{}, null, 'redis', () => undefined, new Bus(), Half])('is refused as a bus: %p', (bus) => {
    expect(() => settingsOf(given({ bus }))).toThrow(
      'McpModule: option `bus` must be a class with the methods publish and subscribe of McpEventBus',
    );
  });
});

describe('keys that seal states', () => {
  it('S-134: are taken as they are given, newest first, where they are long enough', () => {
    const stateKeys = ['é'.repeat(16), new Uint8Array(32), Buffer.alloc(64), 'x'.repeat(32)];
    expect(settingsOf({ ...required, stateKeys }).stateKeys).toEqual(stateKeys);
  });

  it.each([[''], ['x'.repeat(31)], [new Uint8Array(31)], [5], [null], [{}], [[]], [new ArrayBuffer(32)]])(
    'S-134: are not %p',
    (key) => {
      const refused = () => settingsOf(given({ stateKeys: ['x'.repeat(32), key] }));
      expect(refused).toThrow(InvalidOptionException);
      expect(refused).toThrow(
        'McpModule: option `stateKeys` must be texts or bytes of at least 32 bytes each',
      );
    },
  );

  it('are no part of what a refusal says', () => {
    expect(() => settingsOf(given({ stateKeys: ['a short secret'] }))).not.toThrow('a short secret');
  });
});

describe('a refusal', () => {
  const REQUIRED = "is required: McpModule.forRoot({ name: 'my-api', version: '1.0.0' })";
  const COUNT = 'must be an integer from 1 to 2147483647';

  it.each<[Record<string, unknown>, string, string]>([
    [{ name: undefined }, 'name', REQUIRED],
    [{ name: '' }, 'name', REQUIRED],
    [{ name: 5 }, 'name', REQUIRED],
    [{ version: undefined }, 'version', REQUIRED],
    [{ version: '' }, 'version', REQUIRED],
    [{ revisions: [] }, 'revisions', 'is empty: leave it out to serve all'],
    [
      { revisions: ['2025-11-25', '1999-01-01'] },
      'revisions',
      'has "1999-01-01"; known are 2026-07-28, 2025-11-25, 2025-06-18, 2025-03-26, 2024-11-05',
    ],
    ...['sub', {}, null, 7].map((caller): [Record<string, unknown>, string, string] => [
      { caller },
      'caller',
      'must be a function: (request) => ({ id: request.user.name })',
    ]),
    [{ pageSize: 0 }, 'pageSize', COUNT],
    [{ pageSize: 1.5 }, 'pageSize', COUNT],
    [{ pageSize: '100' }, 'pageSize', COUNT],
    [{ limits: { body: -1 } }, 'limits.body', COUNT],
    [{ limits: { handlerTime: Number.POSITIVE_INFINITY } }, 'limits.handlerTime', COUNT],
    [{ limits: { bodyTime: 2 ** 31 } }, 'limits.bodyTime', COUNT],
    [{ limits: { depth: Number.NaN } }, 'limits.depth', COUNT],
    [{ limits: { line: null } }, 'limits.line', COUNT],
    [{ limits: { rounds: 0 } }, 'limits.rounds', COUNT],
    [{ limits: { stateSize: 0.5 } }, 'limits.stateSize', COUNT],
    [{ limits: { stateTime: 2 ** 31 } }, 'limits.stateTime', COUNT],
    [{ limits: { askTime: -1 } }, 'limits.askTime', COUNT],
    [{ stateKeys: 'x'.repeat(32) }, 'stateKeys', 'must be a list, also of one'],
    [{ stateKeys: [] }, 'stateKeys', 'has no key: give one, or leave the option out'],
    [
      { limits: { bodySize: 5 } },
      'limits.bodySize',
      'is unknown; known are body, line, depth, tokens, bodyTime, handlerTime, inFlight, inFlightPerChannel, streams, streamsPerCaller, streamBuffer, streamStall, replayEvents, replayBytes, replayTime, replayTotal, resultSize, stateSize, rounds, stateTime, askTime, shutdownGrace',
    ],
    [{ sessions: { idle: 0 } }, 'sessions.idle', COUNT],
    [
      { sessions: { ttl: 5 } },
      'sessions.ttl',
      'is unknown; known are idle, max, maxPerCaller, store, events',
    ],
    [{ sessions: 5 }, 'sessions', 'must be an object'],
    [
      { sessions: { store: class {} } },
      'sessions.store',
      'must be a class with the methods create, get, touch, update, delete, count and idlest of McpSessionStore',
    ],
    [
      { sessions: { events: {} } },
      'sessions.events',
      'must be a class with the methods append, end, keep, after and drop of McpEventStore',
    ],
    [{ legacy: 'none' }, 'legacy', "must be one of 'sessions', 'stateless', 'off'"],
    [
      { legacy: 'off', revisions: ['2025-11-25'] },
      'legacy',
      "is 'off', and `revisions` has none but legacy ones: nobody is served",
    ],
    ...[
      'example.com',
      'ftp://a.example',
      'https://a.example/?b',
      'https://a.example/#b',
      'https://u@a.example',
      'https://a.example//evil.example',
      'https://a.example/x/..///evil.example/',
      'https://a.example/\\evil.example',
    ].map((publicUrl): [Record<string, unknown>, string, string] => [
      { http: { publicUrl } },
      'http.publicUrl',
      `has ${JSON.stringify(publicUrl)}: write scheme, host and path, for example 'https://example.com/helpdesk'`,
    ]),
    [{ revisions: '2025-06-18' }, 'revisions', 'must be a list, also of one'],
    [{ http: { allowedHosts: 'a.example' } }, 'http.allowedHosts', 'must be a list, also of one'],
    [{ http: { allowedOrigins: 'https://a.example' } }, 'http.allowedOrigins', 'must be a list, also of one'],
    [{ cache: 5 }, 'cache', 'must be an object'],
    [{ cache: null }, 'cache', 'must be an object'],
    [{ cache: { ttl: 5 } }, 'cache.ttl', 'is unknown; known are ttlMs, scope'],
    [{ cache: { ttlMs: -1 } }, 'cache.ttlMs', 'must be an integer of milliseconds, 0 or more'],
    [{ cache: { ttlMs: 0.5 } }, 'cache.ttlMs', 'must be an integer of milliseconds, 0 or more'],
    [{ cache: { ttlMs: 2 ** 53 } }, 'cache.ttlMs', 'must be an integer of milliseconds, 0 or more'],
    [{ cache: { scope: 'all' } }, 'cache.scope', "must be one of 'private', 'public'"],
    [{ http: { keepAlive: 0 } }, 'http.keepAlive', 'must be an integer from 1 to 2147483'],
    [{ http: { keepAlive: 2_147_484 } }, 'http.keepAlive', 'must be an integer from 1 to 2147483'],
    [{ http: 'x' }, 'http', 'must be an object'],
    [{ limits: [] }, 'limits', 'must be an object'],
    [{ title: 5 }, 'title', 'must be a text'],
    [{ instructions: ['be kind'] }, 'instructions', 'must be a text'],
    [{ icons: 'x' }, 'icons', "must be a list of icons: [{ src: 'https://example.com/icon.png' }]"],
    [{ http: { readBody: 'never' } }, 'http.readBody', "must be one of 'after-guards', 'before-guards'"],
    [{ http: { responses: 'sse' } }, 'http.responses', "must be one of 'auto', 'json'"],
    [
      { icons: [{ src: 'http://example.com/a.png' }] },
      'icons',
      'has "http://example.com/a.png": clients load only https: and data: addresses',
    ],
    [
      { icons: [{ src: 'javascript:alert(1)' }] },
      'icons',
      'has "javascript:alert(1)": clients load only https: and data: addresses',
    ],
  ])('of %j names the option', (more, option, problem) => {
    const refused = () => settingsOf(given(more));
    expect(refused).toThrow(InvalidOptionException);
    expect(refused).toThrow(`McpModule: option \`${option}\` ${problem}`);
  });

  it.each([
    'https://api.example.com',
    'api.example.com:8443',
    'api.example.com/',
    'api.example.com/mcp',
    '',
    'a b',
    '[::1',
    '*.example.com',
    'user@api.example.com',
  ])('of the host %j says how to write it', (host) => {
    expect(() => settingsOf(given({ http: { allowedHosts: ['ok.example', host] } }))).toThrow(
      `McpModule: option \`http.allowedHosts\` has ${JSON.stringify(host)}: write a host name without scheme, port and path`,
    );
  });

  it.each([
    '*',
    'null',
    '',
    'app.example.com',
    'https://app.example.com/path',
    'https://a.example?x',
    'https://u@a.example',
    'ws://a.example',
    'file:///a',
  ])('of the origin %j says how to write it', (origin) => {
    expect(() => settingsOf(given({ http: { allowedOrigins: [origin] } }))).toThrow(
      `McpModule: option \`http.allowedOrigins\` has ${JSON.stringify(origin)}: write scheme and host`,
    );
  });

  it('is a boot exception and carries the name of its class', () => {
    const refusal = new InvalidOptionException('a', 'b');
    expect(refusal).toBeInstanceOf(McpBootException);
    expect(refusal.name).toBe('InvalidOptionException');
  });
});

describe('the caller', () => {
  const settings = settingsOf(required);

  it.each([
    [undefined, undefined],
    [null, undefined],
    ['text', undefined],
    [{}, undefined],
    [{ user: null }, undefined],
    [{ user: { sub: 'ann' } }, { id: 'ann' }],
    [{ user: { id: 7 } }, { id: '7' }],
    [{ user: { id: 0 } }, { id: '0' }],
    [{ user: { userId: 7n } }, { id: '7' }],
    [{ user: { userId: 'c', id: 'b', sub: 'a' } }, { id: 'a' }],
    [{ user: { sub: null, id: 'b' } }, { id: 'b' }],
  ])('of the request %p is %p', (request, caller) => {
    expect(settings.callerOf(request)).toEqual(caller);
  });

  it.each([{}, { name: 'ann' }, { id: {} }, { sub: true }, 'ann'])(
    'is not guessed from the user %p: the call fails',
    (user) => {
      expect(() => settings.callerOf({ user })).toThrow(McpError);
      expect(() => settings.callerOf({ user })).toThrow('Set the option `caller` of McpModule');
    },
  );

  it('is read as the application says, where it says so', () => {
    const caller = (request: unknown) => ({ id: String((request as { key: string }).key) });
    expect(settingsOf({ ...required, caller }).callerOf({ key: 'k' })).toEqual({ id: 'k' });
  });
});
