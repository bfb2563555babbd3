// The retry policy of a program from its observed calls: pure, `(calls) -> policy`.

import type { RandomStream } from '../../../core/math/random.js';
import { type Range, rangeOf } from '../../../core/math/range.js';
import { difference, explained, type GapDifference } from './gap-checks.js';
import { type AdviceTaken, type Advised, adviceTaken } from './retry-after.js';
import {
  type AnnouncedWait,
  type Call,
  failsAlways,
  hasGivenUp,
  lastGapMs,
  MANY,
  type Reply,
  replyAt,
  type Script,
} from './script.js';
import { fitWaits, type WaitFit } from './wait-fit.js';
import { EARLY_MS, type Gap, latestMs, type TimerLateness, waitLaw } from './wait-law.js';

/** Answers with separate back-offs: limited, and all others. */
export const setbacks = ['limited', 'failed'] as const;
export type SetbackGroup = (typeof setbacks)[number];

export function setbackOf({ status }: Reply): SetbackGroup {
  return status === 429 ? 'limited' : 'failed';
}

export interface Retried {
  readonly always: readonly string[];
  readonly never: readonly string[];
  /** Only some calls continued: a quota, or chance. */
  readonly sometimes: readonly string[];
}

export interface Backoff {
  readonly after: readonly SetbackGroup[];
  /** Most likely first; the others are not clearly less likely. */
  readonly fits: readonly WaitFit[];
  readonly gaps: readonly Gap[];
  readonly unexplained: readonly Gap[];
  /** Whether waits are evenly distributed over their law, as far as visible. */
  readonly isEven: boolean;
  /** Gaps after quick answers, and after slow ones where those differ: waits that do not begin with the answer. */
  readonly paced: GapDifference | undefined;
}

export interface RetryPolicy {
  readonly methods: readonly string[];
  readonly calls: number;
  readonly retried: Retried;
  /** Attempts of a call that always fails; `most` is Infinity if no call was observed to its end. */
  readonly attempts: Range;
  readonly backoffs: readonly Backoff[];
  /** Ways that explain the waits after `Retry-After` in seconds, most likely first; may be empty. */
  readonly advice: readonly AdviceTaken[];
  readonly advisedAfter: readonly SetbackGroup[];
  readonly obeysDate: boolean | undefined;
  /** For an answer, in ms; `most` is Infinity if it never gave up. */
  readonly timeout: Range | undefined;
  /** Total time after which it gives up, in ms, whatever the attempts. */
  readonly deadline: Range | undefined;
  /** Retries shared by all calls of one process; then each call has one attempt only. */
  readonly quota: Readonly<Record<SetbackGroup, Range | undefined>> & {
    /** Whether one process made more retries than that, where they were served. */
    readonly isRefunded: boolean;
  };
}

/** Tolerance: the program's wait begins before its request arrives. */
const TIMEOUT = { share: 1.01, ms: 30 };
/** An announced wait up to this shows that an answer is retried. */
const SOON_S = 2;
/** Announced waits were obeyed if all were exceeded, half of them by no more than this beyond the minimum. */
const OBEYED_MS = 60;
/** Of a client without a back-off, whose lateness no gap shows. */
const UNKNOWN_LATE = { offsetMs: 0, spreadMs: 20 };
/** Spreads of lateness that one answer in 1,000 exceeds: beyond an announcement, randomness up to this may be lateness. */
const RARELY = 10;

export function retryPolicyOf(calls: readonly Call[], draw: RandomStream, timers: TimerLateness): RetryPolicy {
  const backoffs = backoffsOf(calls, draw, timers);
  const retried = retriedOf(calls);
  const seen = attemptsOf(calls);
  const deadline = deadlineOf(calls, backoffs, { retried, attempts: seen });
  const advisedBy = (form: AnnouncedWait['form']) =>
    setbacks.map((one) => advisedOf(calls, one, form, backoffs, timers));
  const deadlineMs = deadline?.least;
  const advised = advisedBy('seconds').map((seen) => seen.map((one) => ({ ...one, deadlineMs })));
  const adviceFound = adviceFor(advised, backoffs);
  const reachMs = Math.min(adviceFound.advice[0]?.end?.atMs ?? Infinity, deadlineMs ?? Infinity);
  return {
    methods: [...new Set(calls.map(({ method }) => method))],
    calls: calls.length,
    retried,
    attempts:
      deadline === undefined
        ? seen
        : { least: seen.most, most: isSpent(calls, backoffs, seen, deadline) ? seen.most : Infinity },
    backoffs,
    ...adviceFound,
    // A date beyond an end shows nothing.
    obeysDate: obeysAll(
      advisedBy('date')
        .flat()
        .filter(({ announcedMs }) => announcedMs <= reachMs),
    ),
    timeout: timeoutOf(calls),
    deadline,
    quota: quotas(calls),
  };
}

/** Answers without which no policy is named, of which no call showed whether they are retried. */
export function unseenOf({ retried: { always, never, sometimes } }: RetryPolicy): readonly number[] {
  return [429, 503].filter((one) => ![...always, ...never, ...sometimes].includes(`${one}`));
}

function replyName({ status, retryAfter }: Reply): string {
  return retryAfter === undefined ? `${status}` : `${status} with Retry-After`;
}

function retriedOf(calls: readonly Call[]): Retried {
  const by = new Map<string, boolean[]>();
  for (const call of calls) {
    const { reply, hungUp } = call.attempts[0]!;
    const isRetried = call.attempts.length > 1;
    const isSetback = reply.status !== 200 || hungUp;
    // Stops by a limit, quota or deadline are analyzed elsewhere.
    const isSlow = reply.heldMs !== undefined && !hungUp;
    const isAside = (reply.retryAfter?.seconds ?? 0) > SOON_S || call.place > 0 || isSlow;
    if (!isSetback || isAside || !(isRetried || hasGivenUp(call))) continue;
    const name = hungUp ? 'timeout' : replyName(reply);
    by.set(name, [...(by.get(name) ?? []), isRetried]);
  }
  const named = (is: (seen: readonly boolean[]) => boolean) => [...by].filter(([, seen]) => is(seen)).map(([n]) => n);
  return {
    always: named((seen) => !seen.includes(false)),
    never: named((seen) => !seen.includes(true)),
    sometimes: named((seen) => seen.includes(true) && seen.includes(false)),
  };
}

function attemptsOf(calls: readonly Call[]): Range {
  const failing = calls.filter(
    ({ script, attempts, place }) =>
      isQuick(script) && place === 0 && (attempts.length > 1 || attempts[0]!.reply.retryAfter),
  );
  const ended = failing.filter(hasGivenUp).map(({ attempts }) => attempts.length);
  const seen = Math.max(1, ...failing.map(({ attempts }) => attempts.length));
  if (ended.length > 0) return { least: Math.min(...ended), most: seen };
  const isNeverRetried = failing.length === 0 && calls.some((call) => isQuick(call.script) && hasGivenUp(call));
  return { least: seen, most: isNeverRetried ? 1 : Infinity };
}

function isSlow(script: Script): boolean {
  return replyAt(script, 0).heldMs !== undefined;
}

function isQuick(script: Script): boolean {
  return (failsAlways(script) || script.replies.length > MANY) && !isSlow(script);
}

// ---- back-off ------------------------------------------------------------------------------------------------------------

/** Gaps after answers without an announcement; after an announced wait, a client may restart its count. */
function gapsOf(calls: readonly Call[], setback: SetbackGroup): Gap[] {
  return calls.flatMap(({ attempts, isFresh }) => {
    const gaps: Gap[] = [];
    let lastMs = 0;
    for (let k = 1; k < attempts.length; k += 1) {
      const { reply, endedMs, hungUp } = attempts[k - 1]!;
      if (reply.retryAfter !== undefined || reply.status === 200 || hungUp) break;
      if (setbackOf(reply) !== setback) break;
      const ms = attempts[k]!.arrivedMs - endedMs;
      if (attempts[k]!.isStalled !== true) gaps.push({ k, ms, lastMs, isFirst: k === 1 && isFresh });
      lastMs = ms;
    }
    return gaps;
  });
}

/** Obeyed announcements of whole seconds show the lateness of gaps. */
function known(calls: readonly Call[]): Gap[] {
  const first = calls.flatMap(({ attempts, isFresh }): Gap[] => {
    const [one, two] = attempts;
    if (
      two === undefined ||
      two.isStalled === true ||
      one!.reply.retryAfter?.form !== 'seconds' ||
      one!.reply.retryAfter.seconds > 5
    )
      return [];
    const knownMs = one!.reply.retryAfter.seconds * 1000;
    return [{ k: 1, ms: two.arrivedMs - one!.endedMs, lastMs: 0, isFirst: isFresh, knownMs }];
  });
  const lates = first.filter(({ knownMs }) => knownMs! >= 500).map(({ ms, knownMs }) => ms - knownMs!);
  lates.sort((a, b) => a - b);
  return lates.length > 2 && lates[0]! > -EARLY_MS && lates[lates.length >> 1]! < lates[0]! + OBEYED_MS
    ? first.filter(({ knownMs }) => knownMs! > 0)
    : [];
}

function backoffsOf(calls: readonly Call[], draw: RandomStream, timers: TimerLateness): Backoff[] {
  const late = known(calls);
  const [slow, quick] = [true, false].map((is) => calls.filter(({ script }) => isSlow(script) === is));
  const of = (after: readonly SetbackGroup[]): Backoff => {
    const [gaps, slowGaps] = [quick!, slow!].map((those) => after.flatMap((setback) => gapsOf(those, setback)));
    const fits = fitWaits([...gaps!, ...late], timers, draw).map((fit) => ({ fit, ...explained(gaps!, fit, timers) }));
    const good = fits.filter(({ unexplained, isEven }) => unexplained.length === 0 && isEven);
    const [{ unexplained, isEven }] = (good.length > 0 ? good : fits) as [(typeof fits)[0]];
    const paced = difference(gaps!, slowGaps!, timers);
    const kept = (good.length > 0 ? good : fits).map(({ fit }) => fit);
    return { after, fits: kept, gaps: gaps!, unexplained, isEven, paced };
  };
  const [limited, failed] = setbacks.map((setback) => gapsOf(quick!, setback));
  const seen = setbacks.filter((_, i) => [limited!, failed!][i]!.length > 0);
  if (seen.length === 0) return [];
  const isOneLaw = difference(limited!, failed!, timers) === undefined;
  return isOneLaw ? [of(seen)] : seen.map((setback) => of([setback]));
}

// ---- Retry-After ---------------------------------------------------------------------------------------------------------

function advisedOf(
  calls: readonly Call[],
  setback: SetbackGroup,
  form: AnnouncedWait['form'],
  backoffs: readonly Backoff[],
  { oftenMs }: TimerLateness,
): Advised[] {
  const fit = backoffFor(setback, backoffs)?.fits[0];
  return calls.flatMap((call): Advised[] => {
    const { attempts, isFresh } = call;
    const at = attempts.findIndex(({ reply }) => reply.retryAfter?.form === form && setbackOf(reply) === setback);
    if (at < 0) return [];
    const [one, two] = [attempts[at]!, attempts[at + 1]];
    if (two?.isStalled === true || (two === undefined && call.place > 0)) return [];
    const late = fit === undefined ? UNKNOWN_LATE : isFresh && at === 0 ? fit.first : fit.later;
    const k = at + 1;
    // Without a back-off of its own, a client waits as announced, or not at all.
    const own =
      fit === undefined
        ? [{ share: 1, fromMs: 0, toMs: 0 }]
        : waitLaw(fit.structure, fit.parameters, {
            k,
            lastMs: at === 0 ? 0 : one.arrivedMs - attempts[at - 1]!.endedMs,
          });
    const gapMs = two === undefined ? undefined : two.arrivedMs - one.endedMs;
    const watchedMs = call.ending === 'silent' ? call.silentMs : Infinity;
    return [
      {
        announcedMs: one.reply.retryAfter!.seconds * 1000,
        gapMs,
        watchedMs,
        late,
        hiddenMs: RARELY * Math.max(late.spreadMs, oftenMs),
        own,
      },
    ];
  });
}

export function backoffFor(setback: SetbackGroup, backoffs: readonly Backoff[]): Backoff | undefined {
  return backoffs.find(({ after }) => after.includes(setback)) ?? backoffs[0];
}

/** For both setbacks together, else for limited answers. */
function adviceFor(
  advised: readonly (readonly Advised[])[],
  backoffs: readonly Backoff[],
): Pick<RetryPolicy, 'advice' | 'advisedAfter'> {
  const low = backoffs[0]?.fits[0]?.parameters.low ?? 1;
  const scale = low > 0 && low < 1 ? 1 / low : 1;
  const after = setbacks.filter((_, i) => advised[i]!.some(({ gapMs }) => gapMs !== undefined));
  for (const advisedAfter of [after, after.slice(0, 1)]) {
    const seen = advisedAfter.flatMap((one) => advised[setbacks.indexOf(one)]!);
    const advice = seen.length === 0 ? [] : adviceTaken(seen, scale);
    if (advice.length > 0) return { advice, advisedAfter };
  }
  return { advice: [], advisedAfter: after };
}

function obeysAll(seen: readonly Advised[]): boolean | undefined {
  const answered = seen.filter(({ gapMs, watchedMs }) => gapMs !== undefined || watchedMs === Infinity);
  if (answered.length === 0) return undefined;
  // A date is truncated to its second.
  return answered.every(
    ({ gapMs, announcedMs, late }) =>
      gapMs !== undefined && gapMs >= announcedMs - 1000 && gapMs <= 1.3 * announcedMs + latestMs(late),
  );
}

// ---- how long, and how many in all ---------------------------------------------------------------------------------------

function timeoutOf(calls: readonly Call[]): Range | undefined {
  const held = calls.flatMap(({ attempts: [one] }) => ((one!.reply.heldMs ?? 0) > 0 ? [one!] : []));
  if (held.length === 0) return undefined;
  const ms = held.map(({ arrivedMs, endedMs, hungUp }) => ({ ms: endedMs - arrivedMs, hungUp }));
  const gone = ms.filter(({ hungUp }) => hungUp).map((one) => one.ms);
  const waited = Math.max(0, ...ms.filter(({ hungUp }) => !hungUp).map((one) => one.ms));
  if (gone.length === 0) return { least: waited, most: Infinity };
  // The program began to wait before its request arrived.
  return { least: Math.max(waited, Math.min(...gone)), most: Math.max(...gone) * TIMEOUT.share + TIMEOUT.ms };
}

function since({ attempts }: Call, i: number): number {
  return attempts[i]!.endedMs - attempts[0]!.arrivedMs;
}

/** The latest time since its first attempt at which a call would have continued, in ms. */
function nextMs(call: Call, backoffs: readonly Backoff[]): number {
  const { attempts } = call;
  const { reply, hungUp } = attempts.at(-1)!;
  const fit = backoffFor(setbackOf(reply), backoffs)?.fits[0];
  const next = fit && waitLaw(fit.structure, fit.parameters, { k: attempts.length, lastMs: lastGapMs(call) });
  return since(call, attempts.length - 1) + (hungUp ? 0 : (next?.at(-1)?.toMs ?? 0));
}

/** Whether a call ended with all its attempts, and not for the deadline. */
function isSpent(calls: readonly Call[], backoffs: readonly Backoff[], { most }: Range, deadline: Range): boolean {
  return calls.some(
    (call) =>
      isQuick(call.script) &&
      call.attempts.length === most &&
      hasGivenUp(call) &&
      nextMs(call, backoffs) < deadline.least,
  );
}

/** A call that continued was within the deadline; for one that ended with attempts left, the next wait was too long. */
function deadlineOf(
  calls: readonly Call[],
  backoffs: readonly Backoff[],
  { retried, attempts: { most } }: Pick<RetryPolicy, 'retried' | 'attempts'>,
): Range | undefined {
  const alone = calls.filter(({ place }) => place === 0);
  const wentOn = alone
    .filter(({ attempts }) => attempts.length > 1)
    .map((call) => since(call, call.attempts.length - 2));
  const ended = alone.flatMap((call) => {
    const { attempts } = call;
    const { reply, hungUp } = attempts.at(-1)!;
    const isEarly =
      attempts.length < most && retried.always.includes(replyName(reply)) && reply.retryAfter === undefined;
    if (!isEarly || !hasGivenUp(call) || (hungUp && attempts.length === 1)) return [];
    return [nextMs(call, backoffs)];
  });
  const found = { least: Math.max(0, ...wentOn), most: Math.min(...ended) };
  return found.least < found.most && found.most < Infinity ? found : undefined;
}

function quotas(calls: readonly Call[]): RetryPolicy['quota'] {
  const [limited, failed] = setbacks.map((one) => quotaOf(calls, one));
  const most = Math.max(limited?.most ?? 0, failed?.most ?? 0);
  const retries = new Map<number, number>();
  for (const { start, attempts, ending } of calls)
    if (ending === 'served') retries.set(start, (retries.get(start) ?? 0) + attempts.length - 1);
  return { limited, failed, isRefunded: most > 0 && Math.max(...retries.values()) > most };
}

/** If all calls of a process fail, later calls have fewer attempts, and finally one. */
function quotaOf(calls: readonly Call[], setback: SetbackGroup): Range | undefined {
  const starts = new Map<number, Call[]>();
  for (const call of calls)
    if (failsAlways(call.script) && setbackOf(call.attempts[0]!.reply) === setback)
      starts.set(call.start, [...(starts.get(call.start) ?? []), call]);
  const used = [...starts.values()].flatMap((one) => {
    const retries = one.sort((a, b) => a.place - b.place).map(({ attempts }) => attempts.length - 1);
    const isUsedUp = retries.length > 2 && retries[0]! > 0 && retries.slice(-2).every((n) => n === 0);
    return isUsedUp ? [retries.reduce((sum, n) => sum + n, 0)] : [];
  });
  return used.length === 0 ? undefined : rangeOf(used);
}
