// Features of the answers that suggest parameters. Pure.
import { countedWithin, type Evidence, type Seen, VOLLEY_MS, volleysIn } from './evidence.js';

/** A return of quota: from the earliest counting of the last refused request to the latest of the next admitted one. */
export interface Return {
  readonly fromMs: number;
  readonly toMs: number;
  readonly refusedMs: number;
  /** The same if refusals in the volley of the last admission were counted after it. */
  readonly mixedMs: number;
}

export interface Features {
  /** Number admitted before a refusal, in a row or at once; most frequent first. */
  readonly bursts: readonly number[];
  readonly counts: readonly number[];
  readonly recoveries: readonly number[];
  readonly refusals: readonly number[];
  readonly returns: readonly Return[];
  /** Distance between the answers of held requests of a volley; undefined if none are held. */
  readonly heldStepMs: number | undefined;
  readonly fromMs: number;
  readonly toMs: number;
}

export function featuresOf(evidence: Evidence): Features {
  const { seen } = evidence;
  const usualMs = usualOf(evidence);
  // Transport is equal for all: a request sent later by more than its variation is counted later.
  const apartMs = Math.max(VOLLEY_MS, usualMs - evidence.shortestMs);
  const returns: Return[] = [];
  const inOrder = seen.filter(({ decision }) => decision !== 'unknown').sort((a, b) => a.sentMs - b.sentMs);
  const recoveries: number[] = [];
  const refusals: number[] = [];
  const last = new Map<string, Seen>();
  const refusedFrom = new Map<string, number>();
  const mixedFrom = new Map<string, number>();
  const runs = new Map<string, number>();
  const times = new Map<number, number>();
  const note = (n: number) => void (n > 0 && times.set(n, (times.get(n) ?? 0) + 1));
  let sinceReturn: number | undefined;
  for (const one of inOrder) {
    const before = last.get(one.key);
    if (before?.decision === 'limited' && one.decision === 'admitted' && one.sentMs > before.sentMs + apartMs) {
      recoveries.push((before.sentMs + one.answeredMs) / 2);
      if (sinceReturn !== undefined) note(sinceReturn);
      sinceReturn = 0;
      const [fromMs] = countedWithin(before, evidence);
      const since = (times: ReadonlyMap<string, number>) => Math.max(0, fromMs - (times.get(one.key) ?? fromMs));
      const toMs = countedWithin(one, evidence)[1];
      returns.push({ fromMs, toMs, refusedMs: since(refusedFrom), mixedMs: since(mixedFrom) });
    }
    const isApart = before !== undefined && one.sentMs > before.sentMs + 3 * usualMs;
    if (isApart) note(runs.get(one.key)!);
    const run = isApart ? 0 : (runs.get(one.key) ?? 0);
    if (one.decision === 'limited') {
      if (before?.decision !== 'limited') {
        refusals.push((one.sentMs + one.answeredMs) / 2);
        const fromMs = countedWithin(one, evidence)[1];
        refusedFrom.set(one.key, fromMs);
        if (!mixedFrom.has(one.key)) mixedFrom.set(one.key, fromMs);
      }
    } else {
      if (one.sentMs > (mixedFrom.get(one.key) ?? Infinity) + apartMs) mixedFrom.delete(one.key);
      if (sinceReturn !== undefined) sinceReturn += 1;
    }
    runs.set(one.key, run + (one.decision === 'admitted' ? 1 : 0));
    last.set(one.key, one);
  }
  const atOnce = volleysIn(inOrder).flatMap((volley) => {
    const admitted = volley.filter(({ decision }) => decision === 'admitted').length;
    return admitted < volley.length ? [admitted] : [];
  });
  for (const n of [...runs.values(), ...atOnce]) note(n);
  const bursts = [...times.keys()].sort((a, b) => times.get(b)! - times.get(a)! || b - a);
  const fromMs = inOrder[0]?.sentMs ?? 0;
  return {
    bursts: limitsFrom(
      [...bursts.slice(0, MOST_BURSTS), Math.max(1, ...atOnce), Math.max(1, ...bursts)],
      firstLimits(inOrder),
    ),
    counts: bursts,
    recoveries,
    refusals,
    returns,
    heldStepMs: evidence.isHeld ? heldStepOf(inOrder) : undefined,
    fromMs,
    toMs: inOrder.reduce((most, one) => Math.max(most, one.answeredMs), fromMs),
  };
}

/** A queue answers at the distance of its rate: the median over the later half of each volley. */
function heldStepOf(inOrder: readonly Seen[]): number | undefined {
  const steps = volleysIn(inOrder.filter(({ decision }) => decision === 'admitted'))
    .filter(({ length }) => length > 2)
    .map((volley) => {
      const answered = volley.map(({ answeredMs }) => answeredMs).sort((a, b) => a - b);
      const from = answered.length >> 1;
      return (answered.at(-1)! - answered[from - 1]!) / (answered.length - from);
    })
    .sort((a, b) => a - b);
  return steps[steps.length >> 1];
}

function usualOf({ seen, longestMs }: Evidence): number {
  const limited = seen
    .filter(({ decision }) => decision === 'limited')
    .map((one) => one.answeredMs - one.sentMs)
    .sort((a, b) => a - b);
  return Math.max(VOLLEY_MS, Math.min(longestMs, 2 * (limited[limited.length >> 1] ?? longestMs)));
}

const MOST_BURSTS = 3;

function limitsFrom(bursts: readonly number[], more: readonly number[]): number[] {
  const near = [...bursts, ...bursts.slice(0, 2).map((n) => n - 1), ...more];
  return [...new Set(near.filter((n) => n >= 1))];
}

/** What the first burst shows; if quota returned in it, the limit lies between its last volley's admissions and all of them. */
function firstLimits(inOrder: readonly Seen[]): number[] {
  const first = inOrder.find(({ decision }) => decision === 'limited');
  if (first === undefined) return [];
  const { sentMs, key } = first;
  const admitted = inOrder.filter((one) => one.key === key && one.decision === 'admitted');
  const all = admitted.filter((one) => one.sentMs < sentMs + VOLLEY_MS).length;
  const again = admitted.find((one) => one.sentMs > sentMs + VOLLEY_MS);
  if (again === undefined || again.sentMs - sentMs > 8 * (sentMs - inOrder[0]!.sentMs)) return [all];
  const last = admitted.filter((one) => Math.abs(one.sentMs - sentMs) <= VOLLEY_MS).length;
  const step = Math.max(1, (all - last) / MOST_QUICK);
  const between = Array.from({ length: MOST_QUICK }, (_, k) => Math.round(all - (k + 0.5) * step));
  return [all, ...between.filter((n) => n > last)];
}

const MOST_QUICK = 6;
