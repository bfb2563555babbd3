// The fields by which a limiter announces what it leaves, and when more: RFC 9110, RFC 9651, draft-ietf-httpapi-ratelimit-headers.
import { expect, it } from 'vitest';
import {
  httpDateMs,
  olderIn,
  policyIn,
  rateLimitMsIn,
  remainingIn,
  retryAfterMsIn,
} from '../../../src/api/client/limit-fields.js';

const DATE = 'Sun, 06 Nov 1994 08:49:37 GMT';

it.each<[value: unknown, expected: number | undefined]>([
  ['120', 120_000],
  ['0', 0],
  ['Sun, 06 Nov 1994 08:51:37 GMT', 120_000],
  ['Sunday, 06-Nov-94 08:51:37 GMT', 120_000],
  ['Sun Nov  6 08:51:37 1994', 120_000],
  ['Sun, 06 Nov 1994 08:00:00 GMT', 0],
  [undefined, undefined],
  ['', undefined],
  ['1.5', undefined],
  ['-1', undefined],
  ['soon', undefined],
  ['Sun, 31 Feb 1994 08:49:37 GMT', undefined],
  ['Sun, 06 Nov 1994 25:49:37 GMT', undefined],
  ['Sun, 06 Nov 1994 08:49:37 CET', undefined],
  [['1', '2'], undefined],
])('Retry-After %j is a wait of %s ms', (value, expected) => {
  expect(retryAfterMsIn({ 'retry-after': value, date: DATE })).toBe(expected);
});

it('Retry-After as a date counts from now where the answer has no date', () => {
  expect(retryAfterMsIn({ 'retry-after': 'Fri, 31 Dec 2100 00:00:00 GMT' })).toBeGreaterThan(0);
  expect(retryAfterMsIn({ 'retry-after': DATE })).toBe(0);
});

it('a year of two digits in Retry-After lies no more than 50 years ahead', () => {
  expect(new Date(httpDateMs('Sunday, 06-Nov-94 08:49:37 GMT')!).getUTCFullYear()).toBe(1994);
  expect(new Date(httpDateMs('Friday, 06-Nov-26 08:49:37 GMT')!).getUTCFullYear()).toBe(2026);
});

it.each<[value: unknown, waitMs: number | undefined, remaining: number | undefined]>([
  ['"day";r=100;t=36000, "hour";r=0;t=120', 120_000, 0],
  ['"hour";r=0;t=120, "day";r=0;t=36000', 36_000_000, 0],
  [['"day";r=100;t=36000', '"hour";r=0;t=120'], 120_000, 0],
  ['"day";r=100;t=36000, "hour";r=5;t=120', undefined, 5],
  ['"one";r=3;t=12', 12_000, 3],
  ['"one";t=12;r=0;pk=:dGVzdA==:', 12_000, 0],
  ['"one";r=0', undefined, 0],
  ['"a, b;t=7";r=0;t=9', 9_000, 0],
  ['limit=100, remaining=0, reset=50', undefined, 0],
  ['limit=100, remaining=0, reset=', undefined, undefined],
  [undefined, undefined, undefined],
  // Malformed: ignored whole, whatever else is in it.
  ['"day";r=100;t=36000, "hour";r=0;t=', undefined, undefined],
  ['"day";r=0;t=36000,', undefined, undefined],
  ['"day";r=0;t=1.5', undefined, undefined],
  ['"day";r=-1;t=5', undefined, undefined],
  ['"day";t=5', undefined, undefined],
  ['"day";r=0;t=5, hour;r=0;t=7', undefined, undefined],
  ['day;r=0;t=5', undefined, undefined],
  ['r=0 t=5', undefined, undefined],
])('RateLimit %j is a wait of %s ms, and %s remain', (value, waitMs, remaining) => {
  const fields = { ratelimit: value };
  expect([rateLimitMsIn(fields), remainingIn(fields)]).toEqual([waitMs, remaining]);
});

it('RateLimit of older drafts is a dictionary', () => {
  expect(olderIn({ ratelimit: 'limit=100, remaining=0, reset=50' })).toEqual({ limit: 100, remaining: 0, reset: 50 });
  expect(olderIn({ ratelimit: '"one";r=3;t=12' })).toEqual({});
});

it.each<[value: string, expected: object]>([
  ['"hour";q=1000;w=3600, "day";q=5000;w=86400', { limit: 1000, windowMs: 3_600_000 }],
  ['"hour";q=1000', { limit: 1000 }],
  ['"hour";qu="requests";w=10;q=7', { limit: 7, windowMs: 10_000 }],
  ['"hour";q=1000;w=', {}],
  ['"hour";w=5', {}],
])('RateLimit-Policy %j is read as %j', (value, expected) => {
  expect(policyIn({ 'ratelimit-policy': value })).toEqual(expected);
});
