// The service behind the gate: servers with a queue.
//
//                ┌── refused when `queue` are waiting
//   offer ──► [ . . . . ] ──► server 1 ──► served
//               waiting   └─► server 2 ──► served after its client gave up: wasted; or it fails
//                └── abandoned while waiting: dropped, or served all the same; failed if it waited for too long
//
//   arrived = served + refused + dropped + failed + waiting + in service
//
//   fifo            1 2 3 4 ──► 1
//   lifo            1 2 3 4 ──► 4
//   adaptive_lifo   as lifo while the queue lasts: it has not been empty for the interval
//   codel           the longest wait is the target while the queue lasts, else the interval
//
// After "Fail at Scale" (B. Maurer, ACM Queue 13/8, 2015).

import { Durations } from '../../core/math/durations.js';
import { FifoQueue } from '../../core/math/fifo-queue.js';
import { Level } from '../../core/math/level.js';
import type { RandomStream } from '../../core/math/random.js';
import { assert } from '../../core/schema/failure.js';
import type { Clock } from '../../core/time/clock.js';
import { Rank } from '../../core/time/rank.js';
import type { ServiceFigures } from '../outcome/outcome-schema.js';
import type { ServicePlan } from '../scenario/service-plan.js';

interface ServiceOptions<Work> {
  readonly clock: Clock;
  readonly plan: ServicePlan;
  readonly draw: RandomStream;
  readonly onStarted?: ((work: Work) => void) | undefined;
  readonly onEnd: (work: Work, isServed: boolean) => void;
  /** Present fraction of its full speed, above 0. Default: 1. */
  readonly speed?: (() => number) | undefined;
  readonly watch?: ServiceWatch | undefined;
  /** Unix ms; earlier requests are a warm-up and not counted. Default: now. */
  readonly fromMs?: number | undefined;
  /** Unix ms; end of the means over time, before the drain, in which servers are idle. Default: the end of the run. */
  readonly untilMs?: number | undefined;
}

/** Called from the start, warm-up included; times in ms. */
export interface ServiceWatch {
  queued(waiting: number): void;
  responded(ms: number): void;
}

export interface Visit<Work> {
  readonly work: Work;
  readonly arrivedMs: number;
}

interface OpenVisit<Work> extends Visit<Work> {
  stage: 'waiting' | 'serving' | 'gone';
  isAbandoned: boolean;
}

export class Service<Work> {
  readonly counts = { arrived: 0, served: 0, refused: 0, dropped: 0, failed: 0, wasted: 0 };
  readonly waiting: Level;
  readonly busy: Level;
  readonly #options: ServiceOptions<Work>;
  readonly #clock: Clock;
  readonly #plan: ServicePlan;
  #emptyMs: number;
  #refusalMs = 0;
  readonly #fromMs: number;
  /** Dropped requests stay in it until their turn. */
  readonly #queue = new FifoQueue<OpenVisit<Work>>();
  readonly #waits = new Durations();
  readonly #responses = new Durations();

  constructor(options: ServiceOptions<Work>) {
    const { clock, plan, fromMs = clock.now(), untilMs } = options;
    assert(
      plan.servers >= 1 && plan.queue >= 0,
      `a service cannot have ${plan.servers} servers and a queue of ${plan.queue}`,
    );
    this.#options = options;
    this.#clock = clock;
    this.#plan = plan;
    this.#emptyMs = clock.now();
    this.#fromMs = fromMs;
    this.waiting = new Level(fromMs, untilMs);
    this.busy = new Level(fromMs, untilMs);
  }

  /** Undefined if refused. `onEnd` is called later, never from here. */
  offer(work: Work): Visit<Work> | undefined {
    const arrivedMs = this.#clock.now();
    const isCounted = arrivedMs >= this.#fromMs;
    if (isCounted) this.counts.arrived += 1;
    const isBusy = this.busy.value === this.#plan.servers;
    if (isBusy && this.waiting.value >= this.#plan.queue) {
      if (isCounted) this.counts.refused += 1;
      this.#refusalMs += this.#plan.refusalMs;
      return undefined;
    }
    const visit: OpenVisit<Work> = { work, arrivedMs, stage: 'waiting', isAbandoned: false };
    if (isBusy) {
      this.#queue.push(visit);
      this.#changeWaiting(1, arrivedMs);
    } else this.#serve(visit, arrivedMs);
    return visit;
  }

  abandon(visit: Visit<Work>): void {
    const open = visit as OpenVisit<Work>;
    open.isAbandoned = true;
    if (open.stage !== 'waiting' || !this.#plan.dropsAbandoned) return;
    open.stage = 'gone';
    this.#changeWaiting(-1, this.#clock.now());
    if (this.#isCounted(open)) this.counts.dropped += 1;
  }

  isDropped(visit: Visit<Work>): boolean {
    const { stage, isAbandoned } = visit as OpenVisit<Work>;
    return stage === 'gone' && isAbandoned;
  }

  figures(): ServiceFigures {
    const nowMs = this.#clock.now();
    const { failed, wasted, ...counts } = this.counts;
    return {
      ...counts,
      ...(this.#mayFail && { failed }),
      wasted,
      queue_mean: this.waiting.mean(nowMs),
      queue_max: this.waiting.max,
      busy_share: this.busy.mean(nowMs) / this.#plan.servers,
      wait_ms: this.#waits.figures('from arrival at the service to the beginning of its work'),
      response_ms: this.#responses.figures('from arrival at the service to the end of its work'),
    };
  }

  get #mayFail(): boolean {
    const { fails, codelMs, deadlineMs } = this.#plan;
    return fails > 0 || codelMs !== undefined || deadlineMs < Number.POSITIVE_INFINITY;
  }

  #changeWaiting(by: number, nowMs: number): void {
    this.waiting.change(by, nowMs);
    if (this.waiting.value === 0 || this.waiting.value === by) this.#emptyMs = nowMs;
    this.#options.watch?.queued(this.waiting.value);
  }

  #serve(visit: OpenVisit<Work>, nowMs: number): void {
    const { time, perInFlightMs } = this.#plan;
    const others = this.busy.value;
    visit.stage = 'serving';
    this.#options.onStarted?.(visit.work);
    this.busy.change(1, nowMs);
    if (this.#isCounted(visit)) this.#waits.record(nowMs - visit.arrivedMs);
    const workMs = time.drawMs(this.#options.draw) + perInFlightMs * others + this.#refusalMs;
    this.#refusalMs = 0;
    this.#clock.agenda.at(nowMs + workMs / (this.#options.speed?.() ?? 1), Rank.service, () => this.#end(visit));
  }

  #end(visit: OpenVisit<Work>): void {
    const nowMs = this.#clock.now();
    visit.stage = 'gone';
    this.busy.change(-1, nowMs);
    this.#options.watch?.responded(nowMs - visit.arrivedMs);
    const hasFailed = this.#plan.fails > 0 && this.#options.draw.uniform() < this.#plan.fails;
    if (hasFailed) this.#countFailed(visit);
    else if (this.#isCounted(visit)) {
      this.counts.served += 1;
      if (visit.isAbandoned) this.counts.wasted += 1;
      this.#responses.record(nowMs - visit.arrivedMs);
    }
    const late = this.#serveNext(nowMs);
    const { onEnd } = this.#options;
    onEnd(visit.work, !hasFailed);
    for (const { work } of late) onEnd(work, false);
  }

  #serveNext(nowMs: number): readonly OpenVisit<Work>[] {
    const late: OpenVisit<Work>[] = [];
    for (let next = this.#dequeue(nowMs); next !== undefined; next = this.#dequeue(nowMs)) {
      const hasWaited = nowMs - next.arrivedMs > this.#longestWaitMs(nowMs);
      this.#changeWaiting(-1, nowMs);
      if (!hasWaited) {
        this.#serve(next, nowMs);
        break;
      }
      next.stage = 'gone';
      this.#countFailed(next);
      late.push(next);
    }
    return late;
  }

  #countFailed(visit: OpenVisit<Work>): void {
    if (this.#isCounted(visit)) this.counts.failed += 1;
  }

  #hasPersistentQueue(nowMs: number): boolean {
    return nowMs - this.#emptyMs > this.#plan.intervalMs;
  }

  #longestWaitMs(nowMs: number): number {
    const { codelMs, intervalMs, deadlineMs } = this.#plan;
    if (codelMs === undefined) return deadlineMs;
    return Math.min(deadlineMs, this.#hasPersistentQueue(nowMs) ? codelMs : intervalMs);
  }

  #dequeue(nowMs: number): OpenVisit<Work> | undefined {
    const { order } = this.#plan;
    const fromEnd = order === 'lifo' || (order === 'adaptive_lifo' && this.#hasPersistentQueue(nowMs));
    const next = () => (fromEnd ? this.#queue.pop() : this.#queue.shift());
    let visit = next();
    while (visit?.stage === 'gone') visit = next();
    return visit;
  }

  #isCounted(visit: Visit<Work>): boolean {
    return visit.arrivedMs >= this.#fromMs;
  }
}
