// The service behind the gate: servers, a queue in front of them, and the time that a request takes.
//
//                ┌── refused when `queue` are waiting
//   offer ──► [ . . . . ] ──► server 1 ──► served
//               waiting   └─► server 2 ──► served, though its client has gone: wasted
//                └── abandoned while waiting: dropped, or served all the same
//
//   arrived = served + refused + dropped + waiting + in service

import { Durations } from '../math/durations.js';
import { Level } from '../math/level.js';
import type { RandomStream } from '../math/random.js';
import type { ServiceFigures } from '../outcome/outcome-schema.js';
import type { ServicePlan } from '../scenario/service-plan.js';
import { assert } from '../schema/failure.js';
import type { Clock } from '../time/clock.js';
import { Rank } from '../time/rank.js';

export interface ServiceOptions<Work> {
  readonly clock: Clock;
  readonly plan: ServicePlan;
  /** For the service times alone. */
  readonly draw: RandomStream;
  readonly onServed: (work: Work) => void;
  /** Told when the next request would be refused, and when it would no longer be. */
  readonly onPressure?: ((isFull: boolean) => void) | undefined;
  readonly watch?: ServiceWatch | undefined;
  /** Requests that arrive before are a warm-up and not counted; unix ms. Default: now. */
  readonly fromMs?: number | undefined;
  /** Means over time are taken up to here: in the drain the servers have nothing to do. Unix ms. Default: the end of the run. */
  readonly untilMs?: number | undefined;
}

/** Observes the service as it works, the warm-up included: for series over time. */
export interface ServiceWatch {
  /** So many are waiting from now on. */
  queued(waiting: number): void;
  /** A request was served. @param ms since it arrived */
  responded(ms: number): void;
}

/** A request inside the service. */
export interface Visit<Work> {
  readonly work: Work;
  readonly arrivedMs: number;
}

/** Counts so far; of two readings, the difference is what happened between. */
export interface ServiceCounts {
  readonly arrived: number;
  readonly served: number;
  readonly refused: number;
  /** Abandoned while waiting, and not served. */
  readonly dropped: number;
  /** Of those served: abandoned before. */
  readonly wasted: number;
  /** Requests waiting, times how long, in ms. */
  readonly waitingMs: number;
  /** Requests being served, times how long, in ms. */
  readonly busyMs: number;
}

interface OpenVisit<Work> extends Visit<Work> {
  next: OpenVisit<Work> | undefined;
  stage: 'waiting' | 'serving' | 'gone';
  isAbandoned: boolean;
}

export class Service<Work> {
  readonly #clock: Clock;
  readonly #plan: ServicePlan;
  readonly #draw: RandomStream;
  readonly #onServed: (work: Work) => void;
  readonly #onPressure: ((isFull: boolean) => void) | undefined;
  readonly #watch: ServiceWatch | undefined;
  readonly #fromMs: number;
  // The queue, first to last. Those who were dropped from it stay in the chain until their turn comes.
  #first: OpenVisit<Work> | undefined;
  #last: OpenVisit<Work> | undefined;
  readonly #waiting: Level;
  readonly #busy: Level;
  #isFull = false;
  #arrived = 0;
  #served = 0;
  #refused = 0;
  #dropped = 0;
  #wasted = 0;
  readonly #waits = new Durations();
  readonly #responses = new Durations();

  constructor({ clock, plan, draw, onServed, onPressure, watch, fromMs = clock.now(), untilMs }: ServiceOptions<Work>) {
    assert(
      plan.servers >= 1 && plan.queue >= 0,
      `a service cannot have ${plan.servers} servers and a queue of ${plan.queue}`,
    );
    this.#clock = clock;
    this.#plan = plan;
    this.#draw = draw;
    this.#onServed = onServed;
    this.#onPressure = onPressure;
    this.#watch = watch;
    this.#fromMs = fromMs;
    this.#waiting = new Level(fromMs, untilMs);
    this.#busy = new Level(fromMs, untilMs);
  }

  /** Requests waiting now. */
  get waiting(): number {
    return this.#waiting.value;
  }

  /** Requests being served now. */
  get serving(): number {
    return this.#busy.value;
  }

  /** Whether the next request would be refused. */
  get isFull(): boolean {
    return this.#busy.value === this.#plan.servers && this.#waiting.value >= this.#plan.queue;
  }

  /** Takes a request in; undefined when it is refused. `onServed` is called later, never from in here. */
  offer(work: Work): Visit<Work> | undefined {
    const arrivedMs = this.#clock.now();
    const isCounted = arrivedMs >= this.#fromMs;
    if (isCounted) this.#arrived += 1;
    if (this.isFull) {
      if (isCounted) this.#refused += 1;
      return undefined;
    }
    const visit: OpenVisit<Work> = { work, arrivedMs, next: undefined, stage: 'waiting', isAbandoned: false };
    if (this.#busy.value < this.#plan.servers) this.#serve(visit, arrivedMs);
    else this.#enqueue(visit, arrivedMs);
    this.#tellPressure();
    return visit;
  }

  /** Nobody waits for the request any more. What is being served goes on being served. */
  abandon(visit: Visit<Work>): void {
    const open = visit as OpenVisit<Work>;
    open.isAbandoned = true;
    if (open.stage !== 'waiting' || !this.#plan.dropsAbandoned) return;
    open.stage = 'gone';
    this.#changeWaiting(-1, this.#clock.now());
    if (this.#counts(open)) this.#dropped += 1;
    this.#tellPressure();
  }

  /** Whether an abandoned request has left the queue, and will not be served. */
  isDropped(visit: Visit<Work>): boolean {
    const { stage, isAbandoned } = visit as OpenVisit<Work>;
    return stage === 'gone' && isAbandoned;
  }

  /** What has happened so far to the requests that are counted. */
  get counts(): ServiceCounts {
    const nowMs = this.#clock.now();
    return {
      arrived: this.#arrived,
      served: this.#served,
      refused: this.#refused,
      dropped: this.#dropped,
      wasted: this.#wasted,
      waitingMs: this.#waiting.areaMs(nowMs),
      busyMs: this.#busy.areaMs(nowMs),
    };
  }

  /** The figures up to now. */
  figures(): ServiceFigures {
    const nowMs = this.#clock.now();
    return {
      arrived: this.#arrived,
      served: this.#served,
      refused: this.#refused,
      dropped: this.#dropped,
      wasted: this.#wasted,
      queue_mean: this.#waiting.mean(nowMs),
      queue_max: this.#waiting.max,
      busy_share: this.#busy.mean(nowMs) / this.#plan.servers,
      wait_ms: this.#waits.figures('from arrival at the service to the beginning of its work'),
      response_ms: this.#responses.figures('from arrival at the service to the end of its work'),
    };
  }

  #enqueue(visit: OpenVisit<Work>, nowMs: number): void {
    if (this.#last === undefined) this.#first = visit;
    else this.#last.next = visit;
    this.#last = visit;
    this.#changeWaiting(1, nowMs);
  }

  #changeWaiting(by: number, nowMs: number): void {
    this.#waiting.change(by, nowMs);
    this.#watch?.queued(this.#waiting.value);
  }

  #serve(visit: OpenVisit<Work>, nowMs: number): void {
    visit.stage = 'serving';
    this.#busy.change(1, nowMs);
    if (this.#counts(visit)) this.#waits.record(nowMs - visit.arrivedMs);
    const endMs = nowMs + this.#plan.time.drawMs(this.#draw);
    this.#clock.agenda.at(endMs, Rank.service, () => this.#end(visit));
  }

  #end(visit: OpenVisit<Work>): void {
    const nowMs = this.#clock.now();
    visit.stage = 'gone';
    this.#busy.change(-1, nowMs);
    this.#watch?.responded(nowMs - visit.arrivedMs);
    if (this.#counts(visit)) {
      this.#served += 1;
      if (visit.isAbandoned) this.#wasted += 1;
      this.#responses.record(nowMs - visit.arrivedMs);
    }
    const next = this.#dequeue();
    if (next !== undefined) {
      this.#changeWaiting(-1, nowMs);
      this.#serve(next, nowMs);
    }
    this.#tellPressure();
    this.#onServed(visit.work);
  }

  /** The first who has not been dropped. */
  #dequeue(): OpenVisit<Work> | undefined {
    let visit = this.#first;
    while (visit?.stage === 'gone') visit = visit.next;
    this.#first = visit?.next;
    if (this.#first === undefined) this.#last = undefined;
    return visit;
  }

  #counts(visit: Visit<Work>): boolean {
    return visit.arrivedMs >= this.#fromMs;
  }

  #tellPressure(): void {
    const { isFull } = this;
    if (isFull === this.#isFull) return;
    this.#isFull = isFull;
    this.#onPressure?.(isFull);
  }
}
