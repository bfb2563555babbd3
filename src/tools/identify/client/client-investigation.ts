// Chooses the scripts to play next, until further ones would show nothing new. Pure: a generator that yields scripts and receives calls.
//
//   one call that is served ─► each answer once, waits announced, calls that always fail ─► long waits announced ─┐
//                                   ▲                                                                              │
//                                   └── more calls where an interval is wide, waits between two that differ ◄──────┘
import type { RandomStream } from '../../../core/math/random.js';
import type { Range } from '../../../core/math/range.js';
import type { AdviceTaken } from './retry-after.js';
import {
  type Backoff,
  backoffFor,
  type RetryPolicy,
  retryPolicyOf,
  type SetbackGroup,
  setbacks,
  unseenOf,
} from './retry-policy.js';
import { type Call, MANY, type Reply, type Script } from './script.js';
import { type TimerLateness, waitLaw } from './wait-law.js';

export interface Played {
  readonly calls: readonly Call[];
  readonly leftMs: number;
  readonly timers: TimerLateness;
  readonly isOver?: boolean | undefined;
}

export type ClientInvestigation = Generator<readonly Script[], RetryPolicy, Played>;

const surveyed: readonly Reply['status'][] = [500, 502, 504, 408, 400, 'reset'];
const status: Readonly<Record<SetbackGroup, number>> = { limited: 429, failed: 503 };
const SHORT = [0, 1, 2, 5];
const LONG = [15, 32, 65, 130, 300, 900, 3600];
const SAMPLE = 8;
const ENOUGH_GAPS = 160;
/** A longer first wait, or time until it hangs up, is not observed to its end. */
const PATIENCE_MS = 12_000;
const CAP_PATIENCE_MS = 62_000;
/** Silence beyond the client's own wait that counts as obeying. */
const SHORT_PATIENCE_MS = 7_000;
/** Delay of an answer that tests whether the program hangs up. */
const HELD_MS = 15_000;
/** Delay of each answer that tests for a deadline, and of those that test for a rate limit of the program's own. */
const SLOW_MS = 4_000;
const PACE_MS = 2_000;
const MOST_ROUNDS = 6;

const after = (seconds: number) => ({ form: 'seconds', seconds }) as const;
const once = (reply: Reply, patienceMs = PATIENCE_MS): Script => ({
  name: `once ${reply.status}${reply.retryAfter === undefined ? '' : ` ${reply.retryAfter.form} ${reply.retryAfter.seconds}`}`,
  replies: [reply, { status: 200 }],
  patienceMs,
});
const always = (reply: Reply): Script => ({
  name: `always ${reply.status}`,
  replies: [reply],
  patienceMs: PATIENCE_MS,
});
const alwaysAdvised: Script = { ...always({ status: 429, retryAfter: after(1) }), name: 'always 429 seconds 1' };
/** A program that obeys it has attempts left at its deadline only if it has many. */
const atOnceAgain: Script = {
  name: 'many 429 seconds 0',
  replies: [...Array<Reply>(MANY).fill({ status: 429, retryAfter: after(0) }), { status: 200 }],
  patienceMs: PATIENCE_MS,
};
const advised = (setback: SetbackGroup, seconds: number, patienceMs?: number) =>
  once({ status: status[setback], retryAfter: after(seconds) }, patienceMs);
const times = <T>(n: number, of: (i: number) => T) => Array.from({ length: n }, (_, i) => of(i));

export function* investigateClient(draw: RandomStream): ClientInvestigation {
  const calls: Call[] = [];
  const play = function* (scripts: readonly Script[]): Generator<readonly Script[], Played, Played> {
    const played = yield scripts;
    calls.push(...played.calls);
    return played;
  };
  let { leftMs, timers, isOver } = yield* play([{ name: 'served', replies: [{ status: 200 }], patienceMs: 2_000 }]);
  let scripts = survey();
  let policy: RetryPolicy | undefined;
  for (let round = 0; round < MOST_ROUNDS && scripts.length > 0 && isOver !== true; round += 1) {
    ({ leftMs, timers, isOver } = yield* play(scripts));
    policy = retryPolicyOf(calls, draw, timers);
    // A busy machine may not play all of them in one round.
    const unplayed = scripts.filter((one) => !calls.some(({ script }) => script === one));
    scripts = leftMs < PATIENCE_MS ? [] : unplayed.length > 0 ? unplayed : further(policy, calls);
  }
  return policy ?? retryPolicyOf(calls, draw, timers);
}

function survey(): Script[] {
  return [
    once({ status: 200, heldMs: HELD_MS }),
    ...SHORT.map((seconds) => advised('limited', seconds)),
    once({ status: 429, retryAfter: { form: 'date', seconds: 4 } }),
    advised('failed', 2),
    ...surveyed.map((one) => once({ status: one })),
    ...times(SAMPLE, () => [always({ status: 503 }), always({ status: 429 })]).flat(),
  ];
}

function further(policy: RetryPolicy, calls: readonly Call[]): Script[] {
  const played = (name: string) => calls.some(({ script }) => script.name === name);
  const longest = Math.max(0, ...policy.backoffs.map(longestFirstWait));
  const soonMs = longest + SHORT_PATIENCE_MS;
  const waits = setbacks.flatMap((setback): Script[] => {
    const [way] = policy.advice;
    if (way === undefined || !policy.advisedAfter.includes(setback)) return [];
    if (setback !== policy.advisedAfter[0]) return [advised(setback, 1), advised(setback, 32, soonMs)];
    if (way.way === 'ignored') return [advised(setback, 65, soonMs)];
    const long = LONG.map((seconds) => advised(setback, seconds, seconds === 65 ? CAP_PATIENCE_MS : soonMs));
    // Randomness beyond the announcement has an edge to locate.
    const more = way.way === 'later' ? times(4 * SAMPLE, () => ({ ...advised(setback, 1), name: 'more' })) : [];
    const short = SHORT.slice(1).map((seconds) => advised(setback, seconds));
    return [
      ...short,
      ...long,
      ...whileItWaits(setback, policy),
      ...more,
      ...between(way.end).map((seconds) => advised(setback, seconds, soonMs)),
    ];
  });
  const samples = policy.backoffs.flatMap((backoff) => {
    if (!isOpen(backoff)) return [];
    const [setback] = backoff.after.filter((one) => policy.retried.always.includes(`${status[one]}`));
    const other = policy.retried.always.find((name) => !name.includes(' ') && name !== 'timeout');
    const reply = setback === undefined ? other : `${status[setback]}`;
    if (reply === undefined) return [];
    const calibrating =
      ['obeyed', 'floor'].includes(policy.advice[0]?.way ?? '') && backoff.fits.length > 1 ? SAMPLE : 0;
    return [
      ...times(2 * SAMPLE, () => always({ status: reply === 'reset' ? reply : Number(reply) })),
      ...times(calibrating, () => ({ ...advised(policy.advisedAfter[0]!, 1), name: 'known' })),
    ];
  });
  const open = policy.advice.map(({ way }) => way);
  const held = policy.attempts.most > 1 ? slowly(policy) : [];
  const many = policy.attempts.most === Infinity && open.some((way) => way !== 'ignored') ? [atOnceAgain] : [];
  // The program still runs: its first wait may be long.
  const patient = unseenOf(policy).flatMap((one) =>
    times(SAMPLE / 2, () => ({ ...always({ status: one }), name: `patient ${one}`, patienceMs: CAP_PATIENCE_MS })),
  );
  // A lower bound of its own short waits differs from obedience only in an announcement of 0.
  const zero = { status: status[policy.advisedAfter[0] ?? 'limited'], retryAfter: after(0) };
  const before = policy.attempts.least > 2 ? [{ status: zero.status }] : [];
  const atOnce =
    policy.backoffs.length > 0 && open.includes('floor') && open.includes('obeyed')
      ? times(SAMPLE, () => ({ ...once(zero), name: 'at once', replies: [...before, zero, { status: 200 }] }))
      : [];
  const isOnlyAdvised = policy.backoffs.length === 0 && policy.retried.always.includes('429 with Retry-After');
  if (isOnlyAdvised) samples.push(...times(3, () => alwaysAdvised));
  const singly = [...waits, ...atOnce, ...patient, ...held, ...many, ...aroundDeadline(policy)];
  return [
    ...singly.filter(({ name }) => !played(name)),
    ...samples.filter(({ name }) => !name.includes('seconds') || !played(name)),
  ];
}

/** An announcement below the client's own wait distinguishes a floor from obedience. */
function whileItWaits(setback: SetbackGroup, { backoffs, attempts }: RetryPolicy): Script[] {
  const [fit] = backoffFor(setback, backoffs)?.fits ?? [];
  if (fit === undefined) return [];
  const own = (k: number) => waitLaw(fit.structure, fit.parameters, { k, lastMs: 2 * fit.parameters.baseMs });
  const k = times(attempts.least - 1, (i) => i + 1).find((one) => own(one)[0]!.fromMs > 1_300);
  if (k === undefined) return [];
  const plain: Reply = { status: status[setback] };
  const replies = [...times(k - 1, () => plain), { ...plain, retryAfter: after(1) }, { status: 200 }];
  return [{ name: `late ${status[setback]} seconds 1`, replies, patienceMs: PATIENCE_MS }];
}

/** Slow answers show a deadline, and waits that do not begin with the answer: those behind a rate limit of the program's own. */
function slowly({ backoffs, timeout }: RetryPolicy): Script[] {
  const slow = (setback: SetbackGroup, heldMs: number) => always({ status: status[setback], heldMs });
  const awaitedMs = Math.min(PACE_MS, Math.round((timeout?.least ?? Infinity) / 2));
  return [
    { ...slow(backoffs[0]?.after.at(-1) ?? 'failed', SLOW_MS), name: 'slowly' },
    ...backoffs.flatMap(({ after: [setback] }) =>
      times(2 * SAMPLE, () => ({ ...slow(setback!, awaitedMs), name: `slowly ${status[setback!]}` })),
    ),
  ];
}

/** Answers so late that the next wait would end before or after a deadline. */
function aroundDeadline({ backoffs, deadline }: RetryPolicy): Script[] {
  if (deadline === undefined || backoffs[0] === undefined) return [];
  const waitMs = longestFirstWait(backoffs[0]);
  const { least, most } = { least: Math.max(0, deadline.least - waitMs), most: deadline.most };
  if (deadline.most - deadline.least < NARROW * deadline.most + waitMs) return [];
  const reply = { status: status[backoffs[0].after.at(-1)!] };
  return times(7, (i) => {
    const heldMs = Math.round(least + ((i + 1) / 8) * (most - least));
    return { ...once({ ...reply, heldMs }), name: `held ${heldMs}` };
  });
}

function between(end: AdviceTaken['end']): number[] {
  if (end === undefined || end.above === 'capped') return [];
  const [from, to] = [end.leastMs / 1000, end.mostMs / 1000];
  if (to - from <= Math.max(1, 0.02 * from)) return [];
  const points = times(7, (i) => Math.round(from + ((i + 1) / 8) * (to - from)));
  const round = [10, 20, 30, 31, 45, 60, 61, 90, 100, 120, 121, 180, 240, 600, 601, 1800, 1801];
  return [...new Set([...points, ...round])].filter((seconds) => seconds > from && seconds < to);
}

function longestFirstWait({ fits: [fit] }: Backoff): number {
  return waitLaw(fit!.structure, fit!.parameters, { k: 1, lastMs: 0 }).at(-1)!.toMs;
}

const NARROW = 0.06;

function isOpen({ fits, gaps, paced }: Backoff): boolean {
  const [fit] = fits;
  const { low, baseMs, plusMs, factor } = fit!.narrower;
  const isWide = ({ least, most }: Range) => most - least > NARROW * most + 4;
  const isJittered = fit!.structure.jitter !== 'none';
  return (
    paced === undefined &&
    gaps.length < ENOUGH_GAPS &&
    (fits.length > 1 ||
      (isJittered &&
        (isWide(baseMs) ||
          low.most - low.least > NARROW ||
          isWide(plusMs) ||
          factor.most > (1 + NARROW) * factor.least)))
  );
}
