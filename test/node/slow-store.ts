import type { Failure } from '../../src/core/schema/failure.js';
import { MemoryStore } from '../../src/node/store/memory.js';

/** A disk on which, while it is held, nothing becomes durable. */
export class SlowStore extends MemoryStore {
  #held: (() => void)[] | undefined;

  override commit(settled: (failure?: Failure) => void): void {
    if (this.#held === undefined) super.commit(settled);
    else this.#held.push(() => super.commit(settled));
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
