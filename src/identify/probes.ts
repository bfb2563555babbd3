// The probes that could tell apart what is left: the library of section 7 of what is known of limiters, at the times of the hypotheses.
import type { Evidence } from './evidence.js';
import type { Fitted } from './fit.js';
import type { Probe, Volley } from './probe.js';
import { isByToken, windowMsOf } from './structure.js';

export interface Planned {
  readonly probe: Probe;
  readonly restMs: number;
}

/** Times of a hypothesis that differ by less are one, as a part of their length. */
const ALIKE = 0.07;
const MOST_TIMES = 4;
const FEW = 3;

export function* probesFor(
  alive: readonly Fitted[],
  evidence: Evidence,
  resolution: number,
  hasKeys: boolean,
): Generator<Planned> {
  const limits = alive.map(({ best }) => best.parameters.limit);
  const most = Math.max(...limits) + 1;
  const all = Math.min(...limits);
  const times = timesOf(alive, evidence);
  const longest = Math.max(...times);
  const gapMs = Math.max(2 * evidence.longestMs, 2);
  // At other phases of a grid, if one is left.
  const isGrid = alive.length <= FEW && alive.some(({ best }) => best.structure.period !== undefined);
  const rested = 2.15 * longest;
  const phases = isGrid ? [0.3 * times.at(-1)!, 0.7 * times.at(-1)!] : [];
  const rests = hasKeys ? [0] : [gapMs, rested, ...phases.map((ms) => rested + ms)];
  const burst = (n = most): Volley => ({ atMs: 0, n });
  const one = (atMs: number): Volley => ({ atMs, n: 1 });
  for (const restMs of rests) {
    for (const time of times) {
      for (const s of [0.3, 0.6, 0.93, 1.07, 1.4, 2.07]) {
        if (s * time < gapMs) continue;
        yield planned('a burst, silence, a burst', [burst(), { atMs: s * time, n: most }], restMs);
        yield planned('a burst, silence, one request', [burst(), one(s * time)], restMs);
        yield planned('a burst to the limit, silence, one request', [burst(all), one(s * time)], restMs);
      }
      const half = Math.ceil(all / 2);
      for (const x of [0.4, 0.8]) {
        for (const y of [1.05, 1.3]) {
          yield planned(
            'a split burst',
            [
              { atMs: 0, n: half },
              { atMs: x * time, n: all - half + 1 },
              { atMs: y * time, n: most },
            ].filter(({ n }) => n > 0),
            restMs,
          );
        }
      }
      for (const x of [0.4, 0.8]) {
        for (const y of [1.05, 1.3]) {
          if (all < 2) continue;
          // What a refusal would start hides nothing here.
          yield planned(
            'a split burst, nothing refused',
            [one(0), { atMs: x * time, n: all - 1 }, { atMs: y * time, n: 2 }],
            restMs,
          );
        }
      }
      yield planned(
        'one request, then a burst',
        [one(0), { atMs: 0.8 * time, n: most }, { atMs: 1.1 * time, n: most }],
        restMs,
      );
      const polls = (n: number, step: number) => [burst(), ...Array.from({ length: n }, (_, k) => one((k + 1) * step))];
      yield planned('a burst, then polls', polls(10, time / 8), restMs);
      yield planned('a burst, then polls', polls(16, time / 6), restMs);
      // A log gives back what it counted a window ago, segments at an edge, up to a segment before.
      const end = Array.from({ length: 9 }, (_, k) => one((0.88 + 0.02 * k) * time));
      yield planned('a burst, then polls at the end of a window', [burst(all), ...end], restMs);
      const slow = (time / all) * 1.01;
      if (all < 40 && slow > gapMs) {
        yield planned(
          'half a burst, then steady requests',
          [{ atMs: 0, n: half }, ...Array.from({ length: 2 * all }, (_, k) => one((k + 1) * slow * 0.98))],
          restMs,
        );
        yield planned(
          'half a burst, then steady requests',
          [{ atMs: 0, n: half }, ...Array.from({ length: 2 * all }, (_, k) => one((k + 1) * slow * 0.6))],
          restMs,
        );
      }
    }
    const apart = all < 2 ? undefined : splitFor(alive);
    if (apart !== undefined) {
      const volleys = [one(0), { atMs: apart[0], n: all - 1 }, { atMs: apart[1], n: 2 }];
      yield planned('a split burst, nothing refused', volleys, restMs);
    }
    for (const fitted of alive.slice(0, 4))
      if (isOpen(fitted, resolution)) yield* exact(fitted, most, all, restMs, gapMs);
  }
}

/**
 * When to send the rest of a limit, and then two more, so that any window that there may be has let go of the first request and of nothing
 * else; in ms. Undefined where that is not known well enough.
 */
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

/** Probes that cut the range of a span. */
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
      const polls = Array.from({ length: Math.min(12, Math.ceil((to - from) / step) + 2) }, (_, k) => ({
        atMs: Math.max(gapMs, from + (k - 0.5) * step),
        n: 1,
      }));
      yield {
        probe: { words: `polls around ${name}`, volleys: [{ atMs: 0, n: most }, ...polls], until: undefined },
        restMs,
      };
      for (const at of [0.3, 0.5, 0.7]) {
        const atMs = from + at * (to - from);
        yield planned(
          `one request within ${name}`,
          [
            { atMs: 0, n: most },
            { atMs, n: 1 },
          ],
          restMs,
        );
        yield planned(
          `one request within ${name}, nothing refused`,
          [
            { atMs: 0, n: all },
            { atMs, n: 1 },
          ],
          restMs,
        );
        yield planned(
          `a burst within ${name}`,
          [
            { atMs: 0, n: most },
            { atMs, n: most },
          ],
          restMs,
        );
      }
    }
    if (isBucket && name === 'spanMs') {
      const step = Math.max(0.7 * least, gapMs);
      for (const n of [16, 40])
        yield planned(
          'a burst, then a hammer',
          [
            { atMs: 0, n: most },
            ...Array.from({ length: n }, (_, k) => ({
              atMs: (k + 1) * step,
              n: Math.min(most, Math.ceil(step / least) + 1),
            })),
          ],
          restMs,
        );
    }
  }
}

function planned(words: string, volleys: readonly Volley[], restMs: number): Planned {
  return { probe: { words, volleys }, restMs };
}

/** Times after which something happens, longest first. */
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

/** Whether a parameter is not yet known as exactly as it is wanted. */
export function isOpen({ ranges, best }: Fitted, resolution: number): boolean {
  const isWide = (name: 'spanMs' | 'otherMs') =>
    ranges[name].most - ranges[name].least > Math.max(2 * resolution * best.parameters[name], 1);
  return isWide('spanMs') || isWide('otherMs') || ranges.limit.most > ranges.limit.least;
}

/** What a rule that only happens to explain few answers fails at: bursts and single requests at several times, each time at another phase. */
export function confirming({ best }: Fitted, before: number): Planned {
  const { limit, otherMs } = best.parameters;
  const time = before % 2 === 1 && best.structure.has.includes('otherMs') ? otherMs : windowMsOf(best);
  const half = Math.ceil(limit / 2);
  const volleys = [
    { atMs: 0, n: limit + 1 },
    { atMs: 0.37 * time, n: half },
    { atMs: 0.81 * time, n: 2 },
    { atMs: 1.13 * time, n: limit + 1 },
    { atMs: 1.62 * time, n: 1 },
    { atMs: 2.3 * time, n: half + 1 },
  ];
  return planned('what is expected, once more', volleys, (0.3 + 0.41 * before) * time);
}
