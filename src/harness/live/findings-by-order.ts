// Compares a target that does not report when it counts requests with a rule: a difference, or how certain it is that there is none.

import type { Plan } from '../../core/limiter/plan.js';
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { cycleOf } from '../../core/time/cycle.js';
import { type Explanation, explain, type Refuted, saysEnough } from '../explain/explain.js';
import {
  behindMs,
  byContract,
  type Pause,
  quickestMs,
  type SeenRequest,
  slowestMs,
  wayWords,
} from '../explain/seen-request.js';
import type { Difference } from '../outcome/outcome-schema.js';
import { waitsInWords } from './announced-waits.js';
import type { Findings } from './comparison-verdict.js';
import type { LiveSeen } from './live-run.js';
import { neighbourWords, untestedWords } from './neighbours.js';
import { PAUSE_MS } from './run-clock.js';
import { ForeignTarget } from './target.js';
import { usedBefore } from './used-before.js';

const TOLERANCE =
  'each request may count at any moment between being sent and answered, in any order that this allows (whether the answers are ' +
  'linearisable), and the clock of the limiter may have any phase, at the edges of cycles too; each key counts as unused for long before the run';

interface Followed {
  readonly rules: readonly RuleDefinition[];
  readonly isShared: boolean;
}

export function windowRules({ thresholds, aggregates }: Plan, cycleMs: number): Followed {
  const [threshold = Number.POSITIVE_INFINITY] = thresholds;
  const within = aggregates[0]?.within ?? 1;
  return {
    rules: [
      { primitive: 'rolling_count', params: { threshold, within, cycle_ms: cycleMs } },
      { primitive: 'sliding_log', params: { limit: threshold, window_ms: within * cycleMs, count_refused: true } },
    ],
    isShared: true,
  };
}

export function findingsByOrder(seen: LiveSeen, { rules, isShared }: Followed): Findings {
  const { requestLog, time, target, apartMs } = seen;
  const { names, rules: tested } = seen.asked;
  const { slackMs } = requestLog.options;
  const all = requestLog.seen;
  const isForeign = target instanceof ForeignTarget;
  const promisedMs = isForeign ? target.transportMs : undefined;
  // Limited requests are not held: a late answer to one shows a slow transport, or a delay of the generator itself.
  const longestMs = slowestMs(all.filter(({ decision }) => decision === 'limited'));
  const transportMs =
    promisedMs === undefined ? undefined : Math.max(promisedMs, longestMs) + seen.lagMs.most + 2 * apartMs;
  const pauses = joined([...seen.pauses, ...pausesOf(all, promisedMs)]);
  const stops = stopsOf(pauses, all);
  const differences: Difference[] = [];
  let tooUncertain: string | undefined;
  let remark: string | undefined;
  let used: string | undefined;
  const explained: (readonly SeenRequest[])[] = [];
  let wayMs = 0;
  const each = isShared ? [all] : byContract(all, names.length);
  each.forEach((requests, index) => {
    if (requests.length === 0) return;
    remark ??= waitsInWords(requests);
    const options = { slackMs, transportMs, pauses: stops };
    const found = explain(requests, rules, options);
    if (found.type === 'refuted') {
      const words = isForeign ? usedBefore(requests, rules, options, requestLog.announcedLimit) : undefined;
      if (words === undefined) differences.push(differenceOf(found, names[index]!, time.cycleMs));
      used ??= words;
    } else if (found.type === 'explained' && saysEnough(found)) {
      const { wayMs: ownMs } = found;
      wayMs = Math.max(wayMs, ownMs);
      explained.push(requests.map((one) => ({ ...one, answeredMs: one.answeredMs - ownMs })));
    } else tooUncertain ??= uncertaintyOf(found, requests, pauses);
  });
  if (tested && differences.length === 0) tooUncertain ??= untestedWords(all, rules, { slackMs, transportMs });
  const tolerance = wayMs === 0 ? TOLERANCE : `${TOLERANCE}. ${wayWords(wayMs, quickestMs(all))}`;
  const neighbours = () => (isForeign ? neighbourWords(explained, rules, { slackMs, transportMs }) : undefined);
  return { differences, tolerance, used, tooUncertain, remark, neighbours };
}

function differenceOf({ settled, isHeld }: Refuted, contract: string, cycleMs: number): Difference {
  const { last, set } = settled();
  const isLate = isHeld && last.decision === 'admitted';
  const found = isLate
    ? { figure: 'answer time', predicted: 'another delay', observed: `${Math.round(last.answeredMs - last.sentMs)} ms` }
    : { figure: 'decision', predicted: last.decision === 'admitted' ? 'limited' : 'admitted', observed: last.decision };
  const these = set === undefined ? 'the answers up to here' : wordsOf(set);
  const note = `no counting order can explain ${isLate ? 'the times of ' : ''}${these}`;
  return { cycle: cycleOf(last.sentMs, cycleMs), contract, ...found, note };
}

function wordsOf(set: readonly SeenRequest[]): string {
  const n = (of: SeenRequest['decision']) => set.filter(({ decision }) => decision === of).length;
  const kinds = (['admitted', 'limited'] as const).filter((of) => n(of) > 0).map((of) => `${n(of)} ${of}`);
  const seconds = (set.at(-1)!.sentMs - set[0]!.sentMs) / 1000;
  return `these answers: ${kinds.join(' and ')}, sent within ${seconds.toFixed(3)} s`;
}

/** Where every limited answer was late by long enough for the limiter's clock to have stopped. */
function pausesOf(seen: readonly SeenRequest[], promisedMs = Number.POSITIVE_INFINITY): Pause[] {
  return seen
    .filter(
      ({ decision, sentMs, answeredMs }) => decision === 'limited' && answeredMs - sentMs >= promisedMs + PAUSE_MS,
    )
    .map(({ sentMs, answeredMs }) => ({ fromMs: sentMs, toMs: answeredMs }));
}

/**
 * When a clock may have stopped. One that mistakes a pause for a new time of day continues from its last reading: at the latest the one for
 * the last answer before the pause.
 */
function stopsOf(pauses: readonly Pause[], seen: readonly SeenRequest[]): Pause[] {
  const answers = Float64Array.from(seen, ({ answeredMs }) => answeredMs).sort();
  let before = 0;
  return joined(
    pauses.map(({ fromMs, toMs }) => {
      while (before < answers.length && answers[before]! <= fromMs) before += 1;
      return { fromMs: before === 0 ? fromMs : answers[before - 1]!, toMs };
    }),
  );
}

function joined(pauses: readonly Pause[]): Pause[] {
  const all: { fromMs: number; toMs: number }[] = [];
  for (const { fromMs, toMs } of [...pauses].sort((a, b) => a.fromMs - b.fromMs)) {
    const last = all.at(-1);
    if (last === undefined || last.toMs < fromMs) all.push({ fromMs, toMs });
    else last.toMs = Math.max(last.toMs, toMs);
  }
  return all;
}

function pausedWords(pauses: readonly Pause[]): string {
  const total = behindMs(pauses, Number.POSITIVE_INFINITY).toFixed(0);
  const times = pauses.length === 1 ? '' : ` in ${pauses.length} pauses`;
  return (
    `No counting order can explain the answers of a limiter with a running clock. This machine was stopped for up to ${total} ms${times}: ` +
    'a limiter that runs here and whose clock stopped with it could have answered so.'
  );
}

function uncertaintyOf(
  found: Exclude<Explanation, Refuted>,
  requests: readonly SeenRequest[],
  pauses: readonly Pause[],
): string {
  const longestMs = slowestMs(requests.filter(({ decision }) => decision !== 'unknown'));
  const took = `answers took up to ${longestMs.toFixed(0)} ms`;
  if (found.type === 'unknown') {
    if (found.why === 'paused') return pausedWords(pauses);
    return found.why === 'too many'
      ? `The requests could have been counted in too many orders to look at all of them, since ${took}. Send fewer at once.`
      : 'What the rule decides follows from how long each request is in flight at the target, which is not seen from outside.';
  }
  return (
    `The answers would fit too many limiters: of ${found.sampled} requests that were looked at ${found.ambiguous} could have been ` +
    `admitted or limited alike, since ${took}.`
  );
}
