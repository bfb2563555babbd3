// Requests in flight: each ends once, by an answer, a broken connection, or its time limit.

import type { Ticket } from '../../core/time/agenda.js';
import type { Clock } from '../../core/time/clock.js';
import { Rank } from '../../core/time/rank.js';
import type { AnswerTally } from './answer-tally.js';
import type { HttpPool, PoolAnswer, PoolRequest, RequestListener } from './http-pool.js';
import type { RequestObserver, SentRequest } from './request-log.js';
import type { RequestEnd, RequestFault, Target } from './target.js';

interface InFlightOptions {
  readonly clock: Clock;
  readonly pool: HttpPool;
  readonly target: Target;
  readonly observer: RequestObserver;
  /** Counted from the intended instant. */
  readonly timeoutMs: number;
  readonly answers?: AnswerTally | undefined;
  readonly onGone: (words: string) => void;
}

export class RequestsInFlight {
  readonly #all = new Set<RequestInFlight>();
  #whenEmpty: (() => void) | undefined;

  constructor(readonly options: InFlightOptions) {}

  /** @param intendedMs the scheduled instant; its cycle is the planned one */
  launch(contract: number, intendedMs: number, cost?: number, onEnd?: (end: RequestEnd) => void): void {
    this.#add(contract, intendedMs, cost, onEnd).start();
  }

  #add(contract: number, intendedMs: number, cost?: number, onEnd?: (end: RequestEnd) => void): RequestInFlight {
    const request = new RequestInFlight(this.options, contract, cost, intendedMs, (end) => {
      this.#all.delete(request);
      onEnd?.(end);
      if (this.#all.size === 0) this.#whenEmpty?.();
    });
    this.#all.add(request);
    return request;
  }

  requestOf(contract: number): PoolRequest {
    return this.options.target.request(contract);
  }

  /** A request that goes out now by another way. @returns takes its answer, before its end alone */
  adopt(contract: number, onEnd: () => void): RequestListener {
    const { clock } = this.options;
    return this.#add(contract, clock.now(), undefined, onEnd).adopt();
  }

  landed(): Promise<void> {
    return this.#all.size === 0 ? Promise.resolve() : new Promise((resolve) => (this.#whenEmpty = resolve));
  }

  giveUp(): void {
    for (const request of [...this.#all]) request.giveUp();
  }
}

class RequestInFlight implements SentRequest {
  sentMs = Number.NaN;
  #timeout: Ticket | undefined;
  #cancel: (() => void) | undefined;
  #held: Ticket | undefined;

  constructor(
    readonly options: InFlightOptions,
    readonly contract: number,
    readonly cost: number | undefined,
    readonly intendedMs: number,
    readonly onEnd: (end: RequestEnd) => void,
  ) {}

  start(): void {
    const { pool, target } = this.options;
    this.#cancel = pool.fire(target.request(this.contract, this.cost), this.#listen());
  }

  adopt(): RequestListener {
    const listener = this.#listen();
    listener.started();
    return listener;
  }

  #listen(): RequestListener {
    const { clock, timeoutMs } = this.options;
    this.#timeout = clock.agenda.at(Math.max(this.intendedMs, clock.now()) + timeoutMs, Rank.client, this.#timeOut);
    return {
      started: () => this.#started(clock.now()),
      answered: (answer) => this.#answered(answer),
      broke: ({ kind, words }) => {
        if (kind === 'refused') this.options.onGone(words);
        this.#fault(kind, words);
      },
    };
  }

  #started(nowMs: number): void {
    // The pool may resend a request if its connection breaks before an answer.
    if (!Number.isNaN(this.sentMs)) return;
    this.sentMs = nowMs;
    this.options.observer.send(this);
  }

  #answered(answer: PoolAnswer): void {
    const { target, clock, answers } = this.options;
    const reading = target.read(answer);
    const isLimited = reading.type === 'decided' && !reading.admitted;
    answers?.answered(answer, isLimited, this.intendedMs, clock.now());
    if (reading.type !== 'decided') {
      this.#fault(reading.kind, reading.words);
      return;
    }
    const nowMs = clock.now();
    if (Number.isNaN(this.sentMs)) this.sentMs = nowMs;
    const { delayMs = 0 } = reading;
    const end = () => this.#end(nowMs + delayMs, reading);
    if (delayMs === 0) end();
    else this.#held = clock.agenda.at(nowMs + delayMs, Rank.client, end);
  }

  giveUp(): void {
    this.#cancel?.();
    this.#fault('timed_out', 'The run ended before its answer came.');
  }

  readonly #timeOut = (): void => {
    this.#timeout = undefined;
    this.#cancel?.();
    const what = Number.isNaN(this.sentMs) ? 'No connection was free' : 'No answer';
    this.#fault('timed_out', `${what} within ${this.options.timeoutMs / 1000} s.`);
  };

  #fault(kind: RequestFault['kind'], words: string): void {
    const { clock, answers } = this.options;
    const endedMs = clock.now();
    if (kind !== 'unexpected' && kind !== 'overloaded') answers?.broke(kind);
    // Also counts as sent if it never got a connection.
    this.#started(endedMs);
    this.#end(endedMs, { type: 'fault', kind, words });
  }

  #end(endedMs: number, end: RequestEnd): void {
    const { observer, clock } = this.options;
    observer.end(this, endedMs, end);
    if (this.#timeout !== undefined) clock.agenda.cancel(this.#timeout);
    if (this.#held !== undefined) clock.agenda.cancel(this.#held);
    this.onEnd(end);
  }
}
