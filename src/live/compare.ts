// Compares the answers of a target with those of the model for the same arrivals. Pure. comparison-verdict.ts gives the verdict.
//
// Each cycle of a contract is compared as a whole: answers sorted by their counts, the k-th with the k-th. If the model also got requests
// without an answer, its answers to them may be any:
//
//   model    1  2  3  4        answers   1  3  4  fit        1  3  5  do not
import type { Difference, TransitionSeen } from '../outcome/outcome-schema.js';
import type { Modelled } from './model.js';
import type { CycleCell, SeenAnswer } from './request-log.js';

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
