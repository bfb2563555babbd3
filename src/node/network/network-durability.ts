// Durability of a node of many: what it has written is in Redis, and as durable as Redis makes it. The host of this process stores nothing.
import { Durability } from '../durability.js';
import type { Directory } from './directory.js';

export class NetworkDurability extends Durability {
  readonly #directory: Directory;

  constructor(directory: Directory, ...rest: ConstructorParameters<typeof Durability>) {
    super(...rest);
    this.#directory = directory;
  }

  override commit(): Promise<void> {
    return this.#directory.settled();
  }
}
