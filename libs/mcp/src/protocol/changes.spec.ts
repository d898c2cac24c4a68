import { setImmediate } from 'node:timers/promises';
import { ChangeFeed, type McpChange } from './changes.js';
import { LocalEventBus, McpEventBus } from './event-bus.js';

const TOOLS: McpChange = { kind: 'list', list: 'tools' };
const NOTE: McpChange = { kind: 'resource', uri: 'note://all' };

/** A feed that is open, with one listener and all that was told. */
async function open(bus: McpEventBus = new LocalEventBus()) {
  const faults: unknown[] = [];
  const told: McpChange[] = [];
  const feed = new ChangeFeed(bus, (fault) => void faults.push(fault));
  await feed.open();
  const leave = feed.add({ notify: (change) => void told.push(change) });
  return { feed, faults, told, leave };
}

describe('ChangeFeed', () => {
  it('tells the changes of one turn at its end, each once, in the order in which they came first', async () => {
    const { feed, told } = await open();
    feed.announce(TOOLS);
    feed.announce(NOTE);
    feed.announce({ ...TOOLS });
    feed.announce({ kind: 'resource', uri: 'note://other' });
    expect(told).toEqual([]);
    await setImmediate();
    expect(told).toEqual([TOOLS, NOTE, { kind: 'resource', uri: 'note://other' }]);
    feed.announce(TOOLS);
    await setImmediate();
    expect(told).toHaveLength(4);
  });

  it('keeps a list and a resource of the same text apart', async () => {
    const { feed, told } = await open();
    feed.announce(TOOLS);
    feed.announce({ kind: 'resource', uri: 'tools' });
    await setImmediate();
    expect(told).toHaveLength(2);
  });

  it('tells nobody who left, and whoever joins from then on', async () => {
    const { feed, told, leave } = await open();
    leave();
    leave();
    expect(feed.size).toBe(0);
    const late: McpChange[] = [];
    feed.add({ notify: (change) => void late.push(change) });
    feed.announce(TOOLS);
    await setImmediate();
    expect([told, late]).toEqual([[], [TOOLS]]);
  });

  it.each([
    [
      'throws',
      () => {
        throw new Error('down');
      },
    ],
    ['rejects', () => Promise.reject(new Error('down'))],
  ])('reports a bus that %s, once for each change', async (_how, publish) => {
    class Broken extends McpEventBus {
      publish(): void | Promise<void> {
        return publish();
      }
      subscribe(): () => void {
        return () => undefined;
      }
    }
    const { feed, faults } = await open(new Broken());
    feed.announce(TOOLS);
    feed.announce(NOTE);
    await setImmediate();
    await setImmediate();
    expect(faults).toEqual([new Error('down'), new Error('down')]);
  });

  it('publishes nothing that waits once it is closed, and reports a bus that cannot be left', async () => {
    class Sticky extends LocalEventBus {
      readonly published: McpChange[] = [];
      override publish(change: McpChange): void {
        this.published.push(change);
      }
      override subscribe(): () => void {
        return () => {
          throw new Error('stuck');
        };
      }
    }
    const bus = new Sticky();
    const { feed, faults } = await open(bus);
    feed.announce(TOOLS);
    await feed.close();
    await setImmediate();
    expect([bus.published, faults, feed.size]).toEqual([[], [new Error('stuck')], 0]);
  });

  it('closes without ever having been open', async () => {
    const feed = new ChangeFeed(new LocalEventBus(), () => undefined);
    await expect(feed.close()).resolves.toBeUndefined();
  });
});
