// Compares a node with the model cycle by cycle: its answers state in which cycle each request was counted, and at which count.
//
// Each cycle of a contract is compared as a whole: answers sorted by their counts, the k-th with the k-th. If the model also got requests
// without an answer, its answers to them may be any:
//
//   model    1  2  3  4        answers   1  3  4  fit        1  3  5  do not
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { byContract } from '../explain/seen-request.js';
import type { Difference, TransitionSeen } from '../outcome/outcome-schema.js';
import type { Findings } from './comparison-verdict.js';
import type { EventSeen } from './event-listener.js';
import { type LiveSeen, transitionsIn } from './live-run.js';
import { type Arrived, type CountedAnswer, type Emitted, type Model, type ModelOptions, modelOf } from './model.js';

export async function findingsByCycle(seen: LiveSeen, model: Model, options: ModelOptions): Promise<Findings> {
  const { asked, requestLog, lastCycle, streamLost } = seen;
  const { names } = asked;
  const unknownFrom = reportedBefore(seen);
  const differences: Difference[] = [];
  let [withLost, isGivenUp] = [0, false];
  for (const [index, own] of byContract(requestLog.requests, names.length).entries()) {
    const contract = names[index]!;
    const answered = own.filter(({ fault }) => fault === undefined);
    const events = streamLost ? undefined : seen.events?.[index];
    const differing = (one: Model, at: number) => compare({ contract, answered, events }, one, { at, unknownFrom });
    const lost = own.flatMap(({ fault, cycle }) =>
      fault === undefined || fault.kind === 'refused' || cycle > lastCycle ? [] : [cycle],
    );
    if (lost.length === 0) {
      differences.push(...differing(model, index));
      continue;
    }
    withLost += 1;
    const arrived = answered.map((one) => ({ ...one, contract: 0 }));
    const alone = { ...options, names: [contract] };
    const hasCosts = options.costUnit !== undefined;
    const found = hasCosts ? undefined : await explainLost(arrived, lost, alone, (one) => differing(one, 0));
    if (found === undefined) isGivenUp = true;
    else differences.push(...found);
  }
  return { differences, tolerance: toleranceOf(withLost, isGivenUp), tooUncertain: undefined };
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

export interface ObservedContract {
  readonly contract: string;
  readonly answered: readonly (CountedAnswer & Pick<Arrived, 'cycle'>)[];
  /** Transitions too; undefined if they are not known. */
  readonly events: readonly EventSeen[] | undefined;
}

interface Compared {
  /** Index of the contract in the model. */
  readonly at: number;
  /** From this cycle on transitions are not compared, because the arrivals are not known exactly. */
  readonly unknownFrom: number;
}

export function compare(
  { contract, answered, events }: ObservedContract,
  model: Model,
  { at, unknownFrom }: Compared,
): Difference[] {
  const differences = [...byCycle(answered)].flatMap(([cycle, answers]) =>
    compareCell({ cycle, contract }, answers, model.answers(cycle, at)),
  );
  if (events !== undefined) {
    const emitted = events.filter(({ event }) => event !== 'transition');
    const inTime = <T extends Pick<Happened, 'cycle'>>(all: readonly T[]) =>
      all.filter(({ cycle }) => cycle < unknownFrom);
    differences.push(
      ...compareInOrder(contract, 'transition', inTime(model.transitions[at]!), inTime(transitionsIn(events))),
      ...compareInOrder(contract, 'event', named(inTime(model.events[at]!)), named(inTime(emitted))),
    );
  }
  return differences.sort((a, b) => a.cycle - b.cycle);
}

function byCycle<T extends { readonly cycle: number }>(all: readonly T[]): Map<number, T[]> {
  const cycles = new Map<number, T[]>();
  for (const one of all) getOrInsert(cycles, one.cycle, () => []).push(one);
  return cycles;
}

function compareCell(
  cell: Pick<Difference, 'cycle' | 'contract'>,
  answers: readonly CountedAnswer[],
  modelled: readonly CountedAnswer[],
): Difference[] {
  const spare = Math.max(0, modelled.length - answers.length);
  const found: Difference[] = [];
  const say = (figure: string, predicted: Difference['predicted'], observed: Difference['observed'], note: string) =>
    void found.push({ ...cell, figure, predicted, observed, note });
  const admitted = admittedOf(answers);
  const most = admittedOf(modelled);
  const least = Math.max(0, most - spare);
  if (admitted < least || admitted > most) {
    say('admitted', between(least, most), admitted, `of ${answers.length} requests`);
  }
  const inOrder = [...answers].sort((a, b) => (a.count ?? 0) - (b.count ?? 0));
  for (const [k, { count, state, decision }] of inOrder.entries()) {
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
    if (spare === 0 && count !== undefined && from !== undefined && decision !== from.decision) {
      say('decision', from.decision, decision, place);
      break;
    }
  }
  return found;
}

/** A transition, or an event that one emits. */
type Happened = Pick<TransitionSeen, 'cycle' | 'to'> & Partial<Pick<TransitionSeen, 'count'>>;

function compareInOrder(
  contract: string,
  figure: string,
  predicted: readonly Happened[],
  observed: readonly Happened[],
): Difference[] {
  const [mine, theirs] = [byCycle(predicted), byCycle(observed)];
  return [...new Set([...mine.keys(), ...theirs.keys()])].flatMap((cycle) => {
    const [expected, found] = [mine.get(cycle) ?? [], theirs.get(cycle) ?? []];
    return Array.from({ length: Math.max(expected.length, found.length) }, (_, k): Difference[] => {
      const [{ to = null, count } = {}, seen] = [expected[k], found[k]];
      if (to !== (seen?.to ?? null)) return [{ cycle, contract, figure, predicted: to, observed: seen?.to ?? null }];
      if (count === seen?.count) return [];
      const note = `of the ${figure} to ${to}`;
      return [{ cycle, contract, figure: 'count', predicted: count!, observed: seen!.count!, note }];
    }).flat();
  });
}

function named(events: readonly Emitted[]): Happened[] {
  return events.map(({ cycle, event }) => ({ cycle, to: event }));
}

function admittedOf(answers: readonly CountedAnswer[]): number {
  return answers.filter(({ decision }) => decision === 'admitted').length;
}

function between(least: number, most: number): number | string {
  return least === most ? least : `${least} to ${most}`;
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

/**
 * The differences in the world that agrees with the model for longest; undefined if there are too many worlds.
 * @param arrived of the one contract @param unanswered cycles of sending
 */
export async function explainLost(
  arrived: readonly Arrived[],
  unanswered: readonly number[],
  options: ModelOptions,
  compare: (model: Model) => readonly Difference[],
): Promise<readonly Difference[] | undefined> {
  const lost = [...unanswered].sort((a, b) => a - b);
  const known = new Set<string>();
  const worldOf = async (counted: World['counted']): Promise<World> => {
    const more = counted.flatMap((cycle) => (cycle === undefined ? [] : [{ cycle, contract: 0 }]));
    const differences = compare(await modelOf([...arrived, ...more], options));
    const first = differences.reduce((least, { cycle }) => Math.min(least, cycle), Number.POSITIVE_INFINITY);
    return { counted, differences, first };
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
