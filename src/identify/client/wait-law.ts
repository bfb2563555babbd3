// How long a client waits before a retry, as a law with parameters, and how likely a gap is under it.
//
//   w(k) = base * factor^(k - 1)  or  base * k, at most cap       k: retries so far and this one
//
//   none                 w |
//   share          low w |~~~~~~~~~| w               low 0.5: equal, 0: full, else subtractive
//   plus               w |~~~~| w + plus             additive
//   decorrelated    base |~~~~~~~~~~~~~| 3 last      then at most cap
//
//   gap = wait + late,   late = offset + Lomax(spread):  P(late > offset + x) = (1 + x / spread)^-3
//
// Late timers and a busy machine only lengthen a gap. The first gap of a process carries what it compiles and connects, and has its own offset.
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

/** A gap shorter than the law allows: nearly impossible, the more so the shorter it is. */
const EARLY = 1e-12;
const NARROW_MS = 1e-6;

export function densityOf(pieces: readonly Piece[], ms: number, { offsetMs, spreadMs }: Lateness): number {
  let density = 0;
  let lackMs = Infinity;
  for (const { share, fromMs, toMs } of pieces) {
    const late = ms - fromMs - offsetMs;
    lackMs = Math.min(lackMs, Math.max(0, -late));
    if (late < 0) continue;
    const wide = toMs - fromMs;
    if (wide < NARROW_MS) {
      const x = 1 / (1 + late / spreadMs);
      density += (share * 3 * x * x * x * x) / spreadMs;
    } else {
      const beyond = late - wide;
      const x = 1 / (1 + late / spreadMs);
      const y = beyond <= 0 ? 1 : 1 / (1 + beyond / spreadMs);
      density += (share * (y * y * y - x * x * x)) / wide;
    }
  }
  return density + EARLY / (1 + lackMs * lackMs);
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
  for (const gap of gaps) {
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
