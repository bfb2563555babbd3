// What every live target is to a run: how a request of a contract is sent, and how its answer is read; and any HTTP service as a target.
// A Weir node is in weir-target.ts.

import { olderIn, policyIn, rateLimitMsIn, retryAfterMsIn } from '../client/limit-fields.js';
import type { Target as TargetSpec } from '../scenario/scenario-schema.js';
import { type TargetPreset, targetPresets, type WaitHeader } from '../scenario/target-presets.js';
import type { Endpoint } from './connection.js';
import type { Fields, PoolAnswer, PoolRequest } from './http-pool.js';

export type Reading =
  | {
      readonly type: 'decided';
      readonly admitted: boolean;
      /** The cycle in which the target counted the request; undefined where it does not say. */
      readonly cycle?: number | undefined;
      /** State and count after the request; undefined where it does not say. */
      readonly state?: string | undefined;
      readonly count?: number | undefined;
      /** How long a limited client is to wait, in ms; undefined where it is not said. */
      readonly retryAfterMs?: number | undefined;
      /** How long whoever asked has to hold an admitted request, in ms. Default: 0, or the target has held it. */
      readonly delayMs?: number | undefined;
    }
  /** The target cannot take the request now, or what is before it got no answer of it: no decision, and no mistake of the target. */
  | { readonly type: 'overloaded'; readonly words: string }
  /** Anything else: a status or body that a right answer would not have. */
  | { readonly type: 'unexpected'; readonly words: string };

export interface Target {
  readonly description: string;
  /** The request that is sent for a contract, by index. @param cost a target that does not know of costs counts 1. Default: 1 */
  request(contract: number, cost?: number): PoolRequest;
  read(answer: PoolAnswer): Reading;
}

export const lostStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

export function quoted(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 120 ? `"${line.slice(0, 120)}…"` : `"${line}"`;
}

export class ForeignTarget implements Target {
  readonly description: string;
  /** The most that a request and its answer are under way, in ms; undefined where nobody says. */
  readonly transportMs: number | undefined;
  readonly #requests: readonly PoolRequest[];
  readonly #limited: ReadonlySet<number>;
  readonly #admitted: ReadonlySet<number> | undefined;
  readonly #preset: TargetPreset | undefined;
  readonly #quota = { limit: undefined as number | undefined };

  /** @param names of the contracts; they go into the header for the key */
  constructor(endpoint: Endpoint, spec: TargetSpec, names: readonly string[]) {
    const { method = 'GET', path = endpoint.path, headers, body, limited_status, admitted_status, key_header } = spec;
    this.#preset = spec.preset === undefined ? undefined : targetPresets[spec.preset];
    this.#requests = names.map((name) => {
      const all = { ...headers, ...(key_header === undefined ? {} : { [key_header]: name }) };
      return {
        method,
        path,
        ...(Object.keys(all).length === 0 ? {} : { headers: all }),
        ...(body === undefined ? {} : { body }),
      };
    });
    this.#limited = new Set(limited_status ?? this.#preset?.limited_status ?? [429]);
    this.#admitted = admitted_status === undefined ? undefined : new Set(admitted_status);
    this.transportMs = spec.transport_ms;
    const as = this.#preset === undefined ? '' : `, read as ${spec.preset}: ${this.#preset.words}`;
    this.description = `${method} ${endpoint.origin}${path}${as}`;
  }

  /** How many requests a window may hold, as the service says; undefined while it has not said. */
  get limit(): number | undefined {
    return this.#quota.limit;
  }

  request(contract: number): PoolRequest {
    return this.#requests[contract]!;
  }

  read(answer: PoolAnswer): Reading {
    const { status, fields, body } = answer;
    this.#quota.limit ??= quotaIn(fields).limit;
    if (this.#limited.has(status)) return { type: 'decided', admitted: false, retryAfterMs: this.#waitIn(answer) };
    const isAdmitted = this.#admitted?.has(status) ?? (status >= 200 && status < 400);
    if (isAdmitted) return { type: 'decided', admitted: true };
    if (lostStatuses.has(status)) return { type: 'overloaded', words: `Status ${status}: ${quoted(body)}.` };
    return { type: 'unexpected', words: `Status ${status} means neither admitted nor limited: ${quoted(body)}.` };
  }

  #waitIn(answer: PoolAnswer): number | undefined {
    if (this.#preset === undefined) return waitIn(answer);
    for (const { name, unit } of this.#preset.waits) {
      const ms = name === 'retry-after' ? retryAfterMsIn(answer.fields) : toldMs(answer.fields[name], unit);
      if (ms !== undefined) return ms;
    }
    return undefined;
  }
}

/** `q` of `RateLimit-Policy` with its window, `limit` of older drafts, or `X-RateLimit-Limit`. */
export function quotaIn(fields: Fields): ReturnType<typeof policyIn> {
  const { limit, windowMs } = policyIn(fields);
  if (limit !== undefined) return { limit, windowMs };
  const other =
    olderIn(fields).limit ??
    numberIn(fields['ratelimit-limit'], /^(\d+)/) ??
    numberIn(fields['x-ratelimit-limit'], /^(\d+)$/);
  return { limit: other, windowMs: undefined };
}

/** `Retry-After`, `t` of `RateLimit`, or the seconds that older fields announce until the reset; in ms. */
function waitIn({ fields }: PoolAnswer): number | undefined {
  const announcedMs = retryAfterMsIn(fields) ?? rateLimitMsIn(fields);
  if (announcedMs !== undefined) return announcedMs;
  const seconds =
    olderIn(fields).reset ??
    numberIn(fields['ratelimit-reset'], /^(\d+)$/) ??
    // Some give the unix time of the reset here: more than a year of seconds is such a time, and says nothing to a monotonic clock.
    numberIn(fields['x-ratelimit-reset'], /^(\d{1,7})$/);
  return seconds === undefined ? undefined : seconds * 1000;
}

function toldMs(value: string | string[] | undefined, unit: WaitHeader['unit']): number | undefined {
  const text = Array.isArray(value) ? value[0] : value;
  if (text === undefined) return undefined;
  if (unit === 's') return /^\d+(\.\d+)?$/.test(text) ? Number(text) * 1000 : undefined;
  const [, amount, scale] = /^(\d+(?:\.\d+)?)(ms|s|µs|us)$/.exec(text) ?? [];
  if (amount === undefined) return undefined;
  return Number(amount) * (scale === 's' ? 1000 : scale === 'ms' ? 1 : 0.001);
}

function numberIn(value: string | string[] | undefined, pattern: RegExp): number | undefined {
  const text = Array.isArray(value) ? value[0] : value;
  const found = text === undefined ? undefined : pattern.exec(text)?.[1];
  return found === undefined ? undefined : Number(found);
}
