import { EventEmitter } from 'node:events';
import { Injectable } from '@nestjs/common';

/** The server that all clients of this process share. */
const server = new EventEmitter();

/** As much of a Redis client as a bus needs, with the server in this process. */
@Injectable()
export class Redis {
  private readonly unsubscribe: (() => void)[] = [];

  duplicate(): Redis {
    return new Redis();
  }

  connect(): Promise<this> {
    return Promise.resolve(this);
  }

  publish(channel: string, text: string): Promise<void> {
    setImmediate(() => server.emit(channel, text));
    return Promise.resolve();
  }

  subscribe(channel: string, listener: (text: string) => void): Promise<void> {
    server.on(channel, listener);
    this.unsubscribe.push(() => server.off(channel, listener));
    return Promise.resolve();
  }

  close(): Promise<void> {
    for (const end of this.unsubscribe) end();
    return Promise.resolve();
  }
}
