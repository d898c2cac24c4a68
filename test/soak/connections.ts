import { Agent, request, type IncomingHttpHeaders, type IncomingMessage } from 'node:http';
import { Readable } from 'node:stream';

export interface SseEvent {
  readonly id: string | undefined;
  readonly name: string | undefined;
  readonly data: string;
}

export interface Outgoing {
  readonly method?: 'GET' | 'POST' | 'DELETE';
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
}

/** The answer to one request, as far as it came. */
export class Incoming {
  text = '';
  isOver = false;
  /** Resolves with whether the server ended it, or the connection was cut. */
  readonly end: Promise<'ended' | 'cut'>;
  /** The whole events so far. */
  readonly events: SseEvent[] = [];
  private rest = '';
  private waiting: (() => void)[] = [];

  constructor(
    private readonly response: IncomingMessage,
    onOver: (text: string) => void,
  ) {
    response.setEncoding('utf8').on('data', (text: string) => {
      this.text += text;
      if (this.isStream) this.readEvents(text);
      this.wake();
    });
    this.end = new Promise((resolve) => {
      const over = (how: 'ended' | 'cut') => {
        if (this.isOver) return;
        this.isOver = true;
        onOver(this.text);
        this.wake();
        resolve(how);
      };
      response.on('end', () => over('ended'));
      response.on('error', () => over('cut')).on('close', () => over('cut'));
    });
  }

  get status(): number {
    return this.response.statusCode!;
  }

  get headers(): IncomingHttpHeaders {
    return this.response.headers;
  }

  get isStream(): boolean {
    return this.headers['content-type'] === 'text/event-stream';
  }

  /** Resolves with whether that became so before the answer was over. */
  async until(isSo: () => boolean): Promise<boolean> {
    while (!isSo()) {
      if (this.isOver) return false;
      await new Promise<void>((resolve) => this.waiting.push(resolve));
    }
    return true;
  }

  cut(): void {
    this.response.destroy();
  }

  private readEvents(text: string): void {
    const blocks = (this.rest + text).split('\n\n');
    this.rest = blocks.pop()!;
    for (const block of blocks) {
      const field = (name: string) => new RegExp(`^${name}: ?(.*)$`, 'm').exec(block)?.[1];
      const data = field('data');
      // What has none is a comment.
      if (data !== undefined) this.events.push({ id: field('id'), name: field('event'), data });
    }
  }

  private wake(): void {
    this.waiting.splice(0).forEach((wake) => wake());
  }
}

/** The connections of one client, shared with nobody, and all that it hears on them. */
export class Connections {
  private readonly agent = new Agent({ keepAlive: true });

  constructor(
    private readonly url: string,
    private readonly headers: Readonly<Record<string, string>>,
    /** Told of each answer's whole text. */
    private readonly hear: (text: string) => void,
  ) {}

  /** Resolves once the head of the answer is there. */
  send(path: string, outgoing: Outgoing = {}): Promise<Incoming> {
    return this.begin(path, outgoing).answer;
  }

  /** Sends a request whose client hangs up, whether its answer has begun or not. */
  begin(
    path: string,
    { method = 'POST', headers = {}, body }: Outgoing,
  ): { readonly answer: Promise<Incoming>; readonly hangUp: () => void } {
    const all = {
      accept: method === 'POST' ? 'application/json, text/event-stream' : 'text/event-stream',
      ...(body === undefined ? {} : { 'content-type': 'application/json' }),
      ...this.headers,
      ...headers,
    };
    const sent = request(new URL(path, this.url), { method, headers: all, agent: this.agent });
    const answer = new Promise<Incoming>((resolve, reject) => {
      sent.on('response', (response) => resolve(new Incoming(response, this.hear))).on('error', reject);
    });
    sent.end(body === undefined ? undefined : JSON.stringify(body));
    return { answer, hangUp: () => void sent.destroy() };
  }

  /** The same for the official clients. Node's own `fetch` shares connections between all who call it. */
  readonly fetch = (input: string | URL, init: RequestInit = {}): Promise<Response> => {
    const headers = { ...Object.fromEntries(new Headers(init.headers)), ...this.headers };
    const { method = 'GET', signal, body } = init;
    return new Promise((resolve, reject) => {
      const options = { method, headers, agent: this.agent, ...(signal ? { signal } : {}) };
      const sent = request(new URL(input), options, (response) => {
        const chunks: Buffer[] = [];
        response.on('data', (chunk: Buffer) => chunks.push(chunk));
        response.on('close', () => this.hear(Buffer.concat(chunks).toString()));
        const { statusCode: status = 0, headers: received } = response;
        const isEmpty = status === 204 || status === 202;
        if (isEmpty) response.resume();
        const stream = isEmpty ? null : Readable.toWeb(response);
        resolve(new Response(stream as never, { status, headers: received as Record<string, string> }));
      });
      sent.on('error', reject);
      sent.end(body as string | undefined);
    });
  };

  /** Closes all of them, whatever is on its way. */
  close(): void {
    this.agent.destroy();
  }
}
