// The library of probes, applied at the times of the remaining hypotheses.
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import type { Probe, Volley } from './probe.js';
import { isByToken, windowMsOf } from './structure.js';

export interface Planned {
  readonly probe: Probe;
  readonly restMs: number;
}

const ALIKE = 0.07;
const MOST_TIMES = 4;
const FEW = 3;
/** Length of a rest, as a multiple of the longest window. */
export const RESTED = 2.15;

/** Each pattern at the times of the remaining structures, after a gap or a full rest; then probes that halve a range. */
export function* probesFor(
  alive: readonly Fitted[],
  evidence: Evidence,
  resolution: number,
  hasKeys: boolean,
): Generator<Planned> {
  const limits = alive.map(({ best }) => best.parameters.limit);
  const counts = { most: Math.max(...limits) + 1, all: Math.min(...limits) };
  const { most, all } = counts;
  const times = timesOf(alive, evidence);
  const gapMs = Math.max(2 * evidence.longestMs, 2);
  const isGrid = alive.length <= FEW && alive.some(({ best }) => best.structure.period !== undefined);
  const rested = RESTED * Math.max(...times);
  const phases = isGrid ? [0.3 * times.at(-1)!, 0.7 * times.at(-1)!] : [];
  const rests = hasKeys ? [0] : [gapMs, rested, ...phases.map((ms) => rested + ms)];
  const apart = all < 2 ? undefined : splitFor(alive);
  for (const restMs of rests) {
    for (const time of times)
      for (const [words, volleys] of patternsAt(time, counts, gapMs)) yield planned(words, volleys, restMs);
    if (apart !== undefined)
      yield planned('a split burst, nothing refused', [at(0), at(apart[0], all - 1), at(apart[1], 2)], restMs);
    for (const fitted of alive.slice(0, 4))
      if (isOpen(fitted, resolution)) yield* exact(fitted, most, all, restMs, gapMs);
  }
}

const at = (atMs: number, n = 1): Volley => ({ atMs, n });
const polls = (n: number, stepMs: number, each = 1) => Array.from({ length: n }, (_, k) => at((k + 1) * stepMs, each));

type Pattern = readonly [words: string, volleys: readonly Volley[]];

/** @param counts `most` exceeds every limit by at least one, `all` is the smallest limit */
function* patternsAt(
  time: number,
  { most, all }: { readonly most: number; readonly all: number },
  gapMs: number,
): Generator<Pattern> {
  for (const s of [0.3, 0.6, 0.93, 1.07, 1.4, 2.07].map((part) => part * time)) {
    if (s < gapMs) continue;
    yield ['a burst, silence, a burst', [at(0, most), at(s, most)]];
    yield ['a burst, silence, one request', [at(0, most), at(s)]];
    yield ['a burst to the limit, silence, one request', [at(0, all), at(s)]];
  }
  const half = Math.ceil(all / 2);
  const splits = [0.4, 0.8].flatMap((x) => [1.05, 1.3].map((y) => [x * time, y * time] as const));
  for (const [x, y] of splits) yield ['a split burst', [at(0, half), at(x, all - half + 1), at(y, most)]];
  // Without a refusal, its effects cannot hide anything.
  if (all >= 2)
    for (const [x, y] of splits) yield ['a split burst, nothing refused', [at(0), at(x, all - 1), at(y, 2)]];
  yield ['one request, then a burst', [at(0), at(0.8 * time, most), at(1.1 * time, most)]];
  yield ['a burst, then polls', [at(0, most), ...polls(10, time / 8)]];
  yield ['a burst, then polls', [at(0, most), ...polls(16, time / 6)]];
  // A log returns requests a window after their counting, segments at an edge, up to a segment earlier.
  const end = Array.from({ length: 9 }, (_, k) => at((0.88 + 0.02 * k) * time));
  yield ['a burst, then polls at the end of a window', [at(0, all), ...end]];
  const slow = (time / all) * 1.01;
  if (all >= 40 || slow <= gapMs) return;
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
  most: number,
  all: number,
  restMs: number,
  gapMs: number,
): Generator<Planned> {
  const isBucket = isByToken(best.structure);
  const { limit, part } = best.parameters;
  for (const name of ['spanMs', 'otherMs'] as const) {
    const { least, most: longest } = ranges[name];
    if (longest - least < 0.5) continue;
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

function planned(words: string, volleys: readonly Volley[], restMs: number): Planned {
  return { probe: { words, volleys }, restMs };
}

function timesOf(alive: readonly Fitted[], { admittedMs }: Evidence): number[] {
  const times: number[] = [];
  for (const { best } of alive) {
    const { spanMs, otherMs, limit, part } = best.parameters;
    const isBucket = isByToken(best.structure);
    const windowMs = best.structure.isInFlight ? admittedMs : spanMs;
    const own = isBucket ? [Math.min(spanMs * Math.ceil(limit / part), 1e9), spanMs] : [windowMs];
    for (const ms of [...own, ...(best.structure.has.includes('otherMs') ? [otherMs] : [])]) {
      if (!times.some((one) => Math.abs(one - ms) < ALIKE * ms)) times.push(ms);
    }
  }
  return times.sort((a, b) => b - a).slice(0, MOST_TIMES);
}

export function isOpen({ ranges, best }: Fitted, resolution: number): boolean {
  const isWide = (name: 'spanMs' | 'otherMs') =>
    ranges[name].most - ranges[name].least > Math.max(2 * resolution * best.parameters[name], 1);
  return isWide('spanMs') || isWide('otherMs') || ranges.limit.most > ranges.limit.least;
}

/** Exposes a chance fit of few answers: bursts and single requests at several times, at another phase each time. */
export function confirming({ best }: Fitted, before: number): Planned {
  const { limit, otherMs } = best.parameters;
  const time = before % 2 === 1 && best.structure.has.includes('otherMs') ? otherMs : windowMsOf(best);
  const half = Math.ceil(limit / 2);
  const parts = [
    [0, limit + 1],
    [0.37, half],
    [0.81, 2],
    [1.13, limit + 1],
    [1.62, 1],
    [2.3, half + 1],
  ] as const;
  const volleys = parts.map(([share, n]) => at(share * time, n));
  return planned('what is expected, once more', volleys, (0.3 + 0.41 * before) * time);
}
