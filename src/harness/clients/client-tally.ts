// The figures of the clients of one kind.
//
//   warm-up                | measured
//   job ─► attempt ─► ...  | ─► served                not counted: jobs count if born after the warm-up
import { Durations } from '../../core/math/durations.js';
import type { Job, JobEnding } from './behaviour.js';

/** From the start, warm-up included. */
export interface ClientWatch {
  born(): void;
  retried(): void;
  /** @param ms since the job was wanted */
  ended(ending: JobEnding, ms: number): void;
}

const nothing = { jobs: 0, attempts: 0, retries: 0, succeeded: 0, given_up: 0, dropped: 0, abandoned: 0 };

export type TallyFigures = ReturnType<ClientTally['figures']>;

const names = Object.keys(nothing) as (keyof typeof nothing)[];

export class ClientTally {
  readonly #counts = { ...nothing };
  readonly #jobTimes = new Durations();
  readonly #attemptTimes = new Durations();
  #goodput = 0;

  /** Unix ms: jobs born before `fromMs` are warm-up and not counted; goodput is measured up to `untilMs`. */
  constructor(
    readonly fromMs: number,
    readonly watch?: ClientWatch,
    readonly untilMs = Number.POSITIVE_INFINITY,
  ) {}

  born(job: Job): void {
    this.watch?.born();
    if (this.#isCounted(job)) this.#counts.jobs += 1;
  }

  sent(job: Job, number: number): void {
    if (number > 1) this.watch?.retried();
    if (!this.#isCounted(job)) return;
    this.#counts.attempts += 1;
    if (number > 1) this.#counts.retries += 1;
  }

  served(job: Job, ms: number): void {
    if (this.#isCounted(job)) this.#attemptTimes.record(ms);
  }

  abandoned(job: Job): void {
    if (this.#isCounted(job)) this.#counts.abandoned += 1;
  }

  finished(job: Job, ending: JobEnding, nowMs: number): void {
    this.watch?.ended(ending, nowMs - job.bornMs);
    // By the time of serving: counted by birth, the jobs in progress at the end would be missing.
    if (ending === 'succeeded' && nowMs >= this.fromMs && nowMs < this.untilMs) this.#goodput += 1;
    if (!this.#isCounted(job)) return;
    this.#counts[ending] += 1;
    if (ending === 'succeeded') this.#jobTimes.record(nowMs - job.bornMs);
  }

  add(other: ClientTally): void {
    for (const name of names) this.#counts[name] += other.#counts[name];
    this.#goodput += other.#goodput;
    this.#jobTimes.add(other.#jobTimes);
    this.#attemptTimes.add(other.#attemptTimes);
  }

  /** `kind` may be all; `nowMs` ends the measurement, in unix ms. */
  figures(kind: string, clients: number, nowMs: number) {
    const { jobs, attempts } = this.#counts;
    const seconds = (Math.min(nowMs, this.untilMs) - this.fromMs) / 1000;
    return {
      kind,
      clients,
      ...this.#counts,
      retry_amplification: jobs === 0 ? 0 : attempts / jobs,
      // Jobs served while still wanted, per second of the time in which requests arrive.
      goodput_per_second: seconds > 0 ? this.#goodput / seconds : 0,
      job_latency_ms: this.#jobTimes.figures('from the first attempt until served'),
      attempt_latency_ms: this.#attemptTimes.figures('from an attempt sent to it served, abandoned ones left out'),
    };
  }

  #isCounted(job: Job): boolean {
    return job.bornMs >= this.fromMs;
  }
}
