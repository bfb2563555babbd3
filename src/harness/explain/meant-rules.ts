// The rules that a limit may mean where it is asserted: without the name of a product any window, fixed or rolling.
//
//   60 in 60s                        a window by a clock, one from the first request on, one that rolls; of a log, also one that counts refused ones
//   express-rate-limit 60 in 60s     its own
import { planRule } from '../../core/limiter/planned-rule.js';
import { limitText } from '../../core/limiter/products/limit-text.js';
import { followsRule, limiterDefinition, windowsOf } from '../../core/limiter/products/limiter-spec.js';
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { planContract } from '../../core/limiter/validate.js';
import { Failure } from '../../core/schema/failure.js';
import { cycleMsFor, parseTimeMs } from '../../core/schema/quantity.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import { isExplained } from './explain.js';
import type { SeenRequest } from './seen-request.js';

/** Windows of these kinds for words without a name; otherwise the rule that is meant. @throws Failure `invalid_definition` */
export function meantRules(limiter: Fields, kinds = usualWindows): readonly RuleDefinition[] {
  const parts = 'and' in limiter ? (limiter['and'] as readonly Fields[]) : [limiter];
  const windows = parts.filter((one) => !followsRule(one)).map(windowOf);
  if (windows.length === parts.length)
    return kinds.map((kind) => {
      const of = windows.map((window) => kind(window.limit, window.window_ms));
      return of.length === 1 ? of[0]! : { primitive: 'and', params: { of } };
    });
  const { rule } = planContract(limiterDefinition(limiter, cycleMsFor(windowsOf(limiter), CYCLE_MS)));
  if (rule === undefined || rule.most === Number.POSITIVE_INFINITY)
    throw new Failure('invalid_definition', {
      what: `"${limitText(limiter)}" admits everything.`,
      why: 'No answers could differ from it.',
      fix: "Give a limit, as '60 in 60s'.",
    });
  return [rule.definition];
}

type Fields = Readonly<Record<string, unknown>>;
type WindowKind = (limit: number, window_ms: number) => RuleDefinition;

const usualWindows: readonly WindowKind[] = [
  (limit, window_ms) => ({ primitive: 'fixed_window', params: { limit, window_ms, align: 'epoch' } }),
  (limit, window_ms) => ({ primitive: 'fixed_window', params: { limit, window_ms, align: 'first' } }),
  (limit, window_ms) => ({ primitive: 'sliding_log', params: { limit, window_ms } }),
];

/** Those in which refused requests count, too: what the words mean to every other command, by the ms and in cycles. */
export const allWindows: readonly WindowKind[] = [
  ...usualWindows,
  (limit, window_ms) => ({ primitive: 'sliding_log', params: { limit, window_ms, count_refused: true } }),
  (threshold, window_ms) => {
    const cycle_ms = cycleMsFor([`${window_ms}ms`], CYCLE_MS);
    return { primitive: 'rolling_count', params: { threshold, within: Math.round(window_ms / cycle_ms), cycle_ms } };
  },
];

function windowOf({ threshold = 100, within = 60, ...others }: Fields) {
  const [unused] = Object.keys(others);
  if (unused !== undefined)
    throw new Failure('invalid_definition', {
      what: `${unused} ${unused === 'definition' ? 'is not judged' : 'has no effect'}: answers show only what is admitted.`,
      fix: unused === 'definition' ? "Give a limit, as '60 in 60s'." : `Leave ${unused} out.`,
    });
  return { limit: threshold as number, window_ms: parseTimeMs(within as number | string, CYCLE_MS, '', 0.001) };
}

/** What a limiter and this process may read differently, in ms. */
export const SLACK_MS = 1;

/** Whether these answers may be explained if no request had been limited: also where that search was given up. */
export function passesUnlimited(requests: readonly SeenRequest[], rules: readonly RuleDefinition[]): boolean {
  const all = requests.map((one) => (one.decision === 'limited' ? { ...one, decision: 'admitted' as const } : one));
  return isExplained(all, rules, { slackMs: SLACK_MS }) !== false;
}

/** Multiples of what a limiter lets through at once: one whose window ends meanwhile admits twice as much. */
const TIMES = [1, 1.3, 2, 2.6];
const MOST_SENT = 100_000;

/** How many requests, evenly within `spreadMs`, a server without any limit cannot admit unseen; undefined if that takes too many. */
export function requestsToTest(rules: readonly RuleDefinition[], spreadMs = 0): number | undefined {
  const sent = (n: number) =>
    Array.from({ length: n }, (_, k): SeenRequest => {
      const sentMs = (k / n) * spreadMs;
      return { sentMs, answeredMs: sentMs + 2, decision: 'admitted' };
    });
  return TIMES.map((times) => Math.floor(times * mostOf(rules)) + 1).find(
    (n) => n <= MOST_SENT && !passesUnlimited(sent(n), rules),
  );
}

function mostOf(rules: readonly RuleDefinition[]): number {
  return Math.max(...rules.map((rule) => planRule(rule).most));
}

const CYCLES_OF_SPAN = 60;
const [LEAST_CYCLE_MS, MOST_CYCLE_MS] = [10, 777];
/** What takes longer is tested by its first burst alone. */
const LONGEST_MS = 90_000;

/**
 * Bursts that distinguish a limit from one that admits one more, resets early, counts what it refuses, or never resets.
 *
 *     more than any window admits     a reset?      one more than the next window admits
 *     0                               9/20, 9/10    5/4 of the time that the limit remembers
 *
 * @param spanMs that time; a burst takes one cycle @returns undefined where it takes too many requests
 */
export function testTraffic(rules: readonly RuleDefinition[], spanMs: number, budget = Number.POSITIVE_INFINITY) {
  const cycleMs = Math.min(MOST_CYCLE_MS, Math.max(LEAST_CYCLE_MS, Math.round(spanMs / CYCLES_OF_SPAN)));
  const first = requestsToTest(rules, cycleMs) ?? budget;
  if (first > MOST_SENT) return undefined;
  const most = mostOf(rules);
  const bursts: [share: number, n: number][] = [[0, first]];
  if ((5 / 4) * spanMs <= LONGEST_MS) bursts.push([5 / 4, most + 2], [9 / 10, most + 1], [9 / 20, most + 1]);
  const counts: number[] = [];
  let left = budget;
  for (const [share, wanted] of bursts) {
    const n = Math.min(wanted, left);
    counts[Math.ceil((share * spanMs) / cycleMs)] = n;
    left -= n;
  }
  return { cycleMs, counts: Array.from(counts, (n = 0) => n) };
}
