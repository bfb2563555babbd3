// The model run on the actual arrivals at a target: the same counts in the same cycles.
//
// Within a cycle the requests of a contract are interchangeable, so the model needs their number, not their identity.

import type { Plan } from '../../core/limiter/plan.js';
import { cycleOf } from '../../core/time/cycle.js';
import type { SeenRequest } from '../explain/seen-request.js';
import type { TransitionSeen } from '../outcome/outcome-schema.js';
import { RunFold } from '../outcome/run-fold.js';
import { recordedFeed } from '../simulate/cycle-buffer.js';
import type { Feed } from '../simulate/feed.js';
import { runWorld } from '../simulate/run-world.js';
import { World } from '../simulate/world.js';
import type { CycleCell, SeenAnswer } from './request-log.js';

export interface Arrived {
  readonly cycle: number;
  readonly contract: number;
  readonly n: number;
  /** In order of counting; undefined if every request costs 1. */
  readonly costs?: readonly number[] | undefined;
}

export interface ModelOptions {
  readonly costUnit?: string | undefined;
  /** For a limiter that decides by the ms; undefined for one that decides by cycles. */
  readonly seen?: readonly SeenRequest[] | undefined;
  readonly names: readonly string[];
  readonly plan: Plan;
  readonly cycleMs: number;
  readonly firstCycle: number;
  readonly lastCycle: number;
}

export interface Model {
  answers(cycle: number, contract: number): readonly SeenAnswer[];
  readonly transitions: readonly (readonly TransitionSeen[])[];
  readonly options: ModelOptions;
  readonly fold: RunFold;
}

/** @param arrived in any order; with costs, each cycle and contract once */
export async function modelOf(arrived: readonly Arrived[], options: ModelOptions): Promise<Model> {
  const { names, lastCycle } = options;
  const world = new World({ ...options, onRow: (row) => fold.next(row) });
  const priced = options.costUnit === undefined || options.seen !== undefined ? [] : arrived;
  const costs = new Map(priced.map((one) => [`${one.cycle}/${one.contract}`, one.costs]));
  const fold = new RunFold(world.run);
  const decided = new Map<string, SeenAnswer[]>();
  const feed = options.seen
    ? instantFeed(options.seen, options.cycleMs, options.costUnit !== undefined)
    : recordedFeed(recordedOf(arrived, names.length), options.cycleMs);
  await runWorld(
    world,
    lastCycle,
    {},
    {
      ...(feed.isTimed === true ? { isTimed: true } : {}),
      next: (at) => feed.next(at),
      arrive: (at, take) =>
        feed.arrive(at, (contract, n, cycle, cost) => {
          const answers = decided.get(`${cycle}/${contract}`) ?? [];
          for (let k = 0; k < n; k += 1) {
            take(contract, 1, cycle, cost ?? costs.get(`${cycle}/${contract}`)?.[k]);
            const { gate, state } = world.contracts[contract]!;
            answers.push({ admitted: gate.admits, count: gate.count, state });
          }
          decided.set(`${cycle}/${contract}`, answers);
        }),
    },
  );
  const nothing: readonly SeenAnswer[] = [];
  return {
    options,
    fold,
    answers: (cycle, contract) => decided.get(`${cycle}/${contract}`) ?? nothing,
    transitions: fold.transitions,
  };
}

function instantFeed(seen: readonly SeenRequest[], cycleMs: number, hasCosts: boolean): Feed {
  const inOrder = seen.filter(({ decision }) => decision !== 'unknown').sort((a, b) => a.sentMs - b.sentMs);
  let place = 0;
  return {
    isTimed: true,
    next: () => inOrder[place]?.sentMs,
    arrive(ms, take) {
      for (; inOrder[place]?.sentMs === ms; place += 1) {
        const { contract = 0, cost = 1 } = inOrder[place]!;
        take(contract, 1, cycleOf(ms, cycleMs), hasCosts ? cost : undefined);
      }
    },
  };
}

function recordedOf(arrived: readonly Arrived[], contracts: number): { cycles: number[]; counts: number[] }[] {
  const recorded = Array.from({ length: contracts }, () => ({ cycles: [] as number[], counts: [] as number[] }));
  for (const { cycle, contract, n } of [...arrived].sort((a, b) => a.cycle - b.cycle)) {
    recorded[contract]!.cycles.push(cycle);
    recorded[contract]!.counts.push(n);
  }
  return recorded;
}

export function arrivedIn(cells: readonly CycleCell[]): Arrived[] {
  return cells.map(({ cycle, contract, answers }) => {
    const inOrder = [...answers].sort((a, b) => (a.count ?? 0) - (b.count ?? 0));
    return { cycle, contract, n: answers.length, costs: inOrder.map(({ cost = 1 }) => cost) };
  });
}
