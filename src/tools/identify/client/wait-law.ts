// The law of a client's waits before retries, and the likelihood of a gap under it.
//
//   w(k) = base * factor^(k - 1)  or  base * k, at most cap       k: number of the retry
//
//   none                 w |
//   share          low w |~~~~~~~~~| w               low 0.5: equal, 0: full, else subtractive
//   plus               w |~~~~| w + plus             additive
//   decorrelated    base |~~~~~~~~~~~~~| 3 last      then at most cap
//
//   gap = wait + late,   P(late > offset + x spreads) = (1 + x)^-3 of one half, and 1 / (1 + x^3) of the other
//                        of a few gaps P(late > x) = 1 / (1 + x / stall)
//
// Late timers and a busy machine only lengthen a gap; a stall of the machine adds seconds to a few. The first gap of a process includes
// compiling and connecting, and has its own offset.
import { log } from '../../../core/math/elementary.js';

export interface Gap {
  /** Number of the retry after it, from 1. */
  readonly k: number;
  readonly ms: number;
  /** The preceding gap of its job; 0 if none. */
  readonly lastMs: number;
  /** The first retry of its process. */
  readonly isFirst: boolean;
  /** An announced wait that is known to be obeyed. */
  readonly knownMs?: number | undefined;
}

export interface WaitStructure {
  readonly growth: 'none' | 'exponential' | 'linear';
  /** The first retry comes at once, and the law begins with the second. */
  readonly skipsFirst: boolean;
  readonly jitter: 'none' | 'share' | 'plus' | 'decorrelated';
  /** The cap applies to the wait with its jitter, instead of to w. */
  readonly capsJitter: boolean;
}

/** A single wait of the law shows no growth. @param k number of the last retry */
export function showsGrowth({ skipsFirst }: WaitStructure, k: number): boolean {
  return k - Number(skipsFirst) > 1;
}

export interface WaitParameters {
  readonly baseMs: number;
  readonly factor: number;
  readonly low: number;
  readonly plusMs: number;
  readonly capMs: number;
}

/** How late timers of this machine were, in ms: on average, and one in twenty later than `oftenMs`. */
export interface TimerLateness {
  readonly averageMs: number;
  readonly oftenMs: number;
}

export interface Lateness {
  readonly offsetMs: number;
  readonly spreadMs: number;
}

/** A wait is uniform within each piece; `share` is the probability of the piece. */
export interface Piece {
  readonly share: number;
  readonly fromMs: number;
  readonly toMs: number;
}

export function waitLaw(
  structure: WaitStructure,
  p: WaitParameters,
  { k, lastMs }: Pick<Gap, 'k' | 'lastMs'>,
): Piece[] {
  const n = structure.skipsFirst ? k - 1 : k;
  if (n === 0 || structure.growth === 'none') return [{ share: 1, fromMs: 0, toMs: 0 }];
  if (structure.jitter === 'decorrelated')
    return capped(p.baseMs, Math.max(p.baseMs, 3 * (n === 1 ? p.baseMs : lastMs)), p.capMs);
  const grown = structure.growth === 'linear' ? p.baseMs * n : p.baseMs * power(p.factor, n - 1);
  const w = structure.capsJitter ? grown : Math.min(grown, p.capMs);
  const [fromMs, toMs] = structure.jitter === 'plus' ? [w, w + p.plusMs] : [p.low * w, w];
  return capped(fromMs, toMs, structure.capsJitter ? p.capMs : Infinity);
}

/** A uniform wait that a cap ends: asked for each gap in each step of a chain. */
function capped(fromMs: number, toMs: number, capMs: number): Piece[] {
  const leastMs = Math.min(fromMs, capMs);
  if (leastMs === capMs || toMs <= capMs) return [{ share: 1, fromMs: leastMs, toMs: Math.min(toMs, capMs) }];
  return [
    { share: (capMs - fromMs) / (toMs - fromMs), fromMs, toMs: capMs },
    { share: (toMs - capMs) / (toMs - fromMs), fromMs: capMs, toMs: capMs },
  ];
}

/** Maps a uniform wait by a function that is ascending, and linear between the given instants. */
export function cut(fromMs: number, toMs: number, at: readonly number[], of: (ms: number) => number): Piece[] {
  if (toMs <= fromMs) return [{ share: 1, fromMs: of(fromMs), toMs: of(fromMs) }];
  const ends = [fromMs, ...at.filter((ms) => ms > fromMs && ms < toMs).sort((a, b) => a - b), toMs];
  return ends
    .slice(1)
    .map((end, i) => ({ share: (end - ends[i]!) / (toMs - fromMs), fromMs: of(ends[i]!), toMs: of(end) }));
}

/** U(l, 1) w is U(1, 1 / l) l w: whether the second form is the rounder one. `low`: l */
export function isLonger(low: number): boolean {
  return low > 0 && low < 1 && low !== 0.5 && digits(1 / low - 1) < digits(1 - low);
}

const digits = (share: number) => `${Number(share.toPrecision(6))}`.length;

function power(x: number, n: number): number {
  let product = 1;
  for (let i = 0; i < n; i += 1) product *= x;
  return product;
}

/** Nearly all lateness is within this many spreads: (1 + 30)^-3 is 1 in 30,000. */
const LATEST = 30;

export function latestMs({ offsetMs, spreadMs }: Lateness): number {
  return offsetMs + LATEST * spreadMs;
}

/** Share of gaps with a stall of the machine, and its approximate length. */
const STALL = { share: 0.02, ms: 500 };

/** Whether few enough gaps exceed all lateness for stalls to explain them. */
export function areStalls(n: number, gaps: number): boolean {
  return n <= 1 + 4 * STALL.share * gaps;
}

/** Density of a gap shorter than the law allows: nearly impossible, the more so the shorter it is. */
const EARLY = 1e-12;
/** Tolerance for a gap that seems shorter than its wait: two clocks, and timers of whole ms. */
export const EARLY_MS = 2;
const NARROW_MS = 1e-6;

function beyond(x: number): number {
  if (x <= 0) return 1;
  const u = 1 / (1 + x);
  return (u * u * u + 1 / (1 + x * x * x)) / 2;
}

function lateAt(x: number): number {
  const [u, v] = [1 / (1 + x), 1 / (1 + x * x * x)];
  return 1.5 * (u * u * u * u + x * x * v * v);
}

/** Tolerance for a gap that seems shorter than a wait of an estimated law, which may be off by a share of it. */
export function earlyMs(ms: number): number {
  return EARLY_MS + 0.01 * ms;
}

/** Waits that differ by less are alike, in ms. */
export function closeMs(ms: number): number {
  return 5 + 0.02 * ms;
}

/** Probability that a wait of these pieces, with its lateness, is at least as long as a gap. */
export function atLeast(pieces: readonly Piece[], ms: number, { offsetMs, spreadMs }: Lateness): number {
  let sum = 0;
  for (const { share, fromMs, toMs } of pieces)
    for (let i = 0.5; i < POINTS; i += 1) {
      const waitMs = fromMs + (i / POINTS) * (toMs - fromMs);
      sum += (share / POINTS) * ((1 - STALL.share) * beyond((ms - waitMs - offsetMs) / spreadMs));
    }
  return sum + STALL.share / (1 + Math.max(0, ms - pieces[0]!.fromMs) / STALL.ms);
}

const POINTS = 50;

export function densityOf(pieces: readonly Piece[], ms: number, late: Lateness): number {
  let density = 0;
  let lackMs = Infinity;
  for (let i = 0; i < pieces.length; i += 1) {
    const piece = pieces[i]!;
    const lateMs = ms - piece.fromMs - late.offsetMs;
    if (lateMs < 0) {
      if (-lateMs < lackMs) lackMs = -lateMs;
      continue;
    }
    lackMs = 0;
    const wide = piece.toMs - piece.fromMs;
    density +=
      piece.share *
      (wide < NARROW_MS
        ? lateAt(lateMs / late.spreadMs) / late.spreadMs
        : (beyond((lateMs - wide) / late.spreadMs) - beyond(lateMs / late.spreadMs)) / wide);
  }
  if (lackMs > 0) return (1 - STALL.share) * density + EARLY / (1 + lackMs * lackMs);
  const stalled = 1 / (1 + Math.max(0, ms - pieces[0]!.fromMs) / STALL.ms);
  return (1 - STALL.share) * density + (STALL.share / STALL.ms) * stalled * stalled + EARLY;
}

export function logLikelihood(
  gaps: readonly Gap[],
  structure: WaitStructure,
  p: WaitParameters,
  first: Lateness,
  later: Lateness,
): number {
  let product = 1;
  let sum = 0;
  const byRetry: Piece[][] = [];
  for (let i = 0; i < gaps.length; i += 1) {
    const gap = gaps[i]!;
    let pieces = byRetry[gap.k];
    if (gap.knownMs !== undefined) pieces = [{ share: 1, fromMs: gap.knownMs, toMs: gap.knownMs }];
    else if (pieces === undefined || structure.jitter === 'decorrelated')
      byRetry[gap.k] = pieces = waitLaw(structure, p, gap);
    product *= densityOf(pieces, gap.ms, gap.isFirst ? first : later);
    if (product < 1e-200) {
      sum += log(product);
      product = 1;
    }
  }
  return sum + log(product);
}
