// Statistics over the answers of a run: statuses, bytes, latencies, and the limit as observed.
//
//   answers   200 200 200 429 429 200 429 200            first limited: the 4th; while limited 2 of 5 were admitted
//   latency   ≤ 1 ms ≤ 2 ms ≤ 5 ms ≤ 10 ms …             counted in steps of 1, 2, 5
import { retryAfterMsIn } from '../../api/client/limit-fields.js';
import type { AnswerFigures } from '../outcome/outcome-schema.js';
import type { PoolAnswer } from './http-pool.js';
import { quotaIn, type RequestFault } from './target.js';

const BOUNDS = [-1, 0, 1, 2, 3, 4, 5].flatMap((power) => [1, 2, 5].map((step) => Number(`${step}e${power}`)));

export class AnswerTally {
  readonly #statuses = new Map<number, number>();
  readonly #errors = new Map<RequestFault['kind'], number>();
  readonly #steps = new Array<number>(BOUNDS.length + 1).fill(0);
  #answers = 0;
  #bytes = 0;
  #firstMs = Number.POSITIVE_INFINITY;
  #lastMs = Number.NEGATIVE_INFINITY;
  #limited: { readonly answer: PoolAnswer; readonly atMs: number; readonly after: number; lastMs: number } | undefined;
  /** Admitted since the first limited answer, and those of them before the last limited one. */
  #admitted = 0;
  #admittedWhile = 0;

  answered(answer: PoolAnswer, isLimited: boolean, intendedMs: number, answeredMs: number): void {
    this.#answers += 1;
    this.#bytes += answer.bytes;
    this.#statuses.set(answer.status, (this.#statuses.get(answer.status) ?? 0) + 1);
    const step = BOUNDS.findIndex((bound) => answeredMs - intendedMs <= bound);
    this.#steps[step < 0 ? BOUNDS.length : step]! += 1;
    this.#firstMs = Math.min(this.#firstMs, intendedMs);
    this.#lastMs = Math.max(this.#lastMs, answeredMs);
    if (!isLimited) {
      this.#admitted += 1;
      return;
    }
    if (this.#limited === undefined) {
      this.#limited = { answer, atMs: answeredMs, after: this.#answers, lastMs: answeredMs };
      this.#admitted = 0;
    }
    this.#limited.lastMs = answeredMs;
    this.#admittedWhile = this.#admitted;
  }

  broke(kind: RequestFault['kind']): void {
    this.#errors.set(kind, (this.#errors.get(kind) ?? 0) + 1);
  }

  figures(): AnswerFigures {
    const seconds = Math.max(0, this.#lastMs - this.#firstMs) / 1000 || 0;
    const first = this.#steps.findIndex((n) => n > 0);
    const last = this.#steps.findLastIndex((n) => n > 0);
    return {
      seconds,
      statuses: Object.fromEntries([...this.#statuses].sort(([a], [b]) => a - b)),
      errors: Object.fromEntries([...this.#errors].sort()),
      bytes: this.#bytes,
      histogram: this.#steps
        .map((n, step) => ({ up_to_ms: BOUNDS[step] ?? null, n }))
        .slice(Math.max(0, first), last + 1),
      limit: this.#limitSeen(),
    };
  }

  #limitSeen(): AnswerFigures['limit'] {
    if (this.#limited === undefined) return null;
    const { answer, atMs, after, lastMs } = this.#limited;
    const whileSeconds = (lastMs - atMs) / 1000;
    const { limit, windowMs } = quotaIn(answer.fields);
    return {
      status: answer.status,
      after_answers: after,
      after_seconds: (atMs - this.#firstMs) / 1000,
      announced_limit: limit ?? null,
      announced_window_s: windowMs === undefined ? null : windowMs / 1000,
      retry_after_s: (retryAfterMsIn(answer.fields) ?? Number.NaN) / 1000 || null,
      limited_seconds: whileSeconds,
      admitted_per_second: whileSeconds >= 1 ? this.#admittedWhile / whileSeconds : null,
    };
  }
}
