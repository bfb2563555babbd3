// The messages of Envoy's rate limit service: validation of a request, and the response to its decisions.
import { Failure } from '../../core/schema/failure.js';
import type { Decision, Uncounted } from '../counting/decision.js';
import { limitField, policyField } from '../gate-answer.js';
import { type DescriptorLimit, type Entry, type Unit, units, untilReset } from './descriptor-limits.js';

const MOST_DESCRIPTORS = 100;
const MOST_ENTRIES = 32;

const MOST_HITS = 1_000;

export interface Descriptor {
  readonly entries: readonly Entry[];
  /** A unit without a name is its number. */
  readonly limit: { readonly requests_per_unit: number; readonly unit: string | number } | null;
  readonly hits_addend: { readonly value: number } | null;
  readonly is_negative_hits: boolean;
}

export interface RateLimitRequest {
  readonly domain: string;
  readonly descriptors: readonly Descriptor[];
  readonly hits_addend: number;
}

interface DescriptorStatus {
  readonly code: 'OK' | 'OVER_LIMIT';
  readonly current_limit?: { readonly requests_per_unit: number; readonly unit: string; readonly name: string };
  readonly limit_remaining?: number;
  readonly duration_until_reset?: { readonly seconds: number; readonly nanos: number };
}

export interface RateLimitResponse {
  readonly overall_code: 'OK' | 'OVER_LIMIT';
  readonly statuses: readonly DescriptorStatus[];
  readonly response_headers_to_add: readonly { readonly key: string; readonly value: string }[];
}

export interface Hit {
  readonly limit: DescriptorLimit;
  readonly key: string;
  readonly hits: number;
}

export const ADMITTED: DescriptorStatus = { code: 'OK' };

/** @throws Failure `invalid_input` */
export function refuseFaults({ domain, descriptors, hits_addend: common }: RateLimitRequest): void {
  const refuse = (why: string, fix: string): never => {
    throw new Failure('invalid_input', { what: 'The request was not decided.', why, fix });
  };
  if (domain === '') refuse('It has no domain.', 'Name the domain of the limits.');
  if (descriptors.length === 0) refuse('It has no descriptor.', 'Send at least one.');
  if (common > MOST_HITS) refuse(`It has more than ${MOST_HITS} hits.`, 'Send them in several requests.');
  if (descriptors.length > MOST_DESCRIPTORS)
    refuse(`It has more than ${MOST_DESCRIPTORS} descriptors.`, 'Send them in several requests.');
  for (const { entries, limit, hits_addend: hits, is_negative_hits: isNegative } of descriptors) {
    if (entries.length === 0 || entries.length > MOST_ENTRIES)
      refuse(`A descriptor has ${entries.length} entries.`, `Give each from 1 to ${MOST_ENTRIES}.`);
    // A value may be empty: a client can send an empty header, and Envoy admits what its service refuses to decide.
    if (entries.some(({ key }) => key === '')) refuse('An entry has no key.', 'Give each entry one.');
    if (isNegative) refuse('It asks for hits back.', 'What was counted stays counted until it leaves the window.');
    if ((hits?.value ?? 0) > MOST_HITS) refuse(`It has more than ${MOST_HITS} hits.`, 'Send them in several requests.');
    if (limit !== null && rateUnitOf(limit.unit) === undefined)
      refuse(`The unit ${limit.unit} of its limit is not known.`, `Units are ${units.join(', ')}.`);
  }
}

export function rateUnitOf(name: string | number): Unit | undefined {
  return units.find((unit) => unit === String(name).toLowerCase());
}

export function responseOf(
  hits: readonly (Hit | undefined)[],
  decisions: readonly (Decision | Uncounted | undefined)[],
  nowMs: number,
): RateLimitResponse {
  const statuses = hits.map((hit, index) => {
    const decision = decisions[index];
    return hit === undefined || decision?.away ? ADMITTED : statusFor(hit, decision, nowMs);
  });
  const isOver = statuses.some(({ code }) => code === 'OVER_LIMIT');
  return {
    overall_code: isOver ? 'OVER_LIMIT' : 'OK',
    statuses,
    response_headers_to_add: headersOf(hits, statuses),
  };
}

function statusFor({ limit, hits }: Hit, decision: Decision | undefined, nowMs: number): DescriptorStatus {
  const { perUnit, name = '', isShadow } = limit;
  const isClosed = decision === undefined && perUnit !== undefined;
  // A look is over a limit that was exceeded, not one that is just full: as in envoyproxy/ratelimit.
  const isOver =
    isClosed || (hits === 0 ? decision?.state === 'limiting' : decision !== undefined && decision.limited > 0);
  const resetMs = perUnit === undefined ? (decision?.retry_after_ms ?? 0) : untilReset(perUnit.unit, nowMs);
  return {
    code: isOver && !isShadow ? 'OVER_LIMIT' : 'OK',
    ...(perUnit === undefined
      ? {}
      : { current_limit: { requests_per_unit: perUnit.requests, unit: perUnit.unit.toUpperCase(), name } }),
    limit_remaining: Math.min(decision?.remaining ?? (isClosed ? 0 : MOST_UINT32), MOST_UINT32),
    duration_until_reset: { seconds: Math.floor(resetMs / 1000), nanos: Math.floor((resetMs % 1000) * 1e6) },
  };
}

const MOST_UINT32 = 2 ** 32 - 1;

/** The headers of the limit that is exceeded, or else of the one with the least left (draft-ietf-httpapi-ratelimit-headers). */
function headersOf(
  hits: readonly (Hit | undefined)[],
  statuses: readonly DescriptorStatus[],
): RateLimitResponse['response_headers_to_add'] {
  let shown: number | undefined;
  for (const [index, { code, limit_remaining: left = MOST_UINT32 }] of statuses.entries()) {
    if (hits[index]?.limit.perUnit === undefined) continue;
    const least = shown === undefined ? undefined : statuses[shown]!;
    if (least === undefined || (least.code === 'OK' && (code === 'OVER_LIMIT' || left < least.limit_remaining!)))
      shown = index;
  }
  if (shown === undefined) return [];
  const { code, limit_remaining: left, duration_until_reset: reset } = statuses[shown]!;
  const { name, perUnit } = hits[shown]!.limit;
  const label = (name ?? 'default').replace(/[^ !#-[\]-~]/g, '_');
  const seconds = reset!.seconds + (reset!.nanos > 0 ? 1 : 0);
  return [
    { key: 'ratelimit-policy', value: policyField(label, perUnit!.requests, untilReset(perUnit!.unit, 0) / 1000) },
    { key: 'ratelimit', value: limitField(label, left!, seconds) },
    ...(code === 'OVER_LIMIT' ? [{ key: 'retry-after', value: String(seconds) }] : []),
  ];
}
