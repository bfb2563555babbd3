// Owns what a report is made from: a run with all that is known of it. Leaves running to run/ and reading back to read.ts.
import type { ContractOutcome, Outcome, TransitionSeen } from '../outcome/schema.js';
import type { Series } from '../outcome/series.js';
import type { Timeline } from '../outcome/timeline.js';

/** A run as reports see it; every `Run` of the run side is one. */
export interface Reported {
  readonly outcome: Outcome;
  /** Each contract, cycle by cycle; undefined for a fleet too large to tell of each. */
  readonly timeline: Timeline | undefined;
  /** All contracts together: `count` is the number of contracts that are limiting at the end of the cycle. */
  readonly totals: Timeline;
  /** The other arm of a live run: what the model says about the same requests. */
  readonly predicted?: Timeline;
  readonly series?: Series;
  /** The command that was given, to be given again. */
  readonly command?: string;
}

/** [entry, restore) in cycles; a stretch that was still open ends with the run. */
export type LimitingStretch = readonly [from: number, to: number];

/** The command that runs it again: the one that was given, or the shortest one with the same result. */
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

/** A word as a POSIX shell takes it: as it is where that is safe, else in quotes. */
export function shellWord(word: string): string {
  return /^[\w./:=@%+,-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`;
}

/**
 * The states in which requests are limited. `limiting` is the word of the rate limiter; for definitions with states of their own it is
 * read off the reactions, which begin with the entry into such a state.
 */
export function limitingStates({ by_contract, reactions = [] }: Outcome): ReadonlySet<string> {
  const states = new Set(['limiting']);
  const transitions = new Map(by_contract.map((contract) => [contract.id, contract.transitions]));
  for (const { contract, entry_cycle } of reactions) {
    const entered = transitions.get(contract)?.findLast(({ cycle }) => cycle === entry_cycle);
    if (entered !== undefined && entered.to !== 'allowing') states.add(entered.to);
  }
  return states;
}

/** The stretches in which a contract limited, in order. */
export function limitingStretches(
  transitions: readonly TransitionSeen[],
  limiting: ReadonlySet<string>,
  endCycle: number,
): LimitingStretch[] {
  const stretches: [number, number][] = [];
  let openFrom: number | undefined;
  for (const { cycle, to } of transitions) {
    if (limiting.has(to)) openFrom ??= cycle;
    else if (openFrom !== undefined) {
      stretches.push([openFrom, cycle]);
      openFrom = undefined;
    }
  }
  if (openFrom !== undefined) stretches.push([openFrom, endCycle]);
  return stretches;
}

/** The contract that charts of a single window show: the most limited one, which is the first. */
export function shownContract({ by_contract, comparison }: Outcome): ContractOutcome | undefined {
  const differing = comparison?.differences[0]?.contract;
  return by_contract.find(({ id }) => id === differing) ?? by_contract[0];
}
