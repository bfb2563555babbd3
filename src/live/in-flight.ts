// Requests in flight: each starts once and ends once, by an answer, by a broken connection, or by its time limit.

import type { Stretch } from '../outcome/stretch.js';
import type { Ticket } from '../time/agenda.js';
import type { Clock } from '../time/clock.js';
import { cycleOf, startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';
import type { HttpPool, PoolAnswer } from './http-pool.js';
import type { Latency } from './latency.js';
import { type Fault, phasesAt, type RequestLog } from './request-log.js';
import type { Reading, Target } from './target.js';

/** How a request ended. */
export type End = Extract<Reading, { type: 'decided' }> | { readonly type: 'failed' } | { readonly type: 'timed_out' };

export interface InFlightOptions {
  /** Tells the target's time. */
  readonly clock: Clock;
  readonly pool: HttpPool;
  readonly target: Target;
  readonly requestLog: RequestLog;
  readonly latency: Latency;
  readonly phases: Readonly<Record<string, Stretch>>;
  /** The cycle from which phases count. */
  readonly firstCycle: number;
  /** A stamp that is off by no more than this may be the uncertainty of two clocks, in ms. */
  readonly slackMs: number;
  /** Whether the limiter decides by the ms, whatever its target says of cycles. */
  readonly decidesByMs: boolean;
  /** How long an answer is waited for, from the intended instant, in ms. */
  readonly timeoutMs: number;
  /** Told when nobody listens at the target any more. */
  readonly onGone: (words: string) => void;
}

export class RequestsInFlight {
  readonly #options: InFlightOptions;
  readonly #all: RequestInFlight[] = [];
  #whenEmpty: (() => void) | undefined;

  constructor(options: InFlightOptions) {
    this.#options = options;
  }

  /** @param intendedMs when the schedule wants it sent; the cycle of that instant is the one it was planned for */
  launch(contract: number, intendedMs: number, onEnd?: (end: End) => void): void {
    const request = new RequestInFlight(this.#options, contract, intendedMs, (end) => {
      this.#land(request);
      onEnd?.(end);
      if (this.#all.length === 0) this.#whenEmpty?.();
    });
    request.place = this.#all.push(request) - 1;
    request.start();
  }

  /** Resolves when nothing is under way; every request ends by its timeout at the latest. */
  landed(): Promise<void> {
    return this.#all.length === 0 ? Promise.resolve() : new Promise((resolve) => (this.#whenEmpty = resolve));
  }

  /** Waits no longer for anything: what is under way has timed out. */
  giveUp(): void {
    for (const request of [...this.#all]) request.giveUp();
  }

  /**
   * The last one moves into the place of the one that is over. A set would do the same; but the tables that a set leaves behind, of
   * which it is added to and deleted from all the time, keep what was in them alive until the next full collection.
   */
  #land(request: RequestInFlight): void {
    const last = this.#all.pop();
    if (last === undefined || last === request) return;
    this.#all[request.place] = last;
    last.place = request.place;
  }
}

class RequestInFlight {
  readonly #options: InFlightOptions;
  readonly #contract: number;
  readonly #intendedMs: number;
  readonly #onEnd: (end: End) => void;
  /** Where it stands among those under way. */
  place = -1;
  #sentMs: number | undefined;
  #timeout: Ticket | undefined;
  #cancel: (() => void) | undefined;

  constructor(options: InFlightOptions, contract: number, intendedMs: number, onEnd: (end: End) => void) {
    this.#options = options;
    this.#contract = contract;
    this.#intendedMs = intendedMs;
    this.#onEnd = onEnd;
  }

  start(): void {
    const { clock, pool, target, timeoutMs } = this.#options;
    this.#timeout = clock.agenda.at(Math.max(this.#intendedMs, clock.now()) + timeoutMs, Rank.client, this.#timeOut);
    this.#cancel = pool.fire(target.request(this.#contract), {
      started: () => this.#started(clock.now()),
      answered: (answer) => this.#answered(answer),
      broke: ({ kind, words }) => {
        if (kind === 'refused') this.#options.onGone(words);
        this.#fault(kind, words);
      },
    });
  }

  #started(nowMs: number): void {
    // When a connection breaks before anything was answered on it, the pool may write the request once more.
    if (this.#sentMs !== undefined) return;
    const { requestLog, latency, clock } = this.#options;
    this.#sentMs = nowMs;
    const cycle = cycleOf(nowMs, clock.cycleMs);
    requestLog.send(cycle);
    if (cycle > cycleOf(this.#intendedMs, clock.cycleMs)) requestLog.late += 1;
    latency.sent(this.#intendedMs, nowMs);
  }

  #answered(answer: PoolAnswer): void {
    const reading = this.#options.target.read(answer);
    if (reading.type === 'decided') this.#decided(reading);
    else this.#fault(reading.type, reading.words);
  }

  #decided(reading: Extract<Reading, { type: 'decided' }>): void {
    const { requestLog, latency, clock, phases, firstCycle } = this.#options;
    const contract = this.#contract;
    const intendedMs = this.#intendedMs;
    const answeredMs = clock.now();
    const sentMs = this.#sentMs ?? answeredMs;
    const planned = cycleOf(intendedMs, clock.cycleMs);
    if (reading.cycle === undefined || this.#options.decidesByMs) {
      const decision = reading.admitted ? 'admitted' : 'limited';
      requestLog.seen.push({ contract, sentMs, answeredMs, decision, toldMs: reading.retryAfterMs });
    }
    const arrived = this.#arrivedIn(reading.cycle, sentMs, answeredMs);
    if (arrived !== planned && cycleOf(sentMs, clock.cycleMs) === planned) requestLog.astray += 1;
    const { admitted, count, state } = reading;
    requestLog.decide(arrived, contract, { admitted, count, state }, sentMs, answeredMs);
    const at = phasesAt(phases, planned - firstCycle);
    latency.answered({ intendedMs, sentMs, answeredMs, admitted, cycle: planned, phases: at });
    this.#end(reading);
  }

  /**
   * The cycle in which the target counted the request. What it says is believed if it can be: not before the request was sent, nor
   * after it was answered.
   */
  #arrivedIn(stamped: number | undefined, sentMs: number, answeredMs: number): number {
    const contract = this.#contract;
    const { requestLog, clock, slackMs } = this.#options;
    const { cycleMs } = clock;
    const cycle = cycleOf(sentMs, cycleMs);
    if (stamped === undefined) return cycle;
    const byMs = Math.max(startOf(stamped, cycleMs) - answeredMs, sentMs - startOf(stamped + 1, cycleMs));
    if (byMs <= slackMs) return stamped;
    requestLog.impossible.push({ contract, cycle, stamped, byMs });
    return cycle;
  }

  giveUp(): void {
    this.#cancel?.();
    this.#fault('timed_out', 'The run ended before its answer came.');
  }

  readonly #timeOut = (): void => {
    this.#timeout = undefined;
    this.#cancel?.();
    this.#fault('timed_out', `No answer within ${this.#options.timeoutMs / 1000} s.`);
  };

  #fault(kind: Fault['kind'], words: string): void {
    const { requestLog, clock } = this.#options;
    const endedMs = clock.now();
    // A request that never got a connection was under way all the same.
    if (this.#sentMs === undefined) this.#started(endedMs);
    const cycle = cycleOf(this.#sentMs!, clock.cycleMs);
    requestLog.fail({ kind, contract: this.#contract, cycle, endedMs, words });
    if (kind !== 'refused') {
      const contract = this.#contract;
      const answeredMs = Number.POSITIVE_INFINITY;
      requestLog.seen.push({ contract, sentMs: this.#sentMs!, answeredMs, decision: 'unknown' });
    }
    this.#end({ type: kind === 'timed_out' ? 'timed_out' : 'failed' });
  }

  #end(end: End): void {
    if (this.#timeout !== undefined) this.#options.clock.agenda.cancel(this.#timeout);
    this.#onEnd(end);
  }
}
