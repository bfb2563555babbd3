// Compares a node with the model cycle by cycle: its answers state in which cycle each request was counted, and at which count.
import type { Plan } from '../limiter/plan.js';
import type { Difference, TransitionSeen } from '../outcome/outcome-schema.js';
import type { Findings } from './comparison-verdict.js';
import { type LiveSeen, transitionsIn } from './live-run.js';
import { arrivedIn, type Model, type Modelled, type ModelOptions, modelOf } from './model.js';
import type { CycleCell, SeenAnswer } from './request-log.js';

export async function findingsByCycle(seen: LiveSeen, cells: readonly CycleCell[], model: Model): Promise<Findings> {
  const { names, plan } = seen.asked;
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
    if (model.options.costUnit !== undefined) {
      isGivenUp = true;
      continue;
    }
    const own = { cells: cells.filter((cell) => cell.contract === contract), lost: cycles };
    const found = await explainLost(own, { ...model.options, names: [names[contract]!] }, (one) =>
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

// Compares the answers of a target with those of the model for the same arrivals. Pure. comparison-verdict.ts gives the verdict.
//
// Each cycle of a contract is compared as a whole: answers sorted by their counts, the k-th with the k-th. If the model also got requests
// without an answer, its answers to them may be any:
//
//   model    1  2  3  4        answers   1  3  4  fit        1  3  5  do not

export interface ObservedRun {
  readonly cells: readonly Pick<CycleCell, 'cycle' | 'contract' | 'answers'>[];
  readonly transitions: readonly (readonly TransitionSeen[])[] | undefined;
  readonly events: readonly (readonly EventSeen[])[] | undefined;
}

export interface EventSeen {
  readonly cycle: number;
  readonly event: string;
}

export interface Models {
  readonly model: Modelled;
  readonly emits: (from: string | undefined, to: string) => readonly string[];
  /** By contract: from this cycle on transitions are not compared, because the arrivals are not known exactly. */
  readonly unknownFrom: (contract: number) => number;
  readonly initial: string;
}

export function compare(names: readonly string[], seen: ObservedRun, models: Models): Difference[] {
  const differences: Difference[] = [];
  for (const cell of seen.cells) differences.push(...compareCell(names[cell.contract]!, cell, models));
  names.forEach((name, contract) => {
    const known = models.unknownFrom(contract);
    const transitions = seen.transitions?.[contract];
    if (transitions !== undefined)
      differences.push(...compareTransitions(name, models.model.transitions[contract]!, transitions, known));
    const events = seen.events?.[contract];
    if (events !== undefined) {
      const expected = eventsOf(models.model.transitions[contract]!, models);
      differences.push(...compareEvents(name, expected, events, known));
    }
  });
  return differences.sort((a, b) => a.cycle - b.cycle || compareText(a.contract, b.contract));
}

function compareCell(
  contract: string,
  { cycle, answers, contract: index }: ObservedRun['cells'][number],
  { model }: Models,
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

function compareEvents(
  contract: string,
  predicted: readonly EventSeen[],
  observed: readonly EventSeen[],
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

function eventsOf(transitions: readonly TransitionSeen[], { emits, initial }: Models): EventSeen[] {
  let from = initial;
  return transitions.flatMap(({ cycle, to }) => {
    const events = emits(from, to).map((event) => ({ cycle, event }));
    from = to;
    return events;
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

function without(all: readonly EventSeen[], taken: readonly EventSeen[]): EventSeen[] {
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

/** By code unit: the same order on every machine. */
function compareText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0;
}

// A request without an answer was counted in some cycle from its sending on, or never. A contract differs from the model only if it does
// in each of these worlds.
//
//   sent in cycle 3, no answer      3? 4? 5? ... never       world: the cycles in which the lost requests were counted
//
// If a world first differs in cycle d, only another request counted up to d can repair it. Counting a request never lowers a count, so
// a world that differs sooner with that request than without it is pruned with all its successors.

interface LostAnswers {
  readonly cells: readonly CycleCell[];
  readonly lost: readonly number[];
}

interface World {
  readonly counted: readonly (number | undefined)[];
  readonly differences: readonly Difference[];
  readonly first: number;
}

const MOST_WORLDS = 300;

/** The differences in the world that agrees with the model for longest; undefined if there are too many worlds. */
export async function explainLost(
  { cells, lost }: LostAnswers,
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
