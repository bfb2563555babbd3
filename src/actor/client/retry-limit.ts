// What limits the retries of one instance, all its requests together: a budget, a share of what is in flight, or a quota.
import type { SetbackType } from './behaviour.js';

/** Why an attempt is made: the setback before it, or no answer to others; undefined for the first one of a job. */
export type Reason = SetbackType | 'hedge' | undefined;

/** The end of an attempt, as far as all requests of an instance share it. */
export interface AttemptEnd {
  /** `abandoned`: no longer wanted, since another attempt was served. */
  readonly type: 'served' | 'abandoned' | SetbackType;
  readonly after: Reason;
  readonly nowMs: number;
  /** Since it was sent. */
  readonly heldMs: number;
  readonly retryAfterMs?: number | undefined;
}

export interface RetryLimit {
  /** In traces. */
  readonly name: string;
  /** The first attempt of a job is sent. */
  requested(nowMs: number): void;
  /** Whether a retry may be made. */
  takeRetry(nowMs: number, after: SetbackType): boolean;
  ended?(end: AttemptEnd): void;
  /** A retry that was allowed is not sent. */
  unused?(): void;
}
