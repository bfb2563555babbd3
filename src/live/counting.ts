// What the search for an order of counting asks of a rule: which states follow if a request is counted now, and answered as it was seen.
//
//   admit    state ──► state, and how long the request is held      none where the rule refuses
//   refuse   state ──► state                                        none where the rule admits
//
// Two ways to know a state:
//
//   exactly          any rule. States that decide alike from now on have the same key, so that orders that end in them are one.
//   within bounds    a log of instants. Many orders differ in nothing but these; they are kept as one state, each instant between the
//                    earliest and the latest that it can have. Then more may seem possible than is, and never less.
//
// On a clock in continuous time instants are cut to steps, so either answer is taken within a step of the instant at which it turns.

import { copyOf, LIMITED, type Rule } from '../limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../limiter/rule/rule-definition.js';

export interface Counting<State = unknown> {
  /** Steps of time that the search takes, in ms. */
  readonly stepMs: number;
  /** What the limiter may be before its first request, at `tMs`: it was made for it, or long ago. */
  begin(tMs: number): State[];
  admit(state: State, tMs: number): { readonly state: State; readonly delayMs: number } | undefined;
  refuse(state: State, tMs: number): State | undefined;
  /** The same for states that decide alike from `tMs` on. */
  key(state: State, tMs: number): string;
  /** One state for two of the same key. Undefined where nothing has to be added to the first. */
  join(one: State, other: State): State | undefined;
}

/** The limits on concurrency: their answers depend on how long each request is in flight, which is not seen from outside. */
const notSeen = new Set(['concurrency', 'concurrency_queue', 'adaptive']);

/** What the rule of a definition may do; undefined for one whose answers depend on what is not seen from outside. */
export function countingOf(definition: RuleDefinition): Counting | undefined {
  if (namesIn(definition).some((name) => notSeen.has(name))) return undefined;
  const stepMs = stepOf(definition);
  const params = definition.params as Params;
  const isLog =
    definition.primitive === 'sliding_log_block' ||
    (definition.primitive === 'sliding_log' && !params['dedup_same_time']);
  return isLog ? (countingLog(params, stepMs) as Counting) : countingExactly(definition, stepMs);
}

type Params = Readonly<Record<string, unknown>>;
type Given = Record<string, number> & Record<string, unknown>;

/** Whether the clock of the rule goes in steps that the search can follow. */
function isStepped({ primitive, clock_resolution_ms, res }: RuleDefinition): boolean {
  return primitive === 'nginx_limit_req' || (clock_resolution_ms ?? res ?? 0) >= 1;
}

const stepOf = (definition: RuleDefinition) => (isStepped(definition) ? 1 : CONTINUOUS_STEP_MS);
const CONTINUOUS_STEP_MS = 0.5;

/** The rules of a definition and of its members. */
export function namesIn({ primitive, params }: RuleDefinition): string[] {
  const { a, b, of = [] } = params as { a?: RuleDefinition; b?: RuleDefinition; of?: RuleDefinition[] };
  return [primitive, ...[a, b, ...of].flatMap((one) => (one === undefined ? [] : namesIn(one)))];
}

/** When a limiter was made that was not made for the run, in ms: edges of its own lie at multiples of their period from here. */
export const LONG_AGO_MS = 1_000_000_000;

function countingExactly(definition: RuleDefinition, stepMs: number): Counting {
  const rule = ruleOf(definition);
  const early = isStepped(definition) ? 0 : stepMs;
  const keyOf = keyFor(definition, rule);
  return {
    stepMs,
    begin: (tMs) => [rule.fresh(LONG_AGO_MS), rule.fresh(tMs)],
    admit(state, tMs) {
      const next = copyOf(state);
      const delayMs = rule.decide(next, tMs, 1, 0);
      if (delayMs !== LIMITED) return { state: next, delayMs };
      if (early === 0) return undefined;
      const atMs = rule.nextAdmission(state, tMs, 1);
      if (atMs > tMs + early) return undefined;
      const later = copyOf(state);
      const delay = rule.decide(later, atMs, 1, 0);
      return delay === LIMITED ? undefined : { state: later, delayMs: delay };
    },
    refuse(state, tMs) {
      const next = copyOf(state);
      if (rule.decide(next, tMs, 1, 0) === LIMITED) return next;
      if (early === 0) return undefined;
      const earlier = copyOf(state);
      return rule.decide(earlier, tMs - early, 1, 0) === LIMITED ? earlier : undefined;
    },
    key: keyOf,
    join: () => undefined,
  };
}

/** Rounds off what doubles add to equal times. */
const rounded = (value: number) => Math.round(value * 1e6) / 1e6;

/** States that decide alike from a time on have the same text. */
type KeyOf = (state: never, tMs: number) => string;

function keyFor(definition: RuleDefinition, rule: Rule): (state: unknown, tMs: number) => string {
  const keyOf = memberKey(definition) as (state: unknown, tMs: number) => string;
  return rule.ownClock ? keyOf : (state, tMs) => keyOf((state as { inner: unknown }).inner, tMs);
}

/**
 * Rules of one number have the same state wherever that number has the same distance from full. What no longer decides is left out of
 * the others: a window that is over, refused requests beyond the limit, the time of the last request.
 */
function memberKey(definition: RuleDefinition): KeyOf {
  const params = definition.params as Given;
  switch (definition.primitive) {
    case 'token_bucket':
      return (params['refill'] ?? 'continuous') === 'continuous' ? bucketKey(params) : ticksKey(params);
    case 'gcra':
      return ({ tatMs }: { tatMs: number }, t: number) => `${rounded(Math.max(t, tatMs))}`;
    case 'leaky_queue':
      return ({ nextMs }: { nextMs: number }, t: number) => `${rounded(Math.max(t, nextMs))}`;
    case 'nginx_limit_req': {
      const perMs = params['rate_1000']! / 1000;
      if (!Number.isInteger(perMs)) break;
      return ({ excess, atMs }: { excess: number; atMs: number }, t: number) =>
        atMs < 0 ? 'new' : `${Math.max(-1000, excess - perMs * (t - atMs))}`;
    }
    case 'fixed_window':
    case 'fixed_window_delay':
    case 'fixed_window_exec_evenly':
      return windowKey(params);
    case 'token_bucket_and_interval': {
      const keyOf = bucketKey(params) as (state: unknown, tMs: number) => string;
      return ({ startMs, taken, bucket }: { startMs: number; taken: number; bucket: unknown }, t: number) =>
        `${t - startMs >= params['interval_ms']! ? 'over' : `${startMs}/${taken}`}/${keyOf(bucket, t)}`;
    }
    case 'or':
      return eachKey([params['a'], params['b']] as unknown as RuleDefinition[]);
    case 'and': {
      const keyOf = eachKey(params['of'] as unknown as RuleDefinition[]);
      return ({ members }: { members: never }, t: number) => keyOf(members, t);
    }
    case 'and_all_charged': {
      const windows = (params['limits'] ?? []) as unknown as [number, number][];
      const { align } = params;
      const definitions = windows.map(([limit, window_ms]) => ({
        primitive: 'fixed_window' as const,
        params: { limit, window_ms, align, count_refused: true },
      }));
      const keyOf = eachKey([...definitions, ...((params['of'] ?? []) as unknown as RuleDefinition[])]);
      return ({ members }: { members: never }, t: number) => keyOf(members, t);
    }
    default:
  }
  return textOf;
}

function eachKey(definitions: readonly RuleDefinition[]): KeyOf {
  const keys = definitions.map(memberKey);
  return (states: readonly never[], t: number) => keys.map((keyOf, k) => keyOf(states[k]!, t)).join('|');
}

function bucketKey(params: Given): KeyOf {
  const { rate, per_ms, capacity, state_ttl_from_last_admit_ms: ttl } = params;
  return ({ tokens, atMs, goneMs }: { tokens: number; atMs: number; goneMs: number }, t: number) => {
    if (t >= goneMs) return 'full';
    const level = tokens + ((t - atMs) * rate!) / per_ms!;
    return `${level >= capacity! ? 'full' : rounded(level)}${ttl === undefined ? '' : `/${goneMs}`}`;
  };
}

/** Tokens that come back at ticks: what there is at the last tick, where nothing else decides. */
function ticksKey(params: Given): KeyOf {
  const { rate, per_ms: per, capacity } = params;
  const isPlain =
    params['refill'] === ('interval' as unknown) &&
    !params['stale_tick_when_full'] &&
    !params['forget_when_full'] &&
    params['state_ttl_from_last_admit_ms'] === undefined;
  if (!isPlain) return textOf;
  return ({ tokens, gridMs }: { tokens: number; gridMs: number }, t: number) => {
    if (gridMs < 0) return 'new';
    const ticks = Math.floor((t - gridMs) / per!);
    return `${Math.min(capacity!, tokens + ticks * rate!)}/${rounded(gridMs + ticks * per!)}`;
  };
}

function windowKey(params: Given): KeyOf {
  const { limit } = params;
  const isLimited = limit !== undefined && params['refused_backoff'] === undefined;
  const most = isLimited ? limit + 1 : Number.POSITIVE_INFINITY;
  const isOpened = params['align'] === undefined || params['align'] === ('first' as unknown);
  const expires = params['state_ttl_from_last_admit_ms'] !== undefined;
  const keyOf = ({ endMs, count, admittedMs }: { endMs: number; count: number; admittedMs: number }, t: number) => {
    if (isOpened && endMs < t) return 'over';
    return `${endMs}/${Math.min(count, most)}${expires ? `/${admittedMs}` : ''}`;
  };
  if (params['local_block_ms'] === undefined) return keyOf;
  return ({ untilMs, inner }: { untilMs: number; inner: never }, t: number) =>
    `${untilMs > t ? untilMs : ''}/${keyOf(inner, t)}`;
}

function textOf(state: unknown): string {
  if (typeof state !== 'object' || state === null) return String(state);
  const parts = ArrayBuffer.isView(state) ? [...(state as unknown as Float64Array)] : Object.values(state);
  return `(${parts.map(textOf).join()})`;
}

/** The last entries of a log, oldest first: as many as the limit. Each lies between two instants. */
interface Entries {
  readonly least: readonly number[];
  readonly most: readonly number[];
  /** The end of a block; -1 where there is none. */
  readonly untilMs: number;
}

const NO_ENTRIES: Entries = { least: [], most: [], untilMs: -1 };

/** An entry stays for `window_ms`; a request is admitted unless as many as the limit are there. */
function countingLog(params: Params, stepMs: number): Counting<Entries> {
  const {
    limit,
    window_ms: span,
    count_refused: all = false,
    edge,
    block_ms,
  } = params as {
    limit: number;
    window_ms: number;
    count_refused?: boolean;
    edge?: string;
    block_ms?: number;
  };
  const slackMs = stepMs < 1 ? stepMs : 0;
  /** An entry has left at `entry + staysMs`, and no instant before. */
  const staysMs = edge === 'expires_after_end' ? span + stepMs : span;
  const last = (entries: readonly number[]) => (entries.length < limit ? entries : entries.slice(1));
  const added = ({ least, most }: Entries, tMs: number): Entries => ({
    least: [...last(least), tMs],
    most: [...last(most), tMs],
    untilMs: -1,
  });
  const isFull = ({ least }: Entries) => least.length === limit;
  return {
    stepMs,
    begin: () => [NO_ENTRIES],
    admit(entries, tMs) {
      if (entries.untilMs >= 0) {
        return tMs + slackMs < entries.untilMs ? undefined : { state: added(NO_ENTRIES, tMs), delayMs: 0 };
      }
      if (isFull(entries) && entries.least[0]! + staysMs > tMs + slackMs) return undefined;
      return { state: added(entries, tMs), delayMs: 0 };
    },
    refuse(entries, tMs) {
      if (entries.untilMs >= 0) return tMs - slackMs < entries.untilMs ? entries : undefined;
      if (!isFull(entries) || entries.most[0]! + staysMs <= tMs - slackMs) return undefined;
      if (block_ms !== undefined) return { ...NO_ENTRIES, untilMs: tMs + block_ms };
      if (all) return added(entries, tMs);
      // The oldest has not left, so none of them can have come before the instant at which it would have.
      const from = tMs - slackMs - staysMs + stepMs;
      if (entries.least[0]! >= from) return entries;
      return { ...entries, least: entries.least.map((one) => Math.max(one, from)) };
    },
    key: ({ least, untilMs }) => `${least.length}/${untilMs}`,
    join(one, other) {
      const isWithin =
        one.least.every((ms, k) => ms <= other.least[k]!) && one.most.every((ms, k) => ms >= other.most[k]!);
      if (isWithin) return undefined;
      return {
        least: one.least.map((ms, k) => Math.min(ms, other.least[k]!)),
        most: one.most.map((ms, k) => Math.max(ms, other.most[k]!)),
        untilMs: one.untilMs,
      };
    },
  };
}
