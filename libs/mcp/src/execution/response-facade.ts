/** What a guard, filter or handler did with the response, instead of doing it to the wire. */
export interface ResponseState {
  /** Node's response of the HTTP request, or nothing on stdio. */
  readonly real: object | undefined;
  statusCode: number;
  /** Set once something ended the response: its status and body. */
  answer: { readonly status: number; readonly body: unknown } | undefined;
  /** What was written before the end. */
  written: string;
  raw: object | undefined;
}

/** Where the facade keeps its state, for `answerOf()`. */
const STATE = Symbol.for('nest-mcp:response-state');

/** Headers of the wire itself: what a handler says of them would break the answer. */
const OWN_HEADERS = new Set([
  'connection',
  'content-encoding',
  'content-length',
  'content-type',
  'keep-alive',
  'mcp-protocol-version',
  'mcp-session-id',
  'trailer',
  'transfer-encoding',
  'upgrade',
]);

const HEADER_SETTERS = new Set([
  'setHeader',
  'setHeaders',
  'header',
  'set',
  'appendHeader',
  'append',
  'headers',
  'removeHeader',
  'vary',
]);
const STATUS_SETTERS = new Set(['status', 'code']);
const CHAINED = new Set([
  'type',
  'contentType',
  'serializer',
  'flushHeaders',
  'cork',
  'uncork',
  'writeContinue',
]);
const ENDERS = new Set(['json', 'jsonp', 'send', 'end', 'render', 'sendFile', 'download', 'hijack']);
const ENDED_FLAGS = new Set(['headersSent', 'sent', 'writableEnded', 'writableFinished', 'finished']);

type Method = (...args: unknown[]) => unknown;

/**
 * The response that the handler layer sees: header setters reach the real one while it is unsent; status,
 * body and end write nothing and become the outcome of the call. So a filter written for HTTP shapes the
 * error instead of breaking the wire.
 */
export function responseFacade(real: object | undefined): object {
  return facadeOf({ real, statusCode: 200, answer: undefined, written: '', raw: undefined });
}

/** What was answered on the facade, if anything. */
export function answerOf(facade: object): ResponseState['answer'] {
  return (facade as { [STATE]: ResponseState })[STATE].answer;
}

function facadeOf(state: ResponseState): object {
  return new Proxy(state, HANDLER);
}

const HANDLER: ProxyHandler<ResponseState> = {
  get(state, property, self: unknown) {
    if (property === STATE) return state;
    // Fastify's reply is thenable: awaited, it would wait for a sending that never comes.
    if (property === 'then') return undefined;
    if (property === 'statusCode') return state.statusCode;
    if (property === 'raw') return rawOf(state);
    if (typeof property === 'string') {
      if (ENDED_FLAGS.has(property)) return state.answer !== undefined;
      const method = methodOf(state, property, self);
      if (method) return method;
    }
    const value: unknown = state.real ? Reflect.get(state.real, property, state.real) : undefined;
    return typeof value === 'function' ? (value as Method).bind(state.real) : value;
  },
  set(state, property, value: unknown) {
    if (property === 'statusCode') state.statusCode = value as number;
    else if (state.real) Reflect.set(state.real, property, value);
    return true;
  },
  has: (state, property) =>
    property !== 'then' && state.real !== undefined && Reflect.has(state.real, property),
  getPrototypeOf: (state) => (state.real ? (Object.getPrototypeOf(state.real) as object) : Object.prototype),
};

function methodOf(state: ResponseState, name: string, self: unknown): Method | undefined {
  if (STATUS_SETTERS.has(name)) {
    return (status) => {
      state.statusCode = status as number;
      return self;
    };
  }
  if (ENDERS.has(name)) {
    return (body) => {
      state.answer ??= { status: state.statusCode, body: bodyOf(state, body) };
      return self;
    };
  }
  if (name === 'write') {
    return (chunk) => {
      state.written += textOf(chunk);
      return true;
    };
  }
  if (name === 'sendStatus' || name === 'redirect' || name === 'writeHead')
    return statusMethod(state, name, self);
  if (HEADER_SETTERS.has(name)) return headerSetter(state, name, self);
  if (CHAINED.has(name)) return () => self;
  return undefined;
}

function statusMethod(state: ResponseState, name: string, self: unknown): Method {
  return (first, ...more) => {
    const status = typeof first === 'number' ? first : 302;
    state.statusCode = status;
    const headers = more.at(-1);
    if (name !== 'writeHead') state.answer ??= { status, body: undefined };
    else if (typeof headers === 'object' && headers !== null) headerSetter(state, 'setHeader', self)(headers);
    return self;
  };
}

/** What the response would have had as its body. The last argument of `end()` may be a callback. */
function bodyOf({ written }: ResponseState, last: unknown): unknown {
  const body = typeof last === 'function' ? undefined : last;
  return written === '' ? body : written + textOf(body);
}

function textOf(chunk: unknown): string {
  if (chunk instanceof Uint8Array) return Buffer.from(chunk).toString('utf8');
  return typeof chunk === 'string' ? chunk : '';
}

/** Passes headers on to the real response, without those of the wire and only while it is unsent. */
function headerSetter(state: ResponseState, name: string, self: unknown): Method {
  return (...args) => {
    const real = state.real as Record<string, unknown> | undefined;
    const isRead =
      args.length === 1 && typeof args[0] === 'string' && name !== 'removeHeader' && name !== 'vary';
    if (isRead) return callReal(real, 'getHeader', args) ?? callReal(real, 'get', args);
    if (!real || real['headersSent'] === true || real['sent'] === true) return self;
    const [first] = args;
    if (typeof first === 'object' && first !== null && !Array.isArray(first)) {
      const entries =
        Symbol.iterator in first ? (first as Iterable<[string, unknown]>) : Object.entries(first);
      for (const [key, value] of entries) headerSetter(state, 'setHeader', self)(key, value);
      return self;
    }
    if (name !== 'vary' && OWN_HEADERS.has(String(first).toLowerCase())) return self;
    callReal(real, typeof real[name] === 'function' ? name : 'header', args);
    return self;
  };
}

function callReal(real: Record<string, unknown> | undefined, name: string, args: unknown[]): unknown {
  const method = real?.[name];
  return typeof method === 'function' ? (method as Method).apply(real, args) : undefined;
}

/** Fastify's `reply.raw`: the same state behind Node's response. */
function rawOf(state: ResponseState): object | undefined {
  if (state.raw) return state.raw;
  const raw = (state.real as { raw?: object } | undefined)?.raw;
  if (!raw) return undefined;
  const shared: ResponseState = {
    real: raw,
    get statusCode() {
      return state.statusCode;
    },
    set statusCode(status) {
      state.statusCode = status;
    },
    get answer() {
      return state.answer;
    },
    set answer(answer) {
      state.answer = answer;
    },
    get written() {
      return state.written;
    },
    set written(written) {
      state.written = written;
    },
    raw: undefined,
  };
  state.raw = facadeOf(shared);
  return state.raw;
}
