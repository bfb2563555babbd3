// The interface of live targets: how to send a request of a contract and read its answer; and any HTTP service as a target. weir-target.ts
// has the Weir node.

import { olderIn, policyIn, rateLimitMsIn, remainingIn, retryAfterMsIn } from '../../api/client/limit-fields.js';
import type { TargetSpec } from '../scenario/scenario-schema.js';
import { type TargetPreset, targetPresets, type WaitHeader } from '../scenario/target-presets.js';
import type { TargetAddress } from './connection.js';
import type { Fields, PoolAnswer, PoolRequest } from './http-pool.js';

export interface DecidedAnswer {
  readonly type: 'decided';
  readonly admitted: boolean;
  readonly cycle?: number | undefined;
  readonly state?: string | undefined;
  readonly count?: number | undefined;
  readonly retryAfterMs?: number | undefined;
  readonly status?: number | undefined;
  /** Reads the limit of a window, and what is left of it, from the headers. */
  readonly announced?: (() => Readonly<Record<'limit' | 'remaining', number | undefined>>) | undefined;
  /** How long the client must hold an admitted request. Default: 0, or the target has held it. */
  readonly delayMs?: number | undefined;
}

/**
 * No decision; the target may have counted the request. `overloaded`: the target, or the service behind it, is temporarily unavailable,
 * which is no error of the target. `unexpected`: a status or body that no correct answer has.
 */
export interface RequestFault {
  readonly type: 'fault';
  readonly kind: 'unexpected' | 'overloaded' | 'closed' | 'refused' | 'not_http' | 'other' | 'timed_out';
  readonly words: string;
}

export type RequestEnd = DecidedAnswer | RequestFault;

export interface Target {
  readonly description: string;
  /** @param contract index @param cost default 1; a target without costs counts 1 */
  request(contract: number, cost?: number): PoolRequest;
  read(answer: PoolAnswer): RequestEnd;
}

export const lostStatuses: ReadonlySet<number> = new Set([502, 503, 504]);

export function quoted(text: string): string {
  const line = text.replaceAll(/\s+/g, ' ').trim();
  return line.length > 120 ? `"${line.slice(0, 120)}…"` : `"${line}"`;
}

export class ForeignTarget implements Target {
  readonly description: string;
  readonly transportMs: number | undefined;
  readonly #requests: readonly PoolRequest[];
  readonly #limited: ReadonlySet<number>;
  readonly #admitted: ReadonlySet<number> | undefined;
  readonly #preset: TargetPreset | undefined;

  constructor(endpoint: TargetAddress, spec: TargetSpec, names: readonly string[]) {
    const { method = 'GET', path = endpoint.path, headers, body, limited_status, admitted_status, key_header } = spec;
    this.#preset = spec.preset === undefined ? undefined : targetPresets[spec.preset];
    this.#requests = names.map((name) => {
      const all = { ...headers, ...(key_header === undefined ? {} : { [key_header]: name }) };
      return { method, path, headers: all, body };
    });
    this.#limited = new Set(limited_status ?? this.#preset?.limited_status ?? [429]);
    this.#admitted = admitted_status === undefined ? undefined : new Set(admitted_status);
    this.transportMs = spec.transport_ms;
    const as = this.#preset === undefined ? '' : `, read as ${spec.preset}: ${this.#preset.words}`;
    this.description = `${method} ${endpoint.origin}${path}${as}`;
  }

  request(contract: number): PoolRequest {
    return this.#requests[contract]!;
  }

  read(answer: PoolAnswer): RequestEnd {
    const { status, fields, body } = answer;
    const isLimited = this.#limited.has(status);
    if (isLimited || (this.#admitted?.has(status) ?? (status >= 200 && status < 400))) {
      const announced = () => ({ limit: quotaIn(fields).limit, remaining: leftIn(fields) });
      const retryAfterMs = isLimited ? this.#waitIn(answer) : undefined;
      return { type: 'decided', admitted: !isLimited, status, retryAfterMs, announced };
    }
    const kind = lostStatuses.has(status) ? 'overloaded' : 'unexpected';
    const otherwise = 'limited only where --limited-status, or limited_status of a scenario, names it';
    const means = kind === 'overloaded' ? otherwise : 'neither admitted nor limited';
    return { type: 'fault', kind, words: `Status ${status} means ${means}: ${quoted(body)}.` };
  }

  #waitIn(answer: PoolAnswer): number | undefined {
    if (this.#preset === undefined) return waitIn(answer);
    for (const { name, unit } of this.#preset.waits) {
      const ms = name === 'retry-after' ? retryAfterMsIn(answer.fields) : waitMsIn(answer.fields[name], unit);
      if (ms !== undefined) return ms;
    }
    return undefined;
  }
}

/** From `q` of `RateLimit-Policy` with its window, `limit` of older drafts, or `X-RateLimit-Limit`. */
export function quotaIn(fields: Fields): ReturnType<typeof policyIn> {
  const { limit, windowMs } = policyIn(fields);
  if (limit !== undefined) return { limit, windowMs };
  const other =
    olderIn(fields).limit ??
    numberIn(fields['ratelimit-limit'], /^(\d+)/) ??
    numberIn(fields['x-ratelimit-limit'], /^(\d+)$/);
  return { limit: other, windowMs: undefined };
}

function leftIn(fields: Fields): number | undefined {
  return (
    remainingIn(fields) ??
    numberIn(fields['ratelimit-remaining'], /^(\d+)$/) ??
    numberIn(fields['x-ratelimit-remaining'], /^(\d+)$/)
  );
}

/** From `Retry-After`, `t` of `RateLimit`, or the older fields with seconds until the reset; in ms. */
function waitIn({ fields }: PoolAnswer): number | undefined {
  const announcedMs = retryAfterMsIn(fields) ?? rateLimitMsIn(fields);
  if (announcedMs !== undefined) return announcedMs;
  const seconds =
    olderIn(fields).reset ??
    numberIn(fields['ratelimit-reset'], /^(\d+)$/) ??
    // Some services put the unix time of the reset here: more than a year of seconds is such a time, useless to a monotonic clock.
    numberIn(fields['x-ratelimit-reset'], /^(\d{1,7})$/);
  return seconds === undefined ? undefined : seconds * 1000;
}

function waitMsIn(value: string | string[] | undefined, unit: WaitHeader['unit']): number | undefined {
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
