// Nodes of the search for an order of counting. Nodes of a place that differ only in instants are merged into one with wider bounds.
import type { RuleCounting } from './counting.js';
import type { Queues } from './queues.js';

export interface SearchNode {
  readonly admitted: number;
  readonly limited: number;
  readonly unknown: number;
  /** With costs: places of requests sent before the last counted one that are still to be counted, ascending. */
  readonly passed: Passed;
  readonly state: unknown;
  /** Lower bound for the next instant of counting. */
  readonly nowMs: number;
  /** Earliest and latest releases of held requests, ascending, over all ways to this node. */
  readonly soonest: readonly number[];
  readonly latest: readonly number[];
}

type Passed = Readonly<Record<keyof Queues, readonly number[]>>;

export const NONE: readonly number[] = [];
const NONE_PASSED: Passed = { admitted: NONE, limited: NONE, unknown: NONE };
export const NONE_COUNTED = { admitted: 0, limited: 0, unknown: 0, passed: NONE_PASSED, soonest: NONE, latest: NONE };

export function isAnyPassed({ admitted, limited, unknown }: Passed): boolean {
  return admitted.length + limited.length + unknown.length > 0;
}

/** The nodes that have counted the same number of requests. Up to `apart` nodes of one place stay separate. */
export function layerOf(counting: RuleCounting, mostApart: number) {
  const places = new Map<string, SearchNode[]>();
  const join = (one: SearchNode, other: SearchNode): SearchNode | undefined => {
    const state = counting.join(one.state, other.state);
    // A request missing in either list is released at the soonest, held at the latest.
    const soonest = aligned(one.soonest, other.soonest, Math.min(one.soonest.length, other.soonest.length), Math.min);
    const latest = aligned(one.latest, other.latest, Math.max(one.latest.length, other.latest.length), Math.max);
    const isSooner = other.nowMs < one.nowMs;
    if (state === undefined && !isSooner && soonest === one.soonest && latest === one.latest) return undefined;
    return { ...one, state: state ?? one.state, nowMs: Math.min(one.nowMs, other.nowMs), soonest, latest };
  };
  return {
    add(node: SearchNode, settledAt: number): void {
      const state = counting.settled(node.state, settledAt);
      const { admitted, limited, unknown, passed } = node;
      const apart = isAnyPassed(passed) ? `${passed.admitted}/${passed.limited}/${passed.unknown}/` : '';
      const key = `${admitted}/${limited}/${unknown}/${apart}${counting.key(state)}`;
      const one = { ...node, state };
      const place = places.get(key);
      if (place === undefined) {
        places.set(key, [one]);
        return;
      }
      let nearest = 0;
      for (const [k, other] of place.entries()) {
        if (join(other, one) === undefined) return;
        if (Math.abs(other.nowMs - one.nowMs) < Math.abs(place[nearest]!.nowMs - one.nowMs)) nearest = k;
      }
      const wider = place.findIndex((other) => join(one, other) === undefined);
      if (wider >= 0) place[wider] = one;
      else if (place.length < mostApart) place.push(one);
      else place[nearest] = join(place[nearest]!, one)!;
    },
    nodes: () => [...places.values()].flat(),
  };
}

/** Elementwise for the last `n`, aligned at the end; `one` itself if that is equal to it, as where nothing is held. */
function aligned(
  one: readonly number[],
  other: readonly number[],
  n: number,
  pick: (a: number, b: number) => number,
): readonly number[] {
  if (one === other) return one;
  const at = (all: readonly number[], k: number) => all[all.length - n + k] ?? 0;
  const both = Array.from({ length: n }, (_, k) => pick(at(one, k), at(other, k)));
  return n === one.length && both.every((release, k) => release === one[k]) ? one : both;
}
