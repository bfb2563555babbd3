// The requests of one client in an access log as evidence, from one stretch of it, each with bounds for the instant of its decision.
//
//   logged at the end     T - took |-------------| T + 1 s        with times in whole seconds: written within that second
//   logged at the start          T |-------------| T + took + 1 s
//   without a duration           T |-------------| T + 1 s        assumed to be decided at once
//
// Lines are written when requests end. So times that go back in the file are start times; if computed ends go back, times are end times.
import { Failure } from '../../core/schema/failure.js';
import { durationsIn, grainMsOf, type Order, orderOf } from '../../harness/traffic/log/decision-time.js';
import { NO_CLIENT } from '../../harness/traffic/log/intake.js';
import type { LogOptions } from '../../harness/traffic/log/log-options.js';
import { readLog } from '../../harness/traffic/log/read.js';
import { counted } from '../../report/words.js';
import type { Seen } from './evidence.js';

/** How its lines are read, and which of them. */
type LogReading = Pick<LogOptions, 'format' | 'timeColumn' | 'timeUnit' | 'where'>;

export interface AccessLogOptions {
  readonly log?: LogReading | undefined;
  /** The field that identifies the client; `none`: one client. Default: `client` if there is one. */
  readonly key?: string | undefined;
  readonly limitedStatus?: readonly number[] | undefined;
}

export interface AccessLog {
  readonly seen: readonly Seen[];
  readonly hasDurations: boolean;
  /** Observed silence of the client before the first request. */
  readonly silenceMs: number;
  /** Whether the stretch starts with the client's first request in the log. */
  readonly isStart: boolean;
  readonly remarks: readonly string[];
}

const LIMITED = [429, 503];
const MOST_LINES = 2_000_000;
const MOST_REQUESTS = 500;
const MOST_SILENCES = 10;
const DAY_MS = 86_400_000;

/** @throws Failure `unreadable_file`, `unknown_format`, `no_requests`, `invalid_input` */
export async function readAccessLog(path: string, options: AccessLogOptions): Promise<AccessLog> {
  if (path === '-') {
    throw new Failure('invalid_input', {
      what: 'An access log is not read from standard input here.',
      why: 'It is read twice: what it holds is looked at first.',
      fix: 'Save it to a file, and give its path.',
    });
  }
  const { limitedStatus = LIMITED } = options;
  const { times, statuses, keys, durations, durationField, format } = await readLines(path, options);
  const isKnown = (k: number) => /^[1-5]\d\d$/.test(statuses[k]!);
  const isLimited = (k: number) => limitedStatus.includes(Number(statuses[k]));
  const { client, name } = clientOf(keys, options.key, isLimited);
  const own = times.flatMap((_, k) => (keys === undefined || keys[k] === client ? [k] : []));
  const roughMs = grainMsOf(times);
  const order = orderOf(format, times, durations);
  const chosen = stretchOf(
    own.filter(isKnown).sort((a, b) => times[a]! - times[b]!),
    times,
    isLimited,
  );
  // A whole number of days keeps the edges of clocks in place.
  const originMs = Math.floor(times[chosen.own[0]!]! / DAY_MS) * DAY_MS;
  const seen = chosen.own.map((k): Seen => {
    const [tookMs, tookRoughMs] = durations === undefined ? [0, 0] : [durations.ms[k]!, durations.roughMs];
    const atMs = times[k]! - originMs;
    const sentMs = order === 'start' ? atMs : atMs - tookMs - tookRoughMs;
    const answeredMs = order === 'end' ? atMs + roughMs : atMs + tookMs + tookRoughMs + roughMs;
    const uncertaintyMs = roughMs + (order === 'unknown' ? 2 : 1) * tookRoughMs;
    const decision = isLimited(k) ? 'limited' : 'admitted';
    return { key: client, sentMs, answeredMs, decision, status: Number(statuses[k]), uncertaintyMs };
  });
  const fifth = chosen.own.filter((k) => Number(statuses[k]) >= 500 && !isLimited(k)).length;
  const unread = own.filter((k) => !isKnown(k)).length;
  const firstMs = times.reduce((least, ms) => Math.min(least, ms), Infinity);
  const silenceMs = chosen.afterMs === undefined ? times[chosen.own[0]!]! - firstMs : chosen.afterMs;
  return {
    seen,
    hasDurations: durations !== undefined,
    silenceMs,
    isStart: chosen.afterMs === undefined,
    remarks: [
      `Read ${chosen.own.length} of ${times.length} lines: ${name}${own.length > chosen.own.length ? `, from ${new Date(times[chosen.own[0]!]!).toISOString()} on` : ''}. Refused is what was answered with ${limitedStatus.join(' or ')}, admitted all else.`,
      ...(fifth === 0
        ? []
        : [
            `${counted(fifth, 'answer')} of 5xx ${fifth === 1 ? 'is' : 'are'} taken to be of what stands behind the limiter.`,
          ]),
      ...(unread === 0 ? [] : [`${counted(unread, 'line')} without a status ${unread === 1 ? 'is' : 'are'} left out.`]),
      `Times are known to ${roughMs} ms. ${durationsInWords(durations && order, durationField)}`,
    ],
  };
}

async function readLines(path: string, { log, key }: AccessLogOptions) {
  const times: number[] = [];
  const [statuses, took, clients, keys]: [string[], string[], string[], string[]] = [[], [], [], []];
  let also: readonly (string | undefined)[] = [];
  const sink = {
    also: (texts: readonly (string | undefined)[]) => {
      also = texts;
    },
    request: (unixMs: number, _: number, own: string) => {
      if (times.length === MOST_LINES) {
        throw new Failure('invalid_input', {
          what: `${path} has more than ${MOST_LINES} lines.`,
          why: 'Some hundred requests of one client are looked at.',
          fix: 'Cut out the hour with most refusals, for example with grep, and give that.',
        });
      }
      const [status = '', duration = '', client] = also;
      times.push(unixMs);
      statuses.push(status);
      took.push(duration);
      clients.push(client || NO_CLIENT);
      keys.push(own);
    },
  };
  const keyColumn = key === 'none' ? undefined : key;
  const reading = { ...log, keyColumn, alsoColumns: ['status', 'duration', 'client'] };
  const { also: fields = [], format } = await readLog(path, { ...reading, countColumn: false }, sink);
  const [statusField, durationField, clientField] = fields;
  if (statusField === undefined)
    throw new Failure('invalid_input', {
      what: `${path} has no status.`,
      why: 'Which requests were refused is known by the status of the answer.',
      fix: 'Give a log that has it, as the access log of the server.',
    });
  const named = clientField === undefined ? undefined : clients;
  const whose = key === undefined ? named : key === 'none' ? undefined : keys;
  return { times, statuses, keys: whose, durations: durationsIn(durationField, took), durationField, format };
}

/** The one refused most often, or without a refusal the one with most requests; without keys, all as one. */
function clientOf(keys: readonly string[] | undefined, asked: string | undefined, isLimited: (k: number) => boolean) {
  const why = asked === 'none' ? '' : ', since no field says whose they are';
  if (keys === undefined) return { client: 'all', name: `all, as one client${why}` };
  const isRefused = keys.some((_, k) => isLimited(k));
  const counts = new Map<string, number>();
  for (const [k, one] of keys.entries()) counts.set(one, (counts.get(one) ?? 0) + (!isRefused || isLimited(k) ? 1 : 0));
  const [client, times] = [...counts].reduce((a, b) => (b[1] > a[1] ? b : a));
  const most = isRefused ? `had most refusals (${times})` : 'sent most, since none was refused';
  return { client, name: `those of ${client}, who ${most}` };
}

/** @param order undefined without durations @param field that has them, perhaps in a unit that is not known */
function durationsInWords(order: Order | undefined, field: string | undefined): string {
  if (order !== undefined) {
    const is = { end: 'an end', start: 'a beginning', unknown: 'a beginning or an end, which of them is not known' };
    return `A time is that of ${is[order]}; what a request took is read from ${field}.`;
  }
  const none = 'each request is taken to be decided when its line says';
  return field === undefined
    ? `The log has no durations: ${none}.`
    : `${field} does not say how long each request took, and is not used: ${none}.`;
}

/** The most informative stretch: where decisions change most often, from the beginning or from a long silence on. */
function stretchOf(own: readonly number[], times: readonly number[], isLimited: (k: number) => boolean) {
  const silences = own
    .map((k, place) => ({ place, ms: place === 0 ? Infinity : times[k]! - times[own[place - 1]!]! }))
    .sort((a, b) => b.ms - a.ms)
    .slice(0, MOST_SILENCES);
  const stretches = silences.map(({ place, ms }) => {
    const lines = own.slice(place, place + MOST_REQUESTS);
    const changes = lines.filter((k, at) => at > 0 && isLimited(k) !== isLimited(lines[at - 1]!)).length;
    return { own: lines, changes, afterMs: place === 0 ? undefined : ms };
  });
  return stretches.reduce((best, one) => (one.changes > best.changes ? one : best));
}
