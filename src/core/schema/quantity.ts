// The two notations for quantities: a rate (how often) and a time (how long).
//
//   rate   number [noun] (per (time | unit) | nothing)           130/s    5r/s    300 requests per min    100 in 60s    5
//          number ("rps" | "qpm" | "tph" | …)                    5 rps
//   per    "/" | "per" | "in" | "within" | "every" | "each", also before "a" | "an" | "one" and a unit; "a" | "an"
//   noun   request | req | r | query | q | call | hit | time | token | byte | unit, and their plurals
//   time   number [unit]  or  (number unit)+                     90s      2m         1h30m      60 cycles          60
//   unit   ms | s | m | min | h | d | w | cycle       and their long forms, singular or plural
//
// A number without a unit counts cycles, or requests per cycle. Decimals are exact fractions (0.1 is one tenth, as text or as a
// number), so that nothing drifts in long runs.
import { nearest } from './did-you-mean.js';
import { Failure } from './failure.js';
import { Type } from './json-schema.js';

/** In lowest terms; both whole, `requests` from 0, `cycles` from 1 to 2^52. */
export interface Rate {
  readonly requests: number;
  readonly cycles: number;
}

/** The longest time, in cycles: 24 years of 777 ms. Sums and products with it stay exact. */
export const MAX_CYCLES = 1_000_000_000;

/** Ten thousand years: no time in a rule is longer. */
export const MAX_MS = 315_576_000_000_000;

/** @param most upper bound in requests per cycle, for a number */
export const rateField = (description: string, most: number) =>
  Type.Union([Type.Number({ minimum: 0, maximum: most }), Type.String({ minLength: 1, maxLength: LENGTH })], {
    description: `${description} Requests per cycle, or a text as 130/s, 300/min, 10 per 7 cycles.`,
    examples: ['50/s'],
  });

export const timeField = (description: string, example = '10s') =>
  Type.Union([Type.Number({ minimum: 0, maximum: MAX_CYCLES }), Type.String({ minLength: 1, maxLength: LENGTH })], {
    description: `${description} Cycles, or a text as 90s, 1h30m, 60 cycles.`,
    examples: [example],
  });

/**
 * A rate in requests per cycle. Exact if its fraction fits two whole numbers below 2^53; otherwise the last convergent of its continued
 * fraction that fits: less than 2^-52 requests away, or 2^-52 of a rate above 1.
 * @param cycleMs length of a cycle in ms, an integer >= 1
 * @param path JSON pointer to the rate in the input, for the failure
 * @throws Failure `invalid_input` when it cannot be read, is negative, or is above 2^53
 */
export function parseRate(value: number | string, cycleMs: number, path = ''): Rate {
  return refusing(rateWords, value, path, (text) => {
    const { amount, time } = writtenRate(text) ?? { amount: text, time: '1' };
    if (!ALONE.test(amount)) misread('it is not a number of requests');
    const span = totalOf(time, cycleMs);
    if (span.over === 0n) misread('nothing can be counted per 0 of a time');
    const { over, under } = times(decimal(amount), { over: span.under, under: span.over });
    if (over > MAX_WHOLE * under) misread('it is too large');
    const { over: requests, under: cycles } = simplest(over, under);
    return { requests: Number(requests), cycles: Number(cycles) };
  });
}

/** The parts of a rate as they are written, the time with a number; undefined for a text without one. */
export function writtenRate(text: string) {
  const [, short, letter, per] = SHORT_RATE.exec(text) ?? [];
  if (short !== undefined) return { amount: short, noun: letter, time: `1 ${per}` };
  const [, amount, noun, span = ''] = RATE.exec(text) ?? [];
  return amount === undefined ? undefined : { amount, noun, time: /^[\d+-]/.test(span) ? span : `1 ${span}` };
}

/** A time in whole cycles, halves up. @throws Failure `invalid_input` if unreadable or outside `least .. MAX_CYCLES` */
export function parseTime(value: number | string, cycleMs: number, path = '', least = 0): number {
  return refusing(timeWords, value, path, (text) => atLeast(least, nearestWhole(timeOf(text, cycleMs)), cycleMs));
}

/** As parseTime, but not rounded: for the mean of a law, exact to 2^-64 of a cycle. */
export function parseMeanTime(value: number | string, cycleMs: number, path = '', least = 0): number {
  return refusing(timeWords, value, path, (text) => {
    const { over, under } = timeOf(text, cycleMs);
    return atLeast(least, Number((over << 64n) / under) / 2 ** 64, cycleMs);
  });
}

/** In ms, the nearest double. @throws Failure `invalid_input` if unreadable, below `leastMs` or above MAX_CYCLES */
export function parseTimeMs(value: number | string, cycleMs: number, path = '', leastMs = 0): number {
  return refusing(timeWords, value, path, (text) => {
    const { over, under } = timeOf(text, cycleMs);
    const ms = Number(((over * BigInt(cycleMs)) << 64n) / under) / 2 ** 64;
    if (ms < leastMs) misread(`it comes to ${ms} ms, and at least ${leastMs} ms are needed`);
    return ms;
  });
}

/** A time of a rule or a product, in ms: a number without a unit counts `unitMs`. @throws Failure `invalid_input` if unreadable or above MAX_MS */
export function parseMs(value: string, unitMs: number): number {
  return refusing(timeWords, value, '', (text) => {
    const { over, under } = totalOf(text, unitMs);
    const ms = over * BigInt(unitMs);
    if (ms > BigInt(MAX_MS) * under) misread('it is longer than 10000 years');
    return Number((ms << 64n) / under) / 2 ** 64;
  });
}

/**
 * The cycle length in ms that makes every window a whole number of cycles: 500 if all windows are multiples of it (so that windows in
 * seconds do not affect each other), otherwise the longest up to `mostMs`; for windows of more than `MOST_WITHIN` of these, the first of
 * 1 s to 1 h that fits. It is `mostMs` if a window is given in cycles or cannot be read, and if no length fits.
 */
export function cycleMsFor(windows: readonly (number | string | undefined)[], mostMs: number): number {
  const lengths = windows.map((window) => (typeof window === 'string' ? wholeMs(window) : undefined));
  if (lengths.length === 0 || lengths.includes(undefined)) return mostMs;
  const known = lengths as number[];
  const common = known.reduce(divisor);
  const longest = Math.max(...known);
  if (HALF_SECOND <= mostMs && common % HALF_SECOND === 0 && longest <= HALF_SECOND * MOST_WITHIN) return HALF_SECOND;
  for (let cycleMs = Math.min(mostMs, common); cycleMs >= 1; cycleMs -= 1)
    if (common % cycleMs === 0 && longest <= cycleMs * MOST_WITHIN) return cycleMs;
  const seconds = LONG_CYCLES_S.find((s) => common % (1000 * s) === 0 && longest <= 1000 * s * MOST_WITHIN);
  return seconds === undefined ? mostMs : 1000 * seconds;
}

const LONG_CYCLES_S = [1, 2, 5, 10, 15, 20, 30, 60, 120, 300, 600, 900, 1800, 3600];

const HALF_SECOND = 500;

export const MOST_WITHIN = 100_000;

/** A warning for a window in time that is not a whole number of cycles. @param cycles as `parseTime` read it */
export function nearestWindow(window: number | string | undefined, cycles: number, cycleMs: number) {
  if (typeof window !== 'string' || isInCycles(window.trim())) return undefined;
  const { over, under } = timeOf(window.trim(), cycleMs);
  if (over === BigInt(cycles) * under) return undefined;
  const count = `${cycles} ${cycles === 1 ? 'cycle' : 'cycles'}`;
  return `A window of ${window.trim()} is no whole number of cycles of ${cycleMs} ms. The nearest is used: ${(cycles * cycleMs) / 1000} s, ${count}.`;
}

function isInCycles(text: string): boolean {
  return partsOf(text).some(([, unit]) => unit === '' || /^cycles?$/i.test(unit));
}

/** Undefined for a text with cycles, and for a length that is not a whole number of ms from 1. */
function wholeMs(text: string): number | undefined {
  try {
    // In seconds: a time has fewer than MAX_CYCLES.
    const { over, under } = times(timeOf(text.trim(), 1000), { over: 1000n, under: 1n });
    return isInCycles(text.trim()) || over === 0n || over % under !== 0n ? undefined : Number(over / under);
  } catch (error) {
    if (error instanceof Misreading) return undefined;
    throw error;
  }
}

function divisor(a: number, b: number): number {
  return b === 0 ? a : divisor(b, a % b);
}

const LENGTH = 64;
const MAX_WHOLE = BigInt(Number.MAX_SAFE_INTEGER);
const MAX_UNDER = 1n << 52n;

const NUMBER = '[+-]?\\d+(?:\\.\\d+)?(?:e[+-]?\\d{1,3}(?![\\d.]))?';
const NOUN = 'requests?|reqs?|r|quer(?:y|ies)|q|calls?|hits?|times|tokens?|bytes?|units?';
const PER = '(?:/|(?:(?:in|per|within|every|each)(?:\\s+(?:an?|one)(?=\\s+\\p{L}))?|an?)(?![a-z]))';
const RATE = new RegExp(`^(${NUMBER})\\s*(?:(${NOUN})\\s*)?${PER}\\s*(\\S.*)$`, 'iu');
const SHORT_RATE = new RegExp(`^(${NUMBER})\\s*([rqt])p([smhd])$`, 'iu');
const ALONE = new RegExp(`^${NUMBER}$`, 'iu');
const PART = new RegExp(`(${NUMBER})\\s*(\\p{L}*)\\s*`, 'iuy');

interface Fraction {
  readonly over: bigint;
  readonly under: bigint;
}

const ONE: Fraction = { over: 1n, under: 1n };

const units: readonly { readonly words: readonly string[]; readonly ms?: bigint }[] = [
  { words: ['ms', 'millisecond', 'milliseconds'], ms: 1n },
  { words: ['s', 'sec', 'second', 'seconds'], ms: 1_000n },
  { words: ['m', 'min', 'minute', 'minutes'], ms: 60_000n },
  { words: ['h', 'hour', 'hours'], ms: 3_600_000n },
  { words: ['d', 'day', 'days'], ms: 86_400_000n },
  { words: ['w', 'week', 'weeks'], ms: 604_800_000n },
  { words: ['cycle', 'cycles'] },
];

/** In cycles; one cycle if no unit is given. */
function lengthOf(word: string, cycleMs: number): Fraction {
  if (word === '') return ONE;
  const name = word.toLowerCase();
  const unit = units.find(({ words }) => words.includes(name));
  if (unit !== undefined) return unit.ms === undefined ? ONE : { over: unit.ms, under: BigInt(cycleMs) };
  const guess = nearest(
    name,
    units.flatMap(({ words }) => words),
  );
  const advice = guess === undefined ? 'there are ms, s, m, h, d, w and cycles' : `did you mean "${guess}"?`;
  return misread(`"${word}" is no unit of time (${advice})`);
}

function partsOf(text: string): [number: string, unit: string][] {
  const parts: [number: string, unit: string][] = [];
  for (PART.lastIndex = 0; PART.lastIndex < text.length; ) {
    const [, number = '', unit = ''] = PART.exec(text) ?? misread('it is not a number with a unit of time');
    parts.push([number, unit]);
  }
  if (parts.length === 0) misread('it is empty');
  return parts;
}

function timeOf(text: string, cycleMs: number): Fraction {
  const total = totalOf(text, cycleMs);
  if (total.over > BigInt(MAX_CYCLES) * total.under) misread(`it is longer than ${MAX_CYCLES} cycles`);
  return total;
}

function totalOf(text: string, cycleMs: number): Fraction {
  const parts = partsOf(text);
  let total: Fraction = { over: 0n, under: 1n };
  for (const [number, unit] of parts) {
    if (unit === '' && parts.length > 1) misread(`"${number}" stands without a unit`);
    const part = times(decimal(number), lengthOf(unit, cycleMs));
    total = { over: total.over * part.under + part.over * total.under, under: total.under * part.under };
  }
  return total;
}

function nearestWhole({ over, under }: Fraction): number {
  return Number((2n * over + under) / (2n * under));
}

function atLeast(least: number, cycles: number, cycleMs: number): number {
  if (cycles >= least) return cycles;
  return misread(
    `it comes to ${cycles} cycles of ${cycleMs} ms, and at least ${least} ${least === 1 ? 'is' : 'are'} needed`,
  );
}

/** 12.5e-1 is 125 / 100. */
function decimal(text: string): Fraction {
  const [digits = '', exponent = '0'] = text.toLowerCase().split('e');
  const [whole = '', fraction = ''] = digits.split('.');
  const over = BigInt(`${whole}${fraction}`.replace('+', ''));
  if (over < 0n) misread('it is negative');
  const power = Number(exponent) - fraction.length;
  return power >= 0 ? { over: over * 10n ** BigInt(power), under: 1n } : { over, under: 10n ** BigInt(-power) };
}

function times(a: Fraction, b: Fraction): Fraction {
  return { over: a.over * b.over, under: a.under * b.under };
}

/**
 * The fraction in lowest terms. If its parts are too large: the last convergent of its continued fraction whose parts are not.
 * Convergents p/q, p'/q' lie less than 1 / (q q') from the value.
 */
function simplest(over: bigint, under: bigint): Fraction {
  let [p, q] = [1n, 0n];
  let [before, beforeUnder] = [0n, 1n];
  for (let [rest, by] = [over, under]; by > 0n; [rest, by] = [by, rest % by]) {
    const term = rest / by;
    const [next, nextUnder] = [term * p + before, term * q + beforeUnder];
    if (next > MAX_WHOLE || nextUnder > MAX_UNDER) break;
    [before, beforeUnder, p, q] = [p, q, next, nextUnder];
  }
  return { over: p, under: q };
}

class Misreading extends Error {}

function misread(why: string): never {
  throw new Misreading(why);
}

interface Words {
  readonly noun: string;
  readonly fix: string;
}

const rateWords: Words = {
  noun: 'rate',
  fix: 'Write for example 130/s, 300/min, 5/cycle or 10 per 7 cycles; a number alone counts requests per cycle.',
};

const timeWords: Words = {
  noun: 'time',
  fix: 'Write for example 90s, 2m, 1h30m or 60 cycles; a number alone counts cycles.',
};

function refusing<T>({ noun, fix }: Words, value: number | string, path: string, read: (text: string) => T): T {
  const text = String(value).trim();
  try {
    if (text.length > LENGTH) misread(`it is longer than ${LENGTH} characters`);
    return read(text);
  } catch (error) {
    if (!(error instanceof Misreading)) throw error;
    const shown = JSON.stringify(text.length > LENGTH ? `${text.slice(0, LENGTH)}…` : text);
    throw new Failure('invalid_input', {
      what: `The ${noun} ${shown} cannot be used.`,
      why: `${error.message.charAt(0).toUpperCase()}${error.message.slice(1)}.`,
      fix,
      faults: [{ path, message: `${shown} is no ${noun}: ${error.message}` }],
    });
  }
}
