// Requests of a log that writes whole seconds, for a rule that decides by the ms: those of a key in one second are spread evenly over it.
//
//   read     |10 . . . . . . . . .|4 . . . . . . . . .|      all at the beginning of their second: a burst that was none
//   placed   |1 1 1 1 1 1 1 1 1 1 |1    1    1    1    |     request k of n at floor(1000 k / n) ms
import type { PlannedRule } from '../limiter/planned-rule.js';
import { LIMITED } from '../limiter/rule/rule.js';
import type { CycleBuffer, Feed, Take } from './feed.js';

const SECOND_MS = 1000;

/** The beginning of the second of an instant in unix ms. */
export function secondOf(ms: number): number {
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}

interface Placed {
  readonly ms: number;
  readonly contract: number;
  n: number;
}

/** What a rule does with the requests where all of a second come at its beginning: the harshest that whole seconds allow. */
export class BunchedCount {
  limited = 0;
  readonly #planned: PlannedRule;
  readonly #states: unknown[] = [];

  constructor(planned: PlannedRule) {
    this.#planned = planned;
  }

  add(contract: number, n: number, ms: number): void {
    const { rule, holdMs } = this.#planned;
    const key = rule.shared === true ? 0 : contract;
    this.#states[key] ??= rule.fresh(ms);
    for (let k = 0; k < n; k += 1) if (rule.decide(this.#states[key], ms, 1, holdMs) === LIMITED) this.limited += 1;
  }
}

/** The rows that a buffer released, in unix ms, with those of each second placed anew. It holds one second at a time. */
export class SpreadSeconds implements Feed {
  readonly isTimed: boolean;
  readonly #rows: CycleBuffer;
  readonly #asRead: Take | undefined;
  #second: Placed[] = [];
  #place = 0;

  /** @param asRead called with the requests of each second as they were read, in order of time */
  constructor(rows: CycleBuffer, asRead?: Take) {
    this.#rows = rows;
    this.#asRead = asRead;
    this.isTimed = rows.isTimed;
  }

  next(): number | undefined {
    if (this.#place === this.#second.length) this.#take();
    return this.#second[this.#place]?.ms;
  }

  arrive(ms: number, take: Take): void {
    for (; this.#second[this.#place]?.ms === ms; this.#place += 1) {
      const { contract, n } = this.#second[this.#place]!;
      take(contract, n, ms);
    }
  }

  /** Takes the next second out of the rows. */
  #take(): void {
    const first = this.#rows.next();
    const counts = new Map<number, number>();
    const count = (contract: number, n: number) => counts.set(contract, (counts.get(contract) ?? 0) + n);
    this.#second = [];
    this.#place = 0;
    if (first === undefined) return;
    const second = secondOf(first);
    for (let at: number | undefined = first; at !== undefined && secondOf(at) === second; at = this.#rows.next()) {
      if (at === second) this.#rows.arrive(at, count);
      // A time with a fraction, later in the log than those by which it was judged.
      else this.#rows.arrive(at, (contract, n, ms) => void this.#second.push({ ms, contract, n }));
    }
    const exact = [...this.#second];
    for (const [contract, n] of counts) {
      this.#asRead?.(contract, n, second);
      for (let k = 0; k < n; k += 1) {
        const ms = second + Math.floor((k * SECOND_MS) / n);
        const last = this.#second.at(-1);
        if (last?.ms === ms && last.contract === contract) last.n += 1;
        else this.#second.push({ ms, contract, n: 1 });
      }
    }
    for (const { contract, n, ms } of exact) this.#asRead?.(contract, n, ms);
    this.#second.sort((a, b) => a.ms - b.ms);
  }
}
