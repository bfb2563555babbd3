// The requests as the search takes them: by answer, in order of time.
//
// Requests of one cost and one answer are alike. So if there is an order of counting, there is one in which the k-th counted of the admitted
// comes after the k-th sending of any of them, and is released before the k-th answer; likewise the limited, and those whose answer is not
// known. With costs each has its own sending and its own last instant, and the search chooses which of those under way is counted next.
import { behindMs, hasCosts, type Pause, type SeenRequest } from './seen-request.js';

export interface QueueOptions {
  /** How far instants may be off, in ms, at least 0. */
  readonly slackMs: number;
  /** The most time between the release of a request and its answer, in ms. */
  readonly transportMs: number;
  /** In these the clock of the rule may have stood still. Default: none. */
  readonly pauses?: readonly Pause[] | undefined;
}

/** Each column in order of time, in ms since the first request was sent; with costs `due` is in the order of sending. */
interface Columns {
  readonly sent: Float64Array;
  /** The last instant at which it can have been counted. */
  readonly due: Float64Array;
  /** The least `due` from here on. */
  readonly dueFrom: Float64Array;
  /** The first and the last instant at which it can have been released. */
  readonly first: Float64Array;
  readonly last: Float64Array;
}

export interface Queue extends Columns {
  readonly n: number;
  /** In the order of sending; undefined where every request costs 1. */
  readonly costs: Float64Array | undefined;
  /** How many requests with the other answer had been answered when it was sent. */
  readonly after: Float64Array;
  /** In order of their answers. */
  readonly requests: readonly SeenRequest[];
}

export interface Queues {
  readonly admitted: Queue;
  readonly limited: Queue;
  readonly unknown: Queue;
}

/** @param stepMs the steps of the clock of the rule, in ms; 0 in continuous time */
export function queuesOf(requests: readonly SeenRequest[], stepMs: 0 | 1, options: QueueOptions): Queues {
  const { slackMs, transportMs, pauses = [] } = options;
  const fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Number.POSITIVE_INFINITY);
  // Between two steps of ours the clock of the rule turns to its next one at any instant.
  const atLeast = (ms: number) => (stepMs === 1 ? Math.floor(ms) : ms);
  const atMost = (ms: number) => (stepMs === 1 ? Math.floor(ms) + 1 : ms);
  // By the clock of the rule, an instant of ours lies between these two.
  const earliest = (ms: number) => atLeast(ms - behindMs(pauses, ms) - fromMs);
  const latest = (ms: number) => atMost(ms - fromMs);
  // What has no answer may be counted at any time.
  const dueOf = ({ sentMs, answeredMs }: SeenRequest) =>
    answeredMs === Number.POSITIVE_INFINITY ? answeredMs : latest(Math.min(answeredMs, sentMs + transportMs) + slackMs);
  const areAlike = !hasCosts(requests);
  const queue = (decision: SeenRequest['decision'], other: SeenRequest['decision'] | undefined): Queue => {
    const alike = requests.filter((one) => one.decision === decision).sort((a, b) => a.answeredMs - b.answeredMs);
    const sorted = (of: (request: SeenRequest) => number) => Float64Array.from(alike, of).sort();
    const bySending = areAlike ? alike : [...alike].sort((a, b) => a.sentMs - b.sentMs);
    const due = Float64Array.from(bySending, dueOf);
    if (areAlike) due.sort();
    const answered = Float64Array.from(
      requests.filter((one) => one.decision === other),
      (one) => one.answeredMs + 2 * slackMs,
    ).sort();
    let before = 0;
    return {
      n: alike.length,
      sent: sorted(({ sentMs }) => earliest(sentMs - slackMs)),
      due,
      dueFrom: leastFrom(due),
      costs: areAlike ? undefined : Float64Array.from(bySending, ({ cost = 1 }) => cost),
      first: sorted((one) => earliest(one.answeredMs - slackMs - transportMs)),
      last: sorted((one) => latest(one.answeredMs + slackMs)),
      after: sorted(({ sentMs }) => sentMs).map((sentMs) => {
        while (before < answered.length && answered[before]! < sentMs) before += 1;
        return before;
      }),
      requests: alike,
    };
  };
  return {
    admitted: queue('admitted', 'limited'),
    limited: queue('limited', 'admitted'),
    unknown: queue('unknown', undefined),
  };
}

/** The same by a clock that shows `startMs` when the first request is sent, or up to `widthMs` more. */
export function since(startMs: number, widthMs: number, { admitted, limited, unknown }: Queues): Queues {
  const later = ({ sent, due, dueFrom, first, last, ...queue }: Queue): Queue => {
    const by = (column: Float64Array, moreMs: number) => column.map((ms) => ms + startMs + moreMs);
    const dues = { due: by(due, widthMs), dueFrom: by(dueFrom, widthMs) };
    return { ...queue, ...dues, sent: by(sent, 0), first: by(first, 0), last: by(last, widthMs) };
  };
  return { admitted: later(admitted), limited: later(limited), unknown: later(unknown) };
}

/** The first place at which two queues differ; Infinity where they are the same. */
export function firstDifference(one: Queue, other: Queue): number {
  const columns = ['sent', 'due', 'dueFrom', 'first', 'last', 'after', 'costs'] as const;
  return columns.reduce((least, name) => {
    const place = one[name]?.findIndex((ms, k) => ms !== other[name]?.[k]) ?? -1;
    if (place >= 0) return Math.min(least, place);
    return one.n === other.n ? least : Math.min(least, one.n);
  }, Number.POSITIVE_INFINITY);
}

function leastFrom(values: Float64Array): Float64Array {
  const least = values.slice();
  for (let k = least.length - 2; k >= 0; k -= 1) least[k] = Math.min(least[k]!, least[k + 1]!);
  return least;
}
