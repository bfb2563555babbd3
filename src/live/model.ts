// Owns running the model on what arrived at a target: the same counts in the same cycles, request by request, so that what a node
// decided can be held against it. Leaves the comparison to compare.ts.
//
// Within a cycle the requests of a contract are alike: whichever comes first, the k-th to be counted is decided as the k-th. So the
// model needs to know how many there were, not which.
import type { Plan } from '../limiter/plan.js';
import type { TransitionSeen } from '../outcome/schema.js';
import { drive } from '../simulate/drive.js';
import { cyclesOfFeed, RecordedFeed } from '../simulate/feed.js';
import { World } from '../simulate/world.js';
import type { SeenAnswer } from './ledger.js';

/** Requests of a contract that arrived in a cycle. */
export interface Arrived {
  readonly cycle: number;
  readonly contract: number;
  readonly n: number;
}

export interface ModelOptions {
  readonly names: readonly string[];
  readonly plan: Plan;
  readonly cycleMs: number;
  readonly firstCycle: number;
  readonly lastCycle: number;
}

/** What the model says. */
export interface Modelled {
  /** The answers of a contract in a cycle, in the order of counting. */
  answers(cycle: number, contract: number): readonly SeenAnswer[];
  /** By contract, in order of cycle. */
  readonly transitions: readonly (readonly TransitionSeen[])[];
}

export interface Model extends Modelled {
  readonly world: World;
}

/** @param arrived in any order, each cycle and contract once */
export async function modelOf(arrived: readonly Arrived[], options: ModelOptions): Promise<Model> {
  const { names, firstCycle, lastCycle } = options;
  const world = new World({ ...options, cycles: lastCycle - firstCycle + 1 });
  const decided = new Map<string, SeenAnswer[]>();
  const feed = new RecordedFeed(recordedOf(arrived, names.length));
  cyclesOfFeed(world.clock, feed, firstCycle).subscribe((cycle) =>
    feed.arrive(cycle, (contract, n) => {
      const answers: SeenAnswer[] = [];
      for (let k = 0; k < n; k += 1) answers.push(decide(world, contract));
      decided.set(`${cycle}/${contract}`, answers);
    }),
  );
  await drive(world, lastCycle, {});
  const nothing: readonly SeenAnswer[] = [];
  return {
    world,
    answers: (cycle, contract) => decided.get(`${cycle}/${contract}`) ?? nothing,
    transitions: world.transitions,
  };
}

function decide(world: World, index: number): SeenAnswer {
  const admitted = world.decide(index, 1) === 1;
  const contract = world.contracts[index]!;
  return { admitted, count: contract.gate.count, state: contract.state };
}

function recordedOf(arrived: readonly Arrived[], contracts: number): { cycles: number[]; counts: number[] }[] {
  const recorded = Array.from({ length: contracts }, () => ({ cycles: [] as number[], counts: [] as number[] }));
  for (const { cycle, contract, n } of [...arrived].sort((a, b) => a.cycle - b.cycle)) {
    recorded[contract]!.cycles.push(cycle);
    recorded[contract]!.counts.push(n);
  }
  return recorded;
}
