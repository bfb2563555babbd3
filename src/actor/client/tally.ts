// Owns the figures of the clients of one kind, counted as they act. Leaves the figures of the gate and of the service to theirs.
//
//   warm-up                | measured
//   job ─► attempt ─► ...  | ─► served                not counted: what a job does counts if the job was born in time

import { Durations } from '../../core/durations.js';
import type { ClientFigures } from '../../outcome/schema.js';
import type { Ending, Job } from './port.js';

/** What can be subtracted: the counts at one instant less those at an earlier one are the counts between. */
export interface ClientCounts {
  readonly jobs: number;
  readonly attempts: number;
  /** Attempts after the first of a job. */
  readonly retries: number;
  readonly succeeded: number;
  readonly givenUp: number;
  readonly dropped: number;
  /** Attempts whose client ceased to wait. */
  readonly abandoned: number;
}

export class ClientTally {
  #jobs = 0;
  #attempts = 0;
  #retries = 0;
  #succeeded = 0;
  #givenUp = 0;
  #dropped = 0;
  #abandoned = 0;
  readonly #jobTimes = new Durations();
  readonly #attemptTimes = new Durations();

  /** @param fromMs jobs born before are not counted: the warm-up; unix ms */
  constructor(readonly fromMs: number) {}

  born(job: Job): void {
    if (this.#counts(job)) this.#jobs += 1;
  }

  /** @param number of the attempt, 1 for the first */
  sent(job: Job, number: number): void {
    if (!this.#counts(job)) return;
    this.#attempts += 1;
    if (number > 1) this.#retries += 1;
  }

  /** An attempt was served while its client waited. */
  served(job: Job, ms: number): void {
    if (this.#counts(job)) this.#attemptTimes.record(ms);
  }

  abandoned(job: Job): void {
    if (this.#counts(job)) this.#abandoned += 1;
  }

  finished(job: Job, ending: Ending, nowMs: number): void {
    if (!this.#counts(job)) return;
    if (ending === 'dropped') this.#dropped += 1;
    else if (ending === 'given_up') this.#givenUp += 1;
    else {
      this.#succeeded += 1;
      this.#jobTimes.record(nowMs - job.bornMs);
    }
  }

  /** Takes in what another kind of client has counted. */
  add(other: ClientTally): void {
    this.#jobs += other.#jobs;
    this.#attempts += other.#attempts;
    this.#retries += other.#retries;
    this.#succeeded += other.#succeeded;
    this.#givenUp += other.#givenUp;
    this.#dropped += other.#dropped;
    this.#abandoned += other.#abandoned;
    this.#jobTimes.add(other.#jobTimes);
    this.#attemptTimes.add(other.#attemptTimes);
  }

  get counts(): ClientCounts {
    return {
      jobs: this.#jobs,
      attempts: this.#attempts,
      retries: this.#retries,
      succeeded: this.#succeeded,
      givenUp: this.#givenUp,
      dropped: this.#dropped,
      abandoned: this.#abandoned,
    };
  }

  /**
   * The figures as an outcome shows them.
   * @param kind the name of the kind, or all
   * @param clients how many there are
   * @param nowMs the end of the time measured, in unix ms
   */
  figures(kind: string, clients: number, nowMs: number): ClientFigures {
    const seconds = (nowMs - this.fromMs) / 1000;
    return {
      kind,
      clients,
      jobs: this.#jobs,
      attempts: this.#attempts,
      retries: this.#retries,
      succeeded: this.#succeeded,
      given_up: this.#givenUp,
      dropped: this.#dropped,
      abandoned: this.#abandoned,
      retry_amplification: this.#jobs === 0 ? 0 : this.#attempts / this.#jobs,
      goodput_per_second: seconds > 0 ? this.#succeeded / seconds : 0,
      job_latency_ms: this.#jobTimes.figures('from a job wanted to it served'),
      attempt_latency_ms: this.#attemptTimes.figures('from an attempt sent to it served, abandoned ones left out'),
    };
  }

  #counts(job: Job): boolean {
    return job.bornMs >= this.fromMs;
  }
}
