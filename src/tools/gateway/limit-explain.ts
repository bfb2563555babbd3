// Holds the statuses of a log against the limits of a gateway's files, or one in words: which refusals are those of the limits.
//
//   log ──► answers: when, status, the limits met ──► by count and key: whose-refusals ──► ours | not ours | not judged
import type { RuleDefinition } from '../../core/limiter/rule/rule-definition.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { Failure } from '../../core/schema/failure.js';
import type { LoggedAnswer, Possible } from '../../harness/explain/stretch-search.js';
import { judgeKey, type PhaseFound, phasesThatExplain } from '../../harness/explain/whose-refusals.js';
import { memoryMs } from '../../harness/live/near-rules.js';
import { durationsIn, grainMsOf, type Order, orderOf } from '../../harness/traffic/log/decision-time.js';
import type { SourceHooks } from '../../harness/traffic/log/log-bytes.js';
import type { LogOptions } from '../../harness/traffic/log/log-options.js';
import { readLogs } from '../../harness/traffic/log/read.js';
import type { LogReading } from '../../harness/traffic/log/read-bytes.js';
import { isErrorLog, readErrorLog } from './error-log.js';
import type { FoundLimiter, GatewayLimits } from './found.js';
import { ruleIn } from './limit-rule.js';
import { isEveryone, keyText, type LeftOut, LimitSide, NOWHERE, type SideLimit } from './limit-sides.js';
import { fieldsNeeded, loggedRequest } from './limit-traffic.js';

export type Whose = 'ours' | 'not ours' | 'not judged';

/** A request of the log. */
export interface JudgedAnswer {
  readonly ms: number;
  readonly client: string;
  /** `POST /api/v1/orders` */
  readonly path: string;
  readonly status: number;
  /** Of a refusal. */
  whose: Whose | undefined;
  isLetThrough: boolean;
  /** The log says that the service behind answered. */
  readonly isBehind: boolean;
}

export interface Explained {
  readonly answers: readonly JudgedAnswer[];
  readonly statuses: readonly number[];
  /** How many of the refusals that are not judged are ours. */
  readonly unjudged: { readonly least: number; readonly most: number };
  /** Refusals judged by what the log, or an error log beside it, says of them. */
  readonly bySaid: number;
  readonly phases: readonly PhaseFound[];
  /** Without durations, how long before or after its time a request may have been decided. */
  readonly times: { readonly grainMs: number; readonly order: Order; readonly withinMs?: number };
  readonly leftOut: readonly LeftOut[];
  readonly readings: readonly LogReading[];
}

export interface ExplainedLimits {
  readonly gateway: GatewayLimits;
  /** Rules that a limit in words may mean; undefined: each limit has its own. */
  readonly meant?: readonly RuleDefinition[] | undefined;
}

const MOST_ANSWERS = 4_000_000;
const MOST_NODES = 8_000_000;
/** Without durations: how long before the end of a request it may have been decided. */
const LONGEST_MS = 5_000;
/** Between the start of a request and its decision. */
const HEADER_MS = 20;
const SLACK_MS = 1;
/** How far the clock of another process of the server may be ahead: what it counted last is then when a request is counted. */
const AHEAD_MS = 20;

/** What is answered before a limit counts, too: by rewriting, or to a request that is not understood. */
const EARLY = new Set([
  301, 302, 303, 307, 308, 400, 405, 408, 411, 413, 414, 417, 421, 431, 444, 494, 495, 496, 497, 499,
]);

const SAID = ['limit_req_status', 'upstream_status', 'upstream_response_time'] as const;

interface Read extends JudgedAnswer {
  readonly fromMs: number;
  readonly toMs: number;
  readonly limits: readonly SideLimit[];
  readonly counted: readonly SideLimit[];
  readonly unjudged: readonly FoundLimiter[];
  readonly keys: readonly string[];
  readonly isPassed: boolean;
  isRejected: boolean;
  possible: Map<SideLimit['states'], Possible> | undefined;
}

/** @throws Failure `invalid_input`, `no_requests`, of the readers */
export async function explainLog(
  paths: readonly string[],
  { gateway, meant }: ExplainedLimits,
  options: LogOptions,
  hooks: SourceHooks & { readonly onJudging?: () => void },
): Promise<Explained> {
  const side = new LimitSide(gateway, options.keyColumn !== undefined);
  const areErrors = await Promise.all(paths.map((path) => isErrorLog(path)));
  const { answers, ...read } = await readAnswers(
    paths.filter((_, k) => !areErrors[k]),
    side,
    options,
    hooks,
  );
  hooks.onJudging?.();
  const limits = new Set(gateway.limiters.filter(({ isDryRun }) => !isDryRun).map(({ status = 0 }) => status));
  const statuses = [...limits, 429].filter((status, k, all) => status >= 400 && all.indexOf(status) === k);
  const refusals = answers.filter(({ status }) => statuses.includes(status));
  for (const path of paths.filter((_, k) => areErrors[k])) await readErrorLog(path, refusals);
  const bySaid = refusals.filter(({ isRejected, isPassed }) => isRejected || isPassed).length;
  const unsure = new Set(side.leftOut.filter(({ isJudged }) => !isJudged).map(({ limiter }) => limiter));
  const bounds = { least: 0, most: 0 };
  const phases: PhaseFound[] = [];
  const nodes = { left: MOST_NODES };
  const startMs = answers.reduce((least, { fromMs }) => Math.min(least, fromMs), Number.POSITIVE_INFINITY);
  for (const counter of countersOf(answers)) {
    if (counter.limits.some(({ limiter }) => unsure.has(limiter))) continue;
    const rules =
      meant === undefined ? [counter.limits.map(({ limiter }) => ruleIn(limiter))] : meant.map((one) => [one]);
    const memory = Math.max(...rules.flat().map(memoryMs));
    const judging = { startMs, memoryMs: memory, nodes };
    const found = phasesThatExplain(
      [...counter.keys.values()].map(({ logged }) => logged),
      rules,
      judging,
      meant !== undefined,
    );
    const own = found.map(() => ({ least: 0, most: 0 }));
    // What takes most comes last: it may be too much.
    for (const { logged, of } of [...counter.keys.values()].sort((a, b) => a.of.length - b.of.length)) {
      const each = found.map((phase) => judgeKey(logged, phase, judging));
      each.forEach(({ least, most }, k) => {
        own[k]!.least += least;
        own[k]!.most += most;
      });
      of.forEach((answer, k) => {
        if (each.every(({ letThrough }) => letThrough.has(k))) answer.isLetThrough = true;
        if (!statuses.includes(answer.status)) return;
        const possible = each.map((one) => one.possible[k]!);
        answer.possible = new Map(answer.possible).set(counter.states, {
          admitted: possible.some(({ admitted }) => admitted),
          refused: possible.some(({ refused }) => refused),
        });
      });
    }
    bounds.least += Math.min(...own.map(({ least }) => least));
    bounds.most += Math.max(...own.map(({ most }) => most));
    phases.push(...found.flatMap((phase, k) => (found.length > 1 ? [{ ...phase, ...own[k]! }] : [])));
  }
  for (const one of refusals) one.whose = whoseIs(one, unsure);
  const isOne =
    refusals.every(({ limits: all, unjudged }) => all.length < 2 && unjudged.length === 0) && unsure.size === 0;
  return {
    answers,
    statuses,
    bySaid,
    phases,
    unjudged: unjudgedOf(refusals, isOne ? bounds : undefined),
    leftOut: side.leftOut,
    ...read,
  };
}

function unjudgedOf(refusals: readonly Read[], bounds: { readonly least: number; readonly most: number } | undefined) {
  const unjudged = refusals.filter(({ whose }) => whose === 'not judged').length;
  // What is said of a refusal is not among those that the search counts.
  const judged = refusals.filter(({ whose, isRejected }) => whose === 'ours' && !isRejected).length;
  const within = (n: number) => Math.min(unjudged, Math.max(0, n - judged));
  return { least: within(bounds?.least ?? 0), most: within(bounds?.most ?? Number.POSITIVE_INFINITY) };
}

function whoseIs(
  { status, limits, unjudged, possible, isPassed, isRejected }: Read,
  unsure: ReadonlySet<FoundLimiter>,
): Whose {
  if (isRejected) return 'ours';
  const own = limits.filter(({ limiter }) => limiter.status === status);
  const open = [...unjudged, ...own.map(({ limiter }) => limiter).filter((one) => unsure.has(one))];
  if (isPassed) return 'not ours';
  const found = own.flatMap(({ states, limiter }) => (unsure.has(limiter) ? [] : (possible?.get(states) ?? [])));
  const mayBeOurs = open.some((one) => one.status === status) || found.some(({ refused }) => refused);
  if (!mayBeOurs) return 'not ours';
  return found.some(({ admitted }) => !admitted) ? 'ours' : 'not judged';
}

interface Counter {
  readonly states: SideLimit['states'];
  readonly limits: SideLimit[];
  readonly keys: Map<string, { readonly logged: LoggedAnswer[]; readonly of: Read[] }>;
}

/** The answers by what counts them, and by key. */
function countersOf(answers: readonly Read[]): Counter[] {
  const counters = new Map<SideLimit['states'], Counter>();
  for (const answer of answers.toSorted((a, b) => a.fromMs - b.fromMs))
    [...answer.limits, ...answer.counted].forEach((limit, k) => {
      const key = answer.keys[k]!;
      if (key === '' && !isEveryone(limit.limiter.key)) return;
      const { states } = limit;
      const counter = getOrInsert(counters, states, () => ({ states, limits: [], keys: new Map() }));
      let rule = counter.limits.findIndex(({ index }) => index === limit.index);
      if (rule < 0) rule = counter.limits.push(limit) - 1;
      const own = getOrInsert(counter.keys, key, () => ({ logged: [], of: [] }));
      const kind = k < answer.limits.length ? kindOf(answer, limit) : 'perhaps';
      own.logged.push({ fromMs: answer.fromMs, toMs: answer.toMs, kind, rule });
      own.of.push(answer);
    });
  return [...counters.values()];
}

function kindOf(
  { status, limits, unjudged, isPassed, isRejected }: Read,
  { limiter }: SideLimit,
): LoggedAnswer['kind'] {
  if (isPassed) return 'passed';
  const others = [...limits.map((one) => one.limiter), ...unjudged].filter((one) => one !== limiter);
  if (isRejected) return others.length === 0 ? 'ours' : 'perhaps';
  if (status === limiter.status) return others.some((one) => one.status === status) ? 'shared' : 'refused';
  const isEarly = EARLY.has(status) || (limiter.limit?.like === 'haproxy' && (status === 401 || status === 403));
  return isEarly || others.some((one) => one.status === status) ? 'perhaps' : 'passed';
}

async function readAnswers(paths: readonly string[], side: LimitSide, options: LogOptions, hooks: SourceHooks) {
  const fields = [...new Set([...fieldsNeeded([side]), 'method', 'status'] as const)];
  const [times, took, upstream]: [number[], string[], string[]] = [[], [], []];
  const rows: Omit<Read, 'fromMs' | 'toMs'>[] = [];
  let [also, hasStatus]: [readonly (string | undefined)[], boolean] = [[], false];
  const sink = {
    also: (values: readonly (string | undefined)[]) => {
      also = values;
    },
    request: (ms: number, n: number, key: string) => {
      if (n !== 1) throw noStatus('It has counts of requests, not an answer a line.');
      if (rows.length === MOST_ANSWERS) {
        throw new Failure('invalid_input', {
          what: `The log has more than ${MOST_ANSWERS} requests.`,
          fix: 'Take the hours in question, with --from and --to.',
        });
      }
      const request = loggedRequest(fields, also);
      const [limited, upstreamStatus = '', upstreamTook = ''] = also.slice(fields.length);
      // The log says that limit_req did not see the request.
      const isUnseen = limited === '' || limited === '-';
      const { limits, counted, unjudged } = isUnseen ? NOWHERE : side.placeOf(request);
      const { client = key, path = '', method } = request;
      const isBehind = /(?:^|[\s,])[1-5]\d\d$/.test(upstreamStatus);
      times.push(ms);
      took.push(also.at(-1) ?? '');
      upstream.push(upstreamTook);
      hasStatus ||= /^[1-5]\d\d$/.test(request.status ?? '');
      rows.push({
        ...{ ms, client, path: method === undefined ? path : `${method} ${path}`, status: Number(request.status) },
        ...{ limits, counted, unjudged, whose: undefined, isLetThrough: false, possible: undefined },
        keys: [...limits, ...counted].map((one) => (one.hasOwnKey ? (keyText(one.limiter.key, request) ?? '') : key)),
        isBehind,
        isRejected: limited === 'REJECTED',
        isPassed: isBehind || (limited !== undefined && limited !== 'REJECTED'),
      });
    },
  };
  const alsoColumns = [...fields, ...SAID, 'duration'];
  const readings = await readLogs(paths, { ...options, alsoColumns, countColumn: false }, sink, hooks);
  if (!hasStatus) throw noStatus('Which requests were refused is known by it.');
  const durations = durationsIn(readings[0]!.also?.at(-1), took);
  const grainMs = grainMsOf(times);
  const order = orderOf(readings[0]!.format, times, durations);
  const longestMs = order === 'start' ? HEADER_MS : LONGEST_MS;
  const answers = rows.map((row, k): Read => {
    const ms = times[k]!;
    const ownMs = durations === undefined ? longestMs : durations.ms[k]! + durations.roughMs;
    const behindMs = upstream[k]!.split(/[\s,:]+/).reduce((sum, text) => sum + 1_000 * (Number(text) || 0), 0);
    const [fromMs, endMs] = [order === 'start' ? ms : ms - ownMs, ms + grainMs + (order === 'end' ? 0 : ownMs)];
    const toMs = order === 'end' ? Math.max(fromMs, endMs - behindMs + 1) : endMs;
    return Object.assign(row, { fromMs: fromMs - SLACK_MS, toMs: toMs + (order === 'start' ? SLACK_MS : AHEAD_MS) });
  });
  return { answers, readings, times: { grainMs, order, ...(durations ? {} : { withinMs: longestMs }) } };
}

function noStatus(why: string): Failure {
  return new Failure('invalid_input', {
    what: 'The log has no status of each answer.',
    why,
    fix: 'Give the access log of the server, or name its fields with --log-format.',
  });
}
