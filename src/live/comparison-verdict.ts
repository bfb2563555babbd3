// The verdict of a live run: agrees, node differs, or run invalid, and why. Pure.
//
//   something is missing ─► run invalid      a generator is lost, with what it sent
//   the clock moved      ─► run invalid      nothing that was measured in cycles can be trusted
//   differences          ─► node differs     they were found on what arrived, so they are not the generator's fault
//   lost, late, nothing  ─► run invalid      the question of the scenario was not put to the node
//   too uncertain        ─► run invalid      the answers fit the model, and as much else
//   stopped              ─► run invalid      what was left out is not known
//   otherwise            ─► agrees
import type { Comparison, Difference } from '../outcome/outcome-schema.js';
import type { Fault, RequestLog } from './request-log.js';

export interface Health {
  /** Why what was seen is not all, or not to be relied on, if so: nobody is accused then. */
  readonly unsound?: string | undefined;
  readonly behind?: string | undefined;
  /** How far the target's clock moved during the run, in ms, beyond what is uncertain. */
  readonly movedMs: number;
  readonly streamLost: boolean;
  /** How late the tasks of the generator began: what nine in ten do not exceed, in ms. */
  readonly lagMsP90: number;
  readonly cycleMs: number;
  /** Whether a schedule says in which cycle each request is to be sent; clients send when they want. */
  readonly isScheduled: boolean;
  readonly isPartial: boolean;
  readonly gone: string | undefined;
}

export interface Judged {
  readonly names: readonly string[];
  readonly requestLog: RequestLog;
  /** Those that hold whatever became of requests without an answer. */
  readonly differences: readonly Difference[];
  readonly health: Health;
  readonly comparedCycles: number;
  readonly tolerance: string;
  /** Why answers that fit say little; undefined where they say enough. */
  readonly tooUncertain: string | undefined;
  readonly remark?: string | undefined;
}

export type Findings = Pick<Judged, 'differences' | 'tolerance' | 'tooUncertain' | 'remark'>;

/** Up to this share of the requests, or so many, may arrive in another cycle than planned: the model was run on what arrived. */
const TOLERATED_LATE = 0.02;
const TOLERATED_LATE_LEAST = 2;
/** A clock that moved by no more than this share of a cycle was slewed, not set: sends keep that far from the edges. */
export const TOLERATED_MOVE = 0.1;

export function isLate(late: number, planned: number): boolean {
  return late > Math.max(TOLERATED_LATE_LEAST, TOLERATED_LATE * planned);
}

export function isSaturated(lagMsP90: number, cycleMs: number): boolean {
  return lagMsP90 > Math.max(cycleMs / 2, 20);
}

const MOST_LISTED = 1_000;

/** The verdict over the differences found by comparing, and those that need no model. */
export function judge(judged: Judged): Comparison {
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

/** Requests that arrived in another cycle than planned; none where clients decide when to send. */
function straysOf({ late, astray }: RequestLog, isScheduled: boolean): number {
  return isScheduled ? late + astray : 0;
}

/**
 * The comparison of a run in which an expectation did not hold. Where requests arrived in another cycle than planned, it might have held
 * for the requests as planned: then the run is invalid.
 */
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

/**
 * Requests with an answer that is no decision. A lost one accuses nobody: whatever is on the way may close a connection, or answer that
 * it got no answer itself.
 */
function unanswered({ names, requestLog }: Judged): Difference[] {
  return requestLog.faults.filter(isTargetFault).map(({ cycle, contract, words }) => ({
    cycle,
    contract: names[contract]!,
    figure: 'answer',
    predicted: 'a decision',
    observed: words,
  }));
}

function isTargetFault({ kind }: Fault): boolean {
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

function firstCycle(faults: readonly Fault[]): number {
  return faults.reduce((first, { cycle }) => Math.min(first, cycle), Number.POSITIVE_INFINITY);
}
