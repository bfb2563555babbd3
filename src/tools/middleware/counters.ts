// Counters per key: a fixed window, any other rule of Weir, or a node.
import type { GateOptions, WeirClient } from '../../api/client/weir-client.js';
import { type LimiterOptions, limiterMaker } from '../../core/limiter/create-limiter.js';

export interface CounterAnswer {
  readonly isAdmitted: boolean;
  /** Undefined for a rule without a fixed number. */
  readonly limit: number | undefined;
  /** Requests in the window, including this one. */
  readonly used: number | undefined;
  readonly remaining: number;
  /** Undefined for a rule without a window. */
  readonly windowMs: number | undefined;
  /** Ms until the window ends or a request would be admitted. Infinity: never. */
  readonly resetMs: number;
  /** Takes the request back. Absent where that is impossible. */
  readonly undo?: (nowMs: number) => void;
  /** Lives as long as the key does; undefined if it is counted elsewhere. */
  readonly kept?: KeptByKey;
}

/** What is derived from a key once. */
interface KeptByKey {
  policy?: string;
}

export interface Counter {
  hit(key: string, nowMs: number): CounterAnswer | Promise<CounterAnswer>;
  reset?(key: string): void;
}

interface KeyBounds {
  readonly maxKeys: number;
  /** What a new key gets when the table is full: refusal, or one count shared by all such keys. */
  readonly overflow: 'refuse' | 'share';
}

const SHARED = '\u0000shared';

/** A bounded map. A new key makes room: of the two oldest, an idle one goes, and one in use has a second chance, at the end. */
class Keys<Value> {
  readonly #values = new Map<string, Value>();
  readonly #bounds: KeyBounds;
  readonly #make: () => Value;
  readonly #isIdle: (value: Value, nowMs: number) => boolean;

  constructor(bounds: KeyBounds, make: () => Value, isIdle: (value: Value, nowMs: number) => boolean) {
    this.#bounds = bounds;
    this.#make = make;
    this.#isIdle = isIdle;
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  /** Perhaps the shared one; undefined if there is no room. */
  at(key: string, nowMs: number): Value | undefined {
    const values = this.#values;
    const known = values.get(key);
    if (known !== undefined) return known;
    // Two per insertion: idle keys go faster than new ones arrive.
    for (let left = 2; left > 0; left -= 1) {
      const [oldest] = values;
      if (oldest === undefined) break;
      values.delete(oldest[0]);
      if (!this.#isIdle(oldest[1], nowMs)) values.set(...oldest);
    }
    const { maxKeys, overflow } = this.#bounds;
    const isFull = values.size - (values.has(SHARED) ? 1 : 0) >= maxKeys;
    if (isFull && key !== SHARED) return overflow === 'refuse' ? undefined : this.at(SHARED, nowMs);
    const made = this.#make();
    values.set(key, made);
    return made;
  }
}

interface Window extends KeptByKey {
  endMs: number;
  used: number;
}

/**
 * The fixed window of express-rate-limit: begins with a key's first request, counts refused ones, restarts at its end.
 *
 *   used     1 2 3   4        1 2           limit 3: the fourth is refused; endMs = first request + windowMs
 *            |-------------|  |----------
 */
export function windowCounter(windowMs: number, limit: number, bounds: KeyBounds): Counter {
  const isOver = ({ endMs }: Window, nowMs: number) => endMs <= nowMs;
  const keys = new Keys<Window>(bounds, () => ({ endMs: Number.NEGATIVE_INFINITY, used: 0 }), isOver);
  const used = limit + 1;
  const refused: CounterAnswer = { isAdmitted: false, limit, used, remaining: 0, windowMs, resetMs: windowMs };
  return {
    hit(key, nowMs) {
      const window = keys.at(key, nowMs);
      if (window === undefined) return refused;
      if (isOver(window, nowMs)) Object.assign(window, { endMs: nowMs + windowMs, used: 0 });
      window.used += 1;
      const { used, endMs } = window;
      return {
        isAdmitted: used <= limit,
        limit,
        used,
        windowMs,
        remaining: Math.max(0, limit - used),
        resetMs: endMs - nowMs,
        kept: window,
        undo(laterMs) {
          if (laterMs < endMs && window.used > 0) window.used -= 1;
        },
      };
    },
    reset: (key) => keys.delete(key),
  };
}

/** One limiter of Weir per key. @throws Failure `invalid_input`, `invalid_definition` */
export function ruleCounter(options: LimiterOptions, bounds: KeyBounds): Counter {
  const { make, spanMs: windowMs } = limiterMaker(options);
  interface Ruled extends KeptByKey {
    readonly limiter: ReturnType<typeof make>;
    usedMs: number;
  }
  const isIdle = ({ usedMs }: Ruled, nowMs: number) => usedMs + windowMs <= nowMs;
  const keys = new Keys<Ruled>(bounds, () => ({ limiter: make(), usedMs: 0 }), isIdle);
  const { remaining: most } = make().decide(0, 0);
  const limit = Number.isFinite(most) ? most : undefined;
  return {
    hit(key, nowMs) {
      const kept = keys.at(key, nowMs);
      if (kept === undefined)
        return { isAdmitted: false, limit, used: undefined, windowMs, remaining: 0, resetMs: windowMs };
      kept.usedMs = nowMs;
      const { admitted, remaining, retryAfterMs: resetMs } = kept.limiter.decide(nowMs);
      return { isAdmitted: admitted === 1, limit, used: undefined, windowMs, remaining, resetMs, kept };
    },
    reset: (key) => keys.delete(key),
  };
}

export interface NodeTarget {
  readonly client: WeirClient;
  readonly machine: string;
  readonly contract: string;
  /** Whether the contract counts each key separately. Default: false. */
  readonly keyed?: boolean | undefined;
}

export function nodeCounter({ client, machine, contract, keyed = false }: NodeTarget): Counter {
  return {
    async hit(key) {
      const options = (keyed ? { key } : {}) as GateOptions;
      const decision = await client.gate(machine, contract, options);
      const { isAdmitted, threshold: limit, count: used, remaining = 0, windowMs } = decision;
      const { retryAfterMs: resetMs = Number.POSITIVE_INFINITY } = decision;
      return { isAdmitted, limit, used, remaining, windowMs, resetMs };
    },
  };
}
