// The input of every report: a run with its outcome, timelines and series.
import type { ContractOutcome, Outcome, TransitionSeen } from '../outcome/outcome-schema.js';
import type { Series } from '../outcome/series.js';
import type { Timeline } from '../outcome/timeline.js';

/** A run as reports use it; every `Run` of the simulation is one. */
export interface Reported {
  readonly outcome: Outcome;
  /** Each contract, cycle by cycle; undefined for a fleet too large to record each contract. */
  readonly timeline: Timeline | undefined;
  /** All contracts together: `count` is the number of contracts that are limiting at the end of the cycle. */
  readonly totals: Timeline;
  readonly predicted?: Timeline;
  readonly series?: Series;
  readonly command?: string;
}

/** [entry, restore) in cycles; an interval without a restore ends with the run. */
type LimitingInterval = readonly [from: number, to: number];

/** The command that repeats the run: the one that produced it, or the shortest one with the same result. */
export function commandOf({ outcome, command }: Reported): string {
  if (command !== undefined) return command;
  const name = shellWord(outcome.scenario);
  switch (outcome.kind) {
    case 'replay':
      return `weir replay ${name}`;
    case 'simulate':
    case 'load':
      return `weir ${outcome.kind} ${name} --seed ${shellWord(String(outcome.seed))}`;
  }
}

export function shellWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * The states in which requests are limited. Outcomes of version 0.2 and before have no list of states: they are derived from the reactions,
 * which begin with the entry into such a state.
 */
export function limitingStates({ by_contract, reactions = [], states: named }: Outcome): ReadonlySet<string> {
  if (named !== undefined) return new Set(named.flatMap(({ name, admits }) => (admits ? [] : [name])));
  const states = new Set(['limiting']);
  // A long run has a million of each: they are not searched through for every reaction. Of several in a cycle, the last.
  const enteredAt = new Map(
    by_contract.map(({ id, transitions }) => [id, new Map(transitions.map(({ cycle, to }) => [cycle, to]))]),
  );
  for (const { contract, entry_cycle } of reactions) {
    const entered = enteredAt.get(contract)?.get(entry_cycle);
    if (entered !== undefined && entered !== 'allowing') states.add(entered);
  }
  return states;
}

export function limitingIntervals(
  transitions: readonly TransitionSeen[],
  limiting: ReadonlySet<string>,
  endCycle: number,
): LimitingInterval[] {
  const intervals: [number, number][] = [];
  let openFrom: number | undefined;
  for (const { cycle, to } of transitions) {
    if (limiting.has(to)) openFrom ??= cycle;
    else if (openFrom !== undefined) {
      intervals.push([openFrom, cycle]);
      openFrom = undefined;
    }
  }
  if (openFrom !== undefined) intervals.push([openFrom, endCycle]);
  return intervals;
}

/** A state of a definition that is not that of a rate limiter, and the intervals in which a contract was in it. */
interface StateIntervals {
  readonly name: string;
  readonly admits: boolean;
  readonly intervals: readonly LimitingInterval[];
}

/** Every state of a definition with when a contract was in it; none for a rate limiter with its two states. */
export function stateIntervals(
  { states = [] }: Outcome,
  { transitions }: ContractOutcome,
  firstCycle: number,
  endCycle: number,
): StateIntervals[] {
  const within = new Map<string, [number, number][]>(states.map(({ name }) => [name, []]));
  let [state, from] = [states[0]?.name ?? '', firstCycle];
  for (const { cycle, to } of [...transitions, { cycle: endCycle, to: '' }]) {
    if (cycle > from) within.get(state)?.push([from, cycle]);
    [state, from] = [to, cycle];
  }
  return states.map(({ name, admits }) => ({ name, admits, intervals: within.get(name)! }));
}

/** The contract of charts with a single window: the first one with a difference between the arms, otherwise the most limited one. */
export function shownContract({ by_contract, comparison }: Outcome): ContractOutcome | undefined {
  const differing = comparison?.differences[0]?.contract;
  return by_contract.find(({ id }) => id === differing) ?? by_contract[0];
}
