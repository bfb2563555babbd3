// The verdict of a live run: agrees, node differs, or run invalid, and why. Pure.
//
//   something is missing ─► run invalid      a generator was lost, with its requests
//   the clock moved      ─► run invalid      no figure in cycles is reliable
//   differences          ─► node differs     found on what arrived, so not the generator's fault
//   in use before        ─► run invalid      the answers are those of a limiter that had counted others, or may be
//   late, lost, nothing  ─► run invalid      the scenario was not sent as planned
//   too uncertain        ─► run invalid      the answers fit the model, and much else
//   stopped              ─► run invalid      the rest is unknown
//   otherwise            ─► agrees
import type { Plan } from '../../core/limiter/plan.js';
import type { Comparison, Difference } from '../outcome/outcome-schema.js';
import { TOLERATED_MOVE } from './connection.js';
import type { LiveSeen } from './live-run.js';
import { crowdedWords, isCrowded, isLate, LATE_MS } from './request-log.js';
import { isSaturated } from './run-clock.js';

export interface Findings {
  readonly differences: readonly Difference[];
  readonly tolerance: string;
  /** Why the limiter was, or may have been, in use before the run. */
  readonly used?: string | undefined;
  readonly tooUncertain: string | undefined;
  readonly remark?: string | undefined;
  /** What the answers do not distinguish, if they agree. */
  readonly neighbours?: (() => string | undefined) | undefined;
}

const MOST_LISTED = 1_000;

export function comparisonOf(seen: LiveSeen, findings: Findings): Comparison {
  const { differences, tolerance, remark, neighbours } = findings;
  const { firstCycle, lastCycle, requestLog } = seen;
  const all = [...differences, ...unanswered(seen), ...stamps(seen)].sort((a, b) => a.cycle - b.cycle);
  const { verdict, reason } = verdictOn(all, seen, findings);
  const remarks = [remark, verdict === 'agrees' ? neighbours?.() : undefined].filter((words) => words !== undefined);
  return {
    verdict,
    reason,
    ...(remarks.length === 0 ? {} : { remark: remarks.join(' ') }),
    compared_cycles: lastCycle - firstCycle + 1,
    compared_decisions: requestLog.answered,
    tolerance,
    differences_total: all.length,
    differences: all.slice(0, MOST_LISTED),
  };
}

function verdictOn(
  differences: readonly Difference[],
  seen: LiveSeen,
  { used, tooUncertain }: Pick<Findings, 'used' | 'tooUncertain'>,
): Pick<Comparison, 'verdict' | 'reason'> {
  const { asked, requestLog, time, movedMs, unsound, gone, behind, lagMs } = seen;
  const invalid = (reason: string) => ({ verdict: 'run invalid', reason }) as const;
  if (unsound !== undefined) return invalid(unsound);
  if (movedMs > TOLERATED_MOVE * time.cycleMs) {
    return invalid(`The clock of the target moved against ours by ${movedMs.toFixed(1)} ms during the run.`);
  }
  const [first] = differences;
  if (first !== undefined) {
    return { verdict: 'node differs', reason: `${wordsOf(first)}${more(differences.length - 1)}` };
  }
  if (gone !== undefined) return invalid(`The target went away in the middle of the run. ${gone}`);
  if (requestLog.sent === 0) return invalid('Nothing was sent.');
  if (used !== undefined) return invalid(used);
  const strays = straysOf(seen);
  const tooLate = isLate(strays, requestLog.planned);
  if (tooLate && isCrowded(seen, strays))
    return invalid(`${strays} of ${requestLog.planned} requests were sent late: ${crowdedWords(seen)}`);
  const { faults } = requestLog;
  if (faults.length > 0) {
    const firstCycle = faults.reduce((least, { cycle }) => Math.min(least, cycle), Number.POSITIVE_INFINITY);
    return invalid(
      `${faults.length} of ${requestLog.sent} requests had no decision, the first in cycle ${firstCycle}. ${faults[0]!.words}`,
    );
  }
  if (seen.streamLost) return invalid('The stream of events was lost: the transitions are not known.');
  if (behind !== undefined) return invalid(behind);
  if (tooLate) {
    const inLater = requestLog.options.plansByCycle
      ? `in a later cycle than planned, and ${requestLog.astray} arrived in another one though they were sent in time`
      : `more than ${LATE_MS} ms late`;
    return invalid(
      `${requestLog.late} of ${requestLog.planned} requests were sent ${inLater}: the generator or the network did not keep up.`,
    );
  }
  if (isSaturated(lagMs, time.cycleMs)) {
    return invalid(`The generator was saturated: one task in ten began ${lagMs.p90.toFixed(0)} ms late or more.`);
  }
  if (tooUncertain !== undefined) return invalid(tooUncertain);
  if (seen.isPartial && !isUnlimited(asked.plan))
    return invalid('The run was stopped before its end. What was answered until then is as the model says.');
  const another = requestLog.options.plansByCycle ? 'in another cycle than planned' : 'late';
  const strayed = strays > 0 ? ` ${strays} requests arrived ${another}.` : '';
  return {
    verdict: 'agrees',
    reason: `All ${requestLog.answered} decisions are those of the model on what arrived.${strayed}`,
  };
}

/** Requests that did not come as planned. A closed loop plans none. */
function straysOf(seen: LiveSeen): number {
  const { isScheduled, clients, requestLog } = seen;
  if (!isScheduled && clients === undefined) return 0;
  return requestLog.options.plansByCycle ? requestLog.late + requestLog.astray : requestLog.late;
}

export function isUnlimited({ rule }: Plan): boolean {
  return rule?.definition.primitive === 'none';
}

/** An unmet expectation might have been met by the planned requests: if some arrived in another cycle, the run is invalid. */
export function whenNotHeld(comparison: Comparison, seen: LiveSeen): Comparison {
  if (comparison.verdict !== 'agrees' || straysOf(seen) === 0) return comparison;
  const reason = `${comparison.reason} What was expected does not hold, which may be for that reason alone.`;
  return { ...comparison, verdict: 'run invalid', reason };
}

/** Answers that are no decision. Lost requests do not count: a proxy may have closed the connection. */
function unanswered({ asked: { names }, requestLog }: LiveSeen): Difference[] {
  const faults = requestLog.faults.filter(({ kind }) => kind === 'unexpected');
  return faults.map(({ cycle, contract, words }) => ({
    cycle,
    contract: names[contract]!,
    figure: 'answer',
    predicted: 'a decision',
    observed: `none: ${words.replace(/\.$/, '')}`,
  }));
}

function stamps({ asked: { names }, requestLog, movedMs }: LiveSeen): Difference[] {
  return requestLog.requests.flatMap(({ cycle, contract, impossible }) =>
    impossible === undefined || impossible.byMs <= movedMs
      ? []
      : {
          cycle,
          contract: names[contract]!,
          figure: 'cycle',
          predicted: cycle,
          observed: impossible.cycle,
          note: `the request was under way ${impossible.byMs.toFixed(1)} ms apart from that cycle`,
        },
  );
}

function wordsOf({ cycle, contract, figure, predicted, observed }: Difference): string {
  return `Cycle ${cycle}, contract ${contract}: ${figure} is ${observed ?? 'missing'}, and the model says ${predicted ?? 'none'}.`;
}

function more(n: number): string {
  return n === 0 ? '' : ` There are ${n} more differences.`;
}
