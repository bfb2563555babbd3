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

/** A bounded map. The oldest entry is evicted first, if it is idle. */
class Keys<Value> {
  readonly #values = new Map<string, Value>();
  readonly #bounds: KeyBounds;
  readonly #isIdle: (value: Value, nowMs: number) => boolean;

  constructor(bounds: KeyBounds, isIdle: (value: Value, nowMs: number) => boolean) {
    this.#bounds = bounds;
    this.#isIdle = isIdle;
  }

  get(key: string): Value | undefined {
    return this.#values.get(key);
  }

  delete(key: string): void {
    this.#values.delete(key);
  }

  /** Inserts at the end. @returns the key used, perhaps the shared one; undefined if there is no room */
  put(key: string, value: Value, nowMs: number): string | undefined {
    if (this.#values.delete(key)) {
      this.#values.set(key, value);
      return key;
    }
    // Two per insertion: idle keys go faster than new ones arrive.
    for (let left = 2; left > 0; left -= 1) {
      const [first] = this.#values;
      if (first === undefined || !this.#isIdle(first[1], nowMs)) break;
      this.#values.delete(first[0]);
    }
    const taken = this.#values.size - (this.#values.has(SHARED) ? 1 : 0);
    if (taken >= this.#bounds.maxKeys && key !== SHARED) {
      if (this.#bounds.overflow === 'refuse') return undefined;
      if (!this.#values.has(SHARED)) this.#values.set(SHARED, value);
      return SHARED;
    }
    this.#values.set(key, value);
    return key;
  }
}

interface Window {
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
  const keys = new Keys<Window>(bounds, ({ endMs }, nowMs) => endMs <= nowMs);
  const refused: CounterAnswer = {
    isAdmitted: false,
    limit,
    used: limit + 1,
    remaining: 0,
    windowMs,
    resetMs: windowMs,
  };
  const windowOf = (key: string, nowMs: number): Window | undefined => {
    const known = keys.get(key);
    if (known !== undefined && known.endMs > nowMs) return known;
    const name = keys.put(key, { endMs: nowMs + windowMs, used: 0 }, nowMs);
    if (name === undefined) return undefined;
    return name === key ? keys.get(key) : windowOf(name, nowMs);
  };
  return {
    hit(key, nowMs) {
      const window = windowOf(key, nowMs);
      if (window === undefined) return refused;
      window.used += 1;
      const { used, endMs } = window;
      return {
        isAdmitted: used <= limit,
        ...{ limit, used, windowMs },
        remaining: Math.max(0, limit - used),
        resetMs: endMs - nowMs,
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
  const { make, spanMs } = limiterMaker(options);
  const keys = new Keys<{ readonly limiter: ReturnType<typeof make>; usedMs: number }>(
    bounds,
    ({ usedMs }, nowMs) => usedMs + spanMs <= nowMs,
  );
  const { remaining: limit } = make().decide(0, 0);
  const place = { limit: Number.isFinite(limit) ? limit : undefined, used: undefined, windowMs: spanMs };
  return {
    hit(key, nowMs) {
      const value = keys.get(key) ?? { limiter: make(), usedMs: nowMs };
      value.usedMs = nowMs;
      const name = keys.put(key, value, nowMs);
      if (name === undefined) return { ...place, isAdmitted: false, remaining: 0, resetMs: spanMs };
      const { admitted, remaining, retryAfterMs } = keys.get(name)!.limiter.decide(nowMs);
      return { ...place, isAdmitted: admitted === 1, remaining, resetMs: retryAfterMs };
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
      const {
        isAdmitted,
        threshold: limit,
        remaining = 0,
        windowMs,
        retryAfterMs = Number.POSITIVE_INFINITY,
      } = decision;
      return { isAdmitted, limit, used: decision.count, remaining, windowMs, resetMs: retryAfterMs };
    },
  };
}
