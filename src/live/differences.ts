// What the answers of a target show, held against the model: differences, and how sure they are.
//
//   a node answers with cycle and count                compared cycle by cycle          compare.ts
//   any other target answers with decisions alone      is there an order that fits?     explanation.ts
//   a rule decides by the ms, not by the cycle         the same, for any rule           rule-findings.ts
import type { Plan } from '../limiter/plan.js';
import type { Difference } from '../outcome/outcome-schema.js';
import { cycleOf } from '../time/cycle.js';
import { compare, type Models } from './compare.js';
import { type Range, rollingWindow, slidingWindow } from './cycle-rule.js';
import { explain, saysEnough } from './explanation.js';
import type { Judged } from './judge.js';
import { type LiveSeen, transitionsIn } from './live-run.js';
import { type Arrived, type Model, type ModelOptions, modelOf } from './model.js';
import { quickestMs, wayWords } from './placed-requests.js';
import type { Cell } from './request-log.js';

export type Findings = Pick<Judged, 'differences' | 'coversUnknown' | 'tolerance' | 'tooUncertain' | 'remark'>;

interface Subject {
  readonly names: readonly string[];
  readonly plan: Plan;
}

/** Of a node, which says in which cycle it counted a request, and at which count. */
export async function findingsByCycle(
  seen: LiveSeen,
  { names, plan }: Subject,
  cells: readonly Cell[],
  lax: Model,
  modelOptions: ModelOptions,
): Promise<Findings> {
  const unknown = unknownCycles(seen);
  const models: Models = {
    lax,
    strict: unknown.size === 0 ? lax : await modelOf(withUnknown(seen, cells), modelOptions),
    initial: plan.states[plan.initial]!.name,
    emits: (from, to) => emittedBy(plan, from, to),
    unknownFrom: (contract) => Math.min(seen.toldBefore, unknown.get(contract) ?? Number.POSITIVE_INFINITY),
  };
  const transitions = seen.streamLost ? undefined : seen.heard?.map(transitionsIn);
  const events = seen.streamLost
    ? undefined
    : seen.heard?.map((all) => all.filter(({ event }) => event !== 'transition'));
  const differences = compare(names, { cells, transitions, events }, models);
  return { differences, coversUnknown: false, tolerance: toleranceOf(unknown.size), tooUncertain: undefined };
}

/** Of a target that says neither when nor in which cycle it counts: its window is one for all contracts. */
export function findingsWithoutStamps({ requestLog, time, slackMs }: LiveSeen, { names, plan }: Subject): Findings {
  const { cycleMs } = time;
  const threshold = plan.thresholds[0] ?? Number.POSITIVE_INFINITY;
  const within = plan.aggregates[0]?.within ?? 1;
  const requests = requestLog.seen;
  const rules = [rollingWindow(threshold, within, cycleMs), slidingWindow(threshold, within, cycleMs)];
  const explanation = explain(requests, rules, slackMs);
  const tolerance =
    'At the edges of cycles: the target does not say when it counts. Every instant between sending and answer, and every phase of its ' +
    'cycles, was taken into account.';
  if (explanation.type === 'refuted') {
    const { sentMs, room, admitted } = explanation.by;
    const difference: Difference = {
      cycle: cycleOf(sentMs, cycleMs),
      contract: names[0]!,
      figure: 'admitted',
      // Ranges that overlap are each too wide: no value of either is left.
      predicted: admitted.least <= room.most && room.least <= admitted.most ? 'none of these' : wordsOf(room),
      observed: wordsOf(admitted),
      note: 'no counting order can explain the answers up to here',
    };
    return { differences: [difference], coversUnknown: true, tolerance, tooUncertain: undefined };
  }
  const { undecided, wayMs } = explanation;
  const isEnough = saysEnough(explanation, requests);
  const longestMs = requests
    .filter(({ decision }) => decision !== 'unknown')
    .reduce((most, { sentMs, answeredMs }) => Math.max(most, answeredMs - sentMs), 0);
  const tooUncertain = isEnough
    ? undefined
    : `The answers would fit too many limiters: of ${requests.length} requests ${Math.min(undecided, requests.length)} could have been ` +
      `admitted or limited alike, since answers took up to ${longestMs.toFixed(0)} ms and a cycle takes ${cycleMs} ms.`;
  const assumed = wayMs > 0 && isEnough ? ` ${wayWords(wayMs, quickestMs(requests))}` : '';
  return { differences: [], coversUnknown: true, tolerance: `${tolerance}${assumed}`, tooUncertain };
}

function wordsOf({ least, most }: Range): number | string {
  return least === most ? least : `${least} to ${most}`;
}

/** By contract: the first cycle in which a request was sent that the target may have counted, and did not answer. */
function unknownCycles({ requestLog, gone, lastCycle }: LiveSeen): Map<number, number> {
  const first = new Map<number, number>();
  for (const { contract, cycle, kind } of requestLog.faults) {
    if (kind === 'refused') continue;
    first.set(contract, Math.min(first.get(contract) ?? Number.POSITIVE_INFINITY, cycle));
  }
  // A target that went away may not have reported its last cycles.
  if (gone !== undefined) {
    const told = Math.min(lastCycle, ...requestLog.faults.map(({ cycle }) => cycle)) - 1;
    for (const { contract } of requestLog.cells()) first.set(contract, Math.min(first.get(contract) ?? told, told));
  }
  return first;
}

/** What may have arrived: also the requests that were not answered, in the cycle in which they were sent. */
function withUnknown({ requestLog, lastCycle }: LiveSeen, cells: readonly Cell[]): Arrived[] {
  const arrived = new Map(
    cells.map(({ cycle, contract, answers }) => [`${cycle}/${contract}`, { cycle, contract, n: answers.length }]),
  );
  for (const { cycle, contract, kind } of requestLog.faults) {
    if (kind === 'refused' || cycle > lastCycle) continue;
    const key = `${cycle}/${contract}`;
    const one = arrived.get(key) ?? { cycle, contract, n: 0 };
    one.n += 1;
    arrived.set(key, one);
  }
  return [...arrived.values()];
}

function emittedBy({ states }: Plan, from: string | undefined, to: string): readonly string[] {
  const left = states.find(({ name }) => name === from);
  return left?.transitions.find((transition) => states[transition.to]!.name === to)?.emits ?? [];
}

function toleranceOf(unknownContracts: number): string {
  if (unknownContracts === 0) return 'none';
  return (
    `Requests without a decision may have been counted or not: of ${unknownContracts} contracts, what lies between the two is no ` +
    'difference, and transitions are compared up to the first such request.'
  );
}
