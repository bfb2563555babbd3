// Where each request of a run is at an instant, as marks on lanes from the clients to the service.
//
//   clients ──► gate ──► queue ──► service ──► out
//      ▲         │
//      └─────────┘ refused: back to its client, which may wait and send it again
//
// A request reaches the gate in no time in the run. Here it flies for `flightMs` of the run to each side of that instant, so that one can
// see it come and go. Everything else happens at its own instant.
import { fates, type Journeys } from '../simulate/journeys.js';

/** Places along the lanes, as shares of the width. */
export const stops = { clients: 0.07, gate: 0.34, queue: 0.42, service: 0.8, out: 0.98 } as const;

export type MarkKind = 'coming' | 'held' | 'waiting' | 'serving' | 'wasted' | 'served' | 'refused' | 'pausing';

export interface PlacedMark {
  /** Share of the width; for `waiting` and `serving` the place in line, from 0. */
  readonly x: number;
  /** Share of the height; undefined for those that are placed in line. */
  readonly y: number | undefined;
  readonly kind: MarkKind;
  readonly isAgain: boolean;
}

export interface Instant {
  readonly marks: readonly PlacedMark[];
  readonly waiting: number;
  readonly serving: number;
  /** Clients that wait before they try again. */
  readonly pausing: number;
}

type Seen = { -readonly [Count in keyof Omit<Instant, 'marks'>]: number };

const BLOCK = 256;

/** A table of journeys that can be asked about any instant. */
export class MarkTable {
  readonly #journeys: Journeys;
  readonly #hasService: boolean;
  /** When the same job is sent again; NaN for never. */
  readonly #againMs: Float64Array;
  /** The last instant of each block at which one of it is seen, without its flight. */
  readonly #lastMs: Float64Array;
  /** Server that works on it, from 0. */
  readonly #servers: Int32Array;
  /** Requests decided so far, and those of them that were limited. */
  readonly #limited: Float64Array;

  constructor(journeys: Journeys, hasService: boolean) {
    const { decidedMs, jobs } = journeys;
    const n = decidedMs.length;
    this.#journeys = journeys;
    this.#hasService = hasService;
    this.#againMs = new Float64Array(n).fill(Number.NaN);
    const next = new Map<number, number>();
    for (let at = n - 1; at >= 0; at -= 1) {
      this.#againMs[at] = next.get(jobs[at]!) ?? Number.NaN;
      next.set(jobs[at]!, decidedMs[at]!);
    }
    this.#servers = serversOf(journeys);
    this.#lastMs = new Float64Array(Math.ceil(n / BLOCK)).fill(Number.NEGATIVE_INFINITY);
    this.#limited = new Float64Array(n + 1);
    for (let at = 0; at < n; at += 1) {
      const block = Math.floor(at / BLOCK);
      this.#lastMs[block] = Math.max(this.#lastMs[block]!, this.#endOf(at));
      this.#limited[at + 1] = this.#limited[at]! + (Number.isNaN(journeys.admittedMs[at]!) ? 1 : 0);
    }
  }

  /** Requests that reached the gate after one instant and up to another. */
  decidedIn(fromMs: number, toMs: number): { readonly requests: number; readonly limited: number } {
    const [from, to] = [this.#countUpTo(fromMs), this.#countUpTo(toMs)];
    return { requests: to - from, limited: this.#limited[to]! - this.#limited[from]! };
  }

  /**
   * The marks at an instant.
   * @param flightMs how long a request is seen before and after the gate, in ms of the run
   */
  at(ms: number, flightMs: number): Instant {
    const marks: PlacedMark[] = [];
    const seen = { waiting: 0, serving: 0, pausing: 0 };
    const end = this.#countUpTo(ms + flightMs);
    for (let block = 0; block * BLOCK < end; block += 1) {
      if (this.#lastMs[block]! + flightMs < ms) continue;
      for (let at = block * BLOCK; at < Math.min(end, (block + 1) * BLOCK); at += 1) {
        const mark = this.#markOf(at, ms, flightMs, seen);
        if (mark !== undefined) marks.push(mark);
      }
    }
    return { marks, ...seen };
  }

  #markOf(at: number, ms: number, flightMs: number, seen: Seen) {
    const { decidedMs, admittedMs, startedMs, abandonedMs, endedMs, attempts, jobs } = this.#journeys;
    const [sent, admitted] = [decidedMs[at]!, admittedMs[at]!];
    const y = laneOf(jobs[at]!);
    const isAgain = attempts[at]! > 1;
    const mark = (kind: MarkKind, x: number, line = false): PlacedMark => ({
      kind,
      x,
      y: line ? undefined : y,
      isAgain,
    });
    const between = (from: number, to: number, begin: number) =>
      from + (to - from) * Math.min(1, Math.max(0, (ms - begin) / flightMs));
    if (ms < sent) return mark('coming', between(stops.clients, stops.gate, sent - flightMs));
    if (Number.isNaN(admitted)) {
      if (ms < sent + flightMs) return mark('refused', between(stops.gate, stops.clients, sent));
      return this.#pausing(at, ms, flightMs, seen) ? mark('pausing', stops.clients) : undefined;
    }
    if (ms < admitted) return mark('held', stops.gate);
    if (!this.#hasService) {
      return ms < admitted + flightMs ? mark('served', between(stops.gate, stops.out, admitted)) : undefined;
    }
    const [started, ended] = [startedMs[at]!, endedMs[at]!];
    const isGone = abandonedMs[at]! <= ms;
    if (Number.isNaN(started) || ms < started) {
      // It left the queue unserved, or its answer was an error at once.
      if (Number.isNaN(started) && (isGone || ended <= ms)) {
        const left = isGone ? abandonedMs[at]! : ended;
        if (ms < left + flightMs) return mark('refused', between(stops.queue, stops.clients, left));
        return this.#pausing(at, ms, flightMs, seen) ? mark('pausing', stops.clients) : undefined;
      }
      seen.waiting += 1;
      return mark(isGone ? 'wasted' : 'waiting', seen.waiting - 1, true);
    }
    if (Number.isNaN(ended) || ms < ended) {
      seen.serving += 1;
      return mark(isGone ? 'wasted' : 'serving', -1 - this.#servers[at]!, true);
    }
    return ms < ended + flightMs
      ? mark(isGone ? 'wasted' : 'served', between(stops.service, stops.out, ended))
      : undefined;
  }

  #pausing(at: number, ms: number, flightMs: number, seen: { pausing: number }): boolean {
    const isPausing = ms < this.#againMs[at]! - flightMs;
    if (isPausing) seen.pausing += 1;
    return isPausing;
  }

  #endOf(at: number): number {
    const { decidedMs, startedMs, abandonedMs, endedMs, fates: fate } = this.#journeys;
    const isOpen = fate[at] === fates.indexOf('open');
    // The service goes on with what was abandoned in its hands.
    const isServing = !Number.isNaN(startedMs[at]!) && Number.isNaN(endedMs[at]!);
    if (isOpen || isServing) return Number.POSITIVE_INFINITY;
    const known = [decidedMs[at]!, abandonedMs[at]!, endedMs[at]!, this.#againMs[at]!].filter(
      (one) => !Number.isNaN(one),
    );
    return Math.max(...known);
  }

  /** How many were sent up to an instant. */
  #countUpTo(ms: number): number {
    const { decidedMs } = this.#journeys;
    let [low, high] = [0, decidedMs.length];
    while (low < high) {
      const middle = (low + high) >>> 1;
      if (decidedMs[middle]! <= ms) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

/** A share of the height that is the same for all attempts of a job; neighbours are far apart (golden ratio). */
function laneOf(job: number): number {
  return (job * 0.618033988749895) % 1;
}

/** The free server with the smallest number takes each request, in order of their starts. */
function serversOf({ startedMs, endedMs }: Journeys): Int32Array {
  const servers = new Int32Array(startedMs.length).fill(-1);
  const order = startedMs
    .map((_, at) => at)
    .filter((at) => !Number.isNaN(startedMs[at]!))
    .sort((a, b) => startedMs[a]! - startedMs[b]! || a - b);
  const freeMs: number[] = [];
  for (const at of order) {
    const free = freeMs.findIndex((ms) => ms <= startedMs[at]!);
    servers[at] = free === -1 ? freeMs.length : free;
    freeMs[servers[at]!] = Number.isNaN(endedMs[at]!) ? Number.POSITIVE_INFINITY : endedMs[at]!;
  }
  return servers;
}
