// Owns any other HTTP service as a target: how it is asked, and which of its answers mean limited. Leaves comparing it with the
// model, and the uncertainty about the moment at which it counts, to the run.
import type { Target as TargetSpec } from '../scenario/schema.js';
import type { Endpoint } from './endpoint.js';
import type { Fields, WireAnswer, WireRequest } from './http-pool.js';
import { quoted, type Reading, retryAfterMs, type Target } from './target.js';

export class ForeignTarget implements Target {
  readonly description: string;
  readonly #request: WireRequest;
  readonly #limited: ReadonlySet<number>;
  readonly #admitted: ReadonlySet<number> | undefined;
  readonly #quota = { limit: undefined as number | undefined };

  constructor(
    endpoint: Endpoint,
    { method = 'GET', path, headers, body, limited_status, admitted_status }: TargetSpec,
  ) {
    this.#request = {
      method,
      path: path ?? endpoint.path,
      ...(headers === undefined ? {} : { headers }),
      ...(body === undefined ? {} : { body }),
    };
    this.#limited = new Set(limited_status ?? [429]);
    this.#admitted = admitted_status === undefined ? undefined : new Set(admitted_status);
    this.description = `${method} ${endpoint.origin}${this.#request.path}`;
  }

  /** How many requests a window may hold, as the service says; undefined while it has not said. */
  get limit(): number | undefined {
    return this.#quota.limit;
  }

  request(): WireRequest {
    return this.#request;
  }

  read(answer: WireAnswer): Reading {
    const { status, fields, body } = answer;
    this.#quota.limit ??= limitIn(fields);
    if (this.#limited.has(status)) return { type: 'decided', admitted: false, retryAfterMs: waitIn(answer) };
    const isAdmitted = this.#admitted?.has(status) ?? (status >= 200 && status < 400);
    if (isAdmitted) return { type: 'decided', admitted: true };
    if (status === 503) return { type: 'overloaded', words: `Status 503: ${quoted(body)}.` };
    return { type: 'unexpected', words: `Status ${status} means neither admitted nor limited: ${quoted(body)}.` };
  }
}

/** `q` of `RateLimit-Policy`, `limit` of older drafts, or `X-RateLimit-Limit`. */
function limitIn(fields: Fields): number | undefined {
  return (
    numberIn(fields['ratelimit-policy'], /\bq=(\d+)/) ??
    numberIn(fields['ratelimit'], /\blimit=(\d+)/) ??
    numberIn(fields['ratelimit-limit'], /^(\d+)/) ??
    numberIn(fields['x-ratelimit-limit'], /^(\d+)/)
  );
}

/** `Retry-After`, `t` of `RateLimit`, or the seconds that older fields tell until the reset; in ms. */
function waitIn(answer: WireAnswer): number | undefined {
  const { fields } = answer;
  const seconds =
    numberIn(fields['ratelimit'], /\b(?:t|reset)=(\d+)/) ??
    numberIn(fields['ratelimit-reset'], /^(\d+)$/) ??
    // Some give the unix time of the reset here: more than a year of seconds is such a time, and says nothing to a monotonic clock.
    numberIn(fields['x-ratelimit-reset'], /^(\d{1,7})$/);
  return retryAfterMs(answer) ?? (seconds === undefined ? undefined : seconds * 1000);
}

function numberIn(value: string | string[] | undefined, pattern: RegExp): number | undefined {
  const text = Array.isArray(value) ? value[0] : value;
  const found = text === undefined ? undefined : pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
