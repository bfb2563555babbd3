// The answer of `weir identify --client`: a verdict, its numbers, and the client as a scenario has it. Pure.
import { clientEntry, ms } from './client-entry.js';
import { explainsCalls, librariesLike } from './client-replay.js';
import type { AdviceTaken } from './retry-after.js';
import type { Backoff, RetryPolicy, SetbackGroup } from './retry-policy.js';
import type { Call } from './script.js';
import { HIDDEN, type Interval, type WaitFit } from './wait-fit.js';
import { waitLaw } from './wait-law.js';

type Jitter = 'none' | 'full' | 'equal' | 'subtractive' | 'proportional' | 'additive' | 'decorrelated';

interface BackoffAnswer {
  readonly after: readonly SetbackGroup[];
  readonly growth: 'none' | 'fixed' | 'linear' | 'exponential';
  readonly jitter: Jitter;
  readonly words: string;
  /** Times in ms; `jitter` as a share of the wait. */
  readonly parameters: Readonly<Record<string, number>>;
  readonly intervals: Readonly<Record<string, readonly [number, number | null]>>;
}

export interface ClientAnswer {
  readonly program: string;
  readonly verdict: 'identified' | 'ambiguous' | 'none' | 'undecided';
  readonly calls: number;
  readonly requests: number;
  readonly seconds: number;
  readonly methods: readonly string[];
  readonly attempts: readonly [number, number | null];
  readonly retried: RetryPolicy['retried'];
  readonly backoff: readonly (BackoffAnswer & { readonly others: readonly string[] })[];
  readonly retry_after: {
    readonly ways: readonly AdviceTaken[];
    readonly after: readonly SetbackGroup[];
    readonly date: boolean | null;
  };
  readonly timeout_ms: readonly [number, number | null] | null;
  readonly deadline_ms: readonly [number, number | null] | null;
  /** Retries that the calls of one process may make together. */
  readonly quota: Readonly<Partial<Record<SetbackGroup, readonly [number, number | null]>>>;
  readonly like: readonly string[];
  readonly remarks: readonly string[];
  readonly clients: readonly object[] | null;
}

interface ClientEvidence {
  readonly policy: RetryPolicy;
  readonly calls: readonly Call[];
  readonly seconds: number;
  readonly isMixed: boolean;
}

export function clientAnswer(program: string, { policy, calls, seconds, isMixed }: ClientEvidence): ClientAnswer {
  const { backoffs, retried, attempts, advice, advisedAfter, timeout, deadline, quota } = policy;
  const backoff = backoffs.map((one) => {
    const [best, ...others] = distinct(one);
    return { ...backoffAnswer(one.after, best!), others: others.map((fit) => backoffAnswer(one.after, fit).words) };
  });
  const isExplained = backoffs.every(({ unexplained, isEven }) => unexplained.length === 0 && isEven);
  const entry = clientEntry(policy);
  const isReplayed = isExplained && explainsCalls(entry, calls, policy);
  const isOpen = backoff.some(({ others }) => others.length > 0) || attempts.most === Infinity;
  const remarks = remarksOn(policy, isMixed);
  if (isExplained && !isReplayed)
    remarks.push('No client of a scenario explains all of these calls, so none is written.');
  return {
    program,
    verdict: isMixed ? 'undecided' : !isExplained ? 'none' : isOpen ? 'ambiguous' : 'identified',
    calls: calls.length,
    requests: calls.reduce((sum, one) => sum + one.attempts.length, 0),
    seconds: Math.round(seconds),
    methods: policy.methods,
    attempts: pair(attempts),
    retried,
    backoff: isExplained ? backoff : [],
    retry_after: { ways: advice, after: advisedAfter, date: policy.obeysDate ?? null },
    timeout_ms: timeout === undefined ? null : pair(timeout),
    deadline_ms: deadline === undefined ? null : pair(deadline),
    quota: Object.fromEntries(
      Object.entries(quota).flatMap(([name, one]) => (one === undefined ? [] : [[name, pair(one)]])),
    ),
    like: isReplayed && !isMixed && retried.always.length > 0 ? librariesLike(entry, calls) : [],
    remarks,
    clients: isReplayed ? [entry] : null,
  };
}

/** Those of which a wait that was seen has other edges. */
function distinct({ fits, gaps }: Backoff): WaitFit[] {
  const retries = [...new Set(gaps.map(({ k }) => k))];
  const edges = ({ structure, parameters }: WaitFit) =>
    retries.flatMap((k) => {
      const pieces = waitLaw(structure, parameters, { k, lastMs: 3 * parameters.baseMs });
      return [pieces[0]!.fromMs, pieces.at(-1)!.toMs];
    });
  const alike = (a: WaitFit, b: WaitFit) => {
    const others = edges(b);
    return edges(a).every((one, i) => Math.abs(one - others[i]!) < 5 + 0.02 * one);
  };
  return fits.filter((fit, i) => !fits.slice(0, i).some((before) => alike(fit, before)));
}

function backoffAnswer(after: readonly SetbackGroup[], { structure, parameters, intervals }: WaitFit): BackoffAnswer {
  const { growth, jitter, skipsFirst } = structure;
  const { baseMs, factor, low, plusMs, capMs } = parameters;
  if (growth === 'none') return { after, growth, jitter: 'none', words: 'at once', parameters: {}, intervals: {} };
  const isDecorrelated = jitter === 'decorrelated';
  // U(l, 1) w is U(1, 1 / l) l w: the rounder of the two.
  const longer = 1 / low - 1;
  const isLonger = low > 0 && low < 1 && low !== 0.5 && digits(longer) < digits(1 - low);
  const base = isLonger ? low * baseMs : baseMs;
  const scale = isLonger ? low : 1;
  const kind: Jitter = isDecorrelated
    ? 'decorrelated'
    : jitter === 'plus'
      ? 'additive'
      : isLonger
        ? 'proportional'
        : low === 1
          ? 'none'
          : low === 0
            ? 'full'
            : low === 0.5
              ? 'equal'
              : 'subtractive';
  const grows = isDecorrelated
    ? ''
    : growth === 'linear'
      ? ', longer by as much each time'
      : factor === 1
        ? ' each time'
        : `, x ${exact(factor)} each time`;
  const jittered: Readonly<Record<Jitter, string>> = {
    none: '',
    full: ', full jitter',
    equal: ', equal jitter',
    subtractive: `, shorter by up to ${percent(1 - low)}`,
    proportional: `, longer by up to ${percent(longer)}`,
    additive: `, plus up to ${ms(plusMs)}`,
    decorrelated: ' to 3 times the last wait',
  };
  const capped = capMs === Infinity ? '' : `, at most ${ms(scale * capMs)}`;
  const scaled = ({ least, most }: Interval): [number, number | null] =>
    pair({ least: scale * least, most: scale * most });
  const isShare = kind === 'subtractive' || kind === 'proportional';
  return {
    after,
    growth: growth === 'exponential' && factor === 1 ? 'fixed' : growth,
    jitter: kind,
    words: `${skipsFirst ? 'at once, then ' : ''}${ms(base)}${grows}${capped}${jittered[kind]}`,
    parameters: {
      base_ms: exact(base),
      ...(growth === 'linear' || isDecorrelated ? {} : { factor: exact(factor) }),
      ...(capMs === Infinity ? {} : { cap_ms: scale * capMs }),
      ...(isShare ? { jitter: isLonger ? longer : 1 - low } : {}),
      ...(kind === 'additive' ? { plus_ms: plusMs } : {}),
    },
    intervals: {
      base_ms: scaled(intervals.baseMs),
      ...(growth === 'linear' || isDecorrelated ? {} : { factor: pair(intervals.factor) }),
      cap_ms: capMs === Infinity ? [scale * intervals.capMs.least, null] : scaled(intervals.capMs),
      ...(isShare
        ? {
            jitter: isLonger
              ? [1 / intervals.low.most - 1, 1 / intervals.low.least - 1]
              : [1 - intervals.low.most, 1 - intervals.low.least],
          }
        : {}),
      ...(kind === 'additive' ? { plus_ms: pair(intervals.plusMs) } : {}),
    },
  };
}

/** What was not rounded has as many digits as mean something. */
function exact(value: number): number {
  return Number(value.toPrecision(4));
}

function digits(share: number): number {
  return `${Number(share.toPrecision(6))}`.length;
}

function percent(share: number): string {
  return `${Number((100 * share).toPrecision(3))} %`;
}

function pair({ least, most }: Interval): [number, number | null] {
  return [least, most === Infinity ? null : most];
}

function remarksOn(policy: RetryPolicy, isMixed: boolean): string[] {
  const { attempts, backoffs, retried, advice, advisedAfter, obeysDate, timeout } = policy;
  const remarks: string[] = [];
  if (isMixed) {
    remarks.push(
      'Calls of one path overlapped, so their attempts could not be separated. Give each call its own path, or let the program make one call at a time.',
    );
  }
  for (const { unexplained, isEven, after, fits } of backoffs) {
    const kinds = after.map((one) => (one === 'limited' ? '429' : 'other failures')).join(' and ');
    if (unexplained.length > 0) {
      const { k, ms: gap } = unexplained[0]!;
      remarks.push(
        `No known policy explains all waits after ${kinds}: the first that none explains is ${Math.round(gap)} ms before retry ${k}.`,
      );
    } else if (!isEven) remarks.push(`The waits after ${kinds} are not spread evenly over any known law.`);
    else if (fits[0]?.structure.jitter === 'none' && fits[0].structure.growth !== 'none') {
      const unseenMs = Math.ceil(HIDDEN * fits[0].later.spreadMs);
      remarks.push(
        `A random part of less than ${unseenMs} ms in the waits after ${kinds} would not be seen: answers were that late.`,
      );
    }
  }
  if (attempts.most === Infinity)
    remarks.push(
      `A call that always fails was watched for ${attempts.least} attempts and had not ended. More time (--time) would show more.`,
    );
  else if (attempts.most > attempts.least)
    remarks.push(`Calls that always fail have ${attempts.least} to ${attempts.most} attempts.`);
  if (retried.sometimes.length > 0) remarks.push(`Retried in some calls only: ${retried.sometimes.join(', ')}.`);
  if (advice.length > 1) remarks.push(`Retry-After: ${advice.map(({ way }) => way).join(' or ')} explain all waits.`);
  if (advice.length === 0 && advisedAfter.length > 0)
    remarks.push('No known use of Retry-After explains the waits after it.');
  if (advice[0] !== undefined && advice[0].way !== 'ignored' && obeysDate === false)
    remarks.push('A Retry-After that is a date is not obeyed.');
  if (timeout?.most === Infinity && timeout.least > 0)
    remarks.push(`It waits for an answer for ${Math.floor(timeout.least / 1000)} s and longer.`);
  return remarks;
}
