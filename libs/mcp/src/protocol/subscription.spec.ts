import type { McpChange } from './changes.js';
import { readId } from './json-rpc.js';
import { MAX_LISTENED_URIS, readFilter, Subscription, type SubscriptionFilter } from './subscription.js';

const filter = (notifications: unknown) =>
  readFilter(notifications === undefined ? {} : ({ notifications } as Record<string, unknown>));

describe('readFilter', () => {
  it('reads flags and addresses, and leaves alone what it does not know', () => {
    const asked = {
      toolsListChanged: true,
      promptsListChanged: false,
      resourceSubscriptions: ['a://b', 'a://b', 'c://d'],
      taskIds: ['x'],
    };
    expect(filter(asked)).toEqual({ lists: new Set(['tools']), uris: new Set(['a://b', 'c://d']) });
    expect(filter({})).toEqual({ lists: new Set(), uris: new Set() });
  });

  it.each([undefined, null, 'all', [], 1, true])('refuses %j', (notifications) => {
    expect(filter(notifications)).toEqual({
      code: -32602,
      message: 'Invalid params: "notifications" must be an object',
    });
    expect(readFilter(undefined)).toHaveProperty('code', -32602);
  });

  it.each([
    { toolsListChanged: 1 },
    { resourcesListChanged: null },
    { promptsListChanged: 'true' },
    { resourceSubscriptions: {} },
    { resourceSubscriptions: 'a://b' },
    { resourceSubscriptions: [null] },
  ])('refuses %j', (notifications) => expect(filter(notifications)).toHaveProperty('code', -32602));

  it('takes as many addresses as it says, and not one more', () => {
    const uris = (count: number) => Array.from({ length: count }, (_, at) => `a://${at}`);
    expect(filter({ resourceSubscriptions: uris(MAX_LISTENED_URIS) })).not.toHaveProperty('code');
    expect(filter({ resourceSubscriptions: uris(MAX_LISTENED_URIS + 1) })).toEqual({
      code: -32602,
      message: 'Invalid params: "notifications.resourceSubscriptions" has more than 100 addresses',
    });
  });
});

describe('Subscription', () => {
  const sent: string[] = [];
  const subscription = (id: string, { lists, uris }: Partial<SubscriptionFilter>) => {
    sent.length = 0;
    const honoured = { lists: lists ?? new Set(), uris: uris ?? new Set() } as SubscriptionFilter;
    return new Subscription(readId(id)!, honoured, (message) => void sent.push(message));
  };

  it('S-119: acknowledges what is honoured, with its id as it came', () => {
    subscription('9007199254740993', {
      lists: new Set(['prompts', 'tools']),
      uris: new Set(['a://"b"']),
    }).acknowledge();
    expect(sent).toEqual([
      '{"jsonrpc":"2.0","method":"notifications/subscriptions/acknowledged","params":{"notifications":' +
        '{"toolsListChanged":true,"promptsListChanged":true,"resourceSubscriptions":["a://\\"b\\""]},' +
        '"_meta":{"io.modelcontextprotocol/subscriptionId":9007199254740993}}}',
    ]);
  });

  it('S-118, S-120: passes on what was asked for, and nothing else', () => {
    const one = subscription('"x"', { lists: new Set(['resources']), uris: new Set(['a://b']) });
    const changes: McpChange[] = [
      { kind: 'list', list: 'tools' },
      { kind: 'list', list: 'prompts' },
      { kind: 'list', list: 'resources' },
      { kind: 'resource', uri: 'a://b/c' },
      { kind: 'resource', uri: 'A://b' },
      { kind: 'resource', uri: 'a://b' },
    ];
    changes.forEach((change) => one.notify(change));
    const meta = '"_meta":{"io.modelcontextprotocol/subscriptionId":"x"}';
    expect(sent).toEqual([
      `{"jsonrpc":"2.0","method":"notifications/resources/list_changed","params":{${meta}}}`,
      `{"jsonrpc":"2.0","method":"notifications/resources/updated","params":{"uri":"a://b",${meta}}}`,
    ]);
  });
});
