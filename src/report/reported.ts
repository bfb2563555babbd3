// The input of every report: a run with its outcome, timelines and series; of one that is read again, its outcome and charts.
import { limitingIntervals } from '../harness/outcome/interval-figures.js';
import type { ContractOutcome, Outcome } from '../harness/outcome/outcome-schema.js';
import type { Timeline } from '../harness/outcome/timeline.js';
import type { Run } from '../harness/simulate/simulate.js';
import type { ChartSpec, StateStrip } from './chart-specs/spec.js';

export interface Reported extends Run {
  readonly predicted?: Timeline;
  readonly command?: string;
  /** Default: made of the timelines and the series. */
  readonly charts?: readonly ChartSpec[];
}

/** The command that produced the run, or the shortest one with the same result. */
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

/** An outcome lists its states unless they are allowing and limiting. */
export function limitingStates({ states }: Outcome): ReadonlySet<string> {
  return new Set(states?.flatMap(({ name, admits }) => (admits ? [] : [name])) ?? ['limiting']);
}

export function intervalsOfLimiting(outcome: Outcome, { transitions }: ContractOutcome, endCycle: number) {
  const limiting = limitingStates(outcome);
  return limitingIntervals(transitions, (state) => !limiting.has(state)).map(
    ([from, to = endCycle]) => [from, to] as const,
  );
}

export function stateIntervals(
  { states = [] }: Outcome,
  { transitions }: ContractOutcome,
  firstCycle: number,
  endCycle: number,
): StateStrip[] {
  const within = new Map<string, [number, number][]>(states.map(({ name }) => [name, []]));
  let [state, from] = [states[0]?.name ?? '', firstCycle];
  for (const { cycle, to } of [...transitions, { cycle: endCycle, to: '' }]) {
    if (cycle > from) within.get(state)?.push([from, cycle]);
    [state, from] = [to, cycle];
  }
  return states.map(({ name, admits }) => ({ name, admits, intervals: within.get(name)! }));
}

/** Whether all requests are drawn, and not the window of one limiter: a replay with several limits or contracts. */
export function isOfAll({ kind, limits, contracts }: Outcome): boolean {
  return kind === 'replay' && (limits !== undefined || contracts > 1);
}

/** False for `limiter: none`. */
export function hasLimiter({ by_contract }: Outcome): boolean {
  return by_contract.length === 0 || by_contract.some(({ rule }) => rule !== 'none');
}

/** The contract shown by charts of one window: the first that differs between the arms, else the most limited. */
export function shownContract({ by_contract, comparison }: Outcome): ContractOutcome | undefined {
  const differing = comparison?.differences[0]?.contract;
  return by_contract.find(({ id }) => id === differing) ?? by_contract[0];
}
