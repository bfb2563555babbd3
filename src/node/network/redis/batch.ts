// Counting in micro-batches: the requests of one turn of the event loop share one call per bucket, and events of one gate are added up.
//
//   request ─┐
//   request ─┼─ (turn ends) ─► one call: gate a: 3, gate b: 1 ─► reply ─► each request gets its part, in the order of arrival
//   request ─┘
//
// This is exact: k events of one cycle have the same outcome together as one by one, and the admitted ones are the first.
import { getOrInsert } from '../../../core/math/get-or-insert.js';
import type { RedisConnection } from './connection.js';

export interface GateReply {
  /** -1: no such gate; -2: no room for the key; -3: the event is older than the window, or of a future cycle. */
  readonly admitted: number;
  readonly count: number;
  readonly cycle: number;
  readonly isLimiting: boolean;
  /** Held: no transition can fire in this cycle. */
  readonly isHeld: boolean;
  /** Changes when events of earlier cycles are counted. */
  readonly late: number;
  readonly nowMs: number;
}

interface WaitingRequest {
  readonly n: number;
  readonly resolve: (counted: GateReply) => void;
  readonly reject: (error: unknown) => void;
}

interface Gate {
  readonly name: string;
  readonly keys: number;
  n: number;
  readonly waiting: WaitingRequest[];
}

/** Gates per call: each blocks Redis for some 5 µs. */
const MOST_AT_ONCE = 200;

export class CountBatch {
  readonly #connection: RedisConnection;
  #pending = new Map<string, Map<string, Gate>>();
  #isDue = false;

  constructor(connection: RedisConnection) {
    this.#connection = connection;
  }

  /**
   * Counts n events of a gate in the current cycle of Redis; 0 only reads.
   * @param name of the gate: slug/id, or slug/id/key
   * @param keys for a key, the maximum of its contract, negative if further keys share its gate; 0 for a contract
   * @throws Failure `store_away`
   */
  count(prefix: string, name: string, n: number, keys = 0): Promise<GateReply> {
    return new Promise((resolve, reject) => {
      const gates = getOrInsert(this.#pending, prefix, () => new Map<string, Gate>());
      const gate = getOrInsert(gates, name, (): Gate => ({ name, keys, n: 0, waiting: [] }));
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
      const whole = gateReplyIn(reply, 4 * index, nowMs);
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
        // The state after the last event of this request: later limited events may have moved the gate.
        const isLimiting = whole.isHeld || n === 0 ? whole.isLimiting : admitted < n;
        resolve({ ...whole, admitted, count, isLimiting });
      }
    });
  }
}

export function gateReplyIn(reply: readonly number[], at: number, nowMs: number): GateReply {
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
