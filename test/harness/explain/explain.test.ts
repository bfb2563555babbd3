// The search for an order of counting, case by case: what is explained, what is not, and what says too little.
import { describe, expect, it } from 'vitest';
import { definitionOf } from '../../../src/core/limiter/products/products.js';
import { explain } from '../../../src/harness/explain/explain.js';
import { phasesOf } from '../../../src/harness/explain/phases.js';
import type { SeenRequest } from '../../../src/harness/explain/seen-request.js';

/** `10-12 a`: sent at 10 ms, answered at 12, admitted; `l`: limited; `10- ?`: no answer. */
function seen(...words: string[]): SeenRequest[] {
  return words.map((word) => {
    const [, sent, answered, decision] = /^(\d+)-(\d*) ([al?])$/.exec(word)!;
    return {
      sentMs: Number(sent),
      answeredMs: answered === '' ? Number.POSITIVE_INFINITY : Number(answered),
      decision: decision === 'a' ? 'admitted' : decision === 'l' ? 'limited' : 'unknown',
    };
  });
}

const explained = (limiter: object, requests: SeenRequest[], transportMs?: number) =>
  explain(requests, [definitionOf(limiter, 1000)], { slackMs: 0, transportMs });

const window = { like: 'express-rate-limit', windowMs: 1000, limit: 2 };
const nginx = { like: 'nginx', rate: '10r/s' };

describe.each<[string, object, string[], string, number?]>([
  ['the third of a window is limited', window, ['0-2 a', '1-3 a', '2-4 l'], 'explained'],
  ['which answer is whose does not matter while they overlap', window, ['0-9 l', '1-8 a', '2-7 a'], 'explained'],
  ['a limited answer before a request was sent that is admitted', window, ['0-1 a', '2-3 l', '4-5 a'], 'refuted'],
  ['three in a window of two', window, ['0-2 a', '500-502 a', '900-902 a'], 'refuted'],
  ['the third may have been counted in the next window', window, ['0-2 a', '500-502 a', '900-1001 a'], 'explained'],
  [
    'a window begins at its first request, not later',
    window,
    ['0-2 a', '900-902 a', '1003-1005 a', '1900-1902 a'],
    'explained',
  ],
  ['and ends a second after', window, ['0-2 a', '900-902 a', '1003-1005 a', '1900-1902 a', '1950-1952 a'], 'refuted'],
  ['a request without an answer may have been counted', window, ['0- ?', '10-12 a', '20-22 l'], 'explained'],
  ['one that was counted later', window, ['0- ?', '10-12 a', '20-22 a', '30-32 l'], 'explained'],
  ['one that was never counted', window, ['0- ?', '10-12 a', '20-22 a', '1015-1017 a'], 'explained'],
  ['more than the window admits, counted or not', window, ['0- ?', '10-12 a', '20-22 a', '30-32 a'], 'refuted'],
  ['one limited too early, counted or not', window, ['0- ?', '10-12 l'], 'refuted'],
  ['what was answered before it was sent has to be explained', window, ['0-2 l', '10- ?'], 'refuted'],
  ['one each 100 ms', nginx, ['0-1 a', '50-51 l', '100-103 a', '203-204 a'], 'explained'],
  ['one after 90 ms', nginx, ['0-1 a', '90-91 a'], 'refuted'],
  ['none after 110 ms', nginx, ['0-1 a', '110-111 l'], 'refuted'],
  ['a burst is held', { ...nginx, burst: 2 }, ['0-1 a', '0-101 a', '0-203 a', '0-1 l'], 'explained'],
  ['not held for long enough', { ...nginx, burst: 2 }, ['0-1 a', '0-91 a', '0-203 a'], 'refuted'],
  ['held for longer, on a network of any kind', { ...nginx, burst: 2 }, ['0-1 a', '0-151 a'], 'explained'],
  ['held for longer than the network takes', { ...nginx, burst: 2 }, ['0-1 a', '0-151 a'], 'refuted', 20],
  ['held without a reason', { ...nginx, burst: 2, nodelay: true }, ['0-1 a', '0-101 a'], 'refuted', 20],
])('%s', (_, limiter, words, type, transportMs) => {
  it(`the answers are ${type}`, () => {
    expect(explained(limiter, seen(...words), transportMs)).toMatchObject({ type });
  });
});

it.each<[string, object, string[], string, string[]]>([
  [
    'three in a window of two',
    window,
    ['0-2 a', '500-502 a', '900-902 a'],
    '900-902 a',
    ['0-2 a', '500-502 a', '900-902 a'],
  ],
  [
    'the same among others',
    window,
    ['0-2 a', '10-12 a', '20-22 l', '2000-2002 a', '2500-2502 a', '2900-2902 a', '2950-2952 l', '9000-9002 a'],
    '2900-2902 a',
    ['2000-2002 a', '2500-2502 a', '2900-2902 a'],
  ],
  [
    'a limited answer that came too early',
    nginx,
    ['0-1 a', '500-501 a', '610-611 l', '700-701 a'],
    '610-611 l',
    ['610-611 l'],
  ],
  ['a limited one beside too few', window, ['0-2 a', '10-12 l', '20-22 a'], '10-12 l', ['10-12 l']],
  ['one after 90 ms', nginx, ['0-1 a', '300-301 a', '390-391 a', '900-901 a'], '390-391 a', ['300-301 a', '390-391 a']],
])('a refutation names the answers the rule cannot give, and which settled it: %s', (_, limiter, words, last, set) => {
  const [one] = seen(last);
  const found = explained(limiter, seen(...words));
  expect(found.type === 'refuted' && found.settled()).toEqual({ last: one, set: seen(...set) });
});

it('an explanation says how many of the answers could have been others', () => {
  const one = (words: string[]) => explained({ ...nginx }, seen(...words));
  expect(one(['0-1 a', '10-11 l', '20-21 l', '110-111 a'])).toMatchObject({ ambiguous: 0, sampled: 4 });
  // Both are under way for so long that the second may have been counted before or after the first has left.
  expect(one(['0-150 a', '0-150 l', '1000-1001 a'])).toMatchObject({ ambiguous: 1, sampled: 3, wayMs: 0 });
  // Not where every request is under way for nearly so long: they were counted at about the same time.
  expect(one(['0-150 a', '0-150 l'])).toMatchObject({ ambiguous: 0, sampled: 2, wayMs: (150 * 63) / 64 });
});

it('a search gives up where there are too many orders, and where it cannot see what decides', () => {
  const many = Array.from({ length: 60 }, (_, k) => `${k}-${k + 400} ${k % 3 === 0 ? 'a' : 'l'}`);
  const definition = definitionOf({ like: 'upstash', algorithm: 'slidingWindow', tokens: 20, window: '1 s' }, 1000);
  expect(explain(seen(...many), [definition], { slackMs: 0, mostNodes: 50 })).toEqual({
    type: 'unknown',
    why: 'too many',
  });
  const inFlight = definitionOf({ like: 'nginx-limit-conn', connections: 3 }, 1000);
  expect(explain(seen('0-5 a'), [inFlight], { slackMs: 0 })).toEqual({ type: 'unknown', why: 'not seen' });
});

it('the step of a clock has the same phases in ms and in microseconds', () => {
  const params = { limit: 2, window_ms: 100 };
  const [inMs, inUs] = [
    { primitive: 'fixed_window' as const, params, clock_resolution_ms: 5 },
    { primitive: 'fixed_window' as const, params: { ...params, resolution_us: 5_000 } },
  ].map((definition) => phasesOf(seen('0-2 a', '7-9 a', '13-14 l'), definition, { slackMs: 0, transportMs: 1000 }));
  expect(inMs!.length).toBeGreaterThan(1);
  expect(inUs).toEqual(inMs);
});
