// The verdict of a live run: agrees, node differs, or run invalid, and why. Pure.
//
//   something is missing ─► run invalid      a generator was lost, with its requests
//   the clock moved      ─► run invalid      no figure in cycles is reliable
//   differences          ─► node differs     found on what arrived, so not the generator's fault
//   lost, late, nothing  ─► run invalid      the scenario was not sent as planned
//   too uncertain        ─► run invalid      the answers fit the model, and much else
//   stopped              ─► run invalid      the rest is unknown
//   otherwise            ─► agrees
import type { Comparison, Difference } from '../outcome/outcome-schema.js';
import type { RequestFault, RequestLog } from './request-log.js';

export interface Health {
  /** Why the evidence is incomplete or unreliable; the node is then not blamed. */
  readonly unsound?: string | undefined;
  readonly behind?: string | undefined;
  readonly movedMs: number;
  readonly streamLost: boolean;
  readonly lagMsP90: number;
  readonly cycleMs: number;
  readonly isScheduled: boolean;
  readonly isPartial: boolean;
  readonly gone: string | undefined;
}

export interface Judged {
  readonly names: readonly string[];
  readonly requestLog: RequestLog;
  readonly differences: readonly Difference[];
  readonly health: Health;
  readonly comparedCycles: number;
  readonly tolerance: string;
  readonly tooUncertain: string | undefined;
  readonly remark?: string | undefined;
}

export type Findings = Pick<Judged, 'differences' | 'tolerance' | 'tooUncertain' | 'remark'>;

/** This share of the requests, or this number, may arrive in another cycle than planned: the model uses the actual arrivals. */
const TOLERATED_LATE = 0.02;
const TOLERATED_LATE_LEAST = 2;
/** A move by up to this share of a cycle is slewing, not setting: sends keep this distance from the edges of cycles. */
export const TOLERATED_MOVE = 0.1;

export function isLate(late: number, planned: number): boolean {
  return late > Math.max(TOLERATED_LATE_LEAST, TOLERATED_LATE * planned);
}

export function isSaturated(lagMsP90: number, cycleMs: number): boolean {
  return lagMsP90 > Math.max(cycleMs / 2, 20);
}

const MOST_LISTED = 1_000;

export function comparisonOf(judged: Judged): Comparison {
  const { requestLog, comparedCycles, tolerance } = judged;
  const all = [...judged.differences, ...unanswered(judged), ...stamps(judged)].sort((a, b) => a.cycle - b.cycle);
  const { verdict, reason } = verdictOn(all, judged);
  return {
    verdict,
    reason,
    ...(judged.remark === undefined ? {} : { remark: judged.remark }),
    compared_cycles: comparedCycles,
    compared_decisions: requestLog.answered,
    tolerance,
    differences_total: all.length,
    differences: all.slice(0, MOST_LISTED),
  };
}

function verdictOn(differences: readonly Difference[], judged: Judged): Pick<Comparison, 'verdict' | 'reason'> {
  const { requestLog, health, tooUncertain } = judged;
  const invalid = (reason: string) => ({ verdict: 'run invalid', reason }) as const;
  if (health.unsound !== undefined) return invalid(health.unsound);
  if (health.movedMs > TOLERATED_MOVE * health.cycleMs) {
    return invalid(`The clock of the target moved against ours by ${health.movedMs.toFixed(1)} ms during the run.`);
  }
  const [first] = differences;
  if (first !== undefined) {
    return { verdict: 'node differs', reason: `${wordsOf(first)}${more(differences.length - 1)}` };
  }
  if (health.gone !== undefined) return invalid(`The target went away in the middle of the run. ${health.gone}`);
  if (requestLog.sent === 0) return invalid('Nothing was sent.');
  const lost = requestLog.failed + requestLog.timedOut;
  if (lost > 0) {
    const words = requestLog.faults[0]?.words ?? '';
    return invalid(
      `${lost} of ${requestLog.sent} requests had no decision, the first in cycle ${firstCycle(requestLog.faults)}. ${words}`,
    );
  }
  if (health.streamLost) return invalid('The stream of events was lost: the transitions are not known.');
  if (health.behind !== undefined) return invalid(health.behind);
  const strays = straysOf(requestLog, health.isScheduled);
  if (isLate(strays, requestLog.planned)) {
    return invalid(
      `${requestLog.late} of ${requestLog.planned} requests were sent in a later cycle than planned, and ${requestLog.astray} arrived in ` +
        'another one though they were sent in time: the generator or the network did not keep up.',
    );
  }
  if (isSaturated(health.lagMsP90, health.cycleMs)) {
    return invalid(`The generator was saturated: one task in ten began ${health.lagMsP90.toFixed(0)} ms late or more.`);
  }
  if (tooUncertain !== undefined) return invalid(tooUncertain);
  if (health.isPartial)
    return invalid('The run was stopped before its end. What was answered until then is as the model says.');
  return { verdict: 'agrees', reason: agreement(requestLog, strays) };
}

function straysOf({ late, astray }: RequestLog, isScheduled: boolean): number {
  return isScheduled ? late + astray : 0;
}

/** An unmet expectation might have been met by the planned requests: if some arrived in another cycle, the run is invalid. */
export function whenNotHeld(comparison: Comparison, requestLog: RequestLog, isScheduled: boolean): Comparison {
  const strays = straysOf(requestLog, isScheduled);
  if (comparison.verdict !== 'agrees' || strays === 0) return comparison;
  const reason = `${comparison.reason} What was expected does not hold, which may be for that reason alone.`;
  return { ...comparison, verdict: 'run invalid', reason };
}

function agreement({ answered }: RequestLog, strays: number): string {
  const parts = [`All ${answered} decisions are those of the model on what arrived.`];
  if (strays > 0) parts.push(`${strays} requests arrived in another cycle than planned.`);
  return parts.join(' ');
}

/** Answers that are no decision. Lost requests do not count: a proxy may have closed the connection. */
function unanswered({ names, requestLog }: Judged): Difference[] {
  return requestLog.faults.filter(isTargetFault).map(({ cycle, contract, words }) => ({
    cycle,
    contract: names[contract]!,
    figure: 'answer',
    predicted: 'a decision',
    observed: words,
  }));
}

function isTargetFault({ kind }: RequestFault): boolean {
  return kind === 'unexpected';
}

function stamps({ names, requestLog, health }: Judged): Difference[] {
  return requestLog.impossible
    .filter(({ byMs }) => byMs > health.movedMs)
    .map(({ cycle, contract, stamped, byMs }) => ({
      cycle,
      contract: names[contract]!,
      figure: 'cycle',
      predicted: cycle,
      observed: stamped,
      note: `the request was under way ${byMs.toFixed(1)} ms apart from that cycle`,
    }));
}

function wordsOf({ cycle, contract, figure, predicted, observed }: Difference): string {
  return `Cycle ${cycle}, contract ${contract}: ${figure} is ${observed ?? 'missing'}, and the model says ${predicted ?? 'none'}.`;
}

function more(n: number): string {
  return n === 0 ? '' : ` There are ${n} more differences.`;
}

function firstCycle(faults: readonly RequestFault[]): number {
  return faults.reduce((first, { cycle }) => Math.min(first, cycle), Number.POSITIVE_INFINITY);
}
