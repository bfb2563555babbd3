// The error of WeirClient: a problem document of the node (RFC 9457), or the reason why there is no answer.

import type { FailureCode, Fault } from '../../core/schema/failure.js';
import type { HttpAnswer } from './http-transport.js';
import { retryAfterMsIn } from './limit-fields.js';

export interface WeirProblem {
  /** Stable code, one of `FailureCode`; a later version of the node may have more. */
  readonly code: string;
  /** HTTP status; 0 if there was no answer. */
  readonly status: number;
  /** The same for every problem of this code. */
  readonly title: string;
  /** What happened, why, and what to do. */
  readonly detail: string;
  /** Faults of the request: `path` is a JSON pointer. */
  readonly errors?: readonly Fault[] | undefined;
}

/**
 * `code` is the node's (`machine_not_found`, …) or the client's: `node_unreachable` (no answer in time),
 * `answer_unreadable` (something else answered), `insecure_connection` (no key was sent), `wrong_usage`.
 * An aborted call rejects with its signal's reason instead.
 */
export class WeirError extends Error implements WeirProblem {
  override readonly name = 'WeirError';
  readonly code: FailureCode | (string & Record<never, never>);
  readonly status: number;
  readonly title: string;
  readonly detail: string;
  readonly errors: readonly Fault[];
  /** `Retry-After` in ms; undefined without that header. */
  readonly retryAfterMs: number | undefined;

  constructor(
    problem: WeirProblem,
    { retryAfterMs, cause }: { retryAfterMs?: number | undefined; cause?: unknown } = {},
  ) {
    super(problem.detail, { cause });
    this.code = problem.code;
    this.status = problem.status;
    this.title = problem.title;
    this.detail = problem.detail;
    this.errors = problem.errors ?? [];
    this.retryAfterMs = retryAfterMs;
  }
}

export function errorFrom(url: string, answer: HttpAnswer): WeirError {
  const { status, body } = answer;
  const { code, title, detail, errors } = (body ?? {}) as Partial<Record<keyof WeirProblem, unknown>>;
  if (typeof code !== 'string' || typeof title !== 'string' || typeof detail !== 'string')
    return answerUnreadable(url, `It has status ${status} and is not a problem document.`);
  const faults = Array.isArray(errors) ? (errors as readonly Fault[]) : [];
  return new WeirError(
    { code, status, title, detail, errors: faults },
    { retryAfterMs: retryAfterMsIn(answer.headers) },
  );
}

export function answerUnreadable(url: string, why: string): WeirError {
  const detail = `The answer of ${url} cannot be read. ${why} Check that the address is that of a node.`;
  return new WeirError({ code: 'answer_unreadable', status: 0, title: 'The answer cannot be read', detail });
}

export function nodeUnreachable(url: string, why: string, cause: unknown): WeirError {
  const detail = `The node at ${url} could not be reached. ${why}`;
  return new WeirError(
    { code: 'node_unreachable', status: 0, title: 'The node could not be reached', detail },
    { cause },
  );
}

export function wrongUsage(detail: string): WeirError {
  return new WeirError({ code: 'wrong_usage', status: 0, title: 'The call cannot be understood', detail });
}
