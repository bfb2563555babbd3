// The library of probes, applied at the times of the remaining hypotheses.
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import type { Next, Probe, Volley } from './probe.js';
import { isByToken, type Name, spansInWindow, windowMsOf } from './structure.js';

export interface Planned {
  readonly probe: Probe;
  readonly restMs: number;
}

const ALIKE = 0.07;
const MOST_TIMES = 4;
const FEW = 3;
/** Length of a rest, as a multiple of the longest window. */
export const RESTED = 2.15;

/** Requests of a burst: more than every rule admits, as many as all admit; and of a later burst. */
interface Counts {
  readonly most: number;
  readonly all: number;
  readonly later: number;
}

/** Time until all answers of a volley have come, in ms. */
export function gapOf({ longestMs }: Evidence): number {
  return Math.max(2 * longestMs, 2);
}

/**
 * Each pattern at the times of the remaining structures, after a gap or a full rest; then probes that halve a range.
 * @param rooms how many requests each sample admits after a gap
 */
export function* probesFor(
  alive: readonly Fitted[],
  evidence: Evidence,
  resolution: number,
  hasKeys: boolean,
  rooms: readonly number[] = [],
): Generator<Planned> {
  const limits = alive.map(({ best }) => best.parameters.limit);
  const later = Math.max(...limits) + 1;
  const full: Counts = { most: later, all: Math.min(...limits), later };
  const rest: Counts = {
    most: Math.min(later, Math.max(0, ...rooms) + 1),
    all: Math.min(full.all, ...rooms),
    later,
  };
  const times = timesOf(alive, evidence);
  const [gapMs, blurMs] = [gapOf(evidence), blurOf(evidence)];
  const isGrid = alive.length <= FEW && alive.some(({ best }) => best.structure.period !== undefined);
  const rested = RESTED * Math.max(...times);
  const phases = isGrid ? [0.3 * times.at(-1)!, 0.7 * times.at(-1)!] : [];
  const rests = hasKeys ? [0] : [gapMs, rested, ...phases.map((ms) => rested + ms)];
  const apart = splitFor(alive);
  for (const restMs of rests) {
    const counts = restMs === gapMs ? rest : full;
    const { all } = counts;
    for (const time of times)
      for (const [words, volleys] of patternsAt(time, counts, gapMs)) yield planned(words, volleys, restMs);
    if (apart !== undefined && all >= 2)
      yield planned('a split burst, nothing refused', [at(0), at(apart[0], all - 1), at(apart[1], 2)], restMs);
    for (const fitted of alive.slice(0, 4))
      yield* exact(fitted, openIn(fitted, resolution, blurMs), counts, restMs, gapMs);
  }
}

/** Single requests at growing distances: each refused one puts off the return. */
function eachLater(fromMs: number, toMs: number): Volley[] {
  let atMs = 0;
  return Array.from({ length: INSTANTS }, (_, k) => {
    atMs += fromMs + ((k + 0.5) / INSTANTS) * (toMs - fromMs);
    return at(atMs);
  });
}

const INSTANTS = 7;

/** Probes after a gap: with few requests they show when something returns, and how much. @param nexts of each sample then */
export function* continuing(nexts: readonly Next[], gapMs: number): Generator<Planned> {
  const rooms = nexts
    .map(({ room }) => room)
    .filter((room) => room < Infinity)
    .sort((a, b) => a - b);
  const some = [...new Set([0, 0.25, 0.5, 0.75, 1].map((part) => rooms[Math.floor(part * (rooms.length - 1))]! + 1))];
  if (rooms.length > 0) {
    yield planned('a burst, for what is left', [at(0, some[0]!)], gapMs);
    // No more are refused than needed.
    const volleys = some.map((n, k) => at(k * gapMs, n - (some[k - 1] ?? 0)));
    yield planned('a burst, for what is left', volleys, gapMs, 'limited');
  }
  const waits = nexts
    .map(({ waitMs }) => waitMs)
    .filter((ms) => ms > 0 && ms < Infinity)
    .sort((a, b) => a - b);
  const [first, last] = [waits[0], waits.at(-1)];
  if (first === undefined || last === undefined) return;
  const middles = waits.slice(1).map((ms, k) => (ms + waits[k]!) / 2);
  const instants = new Set(
    Array.from({ length: INSTANTS }, (_, k) => middles[Math.floor(((k + 0.5) / INSTANTS) * middles.length)] ?? last),
  );
  for (const ms of instants) yield planned('one request, when something may be back', [at(ms)], gapMs);
  if (instants.size > 1) {
    const volleys = [...instants].map((ms) => at(ms));
    yield planned('polls, when something may be back', volleys, gapMs, 'admitted');
  }
  for (const n of [2, 4]) yield planned('a few requests, when something is back', [at(last + gapMs, n)], gapMs);
}

const at = (atMs: number, n = 1): Volley => ({ atMs, n });
const polls = (n: number, stepMs: number, each = 1) => Array.from({ length: n }, (_, k) => at((k + 1) * stepMs, each));

type Pattern = readonly [words: string, volleys: readonly Volley[]];

function* patternsAt(time: number, { most, all, later }: Counts, gapMs: number): Generator<Pattern> {
  for (const s of [0.3, 0.6, 0.93, 1.07, 1.4, 2.07].map((part) => part * time)) {
    if (s < gapMs) continue;
    yield ['a burst, silence, a burst', [at(0, most), at(s, later)]];
    yield ['a burst, silence, one request', [at(0, most), at(s)]];
    yield ['a burst to the limit, silence, one request', [at(0, all), at(s)]];
  }
  const half = Math.ceil(all / 2);
  const splits = [0.4, 0.8].flatMap((x) => [1.05, 1.3].map((y) => [x * time, y * time] as const));
  for (const [x, y] of splits) yield ['a split burst', [at(0, half), at(x, all - half + 1), at(y, later)]];
  // Without a refusal, its effects cannot hide anything.
  if (all >= 2)
    for (const [x, y] of splits) yield ['a split burst, nothing refused', [at(0), at(x, all - 1), at(y, 2)]];
  yield ['one request, then a burst', [at(0), at(0.8 * time, most), at(1.1 * time, later)]];
  yield ['a burst, then polls', [at(0, most), ...polls(10, time / 8)]];
  yield ['a burst, then polls', [at(0, most), ...polls(16, time / 6)]];
  // A log returns requests a window after their counting, segments at an edge, up to a segment earlier.
  const end = Array.from({ length: 9 }, (_, k) => at((0.88 + 0.02 * k) * time));
  yield ['a burst, then polls at the end of a window', [at(0, all), ...end]];
  const slow = (time / all) * 1.01;
  if (all < 1 || all >= 40 || slow <= gapMs) return;
  for (const part of [0.98, 0.6])
    yield ['half a burst, then steady requests', [at(0, half), ...polls(2 * all, slow * part)]];
}

/** When to send the rest of a limit, and then two more: every possible window has then released the first request only. */
function splitFor(alive: readonly Fitted[]): readonly [number, number] | undefined {
  const spans = alive.flatMap(({ best: { structure }, ranges }) =>
    isByToken(structure) || structure.isInFlight === true ? [] : [ranges.spanMs],
  );
  const [first, last] = [
    SOONER * Math.min(...spans.map(({ least }) => least)),
    LATER * Math.max(...spans.map(({ most }) => most)),
  ];
  return spans.length > 0 && last - first < first ? [first, last] : undefined;
}

const SOONER = 0.9;
const LATER = 1.05;

function* exact(
  { best, ranges }: Fitted,
  open: readonly Name[],
  { most, all }: Counts,
  restMs: number,
  gapMs: number,
): Generator<Planned> {
  const isBucket = isByToken(best.structure);
  const { limit, part } = best.parameters;
  for (const name of ['spanMs', 'otherMs'] as const) {
    const { least, most: longest } = ranges[name];
    if (!open.includes(name)) continue;
    const counts =
      isBucket && name === 'spanMs'
        ? [1, Math.max(1, Math.floor(limit / part / 2)), Math.max(1, Math.floor(limit / part) - 1), 2 * limit]
        : [1, 2, 5];
    for (const n of new Set(counts)) {
      const [from, to] = [n * least, n * longest];
      const step = Math.max((to - from) / 8, 1);
      if (from < gapMs) continue;
      const around = Array.from({ length: Math.min(12, Math.ceil((to - from) / step) + 2) }, (_, k) =>
        at(Math.max(gapMs, from + (k - 0.5) * step)),
      );
      yield planned(`polls around ${name}`, [at(0, most), ...around], restMs);
      if (best.structure.isPutOff) yield planned('polls, each later', [at(0, most), ...eachLater(from, to)], restMs);
      for (const atMs of [0.3, 0.5, 0.7].map((share) => from + share * (to - from))) {
        yield planned(`one request within ${name}`, [at(0, most), at(atMs)], restMs);
        yield planned(`one request within ${name}, nothing refused`, [at(0, all), at(atMs)], restMs);
        yield planned(`a burst within ${name}`, [at(0, most), at(atMs, most)], restMs);
      }
    }
    if (!isBucket || name !== 'spanMs') continue;
    const step = Math.max(0.7 * least, gapMs);
    const each = Math.min(most, Math.ceil(step / least) + 1);
    for (const n of [16, 40]) yield planned('a burst, then a hammer', [at(0, most), ...polls(n, step, each)], restMs);
  }
}

function planned(words: string, volleys: readonly Volley[], restMs: number, until?: Probe['until']): Planned {
  return { probe: { words, volleys: volleys.filter(({ n }) => n > 0), until }, restMs };
}

function timesOf(alive: readonly Fitted[], { admittedMs }: Evidence): number[] {
  const times: number[] = [];
  for (const { best } of alive) {
    const { spanMs, otherMs } = best.parameters;
    const own = best.structure.isInFlight ? [admittedMs] : [windowMsOf(best), spanMs];
    for (const ms of [...own, ...(best.structure.has.includes('otherMs') ? [otherMs] : [])]) {
      if (!times.some((one) => Math.abs(one - ms) < ALIKE * ms)) times.push(ms);
    }
  }
  return times.sort((a, b) => b - a).slice(0, MOST_TIMES);
}

/** The parameters that are not yet known to the resolution. @param blurMs uncertainty of the two instants that bound a time */
export function openIn({ ranges, best }: Fitted, resolution: number, blurMs = 1): ('limit' | 'spanMs' | 'otherMs')[] {
  return (['limit', 'spanMs', 'otherMs'] as const).filter((name) => {
    const times = name === 'spanMs' ? spansInWindow(best) : 1;
    const tolerance = name === 'limit' ? 0 : Math.max(2 * resolution * best.parameters[name], 1, blurMs / times);
    return ranges[name].most - ranges[name].least > tolerance;
  });
}

/** How much longer other answers take than the quickest, in ms. */
export function jitterOf({ longestMs, shortestMs, uncertaintyMs }: Evidence): number {
  return longestMs - shortestMs - uncertaintyMs;
}

/** Uncertainty of two instants together: no probe narrows a time further. */
export function blurOf(evidence: Evidence): number {
  return 2 * jitterOf(evidence);
}

/** Exposes a chance fit of few answers: bursts and single requests at several times, at another phase each time. */
export function confirming({ best }: Fitted): Planned {
  const { limit } = best.parameters;
  const time = windowMsOf(best);
  const half = Math.ceil(limit / 2);
  const parts = [
    [0, half],
    [0.37, half],
    [0.81, 2],
    [1.13, limit + 1],
    [1.62, 1],
    [2.3, 2],
  ] as const;
  const volleys = parts.map(([share, n]) => at(share * time, n));
  return planned('what is expected, once more', volleys, 0.3 * time);
}
