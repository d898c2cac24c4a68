import { mcpCors } from './cors.js';

const USUAL = ['GET', 'HEAD', 'PUT', 'PATCH', 'POST', 'DELETE'];
const EXPOSED = ['Mcp-Session-Id', 'WWW-Authenticate'];
const SENT = [
  'Content-Type',
  'Accept',
  'Authorization',
  'MCP-Protocol-Version',
  'Mcp-Session-Id',
  'Mcp-Method',
  'Mcp-Name',
  'Last-Event-ID',
];

describe('mcpCors', () => {
  it('has what MCP needs where nothing is given, and no list of allowed headers', () => {
    expect(mcpCors()).toStrictEqual({ methods: USUAL, exposedHeaders: EXPOSED });
    expect(mcpCors({ allowedHeaders: undefined, methods: undefined, exposedHeaders: undefined })).toEqual({
      methods: USUAL,
      exposedHeaders: EXPOSED,
    });
  });

  it('passes on what it does not know', () => {
    const origin = (_: string, answer: (error: null, isAllowed: boolean) => void) => answer(null, true);
    const given = { origin, credentials: true, maxAge: 600, hook: 'onRequest', preflightContinue: false };
    expect(mcpCors(given)).toEqual({ ...given, methods: USUAL, exposedHeaders: EXPOSED });
  });

  it.each([
    ['https://app.example', ['https://app.example']],
    ['*', '*'],
    [true, true],
    [false, false],
    [undefined, undefined],
    [/example$/, /example$/],
    [
      ['https://a.example', /b/],
      ['https://a.example', /b/],
    ],
  ])('origin %p is %p', (given, origin) => {
    expect(mcpCors<{ origin?: unknown }>({ origin: given }).origin).toEqual(origin);
  });

  it.each([
    [
      ['X-Total', 'mcp-session-id'],
      ['X-Total', 'mcp-session-id', 'WWW-Authenticate'],
    ],
    ['X-Total , WWW-AUTHENTICATE,, x-total', ['X-Total', 'WWW-AUTHENTICATE', 'Mcp-Session-Id']],
    ['*', ['*', ...EXPOSED]],
    ['', EXPOSED],
    [[], EXPOSED],
    [null, EXPOSED],
  ])('adds to exposedHeaders %p without doubles', (given, exposedHeaders) => {
    expect(mcpCors<object>({ exposedHeaders: given })).toMatchObject({ exposedHeaders });
  });

  it.each([
    [['get'], ['get', 'POST', 'DELETE']],
    ['GET,PUT', ['GET', 'PUT', 'POST', 'DELETE']],
    ['', ['GET', 'POST', 'DELETE']],
    [null, USUAL],
  ])('adds to methods %p without doubles', (given, methods) => {
    expect(mcpCors<object>({ methods: given })).toMatchObject({ methods });
  });

  it.each([
    [
      ['X-Staff', 'mcp-param-region', 'authorization'],
      ['X-Staff', 'mcp-param-region', 'authorization', ...SENT.filter((name) => name !== 'Authorization')],
    ],
    ['X-Staff, accept', ['X-Staff', 'accept', ...SENT.filter((name) => name !== 'Accept')]],
    ['', SENT],
    [[], SENT],
  ])('adds to allowedHeaders %p without doubles', (given, allowedHeaders) => {
    expect(mcpCors<object>({ allowedHeaders: given })).toMatchObject({ allowedHeaders });
  });

  it('leaves allowedHeaders out where none are given: undefined would be a list for one of the libraries', () => {
    for (const allowedHeaders of [undefined, null])
      expect(mcpCors({ allowedHeaders })).not.toHaveProperty('allowedHeaders');
    expect(mcpCors({ origin: '*' })).not.toHaveProperty('allowedHeaders');
  });

  it('does not change what it is given, and can be applied twice', () => {
    const given = Object.freeze({
      origin: 'https://app.example',
      methods: Object.freeze(['GET']),
      exposedHeaders: Object.freeze(['X-Total']),
      allowedHeaders: Object.freeze(['X-Staff']),
    });
    const before = structuredClone(given);
    const once = mcpCors<object>(given);
    expect(given).toEqual(before);
    expect(mcpCors(once)).toEqual(once);
  });

  it.each([
    ['a function', () => undefined],
    ['an object with a delegator', { delegator: () => undefined }],
  ])('refuses a delegate: %s', (_, delegate) => {
    expect(() => mcpCors<object>(delegate)).toThrow(
      new TypeError(
        'mcpCors() takes options, not a delegate that chooses them by request: call mcpCors() inside the delegate, on what it gives back',
      ),
    );
  });

  it.each([
    ['methods', 5],
    ['exposedHeaders', { 'X-Total': true }],
    ['allowedHeaders', ['X-Staff', undefined]],
  ])('refuses %s that is no list of names', (option, value) => {
    expect(() => mcpCors<object>({ [option]: value })).toThrow(
      new TypeError(`mcpCors(): ${option} has to be a list of names, or their text with commas`),
    );
  });
});
