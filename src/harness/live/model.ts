// The model run on the actual arrivals at a target: the same counts in the same cycles, or the same requests at the same instants.
//
// Within a cycle the requests of a contract are interchangeable, so the model needs their number, not their identity.

import type { Plan } from '../../core/limiter/plan.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { cycleOf } from '../../core/time/cycle.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { TransitionSeen } from '../outcome/outcome-schema.js';
import { RunFold } from '../outcome/run-fold.js';
import { runToEnd } from '../simulate/run.js';
import { World } from '../simulate/world.js';
import { type CycleCounts, eachOf } from '../traffic/requests.js';
import type { EndedRequest } from './request-log.js';

/** A request as the target counted it. */
export type Arrived = Pick<EndedRequest, 'contract' | 'cycle' | 'count' | 'cost'> &
  Partial<Pick<EndedRequest, 'sentMs'>>;

export type CountedAnswer = Pick<EndedRequest, 'decision' | 'count' | 'state'>;

export interface ModelOptions {
  readonly costUnit?: string | undefined;
  readonly names: readonly string[];
  readonly plan: Plan;
  readonly cycleMs: number;
  readonly firstCycle: number;
  readonly lastCycle: number;
}

export interface Model {
  /** In order of counting. */
  answers(cycle: number, contract: number): readonly CountedAnswer[];
  readonly transitions: readonly (readonly TransitionSeen[])[];
  /** By contract, what it emitted. */
  readonly events: readonly (readonly Emitted[])[];
  readonly fold: RunFold;
}

export interface Emitted {
  readonly cycle: number;
  readonly event: string;
}

export async function modelOf(arrived: readonly Arrived[], options: ModelOptions): Promise<Model> {
  const { names, plan, costUnit, cycleMs } = options;
  const events: Emitted[][] = names.map(() => []);
  const onRow = (row: CycleRow) => {
    fold.next(row);
    for (const { contract, emitted } of row.transitions)
      for (const event of emitted) events[contract]!.push({ cycle: row.cycle, event });
  };
  const world = new World({ ...options, onRow });
  const fold = new RunFold(world.run);
  const decided = names.map(() => new Map<number, CountedAnswer[]>());
  // A rule decides by the ms.
  const isTimed = plan.rule !== undefined;
  const atOf = ({ sentMs = 0, cycle }: Arrived) => (isTimed ? sentMs : cycle);
  const inOrder = [...arrived].sort((a, b) => atOf(a) - atOf(b) || (isTimed ? 0 : (a.count ?? 0) - (b.count ?? 0)));
  let place = 0;
  const decide = (batch: CycleCounts) =>
    eachOf(batch, world.clock, (contract, n, cost) => {
      const { cycle } = inOrder[place++]!;
      world.request(contract, n, { charged: cost, cost });
      const { gate, state } = world.contracts[contract]!;
      const answer: CountedAnswer = { decision: gate.admits ? 'admitted' : 'limited', count: gate.count, state };
      getOrInsert(decided[contract]!, cycle, () => []).push(answer);
    });
  const byCycle = new Map<number, Arrived[]>();
  for (const one of inOrder) {
    const cycle = isTimed ? cycleOf(atOf(one), cycleMs) : one.cycle;
    getOrInsert(byCycle, cycle, () => []).push(one);
  }
  const batches = [...byCycle].map(([cycle, own]) => ({
    cycle,
    keys: names,
    contracts: Uint32Array.from(own, ({ contract }) => contract),
    requests: new Float64Array(own.length).fill(1),
    instants: isTimed ? Float64Array.from(own, atOf) : undefined,
    costs: costUnit === undefined ? undefined : Float64Array.from(own, ({ cost = 1 }) => cost),
  }));
  await runToEnd({ world, limiter: { clock: world.clock, decide }, lastCycle: options.lastCycle, batches });
  const answers = (cycle: number, contract: number) => decided[contract]!.get(cycle) ?? [];
  return { fold, answers, transitions: fold.transitions, events };
}
