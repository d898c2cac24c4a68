import {
  accept,
  byMessage,
  cancel,
  decline,
  messagesOf,
  serve,
  SERVERS,
  waysOf,
  type AskingServer,
  type Outcome,
  type ScriptedClient,
  type Script,
} from '../support/scripted-client.js';
import { Traffic } from '../support/traffic.js';
import type { Json } from '../support/wire.js';
import { BookingModule, journal } from './booking.app.js';

/** How a handler of each kind is called, and where its text is. */
const KINDS: Record<string, { call: (name: string) => [string, Json]; text: (result: Json) => string }> = {
  tool: {
    call: (name) => ['tools/call', { name, arguments: {} }],
    text: ({ content }) => (content as { text: string }[])[0]!.text,
  },
  prompt: {
    call: (name) => ['prompts/get', { name }],
    text: ({ messages }) => (messages as { content: { text: string } }[])[0]!.content.text,
  },
  resource: {
    call: (name) => ['resources/read', { uri: `booking://${name}` }],
    text: ({ contents }) => (contents as { text: string }[])[0]!.text,
  },
};

const SEAT_B = byMessage({
  'Which seat?': accept({ seat: 'B' }),
  'Which meal at B?': accept({ meal: 'soup' }),
  'Which meal?': decline,
});

/** What a handler gives where the seat is B, and what is done on the way; in both eras alike unless there are two. */
const HANDLERS: [string, string, { legacy: string[]; modern: string[] }][] = [
  ['inSequence', 'B, soup', { legacy: ['run'], modern: ['run', 'run', 'run'] }],
  [
    'atOnce',
    '[{"action":"accept","content":{"seat":"B"}},{"action":"decline"}]',
    { legacy: ['run'], modern: ['run', 'run'] },
  ],
  ['catchesAll', 'B', { legacy: [], modern: ['caught'] }],
  ['underFilter', 'B', { legacy: [], modern: ['filter'] }],
  ['underCatchError', 'B', { legacy: [], modern: [] }],
  ['underRetry', 'B', { legacy: ['run'], modern: ['run', 'run'] }],
  ['withFinally', 'B', { legacy: ['finally'], modern: ['finally', 'finally'] }],
  [
    'inTransaction',
    'B',
    { legacy: ['begin', 'write', 'commit'], modern: ['begin', 'rollback', 'begin', 'write', 'commit'] },
  ],
  [
    'withOnce',
    '{"number":7,"at":"1970-01-01T00:00:00.000Z"} B',
    { legacy: ['run', 'order'], modern: ['run', 'order', 'run'] },
  ],
];

const QUESTIONS: Record<string, string[]> = {
  inSequence: ['Which seat?', 'Which meal at B?'],
  atOnce: ['Which seat?', 'Which meal?'],
};

const traffic = new Traffic();

afterAll(() => traffic.verify());

describe.each(SERVERS)('a handler that asks, on %s', (kind) => {
  let server: AskingServer;

  beforeAll(async () => {
    server = await serve(kind, BookingModule, traffic);
  });

  afterAll(() => server.close());

  describe.each(waysOf(kind))('by the $client', ({ client: clientKind, era }) => {
    let client: ScriptedClient;

    beforeAll(async () => {
      client = await server.open(clientKind);
    });

    afterAll(() => client.close());

    beforeEach(() => {
      journal.length = 0;
    });

    describe.each(Object.keys(KINDS))('as a %s', (what) => {
      const { call, text } = KINDS[what]!;
      const run = (name: string, script: Script): Promise<Outcome> => client.request(...call(name), script);

      it.each(HANDLERS)('S-196: %s gives the same in both eras', async (name, expected, steps) => {
        const outcome = await run(name, SEAT_B);
        expect(outcome.error).toBeUndefined();
        expect(text(outcome.result)).toBe(expected);
        expect(messagesOf(outcome)).toEqual(QUESTIONS[name] ?? ['Which seat?']);
        expect(journal).toEqual(steps[era]);
      });

      it('S-144, L4: tells a user who declines from one who dismisses the question', async () => {
        const said = [];
        for (const answer of [decline, cancel])
          said.push(text((await run('catchesAll', byMessage({ 'Which seat?': answer }))).result));
        expect(said).toEqual(['decline', 'cancel']);
      });
    });
  });
});
