// Spreads the requests of a key in one second evenly over it, for a log of whole seconds and a rule that decides by the ms.
//
//   read     |10 . . . . . . . . .|4 . . . . . . . . .|      all at the start of their second: a burst that was none
//   placed   |1 1 1 1 1 1 1 1 1 1 |1    1    1    1    |     request k of n at floor(1000 k / n) ms
import type { Plan } from '../../core/limiter/plan.js';
import type { PlannedRule } from '../../core/limiter/planned-rule.js';
import { LIMITED } from '../../core/limiter/rule/rule.js';
import type { CycleBuffer } from './cycle-buffer.js';
import type { Feed, Take } from './feed.js';

export const SECOND_MS = 1000;

export function decidesByMs({ rule, definition }: Plan): boolean {
  return rule !== undefined && definition.rule?.primitive !== 'rolling_count';
}

export function secondOf(ms: number): number {
  return Math.floor(ms / SECOND_MS) * SECOND_MS;
}

interface Placed {
  readonly ms: number;
  readonly contract: number;
  n: number;
  readonly cost: number | undefined;
}

/** The decisions of a rule if all requests of a second arrive at its start: the harshest reading of whole seconds. */
export class BunchedCount {
  limited = 0;
  readonly #planned: Pick<PlannedRule, 'rule' | 'holdMs'>;
  readonly #states: unknown[] = [];

  constructor(planned: Pick<PlannedRule, 'rule' | 'holdMs'>) {
    this.#planned = planned;
  }

  add(contract: number, n: number, ms: number, cost = 1): void {
    const { rule, holdMs } = this.#planned;
    const key = rule.shared === true ? 0 : contract;
    this.#states[key] ??= rule.fresh(ms);
    for (let k = 0; k < n; k += 1) if (rule.decide(this.#states[key], ms, cost, holdMs) === LIMITED) this.limited += 1;
  }
}

/** Spreads the released rows of a buffer, in unix ms, over their seconds. Holds one second at a time. */
export class SpreadSeconds implements Feed {
  readonly isTimed: boolean;
  readonly #rows: CycleBuffer;
  readonly #asRead: Take | undefined;
  readonly #groupOf: (contract: number) => number;
  readonly #keepsOrder: boolean;
  #second: Placed[] = [];
  #place = 0;

  /** `asRead` receives each second as read; contracts of one `groupOf` are spread together, by default each alone. */
  constructor(rows: CycleBuffer, asRead?: Take, groupOf = (contract: number) => contract, keepsOrder = false) {
    this.#keepsOrder = keepsOrder;
    this.#rows = rows;
    this.#groupOf = groupOf;
    this.#asRead = asRead;
    this.isTimed = rows.isTimed;
  }

  next(): number | undefined {
    if (this.#place === this.#second.length) this.#take();
    return this.#second[this.#place]?.ms;
  }

  arrive(ms: number, take: Take): void {
    for (; this.#second[this.#place]?.ms === ms; this.#place += 1) {
      const { contract, n, cost } = this.#second[this.#place]!;
      take(contract, n, ms, cost);
    }
  }

  #take(): void {
    const first = this.#rows.next();
    const counts = new Map<number, Placed>();
    const count: Take = (contract, n, ms, cost) => {
      const key = cost === undefined && !this.#keepsOrder ? contract : -1 - counts.size;
      const known = counts.get(key);
      if (known === undefined) counts.set(key, { ms, contract, n, cost });
      else known.n += n;
    };
    this.#second = [];
    this.#place = 0;
    if (first === undefined) return;
    const second = secondOf(first);
    for (let at: number | undefined = first; at !== undefined && secondOf(at) === second; at = this.#rows.next()) {
      if (at === second) this.#rows.arrive(at, count);
      // A time with a fraction, found after the log was taken to have whole seconds.
      else this.#rows.arrive(at, (contract, n, ms, cost) => void this.#second.push({ ms, contract, n, cost }));
    }
    const exact = [...this.#second];
    const groups = new Map<number, { n: number; placed: number }>();
    for (const { contract, n } of counts.values()) {
      const group = groups.get(this.#groupOf(contract));
      if (group === undefined) groups.set(this.#groupOf(contract), { n, placed: 0 });
      else group.n += n;
    }
    for (const { contract, n, cost } of counts.values()) {
      this.#asRead?.(contract, n, second, cost);
      const group = groups.get(this.#groupOf(contract))!;
      for (let left = n; left > 0; left -= 1, group.placed += 1) {
        const ms = second + Math.floor((group.placed * SECOND_MS) / group.n);
        const last = this.#second.at(-1);
        if (last?.ms === ms && last.contract === contract && cost === undefined) last.n += 1;
        else this.#second.push({ ms, contract, n: 1, cost });
      }
    }
    for (const { contract, n, ms, cost } of exact) this.#asRead?.(contract, n, ms, cost);
    this.#second.sort((a, b) => a.ms - b.ms);
  }
}
