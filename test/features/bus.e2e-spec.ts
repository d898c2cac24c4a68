import { setImmediate } from 'node:timers/promises';
import { Injectable, Module, type OnModuleDestroy, type Provider, type Type } from '@nestjs/common';
import { McpEventBus, McpModule, McpRegistry, McpTool, type McpChange } from 'nest-mcp';
import { CapturedLog } from '../nest/captured-log.js';
import { ADAPTERS, startApp } from '../support/app.js';
import { connectV2Memory } from '../support/memory.js';
import { Traffic } from '../support/traffic.js';
import { callTool, textOf } from '../support/wire.js';
import { eventually, listChange, listenOverHttp, resourceChange, type OpenStream } from './open-stream.js';

/** What stands between the processes: everyone on it is told of everything. */
class Wire {
  readonly listeners = new Set<(change: McpChange) => void>();
  readonly published: McpChange[] = [];
  /** What publishing does instead, where it fails. */
  fault: (() => Promise<void>) | undefined;
}

const wire = new Wire();

@Injectable()
class WireBus extends McpEventBus {
  publish(change: McpChange): void | Promise<void> {
    if (wire.fault) return wire.fault();
    wire.published.push(change);
    // As a network would: later, and as JSON.
    const sent = JSON.stringify(change);
    return setImmediate().then(() => wire.listeners.forEach((tell) => tell(JSON.parse(sent) as McpChange)));
  }

  subscribe(listener: (change: McpChange) => void): Promise<() => Promise<void>> {
    wire.listeners.add(listener);
    return Promise.resolve(() => Promise.resolve(void wire.listeners.delete(listener)));
  }
}

/** Has something injected, so that it can only be made by Nest. */
@Injectable()
class ProvidedBus extends WireBus implements OnModuleDestroy {
  static made = 0;
  static destroyed = 0;

  constructor() {
    super();
    ProvidedBus.made++;
  }

  onModuleDestroy(): void {
    ProvidedBus.destroyed++;
  }
}

function busApp(bus: Type<McpEventBus>, providers: Provider[] = []): Type {
  @Injectable()
  class Tools {
    @McpTool({ description: 'Says hello' })
    hello(): string {
      return 'hello';
    }
  }

  @Module({ providers })
  class BusModule {}

  @Module({
    imports: [BusModule, McpModule.forRoot({ name: 'bus', version: '1.0.0', bus })],
    providers: [Tools],
  })
  class RootModule {}
  return RootModule;
}

const ASKED = { toolsListChanged: true, resourceSubscriptions: [] };

describe.each(ADAPTERS)('the option bus, on %s', (adapter) => {
  const traffic = new Traffic();
  afterAll(() => traffic.verify());

  beforeEach(() => {
    wire.fault = undefined;
    wire.published.length = 0;
  });

  it('brings the change of a second participant to a listener, and its own once', async () => {
    const [one, two] = [
      await startApp(busApp(WireBus), { adapter }),
      await startApp(busApp(WireBus), { adapter }),
    ];
    await one.app.get(McpRegistry).addResource({ name: 'note', uri: 'note://all' }, () => 'note');
    await eventually(() => wire.published.length === 1);
    await setImmediate();
    await setImmediate();
    const asked = { ...ASKED, resourceSubscriptions: ['note://all'] };
    const streams: OpenStream[] = [
      await listenOverHttp(one.mcp, asked, traffic),
      await listenOverHttp(two.mcp, ASKED, traffic),
    ];
    await Promise.all(streams.map((stream) => stream.count(1)));
    two.app.get(McpRegistry).notifyResourceUpdated('note://all');
    await two.app.get(McpRegistry).addTool({ name: 'more' }, () => 'more');
    await Promise.all([streams[0]!.count(3), streams[1]!.count(2)]);
    one.app.get(McpRegistry).setEnabled('tool', 'hello', false);
    await Promise.all([streams[0]!.count(4), streams[1]!.count(3)]);
    expect(streams.map(({ messages }) => messages.slice(1))).toEqual([
      [resourceChange('note://all', 'sub'), listChange('tools', 'sub'), listChange('tools', 'sub')],
      [listChange('tools', 'sub'), listChange('tools', 'sub')],
    ]);
    expect(wire.published).toEqual([
      { kind: 'list', list: 'resources' },
      { kind: 'resource', uri: 'note://all' },
      { kind: 'list', list: 'tools' },
      { kind: 'list', list: 'tools' },
    ]);
    await Promise.all([one.close(), two.close()]);
    expect(wire.listeners.size).toBe(0);
  });

  it('takes the bus that a module provides, and makes no second one', async () => {
    const made = ProvidedBus.made;
    const running = await startApp(busApp(ProvidedBus, [ProvidedBus]), { adapter });
    expect(ProvidedBus.made).toBe(made + 1);
    const stream = await listenOverHttp(running.mcp, ASKED, traffic);
    await stream.count(1);
    await running.app.get(McpRegistry).addTool({ name: 'more' }, () => 'more');
    expect((await stream.count(2))[1]).toEqual(listChange('tools', 'sub'));
    const destroyed = ProvidedBus.destroyed;
    await running.close();
    expect(ProvidedBus.destroyed).toBe(destroyed + 1);
  });

  it.each<[string, () => Promise<void>]>([
    ['rejects', () => Promise.reject(new Error('the network is down'))],
    [
      'throws',
      () => {
        throw new Error('the network is down');
      },
    ],
  ])('logs a bus that %s, and serves on', async (_how, fault) => {
    const logger = new CapturedLog();
    const running = await startApp(busApp(WireBus), { adapter, logger });
    const stream = await listenOverHttp(running.mcp, ASKED, traffic);
    await stream.count(1);
    wire.fault = fault;
    await running.app.get(McpRegistry).addTool({ name: 'more' }, () => 'more');
    await eventually(() => logger.with('The event bus failed').length === 1);
    expect(logger.of('error')[0]).toContain('The event bus failed: Error: the network is down');
    expect(textOf((await callTool(running.mcp, 'more')).result)).toBe('more');
    wire.fault = undefined;
    running.app.get(McpRegistry).remove('tool', 'more');
    expect((await stream.count(2))[1]).toEqual(listChange('tools', 'sub'));
    await running.close();
  });

  it('leaves alone what it does not know, and takes what follows', async () => {
    const running = await startApp(busApp(WireBus), { adapter });
    const stream = await listenOverHttp(running.mcp, ASKED, traffic);
    await stream.count(1);
    const junk: unknown[] = [
      undefined,
      null,
      'list',
      7,
      [],
      {},
      { kind: 'list' },
      { kind: 'list', list: 'secrets' },
      { kind: 'resource' },
      { kind: 'resource', uri: 7 },
      { kind: 'other', uri: 'note://all' },
    ];
    for (const change of junk)
      expect(() => wire.listeners.forEach((tell) => tell(change as McpChange))).not.toThrow();
    wire.listeners.forEach((tell) => tell({ kind: 'list', list: 'tools' }));
    expect((await stream.count(2))[1]).toEqual(listChange('tools', 'sub'));
    await running.close();
  });

  it('reaches an official client in memory', async () => {
    const running = await startApp(busApp(WireBus), { adapter });
    const client = await connectV2Memory(running.app, 'auto', traffic);
    let told = 0;
    client.setNotificationHandler('notifications/tools/list_changed', () => void told++);
    await client.listen({ toolsListChanged: true });
    wire.listeners.forEach((tell) => tell({ kind: 'list', list: 'tools' }));
    await eventually(() => told === 1);
    await client.close();
    await running.close();
  });
});
