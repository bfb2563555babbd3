// Compares a node with the model cycle by cycle: its answers state in which cycle each request was counted, and at which count.
import type { Plan } from '../limiter/plan.js';
import { compare, type Models } from './compare.js';
import type { Findings } from './comparison-verdict.js';
import { type LiveSeen, transitionsIn } from './live-run.js';
import { explainLost } from './lost-answers.js';
import type { Model, ModelOptions } from './model.js';
import type { CycleCell } from './request-log.js';

interface Subject {
  readonly names: readonly string[];
  readonly plan: Plan;
}

export async function findingsByCycle(
  seen: LiveSeen,
  { names, plan }: Subject,
  cells: readonly CycleCell[],
  model: Model,
  modelOptions: ModelOptions,
): Promise<Findings> {
  const transitions = seen.streamLost ? undefined : seen.events?.map(transitionsIn);
  const events = seen.streamLost
    ? undefined
    : seen.events?.map((all) => all.filter(({ event }) => event !== 'transition'));
  const lost = lostCycles(seen);
  const unknownFrom = reportedBefore(seen);
  const common = {
    initial: plan.states[plan.initial]!.name,
    emits: (from: string | undefined, to: string) => emittedBy(plan, from, to),
    unknownFrom: () => unknownFrom,
  };
  const whole = cells.filter(({ contract }) => !lost.has(contract));
  const known = <T>(all: readonly (readonly T[])[] | undefined) =>
    all?.map((own, contract) => (lost.has(contract) ? [] : own));
  const sure: Models = {
    ...common,
    model: { answers: model.answers, transitions: known(model.transitions)! },
  };
  const differences = compare(names, { cells: whole, transitions: known(transitions), events: known(events) }, sure);
  let isGivenUp = false;
  for (const [contract, cycles] of lost) {
    if (modelOptions.costUnit !== undefined) {
      isGivenUp = true;
      continue;
    }
    const own = { cells: cells.filter((cell) => cell.contract === contract), lost: cycles };
    const found = await explainLost(own, { ...modelOptions, names: [names[contract]!] }, (one) =>
      compare(
        [names[contract]!],
        {
          cells: own.cells.map((cell) => ({ ...cell, contract: 0 })),
          transitions: transitions && [transitions[contract]!],
          events: events && [events[contract]!],
        },
        { ...common, model: one },
      ),
    );
    if (found === undefined) isGivenUp = true;
    else differences.push(...found);
  }
  return { differences, tolerance: toleranceOf(lost.size, isGivenUp), tooUncertain: undefined };
}

/** By contract: cycles of requests that the target may have counted but did not answer; ascending. */
function lostCycles({ requestLog, lastCycle }: LiveSeen): Map<number, number[]> {
  const lost = new Map<number, number[]>();
  for (const { contract, cycle, kind } of requestLog.faults) {
    if (kind === 'refused' || cycle > lastCycle) continue;
    lost.set(
      contract,
      [...(lost.get(contract) ?? []), cycle].sort((a, b) => a - b),
    );
  }
  return lost;
}

function reportedBefore({ requestLog, gone, lastCycle, reportedBefore: before }: LiveSeen): number {
  if (gone === undefined) return before;
  return Math.min(before, requestLog.faults.reduce((least, { cycle }) => Math.min(least, cycle), lastCycle) - 1);
}

function emittedBy({ states }: Plan, from: string | undefined, to: string): readonly string[] {
  const left = states.find(({ name }) => name === from);
  return left?.transitions.find((transition) => states[transition.to]!.name === to)?.emits ?? [];
}

function toleranceOf(lostContracts: number, isGivenUp: boolean): string {
  if (lostContracts === 0) return 'none';
  return (
    `Requests without a decision may have been counted, in any cycle from their sending on, or not: for ${lostContracts} contracts every ` +
    `such world was compared${isGivenUp ? ' unless there were too many, and then nothing is concluded' : ''}.`
  );
}
