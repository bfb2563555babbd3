// Whether the heap has room: new things to keep are refused well before V8 ends the process.
//
//   0 ─────────────── 0.7 ───── 0.85 ──── 1     of the heap that the process may have (--max-old-space-size)
//     taken             │          └ refused, garbage or not
//                       └ refused if that much was left by the last full collection
import { constants, type PerformanceEntry, PerformanceObserver } from 'node:perf_hooks';
import { getHeapStatistics } from 'node:v8';
import { Failure } from '../core/schema/failure.js';

/** Shares of the heap: what the last full collection left, and what is used including garbage. */
const MOST_KEPT = 0.7;
const MOST_USED = 0.85;

/** Calls between two readings of V8's figures: a reading takes some microseconds. */
const CALLS_PER_READING = 16;

export interface Heap {
  readonly usedBytes: number;
  readonly limitBytes: number;
}

export class MemoryGuard {
  readonly #heap: () => Heap;
  #callsLeft = 0;
  #isLow = false;
  #isKept = false;

  constructor(heap: () => Heap = heapOfProcess) {
    this.#heap = heap;
  }

  watch(): { close(): void } {
    const observer = new PerformanceObserver((list) => {
      if (list.getEntries().some(isFull)) this.collected();
    });
    observer.observe({ entryTypes: ['gc'] });
    return { close: () => observer.disconnect() };
  }

  /** After a full collection: what is used now is kept. */
  collected(): void {
    this.#isKept = this.#share() >= MOST_KEPT;
    this.#callsLeft = 0;
  }

  get isLow(): boolean {
    if (this.#callsLeft === 0) {
      this.#callsLeft = CALLS_PER_READING;
      this.#isLow = this.#isKept || this.#share() >= MOST_USED;
    }
    this.#callsLeft -= 1;
    return this.#isLow;
  }

  /** @param what is not made @throws Failure `memory_low` */
  refuse(what: string): void {
    if (this.isLow)
      throw new Failure('memory_low', {
        what,
        why: 'The node has too little memory left for anything that it would have to keep.',
        fix: 'Try again later; the operator can start the node with more memory.',
      });
  }

  #share(): number {
    const { usedBytes, limitBytes } = this.#heap();
    return usedBytes / limitBytes;
  }
}

/** Half of V8's young generation. It grew with Node 24, and shrank with 26. */
const SEMI_SPACE_BYTES = semiSpaceMiB(Number.parseInt(process.versions.node, 10)) << 20;

function semiSpaceMiB(nodeMajor: number): number {
  if (nodeMajor < 24) return 16;
  return nodeMajor < 26 ? 64 : 32;
}

/** Bytes used, and the bound of what is kept. */
export function heapOfProcess(): Heap {
  const { used_heap_size: usedBytes, heap_size_limit } = getHeapStatistics();
  return { usedBytes, limitBytes: keptBytes(heap_size_limit) };
}

/** `--max-old-space-size`, to which V8 adds three halves of its young generation. None of them is for what is kept. */
export function keptBytes(heapLimitBytes: number): number {
  return Math.max(heapLimitBytes - 3 * SEMI_SPACE_BYTES, heapLimitBytes / 8);
}

function isFull(entry: PerformanceEntry): boolean {
  const { detail } = entry as PerformanceEntry & { readonly detail?: { readonly kind?: number } };
  return detail?.kind === constants.NODE_PERFORMANCE_GC_MAJOR;
}
