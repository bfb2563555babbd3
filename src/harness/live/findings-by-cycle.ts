// Compares a node with the model cycle by cycle: its answers state in which cycle each request was counted, and at which count.

import type { Plan } from '../../core/limiter/plan.js';
import type { Difference, TransitionSeen } from '../outcome/outcome-schema.js';
import { compareText } from '../outcome/run-fold.js';
import type { Findings } from './comparison-verdict.js';
import type { EventSeen } from './event-listener.js';
import { type LiveSeen, transitionsIn } from './live-run.js';
import { arrivedIn, type Model, type ModelOptions, modelOf } from './model.js';
import type { CycleCell, SeenAnswer } from './request-log.js';

export async function findingsByCycle(seen: LiveSeen, cells: readonly CycleCell[], model: Model): Promise<Findings> {
  const { names, plan } = seen.asked;
  const lost = lostCycles(seen);
  const events = seen.streamLost ? undefined : seen.events;
  const known = { plan, unknownFrom: reportedBefore(seen) };
  const differences = compare(
    names,
    {
      cells: cells.filter(({ contract }) => !lost.has(contract)),
      events: events?.map((own, contract) => (lost.has(contract) ? undefined : own)),
    },
    { ...known, model },
  );
  let isGivenUp = false;
  for (const [contract, cycles] of lost) {
    const own = {
      cells: cells.filter((cell) => cell.contract === contract).map((cell) => ({ ...cell, contract: 0 })),
      events: events && [events[contract]],
    };
    const options = { ...model.options, names: [names[contract]!] };
    const found =
      options.costUnit === undefined
        ? await explainLost({ ...own, lost: cycles }, options, (one) =>
            compare(options.names, own, { ...known, model: one }),
          )
        : undefined;
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

function toleranceOf(lostContracts: number, isGivenUp: boolean): string {
  if (lostContracts === 0) return 'none';
  return (
    `Requests without a decision may have been counted, in any cycle from their sending on, or not: for ${lostContracts} contracts every ` +
    `such world was compared${isGivenUp ? ' unless there were too many, and then nothing is concluded' : ''}.`
  );
}

// Compares the answers of a target with those of the model for the same arrivals. Pure. comparison-verdict.ts gives the verdict.
//
// Each cycle of a contract is compared as a whole: answers sorted by their counts, the k-th with the k-th. If the model also got requests
// without an answer, its answers to them may be any:
//
//   model    1  2  3  4        answers   1  3  4  fit        1  3  5  do not

export interface ObservedRun {
  readonly cells: readonly Pick<CycleCell, 'cycle' | 'contract' | 'answers'>[];
  /** By contract, transitions too; undefined if they are not known. */
  readonly events: readonly (readonly EventSeen[] | undefined)[] | undefined;
}

interface Compared {
  readonly model: Model;
  readonly plan: Plan;
  /** From this cycle on transitions are not compared, because the arrivals are not known exactly. */
  readonly unknownFrom: number;
}

export function compare(
  names: readonly string[],
  seen: ObservedRun,
  { model, plan, unknownFrom }: Compared,
): Difference[] {
  const differences = seen.cells.flatMap((cell) => compareCell(names[cell.contract]!, cell, model));
  names.forEach((name, contract) => {
    const events = seen.events?.[contract];
    if (events === undefined) return;
    const predicted = model.transitions[contract]!;
    const others = events.filter(({ event }) => event !== 'transition');
    differences.push(
      ...compareTransitions(name, predicted, transitionsIn(events), unknownFrom),
      ...compareEvents(name, eventsOf(predicted, plan), others, unknownFrom),
    );
  });
  return differences.sort((a, b) => a.cycle - b.cycle || compareText(a.contract, b.contract));
}

function compareCell(
  contract: string,
  { cycle, answers, contract: index }: ObservedRun['cells'][number],
  model: Model,
): Difference[] {
  const modelled = model.answers(cycle, index);
  const spare = Math.max(0, modelled.length - answers.length);
  const found: Difference[] = [];
  const say = (figure: string, predicted: Difference['predicted'], observed: Difference['observed'], note?: string) =>
    void found.push({ cycle, contract, figure, predicted, observed, ...(note === undefined ? {} : { note }) });
  const admitted = admittedOf(answers);
  const most = admittedOf(modelled);
  const least = Math.max(0, most - spare);
  if (admitted < least || admitted > most) {
    say('admitted', between(least, most), admitted, `of ${answers.length} requests`);
  }
  const inOrder = [...answers].sort((a, b) => (a.count ?? 0) - (b.count ?? 0));
  for (const [k, { count, state, admitted: isAdmitted }] of inOrder.entries()) {
    const from = modelled[k];
    const to = modelled[k + spare];
    const place = `answer ${k + 1} of ${answers.length} in this cycle`;
    if (count !== undefined && from?.count !== undefined && to?.count !== undefined) {
      if (count < from.count || count > to.count) {
        say('count', between(from.count, to.count), count, place);
        break;
      }
    }
    const states = new Set(modelled.slice(k, k + spare + 1).map((answer) => answer.state));
    if (state !== undefined && !states.has(state)) {
      say('state', [...states].join(' or '), state, place);
      break;
    }
    if (spare === 0 && count !== undefined && from !== undefined && isAdmitted !== from.admitted) {
      say('decision', wordOf(from.admitted), wordOf(isAdmitted), place);
      break;
    }
  }
  return found;
}

function compareTransitions(
  contract: string,
  predicted: readonly TransitionSeen[],
  observed: readonly TransitionSeen[],
  unknownFrom: number,
): Difference[] {
  return byCycle(predicted, observed, unknownFrom).flatMap(([cycle, expected, found]) => {
    const length = Math.max(expected.length, found.length);
    return Array.from({ length }, (_, k): Difference[] => {
      const [mine, theirs] = [expected[k], found[k]];
      if (mine?.to !== theirs?.to) {
        return [{ cycle, contract, figure: 'transition', predicted: mine?.to ?? null, observed: theirs?.to ?? null }];
      }
      if (mine!.count === theirs!.count) return [];
      const note = `of the transition to ${mine!.to}`;
      return [{ cycle, contract, figure: 'count', predicted: mine!.count, observed: theirs!.count, note }];
    }).flat();
  });
}

type Emitted = Pick<EventSeen, 'cycle' | 'event'>;

function compareEvents(
  contract: string,
  predicted: readonly Emitted[],
  observed: readonly Emitted[],
  unknownFrom: number,
): Difference[] {
  return byCycle(predicted, observed, unknownFrom).flatMap(([cycle, expected, found]) => {
    const missing = without(expected, found);
    const extra = without(found, expected);
    return [
      ...missing.map(({ event }) => ({ cycle, contract, figure: 'event', predicted: event, observed: null })),
      ...extra.map(({ event }) => ({ cycle, contract, figure: 'event', predicted: null, observed: event })),
    ];
  });
}

function eventsOf(transitions: readonly TransitionSeen[], { states, initial }: Plan): Emitted[] {
  let from = states[initial];
  return transitions.flatMap(({ cycle, to }) => {
    const left = from?.transitions.find((transition) => states[transition.to]!.name === to);
    from = states.find(({ name }) => name === to);
    return (left?.emits ?? []).map((event) => ({ cycle, event }));
  });
}

function byCycle<T extends { readonly cycle: number }>(
  predicted: readonly T[],
  observed: readonly T[],
  unknownFrom: number,
): [cycle: number, predicted: T[], observed: T[]][] {
  const cycles = new Map<number, [cycle: number, predicted: T[], observed: T[]]>();
  const of = (cycle: number) => {
    const entry = cycles.get(cycle) ?? [cycle, [], []];
    cycles.set(cycle, entry);
    return entry;
  };
  for (const one of predicted) if (one.cycle < unknownFrom) of(one.cycle)[1].push(one);
  for (const one of observed) if (one.cycle < unknownFrom) of(one.cycle)[2].push(one);
  return [...cycles.values()];
}

function without(all: readonly Emitted[], taken: readonly Emitted[]): Emitted[] {
  const rest = taken.map(({ event }) => event);
  return all.filter(({ event }) => {
    const place = rest.indexOf(event);
    if (place >= 0) rest.splice(place, 1);
    return place < 0;
  });
}

function admittedOf(answers: readonly SeenAnswer[]): number {
  return answers.reduce((sum, { admitted }) => sum + (admitted ? 1 : 0), 0);
}

function between(least: number, most: number): number | string {
  return least === most ? least : `${least} to ${most}`;
}

function wordOf(isAdmitted: boolean): string {
  return isAdmitted ? 'admitted' : 'limited';
}

// A request without an answer was counted in some cycle from its sending on, or never. A contract differs from the model only if it does
// in each of these worlds.
//
//   sent in cycle 3, no answer      3? 4? 5? ... never       world: the cycles in which the lost requests were counted
//
// If a world first differs in cycle d, only another request counted up to d can repair it. Counting a request never lowers a count, so
// a world that differs sooner with that request than without it is pruned with all its successors.

interface World {
  readonly counted: readonly (number | undefined)[];
  readonly differences: readonly Difference[];
  readonly first: number;
}

const MOST_WORLDS = 300;

/** The differences in the world that agrees with the model for longest; undefined if there are too many worlds. */
export async function explainLost(
  { cells, lost }: { readonly cells: readonly CycleCell[]; readonly lost: readonly number[] },
  options: ModelOptions,
  compare: (model: Model) => readonly Difference[],
): Promise<readonly Difference[] | undefined> {
  const arrived = arrivedIn(cells).map((one) => ({ ...one, contract: 0 }));
  const known = new Set<string>();
  const worldOf = async (counted: World['counted']): Promise<World> => {
    const more = counted.flatMap((cycle) => (cycle === undefined ? [] : [{ cycle, contract: 0, n: 1 }]));
    const differences = compare(await modelOf([...arrived, ...more], options));
    return { counted, differences, first: firstOf(differences) };
  };
  const open = [await worldOf(lost.map(() => undefined))];
  let best = open[0]!;
  for (let world = open.pop(); world !== undefined; world = open.pop()) {
    if (world.first > best.first) best = world;
    if (world.first === Number.POSITIVE_INFINITY) return [];
    for (const counted of followingWorlds(world, lost)) {
      const key = counted.join();
      if (known.has(key)) continue;
      if (known.size >= MOST_WORLDS) return undefined;
      known.add(key);
      const next = await worldOf(counted);
      if (next.first >= world.first) open.push(next);
    }
    open.sort((a, b) => a.first - b.first);
  }
  return best.differences;
}

/** Worlds with one more request counted, up to the first difference. Requests of one cycle are interchangeable: only the first. */
function followingWorlds({ counted, first }: World, lost: readonly number[]): (number | undefined)[][] {
  return lost.flatMap((sent, k) => {
    const isSame = lost.findIndex((one, other) => one === sent && counted[other] === undefined) !== k;
    if (counted[k] !== undefined || isSame || sent > first) return [];
    return Array.from({ length: first - sent + 1 }, (_, after) => counted.with(k, sent + after));
  });
}

function firstOf(differences: readonly Difference[]): number {
  return differences.reduce((least, { cycle }) => Math.min(least, cycle), Number.POSITIVE_INFINITY);
}
