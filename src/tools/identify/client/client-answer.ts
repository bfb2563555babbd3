// The answer of `weir identify --client`: a verdict, its numbers, and the client for a scenario. Pure.
import type { Static, TUnsafe } from 'typebox';
import type { Range } from '../../../core/math/range.js';
import { exact, flag, titled } from '../../../core/schema/fields.js';
import { type Shaped, Type } from '../../../core/schema/json-schema.js';
import type { ClientSpec } from '../../../harness/clients/client-schema.js';
import { Count, Measure, Nullable, Text } from '../../../harness/outcome/read-schema.js';
import { counted, percent } from '../../../report/words.js';
import { clientEntry, ms } from './client-entry.js';
import { explainsCalls, librariesLike } from './client-replay.js';
import type { PlayedPolicy } from './play-scripts.js';
import { type AdviceTaken, ways } from './retry-after.js';
import { type Backoff, type RetryPolicy, setbacks, unseenOf } from './retry-policy.js';
import type { WaitFit } from './wait-fit.js';
import { closeMs, isLonger, showsGrowth, type WaitStructure, waitLaw } from './wait-law.js';

const pair = Type.Array(Nullable(Type.Number()), { minItems: 2, maxItems: 2 });
const Intervals = Type.Record(Type.String(), pair as unknown as TUnsafe<readonly [number, number | null]>);
type Ends = Static<typeof Intervals>[string];
const Groups = Type.Array(Type.Enum([...setbacks]), { description: 'The setbacks it applies to.' });
const Answers = Type.Array(Type.Union([Type.Number(), Type.String()]), {
  description: 'Statuses, or what went wrong.',
});

const Wait = exact({
  after: Groups,
  growth: Type.Enum(['none', 'fixed', 'linear', 'exponential'], { description: 'From one wait to the next.' }),
  jitter: Type.Enum(['none', 'full', 'equal', 'subtractive', 'proportional', 'additive', 'decorrelated']),
  words: Text('The law in words.'),
  parameters: Type.Record(Type.String(), Type.Number(), { description: 'In ms; `jitter` as a share of the wait.' }),
  intervals: Intervals,
});
type WaitAnswer = Shaped<typeof Wait>;
type Jitter = WaitAnswer['jitter'];

const Way = exact({
  way: Type.Enum([...ways], { description: 'What becomes of an announced wait.' }),
  'reachMs?': Measure('near: at most beyond its own wait; later: beyond the announced one.'),
  'ignoresZero?': flag('0 counts as no announcement.'),
  'end?': exact({
    above: Type.Enum(['capped', 'own', 'stops'], { description: 'What becomes of longer ones.' }),
    atMs: Measure('The cap, or the longest wait that is still obeyed.'),
    leastMs: Measure('At least.'),
    // Infinity is null in JSON.
    mostMs: Nullable(Measure('At most.')) as unknown as TUnsafe<number>,
  }),
});

export const ClientAnswer = titled('weir identify --client --json', {
  program: Text('The command.'),
  verdict: Type.Enum(['identified', 'ambiguous', 'none', 'undecided'], { description: 'As of a limiter.' }),
  calls: Count('Calls that the program made.'),
  requests: Count('Requests that it sent.'),
  seconds: Measure('How long it took.'),
  methods: Type.Array(Text('A method.')),
  client: Type.Unknown({ description: "An entry of a scenario's `clients`; null if none explains all calls." }),
  intervals: Intervals,
  retries_on: Answers,
  not_retried: Answers,
  retry_after: Nullable(
    Type.Enum(['obeyed', 'capped', 'floor', 'ignored'], {
      description: 'Null if no attempt followed an announcement, or no known way explains what followed.',
    }),
  ),
  max_attempts: Nullable(Count('Attempts of a call.')),
  waits: Type.Array(exact({ ...Wait.properties, others: Type.Array(Text('Another law.')) })),
  announced: exact('All ways that explain the waits after `Retry-After`.', {
    ways: Type.Array(Way),
    after: Groups,
    date: Nullable(flag('Whether dates are obeyed.')),
  }),
  like: Type.Array(Text('A library that retries so.')),
  remarks: Type.Array(Text('A sentence.')),
});
export type ClientAnswer = Shaped<typeof ClientAnswer> & { readonly client: ClientSpec | null };

/** A limit of Retry-After is often a longer time. */
const SHORT_S = 60;

export function clientAnswer(program: string, { policy, calls, seconds, isMixed }: PlayedPolicy): ClientAnswer {
  const { backoffs, retried, attempts, advice, timeout, deadline, quota } = policy;
  const isExplained = backoffs.every(
    ({ unexplained, isEven, paced }) => unexplained.length === 0 && isEven && paced === undefined,
  );
  const waits = (isExplained ? backoffs : []).map((one) => {
    const [best, ...others] = distinct(one);
    return { ...waitAnswer(one, best!), others: others.map((fit) => waitAnswer(one, fit).words) };
  });
  const entry = clientEntry(policy);
  const isAdviceKnown = advice.length > 0 || policy.advisedAfter.length === 0;
  const isReplayed = isExplained && isAdviceKnown && explainsCalls(entry, calls, policy);
  // Without waits of its own, obedience and a lower bound are the same.
  const isAdviceOpen = advice.length > 1 && waits.some(({ growth }) => growth !== 'none');
  const isOpen = waits.some(({ others }) => others.length > 0) || isAdviceOpen || attempts.most === Infinity;
  const isUndecided = isMixed || unseenOf(policy).length > 0;
  const remarks = [...remarksOn(policy, isMixed)];
  if (isExplained && !isReplayed && !isUndecided)
    remarks.push('No client of a scenario explains all of these calls, so none is written.');
  const longestS = Math.max(0, ...calls.flatMap(({ attempts: [one] }) => one!.reply.retryAfter?.seconds ?? []));
  if (!isUndecided && advice[0] !== undefined && advice[0].way !== 'ignored' && longestS < SHORT_S)
    remarks.push(`Retry-After was tried up to ${longestS} s only. More time (--for) would show more.`);
  const known = {
    max_attempts: attempts,
    timeout_ms: timeout,
    deadline_ms: deadline,
    quota_after_limited: quota.limited,
    quota_after_failed: quota.failed,
  };
  const isPaced = backoffs.some(({ paced }) => paced !== undefined);
  if (!isUndecided && !isPaced && retried.always.length > 0 && calls.every(({ place }) => place === 0))
    remarks.push(
      'Limits that its calls share, as a retry quota or a rate limit before every send, were not tested: each start made one call.',
    );
  return {
    program,
    verdict: isUndecided ? 'undecided' : !isReplayed ? 'none' : isOpen ? 'ambiguous' : 'identified',
    calls: calls.length,
    requests: calls.reduce((sum, one) => sum + one.attempts.length, 0),
    seconds: Math.round(seconds),
    methods: policy.methods,
    client: isReplayed && !isUndecided ? entry : null,
    intervals: {
      ...Object.fromEntries(Object.entries(known).flatMap(([name, one]) => (one ? [[name, ends(one)]] : []))),
      ...waits[0]?.intervals,
    },
    retries_on: retried.always.map(named),
    not_retried: retried.never.map(named),
    retry_after: adviceOf(advice[0]),
    max_attempts: attempts.most === Infinity ? null : attempts.most,
    waits,
    announced: { ways: advice, after: policy.advisedAfter, date: policy.obeysDate ?? null },
    like: isReplayed && !isUndecided && retried.always.length > 0 ? librariesLike(entry, calls) : [],
    remarks,
  };
}

function named(reply: string): number | string {
  return /^\d+$/.test(reply) ? Number(reply) : reply;
}

function adviceOf(advice: AdviceTaken | undefined): ClientAnswer['retry_after'] {
  if (advice === undefined) return null;
  if (advice.end?.above === 'capped') return 'capped';
  return advice.way === 'ignored' || advice.way === 'floor' ? advice.way : 'obeyed';
}

function distinct({ fits, gaps }: Backoff): WaitFit[] {
  const retries = [...new Set(gaps.map(({ k }) => k))];
  const edges = ({ structure, parameters }: WaitFit) =>
    retries.flatMap((k) => {
      const pieces = waitLaw(structure, parameters, { k, lastMs: 3 * parameters.baseMs });
      return [pieces[0]!.fromMs, pieces.at(-1)!.toMs];
    });
  // A law with next to no jitter is no answer beside the same without jitter: a remark names it.
  const alike = (a: WaitFit, b: WaitFit) => {
    const [jitter, other] = [jitterOf(a.structure, a.parameters.low), jitterOf(b.structure, b.parameters.low)];
    if (jitter !== other && other !== 'none') return false;
    const others = edges(b);
    return edges(a).every((one, i) => Math.abs(one - others[i]!) < closeMs(one));
  };
  return fits.filter((fit, i) => !fits.slice(0, i).some((before) => alike(fit, before)));
}

function waitAnswer({ after, gaps }: Backoff, { structure, parameters, intervals }: WaitFit): WaitAnswer {
  const { growth, skipsFirst } = structure;
  const { baseMs, factor, low, plusMs, capMs } = parameters;
  if (growth === 'none') return { after, growth, jitter: 'none', words: 'at once', parameters: {}, intervals: {} };
  const longer = 1 / low - 1;
  const jitter = jitterOf(structure, low);
  const scale = jitter === 'proportional' ? low : 1;
  const isDecorrelated = jitter === 'decorrelated';
  const k = Math.max(...gaps.map((gap) => gap.k));
  const isGrowthSeen = showsGrowth(structure, k);
  const grows = !isGrowthSeen
    ? ''
    : growth === 'linear'
      ? ', longer by as much each time'
      : factor === 1
        ? ' each time'
        : `, x ${short(factor)} each time`;
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
  // Any cap above the longest wait explains the gaps as well.
  const shortest = { ...parameters, baseMs: intervals.baseMs.least, factor: intervals.factor.least, plusMs: 0 };
  const longestMs = waitLaw(structure, shortest, { k, lastMs: Math.max(...gaps.map((gap) => gap.ms)) / 3 }).at(
    -1,
  )!.toMs;
  const scaled = ({ least, most }: Range): Ends => ends({ least: scale * least, most: scale * most });
  const shown: (readonly [name: string, value: number | undefined, interval: Ends])[] = [
    ['base_ms', short(scale * baseMs), scaled(intervals.baseMs)],
    capMs === Infinity
      ? ['cap_ms', undefined, [scale * Math.min(intervals.capMs.least, longestMs), null]]
      : ['cap_ms', scale * capMs, scaled(intervals.capMs)],
  ];
  if (growth !== 'linear' && !isDecorrelated && isGrowthSeen)
    shown.splice(1, 0, ['factor', short(factor), ends(intervals.factor)]);
  if (jitter === 'additive') shown.push(['plus_ms', plusMs, ends(intervals.plusMs)]);
  const { least, most } = intervals.low;
  if (jitter === 'subtractive') shown.push(['jitter', 1 - low, [1 - most, 1 - least]]);
  if (jitter === 'proportional') shown.push(['jitter', longer, [1 / most - 1, 1 / least - 1]]);
  return {
    after,
    growth: growth === 'exponential' && factor === 1 ? 'fixed' : growth,
    jitter,
    words: `${skipsFirst ? 'at once, then ' : ''}${ms(scale * baseMs)}${isDecorrelated ? jittered[jitter] + capped : grows + capped + jittered[jitter]}`,
    parameters: Object.fromEntries(shown.flatMap(([name, value]) => (value === undefined ? [] : [[name, value]]))),
    intervals: Object.fromEntries(shown.map(([name, , interval]) => [name, interval])),
  };
}

function jitterOf({ jitter }: WaitStructure, low: number): Jitter {
  if (jitter === 'decorrelated') return jitter;
  if (jitter === 'plus') return 'additive';
  if (isLonger(low)) return 'proportional';
  return low === 1 ? 'none' : low === 0 ? 'full' : low === 0.5 ? 'equal' : 'subtractive';
}

function short(value: number): number {
  return Number(value.toPrecision(4));
}

function ends({ least, most }: Range): Ends {
  return [least, most === Infinity ? null : most];
}

function* remarksOn(policy: RetryPolicy, isMixed: boolean): Generator<string> {
  const { attempts, backoffs, retried, advice, advisedAfter, obeysDate, timeout, deadline, quota } = policy;
  if (isMixed) {
    yield 'Several calls had one path, so their attempts could not be separated. Give each call its own path, or let each start make one call.';
    return;
  }
  const unseen = unseenOf(policy);
  if (unseen.length > 0)
    yield `No call shows whether ${unseen.join(' and ')} are retried. More calls or time (--for) would show it.`;
  for (const { unexplained, isEven, paced, after, fits } of backoffs) {
    const kinds = after.map((one) => (one === 'limited' ? '429' : 'other failures')).join(' and ');
    if (paced !== undefined) {
      const { k, ms: quickMs, otherMs: slowMs } = paced;
      yield `The waits after ${kinds} do not begin with the answer, as behind a rate limit of the program's own or a pace of its sends: before retry ${k} it waited for ${Math.round(quickMs)} ms after quick answers, ${Math.round(slowMs)} ms after slow ones.`;
    } else if (unexplained.length > 0) {
      const { k, ms: gap } = unexplained[0]!;
      yield `No known policy explains all waits after ${kinds}: the first that none explains is ${Math.round(gap)} ms before retry ${k}.`;
    } else if (!isEven) yield `The waits after ${kinds} are not spread evenly over any known law.`;
    else if (fits[0]?.structure.jitter === 'none' && fits[0].structure.growth !== 'none') {
      const unseenMs = Math.ceil(fits[0].hiddenMs);
      yield `A random part of less than ${unseenMs} ms in the waits after ${kinds} would not be seen: answers were that late.`;
    }
  }
  if (attempts.most === Infinity && deadline !== undefined)
    yield `Its deadline ended every call after at most ${counted(attempts.least, 'attempt')}, so it may have any number above: the client is written without a limit.`;
  else if (attempts.most === Infinity && attempts.least > 1)
    yield `A call that always fails was watched for ${counted(attempts.least, 'attempt')} and had not ended. More time (--for) would show more.`;
  else if (attempts.most > attempts.least && attempts.most < Infinity)
    yield `Calls that always fail have ${attempts.least} to ${attempts.most} attempts.`;
  if (retried.sometimes.length > 0) yield `Retried in some calls only: ${retried.sometimes.join(', ')}.`;
  if (advice.length > 1) yield `Retry-After: ${advice.map(({ way }) => way).join(' or ')} explain all waits.`;
  if (advice.length === 0 && advisedAfter.length > 0) yield 'No known use of Retry-After explains the waits after it.';
  const untried =
    advice.length === 0
      ? []
      : setbacks.filter((one) => backoffs.some(({ after }) => after.includes(one)) && !advisedAfter.includes(one));
  for (const one of untried) yield `Retry-After was not tested after ${one === 'limited' ? '429' : 'other failures'}.`;
  if (advice[0]?.way === 'ignored') {
    const longestMs = Math.max(0, ...backoffs.flatMap(({ fits }) => fits.slice(0, 1).map(({ hiddenMs }) => hiddenMs)));
    yield `Whether Retry-After makes its waits longer by less than ${Math.ceil(longestMs)} ms would not be seen: answers were that late.`;
  }
  if (advice[0] !== undefined && advice[0].way !== 'ignored' && obeysDate === false)
    yield 'A Retry-After that is a date is not obeyed.';
  if (quota.limited !== undefined || quota.failed !== undefined)
    yield quota.isRefunded
      ? 'A retry that is served gives its cost back to the quota. What a first attempt gives back was not measured.'
      : 'What served calls give back to the quota was not measured.';
  if (timeout?.most === Infinity && timeout.least > 0)
    yield `It waits for an answer for ${Math.floor(timeout.least / 1000)} s and longer.`;
}
