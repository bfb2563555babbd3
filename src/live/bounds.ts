// Owns what a rolling window says of a target that counts by a clock of its own: the decisions it may take, whatever the phase of
// its window. Pure arithmetic. Leaves the comparison to compare.ts.
//
//   cycles       c - within   c - within + 1  ...            c - 1      c
//   surely in                 |##################################|#### k       lax: these alone
//   may be in    |~~~~~~~~~~~~|                                                strict: these, too
//
// A window of `within` cycles that ends inside cycle c reaches back into cycle c - within. And a request that was sent in one cycle
// and answered in the next may have been counted in either.
import type { Cell, SeenAnswer, Unsure } from './ledger.js';
import type { Modelled } from './model.js';

export interface WindowLaw {
  readonly threshold: number;
  /** cycles */
  readonly within: number;
}

/** The decisions of a window that counts every request, at the least and at the most that it may hold. */
export function windowBounds(
  cells: readonly Cell[],
  unsure: readonly Unsure[],
  { threshold, within }: WindowLaw,
): { readonly lax: Modelled; readonly strict: Modelled } {
  const counts = new Map<string, number>();
  for (const { cycle, contract, answers } of cells) counts.set(`${cycle}/${contract}`, answers.length);
  const later = new Map<string, number>();
  for (const { cycle, contract, latest } of unsure) {
    // Those that one cycle may have handed on to the next; whoever waited longer is as unsure in each of them.
    for (let c = cycle; c < latest; c += 1) add(later, `${c}/${contract}`);
  }
  const sum = (all: ReadonlyMap<string, number>, contract: number, from: number, to: number) => {
    let total = 0;
    for (let cycle = from; cycle <= to; cycle += 1) total += all.get(`${cycle}/${contract}`) ?? 0;
    return total;
  };
  const decided = (before: number, n: number) =>
    Array.from({ length: n }, (_, k): SeenAnswer => {
      return { admitted: before + k + 1 <= threshold, count: undefined, state: undefined };
    });
  const of = (cycle: number, contract: number) => counts.get(`${cycle}/${contract}`) ?? 0;
  return {
    lax: {
      transitions: [],
      answers: (cycle, contract) => {
        const surely =
          sum(counts, contract, cycle - within + 1, cycle - 1) - sum(later, contract, cycle - 1, cycle - 1);
        return decided(surely, of(cycle, contract));
      },
    },
    strict: {
      transitions: [],
      answers: (cycle, contract) => {
        const most =
          sum(counts, contract, cycle - within, cycle - 1) +
          sum(later, contract, cycle - within - 1, cycle - within - 1);
        return decided(most, of(cycle, contract));
      },
    },
  };
}

function add(map: Map<string, number>, key: string): void {
  map.set(key, (map.get(key) ?? 0) + 1);
}
