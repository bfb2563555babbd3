import { Failure } from '../../src/core/schema/failure.js';
import { MemoryStore } from '../../src/node/store/memory.js';
import type { ContractState } from '../../src/node/store/store.js';

/** A disk on which, while it is held, nothing becomes durable; and nothing more once it is full. */
export class SlowStore extends MemoryStore {
  isFull = false;
  #held: (() => void)[] | undefined;
  #failure: Failure | undefined;

  override commit(settled: (failure?: Failure) => void): void {
    if (this.#held === undefined) this.#settle(settled);
    else this.#held.push(() => this.#settle(settled));
  }

  #settle(settled: (failure?: Failure) => void): void {
    if (this.isFull) this.#failure ??= new Failure('store_failed', { what: 'The test fills its disk.' });
    settled(this.#failure);
  }

  override putState(state: ContractState): void {
    if (this.#failure !== undefined) throw this.#failure;
    super.putState(state);
  }

  override recover(): boolean {
    if (!this.isFull) this.#failure = undefined;
    return !this.isFull;
  }

  get isWaitedFor(): boolean {
    return (this.#held?.length ?? 0) > 0;
  }

  hold(): void {
    this.#held = [];
  }

  release(): void {
    const held = this.#held ?? [];
    this.#held = undefined;
    for (const commit of held) commit();
  }
}
