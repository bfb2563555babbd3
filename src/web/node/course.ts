// The last 600 cycles of one contract, each once, with gapless numbering.
//
//   message   from 7: 3 4 5       from 9: 5 6            from 13: 2
//   course    7 8 9 = 3 4 5       10 = 6 (9 is known)    11 12 = unknown, 13 = 2

import { HISTORY_CYCLES, type NumberColumn, numberColumns } from '../../api/contract-history.js';
import type { StateStrip } from '../../report/chart-specs/spec.js';

export type CourseNews = {
  readonly id: string;
  readonly from_cycle: number;
  readonly state?: readonly (string | null)[];
} & {
  readonly [Name in NumberColumn]?: readonly (number | null)[];
};

type Stretch = readonly [from: number, to: number];

export class Course {
  /** The cycle of the first value. Unknown values are null. */
  first = 0;
  readonly #values = new Map<NumberColumn, (number | null)[]>(numberColumns.map((name) => [name, []]));
  states: readonly (string | null)[] = [];
  /** In order of appearance: a state keeps its index and so its colour. */
  readonly #seen = new Map<string, { readonly admits: boolean }>();

  get length(): number {
    return this.of('count').length;
  }

  get last(): number | undefined {
    return this.length === 0 ? undefined : this.first + this.length - 1;
  }

  of(name: NumberColumn): readonly (number | null)[] {
    return this.#values.get(name)!;
  }

  now(name: NumberColumn): number | null {
    return this.of(name).at(-1) ?? null;
  }

  sum(name: NumberColumn): number | null {
    return this.of(name).reduce((sum, value) => (value === null ? sum : (sum ?? 0) + value), null);
  }

  /** Skips cycles already present; missing cycles in between stay unknown. */
  take(news: CourseNews): void {
    const length = news.count?.length ?? 0;
    const known = this.last ?? news.from_cycle - 1;
    if (this.length === 0) this.first = news.from_cycle;
    const unknown = Math.min(HISTORY_CYCLES, Math.max(0, news.from_cycle - known - 1));
    const skipped = Math.max(0, known + 1 - news.from_cycle);
    for (const name of numberColumns) {
      const values = this.#values.get(name)!;
      for (let n = 0; n < unknown; n += 1) values.push(null);
      for (let index = skipped; index < length; index += 1) values.push(news[name]?.[index] ?? null);
      if (values.length > HISTORY_CYCLES) values.splice(0, values.length - HISTORY_CYCLES);
    }
    const states = Array.from(
      { length: Math.max(0, length - skipped) },
      (_, index) => news.state?.[skipped + index] ?? null,
    );
    this.states = [...this.states, ...Array<null>(unknown).fill(null), ...states].slice(-HISTORY_CYCLES);
    for (const [index, name] of states.entries()) {
      const admits = news.limiting?.[skipped + index] === 0;
      if (name !== null && !this.#seen.has(name)) this.#seen.set(name, { admits });
    }
    this.first = Math.max(known, news.from_cycle + length - 1) - this.length + 1;
  }

  /** Cycle intervals in which a column is not 0, both ends included. */
  stretches(name: NumberColumn): readonly Stretch[] {
    return this.#where(name, (value) => value !== null && value !== 0);
  }

  /** Unknown cycles: the node was down or, on a network, no page was open. */
  unknown(): readonly Stretch[] {
    return this.#where('count', (value) => value === null);
  }

  statesSeen(): readonly StateStrip[] {
    return [...this.#seen].map(([name, { admits }]) => ({
      name,
      admits,
      intervals: this.#stretches(this.states, (state) => state === name),
    }));
  }

  #where(name: NumberColumn, fits: (value: number | null) => boolean): readonly Stretch[] {
    return this.#stretches(this.of(name), fits);
  }

  #stretches<Value>(values: readonly Value[], fits: (value: Value) => boolean): readonly Stretch[] {
    const found: [number, number][] = [];
    for (const [index, value] of values.entries()) {
      if (!fits(value)) continue;
      const cycle = this.first + index;
      const open = found.at(-1);
      if (open?.[1] === cycle - 1) open[1] = cycle;
      else found.push([cycle, cycle]);
    }
    return found;
  }
}
