import {
  clientLog,
  isWanted,
  levelOfRequest,
  LOG_LEVELS,
  logParams,
  META_LOG_LEVEL,
  readLogLevel,
} from './client-log.js';

const asItIs = (data: unknown) => data;

describe('levels of log messages', () => {
  it('are eight, least first', () => {
    expect(LOG_LEVELS).toEqual([
      'debug',
      'info',
      'notice',
      'warning',
      'error',
      'critical',
      'alert',
      'emergency',
    ]);
  });

  it('K3: are wanted from the one on that was asked for, and not at all where none was', () => {
    for (const [at, level] of LOG_LEVELS.entries()) {
      expect(isWanted(level, undefined)).toBe(false);
      expect(LOG_LEVELS.filter((other) => isWanted(other, level))).toEqual(LOG_LEVELS.slice(at));
    }
  });

  it.each(['Debug', 'warn', '', 0, null, undefined, ['info'], 'constructor'])('are not %j', (level) => {
    expect(readLogLevel(level)).toBeUndefined();
  });

  it('S-113: are read from the metadata of a request', () => {
    expect(levelOfRequest({ [META_LOG_LEVEL]: 'alert' })).toEqual({ level: 'alert' });
    for (const meta of [undefined, null, {}, 'text', [], { [META_LOG_LEVEL]: undefined }])
      expect(levelOfRequest(meta)).toEqual({ level: undefined });
    for (const level of [null, 'loud', 3])
      expect(levelOfRequest({ [META_LOG_LEVEL]: level })).toBeUndefined();
  });
});

describe('a log', () => {
  it('has a function of its own for each level', () => {
    const written: unknown[][] = [];
    const log = clientLog((...args) => void written.push(args));
    for (const level of LOG_LEVELS) log[level](1, 'me');
    log.info('x');
    expect(written).toEqual([...LOG_LEVELS.map((level) => [level, 1, 'me']), ['info', 'x', undefined]]);
    expect(Object.isFrozen(log)).toBe(true);
  });

  it.each<[string, unknown, unknown]>([
    ['a text', 'a "b"\n', 'a "b"\n'],
    ['an object', { a: [1, null, true] }, { a: [1, null, true] }],
    ['nothing', undefined, null],
    ['a function', () => 1, null],
    ['a symbol', Symbol('x'), null],
    ['no number', Number.NaN, null],
    ['a bigint', 2n ** 70n, '1180591620717411303424'],
    ['a bigint inside', { n: 1n }, { n: '1' }],
    ['an Error', new TypeError('wrong'), { name: 'TypeError', message: 'wrong' }],
    ['an Error inside', [new Error('inner')], [{ name: 'Error', message: 'inner' }]],
    [
      'what JSON throws for',
      {
        toJSON: () => {
          throw new Error('no');
        },
      },
      '[data that JSON cannot carry]',
    ],
  ])('carries %s', (_what, data, sent) => {
    expect(JSON.parse(logParams('info', data, undefined, asItIs))).toEqual({ level: 'info', data: sent });
  });

  it('carries a cycle, and a nesting without end, as a text that says so', () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    let deep: unknown = 1;
    for (let at = 0; at < 100_000; at++) deep = [deep];
    for (const data of [cyclic, deep])
      expect(JSON.parse(logParams('info', data, undefined, asItIs))).toMatchObject({
        data: '[data that JSON cannot carry]',
      });
  });

  it('carries what an instance shows, and as much of it as a message may have', () => {
    const shown = (data: unknown) => (typeof data === 'object' ? { name: 'ann' } : data);
    expect(logParams('info', { name: 'ann', password: 'x' }, undefined, shown)).toBe(
      '{"level":"info","data":{"name":"ann"}}',
    );
    const most = 'x'.repeat(256 * 1024 - 2);
    expect(JSON.parse(logParams('info', most, undefined, asItIs))).toHaveProperty('data', most);
    expect(logParams('info', `${most}x`, undefined, asItIs)).toBe(
      '{"level":"info","data":"[data too large for a log message]"}',
    );
  });

  it('names the logger where it is a text', () => {
    expect(logParams('error', 1, 'db "main"', asItIs)).toBe(
      '{"level":"error","logger":"db \\"main\\"","data":1}',
    );
    expect(logParams('error', 1, 7 as never, asItIs)).toBe('{"level":"error","data":1}');
  });
});
