// Counting in micro-batches: what one turn of the event loop asks for is one call for each bucket, and events of one gate are added up.
//
//   request ─┐
//   request ─┼─ (turn ends) ─► one call: gate a: 3, gate b: 1 ─► reply ─► each request gets its part, in the order of arrival
//   request ─┘
//
// This is exact: k events of one cycle have the same outcome together as one by one, and those that are admitted are the first of them.
import type { RedisConnection } from './connection.js';

/** What Redis said of the events of one request. */
export interface Counted {
  /** -1: there is no such gate; -2: there is no place for the key; -3: the event is older than the window, or of a cycle to come. */
  readonly admitted: number;
  /** Count after them. */
  readonly count: number;
  readonly cycle: number;
  readonly isLimiting: boolean;
  /** No evaluation moves it in this cycle. */
  readonly isHeld: boolean;
  /** Changes when events of earlier cycles are counted. */
  readonly late: number;
  /** By the clock of Redis, in unix ms. */
  readonly nowMs: number;
}

interface Waiting {
  readonly n: number;
  readonly resolve: (counted: Counted) => void;
  readonly reject: (error: unknown) => void;
}

interface Gate {
  readonly name: string;
  readonly keys: number;
  n: number;
  readonly waiting: Waiting[];
}

/** The most gates of a call: it keeps Redis from others for some 5 µs each. */
const MOST_AT_ONCE = 200;

export class CountBatch {
  readonly #connection: RedisConnection;
  /** By bucket, then by gate. */
  #pending = new Map<string, Map<string, Gate>>();
  #isDue = false;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  /**
   * Counts n events of a gate in the running cycle of Redis; with 0 it only looks.
   * @param name of the gate: slug/id, or slug/id/key
   * @param keys of a key, the most of its contract, below 0 where further ones share its gate; 0 for a contract
   * @throws Failure `store_away`
   */
  count(prefix: string, name: string, n: number, keys = 0): Promise<Counted> {
    return new Promise((resolve, reject) => {
      let gates = this.#pending.get(prefix);
      if (gates === undefined) {
        gates = new Map();
        this.#pending.set(prefix, gates);
      }
      let gate = gates.get(name);
      if (gate === undefined) {
        gate = { name, keys, n: 0, waiting: [] };
        gates.set(name, gate);
      }
      gate.n += n;
      gate.waiting.push({ n, resolve, reject });
      if (this.#isDue) return;
      this.#isDue = true;
      setImmediate(this.#flush);
    });
  }

  readonly #flush = (): void => {
    this.#isDue = false;
    const pending = this.#pending;
    this.#pending = new Map();
    for (const [prefix, byName] of pending) {
      const gates = [...byName.values()];
      for (let from = 0; from < gates.length; from += MOST_AT_ONCE)
        this.#send(prefix, gates.slice(from, from + MOST_AT_ONCE));
    }
  };

  #send(prefix: string, gates: readonly Gate[]): void {
    const args = gates.flatMap(({ name, n, keys }) => [name, keys === 0 ? String(n) : `${n} ${keys}`]);
    this.#connection.call<number[]>('count', prefix, args).then(
      ([nowMs, reply]) => this.#answer(gates, reply, nowMs),
      (error) => {
        for (const { waiting } of gates) for (const { reject } of waiting) reject(error);
      },
    );
  }

  #answer(gates: readonly Gate[], reply: readonly number[], nowMs: number): void {
    gates.forEach((gate, index) => {
      const whole = countedIn(reply, 4 * index, nowMs);
      if (whole.admitted < 0) {
        for (const { resolve } of gate.waiting) resolve(whole);
        return;
      }
      let left = whole.admitted;
      let count = whole.count - gate.n;
      for (const { n, resolve } of gate.waiting) {
        const admitted = Math.min(left, n);
        left -= admitted;
        count += n;
        // The state after its own last event: what is limited behind it has moved the gate since.
        const isLimiting = whole.isHeld || n === 0 ? whole.isLimiting : admitted < n;
        resolve({ ...whole, admitted, count, isLimiting });
      }
    });
  }
}

/** What four numbers of a reply say. */
export function countedIn(reply: readonly number[], at: number, nowMs: number): Counted {
  const code = reply[at + 3]!;
  return {
    admitted: reply[at]!,
    count: reply[at + 1]!,
    cycle: reply[at + 2]!,
    isLimiting: code % 2 === 1,
    isHeld: code % 4 > 1,
    late: Math.floor(code / 4),
    nowMs,
  };
}
