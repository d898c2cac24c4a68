import { LocalEventBus, McpEventBus, type McpBusMessage } from '../event-bus.js';
import { isSessionSignal, SessionSignals, type McpSessionSignal } from './session-signals.js';

const ENDED: McpSessionSignal = { kind: 'session', session: 's', signal: 'ended' };
const CANCELLED: McpSessionSignal = { kind: 'session', session: 's', signal: 'cancelled', message: '{}' };
const ANSWERED: McpSessionSignal = { ...CANCELLED, signal: 'answered' };
const OPENED: McpSessionSignal = { kind: 'session', session: 's', signal: 'opened', process: 'a' };
const CLOSED: McpSessionSignal = { ...OPENED, signal: 'closed' };

/** Nothing that a bus could not carry through JSON, and much that none of ours would. */
const HOSTILE: readonly unknown[] = [
  undefined,
  null,
  0,
  '',
  'session',
  [],
  {},
  { kind: 'session' },
  { kind: 'session', session: 's' },
  { ...ENDED, session: 1 },
  { ...ENDED, kind: 'list' },
  { ...ENDED, signal: 'paused' },
  { ...CANCELLED, message: undefined },
  { ...CANCELLED, message: {} },
  { ...ANSWERED, message: null },
  { ...OPENED, process: undefined },
  { ...CLOSED, process: 1 },
  { ...CANCELLED, signal: 'opened' },
  { kind: 'list', list: 'tools' },
  { kind: 'resource', uri: 'a://1' },
];

function setUp(bus: McpEventBus = new LocalEventBus()) {
  const faults: unknown[] = [];
  const heard: McpSessionSignal[] = [];
  const signals = new SessionSignals(bus, (fault) => void faults.push(fault));
  return { bus, faults, heard, signals, open: () => signals.open((signal) => void heard.push(signal)) };
}

describe('LocalEventBus', () => {
  it('tells every listener of a message once, in order, until it leaves', () => {
    const bus = new LocalEventBus();
    const [first, second]: McpBusMessage[][] = [[], []];
    const leave = bus.subscribe((message) => void first!.push(message));
    bus.subscribe((message) => void second!.push(message));
    bus.publish(ENDED);
    bus.publish(CANCELLED);
    leave();
    leave();
    bus.publish(ANSWERED);
    expect([first, second]).toEqual([
      [ENDED, CANCELLED],
      [ENDED, CANCELLED, ANSWERED],
    ]);
  });

  it('lets a listener leave or join while it is told', () => {
    const bus = new LocalEventBus();
    const told: string[] = [];
    const leave = bus.subscribe(() => {
      told.push('first');
      leave();
    });
    bus.subscribe(() => void told.push('second'));
    bus.publish(ENDED);
    bus.publish(ENDED);
    expect(told).toEqual(['first', 'second', 'second']);
  });
});

describe('SessionSignals', () => {
  it.each([[ENDED], [CANCELLED], [ANSWERED], [OPENED], [CLOSED]])(
    'takes %j for a signal, and through JSON as well',
    (signal) => {
      expect(isSessionSignal(signal)).toBe(true);
      expect(isSessionSignal(JSON.parse(JSON.stringify(signal)))).toBe(true);
    },
  );

  it.each(HOSTILE.map((value) => [value]))('takes %j for none', (value) => {
    expect(isSessionSignal(value)).toBe(false);
  });

  it('are heard by everyone on the bus, their sender included, from open to close', async () => {
    const bus = new LocalEventBus();
    const [one, other] = [setUp(bus), setUp(bus)];
    await one.signals.send(ENDED);
    await Promise.all([one.open(), other.open()]);
    await one.signals.send(CANCELLED);
    await other.signals.close();
    await other.signals.close();
    await one.signals.send(ANSWERED);
    expect([one.heard, other.heard]).toEqual([[CANCELLED, ANSWERED], [CANCELLED]]);
  });

  it('are all that is heard of a bus', async () => {
    const { bus, heard, open } = setUp();
    await open();
    for (const value of HOSTILE) await bus.publish(value as McpBusMessage);
    expect(heard).toEqual([]);
  });

  it('report a bus that fails, and go on', async () => {
    class Broken extends McpEventBus {
      how: 'throw' | 'reject' = 'throw';
      publish(): Promise<void> {
        return this.fail('unsent');
      }
      subscribe(): () => Promise<void> {
        return () => this.fail('stuck');
      }
      private fail(why: string): Promise<void> {
        if (this.how === 'throw') throw new Error(why);
        return Promise.reject(new Error(why));
      }
    }
    const bus = new Broken();
    const { faults, signals, open } = setUp(bus);
    await open();
    await signals.send(ENDED);
    bus.how = 'reject';
    await signals.send(ENDED);
    await signals.close();
    await open();
    bus.how = 'throw';
    await signals.close();
    expect(faults.map((fault) => (fault as Error).message)).toEqual(['unsent', 'unsent', 'stuck', 'stuck']);
  });

  it('do not open on a bus that cannot be listened to, and close all the same', async () => {
    class Deaf extends LocalEventBus {
      override subscribe(): never {
        throw new Error('deaf');
      }
    }
    const { signals, faults, open } = setUp(new Deaf());
    await expect(open()).rejects.toThrow('deaf');
    await signals.close();
    expect(faults).toEqual([]);
  });
});
