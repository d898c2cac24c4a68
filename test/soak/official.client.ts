import { Client as V2Client, StreamableHTTPClientTransport as V2Http } from '@modelcontextprotocol/client';
import { Client as V1Client } from '@modelcontextprotocol/sdk/client/index.js';
import { SSEClientTransport as V1Sse } from '@modelcontextprotocol/sdk/client/sse.js';
import { StreamableHTTPClientTransport as V1Http } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { SoakClient, type ClientSeed, type PlannedCall } from './soak.client.js';

export const OFFICIAL = ['v1', 'v1 sse', 'v2', 'v2 legacy'] as const;
export type OfficialKind = (typeof OFFICIAL)[number];

const INFO = { name: 'soak', version: '1' };

/** What is asked of any of them. */
interface Connected {
  callTool(params: object, onprogress: () => void): Promise<unknown>;
  /** Ends the session, where there is one. */
  endSession?: () => Promise<void>;
  close: () => Promise<void>;
}

/** One of the official clients. Its ids are its own: they count from 0, so they are those of all others. */
export class OfficialClient extends SoakClient {
  private client: Connected | undefined;

  constructor(
    seed: ClientSeed,
    private readonly kind: OfficialKind,
  ) {
    super(seed);
  }

  protected async arrive(): Promise<void> {
    this.client = await this.connect();
  }

  protected async call({ params, text }: PlannedCall): Promise<void> {
    const { _meta: asksForProgress, ...call } = params;
    // Where it is one piece with the answer, the v1 client drops progress, so that it is not counted.
    const progress = asksForProgress ? () => undefined : undefined;
    const result = await this.client!.callTool(call, progress as () => void);
    const { content } = result as { content: { text?: string }[] };
    if (content[0]?.text === text) this.ledger.right++;
    else this.wrong(`wanted ${text}, got ${JSON.stringify(result)}`);
  }

  protected async digress(): Promise<void> {
    if (!this.random.chance(0.08)) return;
    await this.endOrAbandon();
    await this.arrive();
    this.ledger.did('renewed');
  }

  protected async leave(): Promise<void> {
    await this.endOrAbandon();
    this.wire.close();
  }

  private async endOrAbandon(): Promise<void> {
    const { endSession, close } = this.client!;
    if (endSession && this.random.chance(0.5)) await endSession();
    else if (endSession) this.ledger.abandoned++;
    await close();
  }

  private async connect(): Promise<Connected> {
    const { url } = this.seed;
    const options = { fetch: this.wire.fetch as never };
    if (this.kind === 'v1' || this.kind === 'v1 sse') {
      const client = new V1Client(INFO);
      const http = this.kind === 'v1' ? new V1Http(new URL('/mcp', url), options) : undefined;
      await client.connect((http ?? new V1Sse(new URL('/sse', url), options)) as never);
      return {
        callTool: (params, onprogress) => client.callTool(params as never, undefined, { onprogress }),
        ...(http ? { endSession: () => http.terminateSession() } : {}),
        close: () => client.close(),
      };
    }
    const mode = this.kind === 'v2' ? 'auto' : 'legacy';
    const client = new V2Client(INFO, { versionNegotiation: { mode } });
    const http = new V2Http(new URL('/mcp', url), options);
    await client.connect(http);
    return {
      callTool: (params, onprogress) => client.callTool(params as never, { onprogress }),
      ...(mode === 'legacy' ? { endSession: () => http.terminateSession() } : {}),
      close: () => client.close(),
    };
  }
}
