// The requests in the order in which the search takes them: one queue per kind of answer.
//
// Requests of equal cost and answer are interchangeable. So if any order explains the answers, one does in which the k-th counted admitted
// request is counted after the k-th sending and released before the k-th answer; likewise for limited and unknown ones. With costs, each
// request keeps its own times, and the search chooses which request in flight is counted next.
import { behindMs, hasCosts, type Pause, type SeenRequest } from './seen-request.js';

export interface QueueOptions {
  /** Tolerance for instants, in ms, at least 0. */
  readonly slackMs: number;
  /** Longest time between the release of a request and its answer, in ms. */
  readonly transportMs: number;
  /** The rule's clock may have stopped in these. */
  readonly pauses?: readonly Pause[] | undefined;
}

/** Columns ascend, in ms since the first request was sent; with costs, `due` is in order of sending. */
export interface Queue {
  readonly n: number;
  readonly sent: Float64Array;
  /** Latest instant of counting. */
  readonly due: Float64Array;
  /** The minimum of `due` from here on. */
  readonly dueFrom: Float64Array;
  /** Earliest and latest instant of release. */
  readonly first: Float64Array;
  readonly last: Float64Array;
  /** In order of sending; undefined if every request costs 1. */
  readonly costs: Float64Array | undefined;
  /** Number of requests with the other answer that were answered before it was sent. */
  readonly after: Float64Array;
  readonly requests: readonly SeenRequest[];
}

export interface Queues {
  readonly admitted: Queue;
  readonly limited: Queue;
  readonly unknown: Queue;
}

/** @param stepMs step of the rule's clock, in ms; 0 for continuous time */
export function queuesOf(requests: readonly SeenRequest[], stepMs: 0 | 1, options: QueueOptions): Queues {
  const { slackMs, transportMs, pauses = [] } = options;
  const fromMs = requests.reduce((least, { sentMs }) => Math.min(least, sentMs), Number.POSITIVE_INFINITY);
  // The rule's clock may tick at any instant between two of our steps.
  const atLeast = (ms: number) => (stepMs === 1 ? Math.floor(ms) : ms);
  const atMost = (ms: number) => (stepMs === 1 ? Math.floor(ms) + 1 : ms);
  const earliest = (ms: number) => atLeast(ms - behindMs(pauses, ms) - fromMs);
  const latest = (ms: number) => atMost(ms - fromMs);
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

/** On a clock that shows `startMs`, or up to `widthMs` more, when the first request is sent. */
export function since(startMs: number, widthMs: number, { admitted, limited, unknown }: Queues): Queues {
  const later = ({ sent, due, dueFrom, first, last, ...queue }: Queue): Queue => {
    const by = (column: Float64Array, moreMs: number) => column.map((ms) => ms + startMs + moreMs);
    const dues = { due: by(due, widthMs), dueFrom: by(dueFrom, widthMs) };
    return { ...queue, ...dues, sent: by(sent, 0), first: by(first, 0), last: by(last, widthMs) };
  };
  return { admitted: later(admitted), limited: later(limited), unknown: later(unknown) };
}

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
