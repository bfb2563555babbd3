// What counts the requests of each key: a fixed window, any other rule of Weir, or a node. All have one shape.
import { type LimiterOptions, limiterMaker } from '../actor/create-limiter.js';
import type { GateOptions, WeirClient } from '../client/weir-client.js';

export interface CounterAnswer {
  readonly isAdmitted: boolean;
  /** Requests of a window; undefined for a rule without such a number. */
  readonly limit: number | undefined;
  /** Requests of the running window, this one included. */
  readonly used: number | undefined;
  readonly remaining: number;
  /** Length of the window in ms; undefined for a rule without one. */
  readonly windowMs: number | undefined;
  /** Until the window ends, or until a request would be admitted, in ms. Infinity: never. */
  readonly resetMs: number;
  /** Takes the request back, as if it had not come. Absent where that cannot be done. */
  readonly undo?: (nowMs: number) => void;
}

export interface Counter {
  hit(key: string, nowMs: number): CounterAnswer | Promise<CounterAnswer>;
  reset?(key: string): void;
}

interface KeyBounds {
  readonly maxKeys: number;
  /** What becomes of a further key while all others have counts: it is refused, or all such keys share one count. */
  readonly overflow: 'refuse' | 'share';
}

const SHARED = '\u0000shared';

/** Values by key, of bounded number; the one that was put in first is the first to go, if it may. @returns undefined if there is no room */
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

  /** Puts a value at the end. @returns the key under which it is now; undefined if there is no room */
  put(key: string, value: Value, nowMs: number): string | undefined {
    if (this.#values.delete(key)) {
      this.#values.set(key, value);
      return key;
    }
    // Two at a time: the idle ones go faster than new ones come.
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
 * The fixed window of express-rate-limit: it begins with the first request of a key, counts refused ones, and starts again at its end.
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

/** Any limiter of Weir, one for each key. @throws Failure `invalid_input`, `invalid_definition` */
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

/** A contract on a node, which counts for many processes. */
export interface NodeTarget {
  readonly client: WeirClient;
  /** Slug of the machine. */
  readonly machine: string;
  /** Id of the contract. */
  readonly contract: string;
  /** Whether the contract has keys, and counts each for itself. Default: false, one count for all. */
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
