import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment } from 'jest-environment-node';

/**
 * jest-circus enters one storage per file and never leaves it. On Node 20 each promise of the process looks into all
 * that are open, so a worker would grow slower with every file it has run.
 */
const open = new Set();

const { run } = AsyncLocalStorage.prototype;
AsyncLocalStorage.prototype.run = function (...args) {
  if (!this.enabled) open.add(this);
  return Reflect.apply(run, this, args);
};

/** Node's environment, which leaves no storage open that a file has entered. */
export default class Environment extends TestEnvironment {
  async teardown() {
    await super.teardown();
    for (const storage of open) storage.disable();
    open.clear();
  }
}
