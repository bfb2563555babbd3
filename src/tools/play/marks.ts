// Positions of a run's requests at an instant, as marks on lanes from the clients to the service.
//
//   clients ──► gate ──► queue ──► service ──► out
//      ▲         │
//      └─────────┘ refused: back to its client, which may wait and send it again
//
// In the run a request reaches the gate in no time. Here it flies for `flightMs` of the run before and after, to be visible. All other
// events happen at their own instants.
import { firstIndex } from '../../core/math/first-index.js';
import { fates, type Journeys } from '../../harness/simulate/journeys.js';

/** Shares of the width. */
export const stops = { clients: 0.07, gate: 0.34, queue: 0.42, service: 0.8, out: 0.98 } as const;

export type MarkKind = 'coming' | 'held' | 'waiting' | 'serving' | 'wasted' | 'served' | 'refused' | 'pausing';

export interface PlacedMark {
  /** Share of the width; for `waiting` and `serving` the position in line, from 0. */
  readonly x: number;
  /** Share of the height; undefined for positions in line. */
  readonly y: number | undefined;
  readonly kind: MarkKind;
  readonly isAgain: boolean;
}

export interface Instant {
  readonly marks: readonly PlacedMark[];
  readonly waiting: number;
  readonly serving: number;
  readonly pausing: number;
}

type Seen = { -readonly [Count in keyof Omit<Instant, 'marks'>]: number };

const BLOCK = 256;

export class MarkTable {
  /** Time of the job's next attempt; NaN for never. */
  readonly #againMs: Float64Array;
  /** By block: the last instant at which a request is visible, without flight. */
  readonly #lastMs: Float64Array;
  readonly #servers: Int32Array;
  /** Prefix sums of limited requests. */
  readonly #limited: Float64Array;

  constructor(
    readonly journeys: Journeys,
    readonly hasService: boolean,
  ) {
    const { decidedMs, jobs } = journeys;
    const n = decidedMs.length;
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

  /** Requests decided in (fromMs, toMs]. */
  decidedIn(fromMs: number, toMs: number): { readonly requests: number; readonly limited: number } {
    const [from, to] = [this.#countUpTo(fromMs), this.#countUpTo(toMs)];
    return { requests: to - from, limited: this.#limited[to]! - this.#limited[from]! };
  }

  /** @param flightMs visible time before and after the gate, in ms of the run */
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
    const { decidedMs, admittedMs, startedMs, abandonedMs, endedMs, attempts, jobs } = this.journeys;
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
    if (!this.hasService) {
      return ms < admitted + flightMs ? mark('served', between(stops.gate, stops.out, admitted)) : undefined;
    }
    const [started, ended] = [startedMs[at]!, endedMs[at]!];
    const isGone = abandonedMs[at]! <= ms;
    if (Number.isNaN(started) || ms < started) {
      // It left the queue unserved, or failed at once.
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
    const { decidedMs, startedMs, abandonedMs, endedMs, fates: fate } = this.journeys;
    const isOpen = fate[at] === fates.indexOf('open');
    // The service continues abandoned requests.
    const isServing = !Number.isNaN(startedMs[at]!) && Number.isNaN(endedMs[at]!);
    if (isOpen || isServing) return Number.POSITIVE_INFINITY;
    const known = [decidedMs[at]!, abandonedMs[at]!, endedMs[at]!, this.#againMs[at]!].filter(
      (one) => !Number.isNaN(one),
    );
    return Math.max(...known);
  }

  #countUpTo(ms: number): number {
    const { decidedMs } = this.journeys;
    return firstIndex(decidedMs.length, (index) => decidedMs[index]! > ms);
  }
}

/** The same height for all attempts of a job; the golden ratio separates neighbours. */
function laneOf(job: number): number {
  return (job * 0.618033988749895) % 1;
}

/** In order of start, each request takes the free server with the smallest number. */
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
