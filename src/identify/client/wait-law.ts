// How long a client waits before a retry, as a law with parameters, and how likely a gap is under it.
//
//   w(k) = base * factor^(k - 1)  or  base * k, at most cap       k: retries so far and this one
//
//   none                 w |
//   share          low w |~~~~~~~~~| w               low 0.5: equal, 0: full, else subtractive
//   plus               w |~~~~| w + plus             additive
//   decorrelated    base |~~~~~~~~~~~~~| 3 last      then at most cap
//
//   gap = wait + late,   P(late > offset + x spreads) = (1 + x)^-3 of one half, and 1 / (1 + x^3) of the other
//                        of a few gaps P(late > x) = 1 / (1 + x / stall)
//
// Late timers and a busy machine only lengthen a gap; a machine that stalls makes a few of them seconds longer. The first gap of a process
// carries what it compiles and connects, and has its own offset.
import { log } from '../../math/elementary.js';

export interface Gap {
  /** Which retry comes after it: 1 for the first. */
  readonly k: number;
  readonly ms: number;
  /** The gap before it in its job, 0 for none. */
  readonly lastMs: number;
  /** Whether its process retries for the first time. */
  readonly isFirst: boolean;
  /** Of a wait that was announced and is known to be obeyed. */
  readonly knownMs?: number | undefined;
}

export interface WaitStructure {
  readonly growth: 'none' | 'exponential' | 'linear';
  /** Whether the first retry comes at once, and the law begins with the second. */
  readonly skipsFirst: boolean;
  readonly jitter: 'none' | 'share' | 'plus' | 'decorrelated';
  /** Whether the cap holds for the wait with its jitter, or for w alone. */
  readonly capsJitter: boolean;
}

export interface WaitParameters {
  readonly baseMs: number;
  readonly factor: number;
  readonly low: number;
  readonly plusMs: number;
  /** Infinity for none. */
  readonly capMs: number;
}

export interface Lateness {
  readonly offsetMs: number;
  readonly spreadMs: number;
}

/** A wait: uniform in each piece, which has a part of the probability. */
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
    return cut(p.baseMs, Math.max(p.baseMs, 3 * (n === 1 ? p.baseMs : lastMs)), [p.capMs], (ms) =>
      Math.min(ms, p.capMs),
    );
  const grown = structure.growth === 'linear' ? p.baseMs * n : p.baseMs * power(p.factor, n - 1);
  const w = structure.capsJitter ? grown : Math.min(grown, p.capMs);
  const [fromMs, toMs] = structure.jitter === 'plus' ? [w, w + p.plusMs] : [p.low * w, w];
  if (!structure.capsJitter || toMs <= p.capMs) return [{ share: 1, fromMs, toMs }];
  return cut(fromMs, toMs, [p.capMs], (ms) => Math.min(ms, p.capMs));
}

/** A uniform wait as a function of it, which rises and is straight between the given instants. */
export function cut(fromMs: number, toMs: number, at: readonly number[], of: (ms: number) => number): Piece[] {
  if (toMs <= fromMs) return [{ share: 1, fromMs: of(fromMs), toMs: of(fromMs) }];
  const ends = [fromMs, ...at.filter((ms) => ms > fromMs && ms < toMs).sort((a, b) => a - b), toMs];
  return ends
    .slice(1)
    .map((end, i) => ({ share: (end - ends[i]!) / (toMs - fromMs), fromMs: of(ends[i]!), toMs: of(end) }));
}

function power(x: number, n: number): number {
  let product = 1;
  for (let i = 0; i < n; i += 1) product *= x;
  return product;
}

/** Parts of the spread within which nearly all lateness is: (1 + 30)^-3 is 1 in 30,000. */
const LATEST = 30;

export function latestMs({ offsetMs, spreadMs }: Lateness): number {
  return offsetMs + LATEST * spreadMs;
}

/** The share of gaps during which the machine stalls, and about how long, in ms. */
const STALL = { share: 0.02, ms: 500 };

/** Whether the gaps that are later than lateness explains are few enough to be those of a machine that stalls. */
export function areStalls(n: number, gaps: number): boolean {
  return n <= 1 + 4 * STALL.share * gaps;
}

/** A gap shorter than the law allows: nearly impossible, the more so the shorter it is. */
const EARLY = 1e-12;
const NARROW_MS = 1e-6;

/** Probability that lateness is beyond x spreads: half of it is nearly none, half about a spread. */
function beyond(x: number): number {
  if (x <= 0) return 1;
  const u = 1 / (1 + x);
  return (u * u * u + 1 / (1 + x * x * x)) / 2;
}

/** The density of lateness at x spreads. */
function lateAt(x: number): number {
  const [u, v] = [1 / (1 + x), 1 / (1 + x * x * x)];
  return 1.5 * (u * u * u * u + x * x * v * v);
}

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
