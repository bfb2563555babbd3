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
export const NONE_PASSED: Passed = { admitted: NONE, limited: NONE, unknown: NONE };

export function isAnyPassed({ admitted, limited, unknown }: Passed): boolean {
  return admitted.length + limited.length + unknown.length > 0;
}

/** The nodes that have counted the same number of requests. Up to `apart` nodes of one place stay separate. */
export class Layer {
  readonly #counting: RuleCounting;
  readonly #apart: number;
  readonly #places = new Map<string, SearchNode[]>();

  constructor(counting: RuleCounting, apart: number) {
    this.#counting = counting;
    this.#apart = apart;
  }

  add(node: SearchNode, settledAt: number): void {
    const state = this.#counting.settled(node.state, settledAt);
    const { admitted, limited, unknown, passed } = node;
    const apart = isAnyPassed(passed) ? `${passed.admitted}/${passed.limited}/${passed.unknown}/` : '';
    const key = `${admitted}/${limited}/${unknown}/${apart}${this.#counting.key(state)}`;
    const one = { ...node, state };
    const place = this.#places.get(key);
    if (place === undefined) {
      this.#places.set(key, [one]);
      return;
    }
    let nearest = 0;
    for (const [k, other] of place.entries()) {
      if (this.#join(other, one) === undefined) return;
      if (Math.abs(other.nowMs - one.nowMs) < Math.abs(place[nearest]!.nowMs - one.nowMs)) nearest = k;
    }
    const wider = place.findIndex((other) => this.#join(one, other) === undefined);
    if (wider >= 0) place[wider] = one;
    else if (place.length < this.#apart) place.push(one);
    else place[nearest] = this.#join(place[nearest]!, one)!;
  }

  nodes(): SearchNode[] {
    return [...this.#places.values()].flat();
  }

  #join(one: SearchNode, other: SearchNode): SearchNode | undefined {
    const state = this.#counting.join(one.state, other.state);
    const soonest = earlier(one.soonest, other.soonest);
    const latest = later(one.latest, other.latest);
    const isSooner = other.nowMs < one.nowMs;
    if (state === undefined && !isSooner && soonest === one.soonest && latest === one.latest) return undefined;
    return { ...one, state: state ?? one.state, nowMs: Math.min(one.nowMs, other.nowMs), soonest, latest };
  }
}

// Elementwise minimum and maximum, aligned at the end. A request missing in either list is released in `earlier`, held in `later`.
function earlier(one: readonly number[], other: readonly number[]): readonly number[] {
  const held = Math.min(one.length, other.length);
  const both = one.slice(one.length - held).map((release, k) => Math.min(release, other[other.length - held + k]!));
  return both.length === one.length && both.every((release, k) => release === one[k]) ? one : both;
}

function later(one: readonly number[], other: readonly number[]): readonly number[] {
  const held = Math.max(one.length, other.length);
  const all = Array.from({ length: held }, (_, k) =>
    Math.max(one[one.length - held + k] ?? 0, other[other.length - held + k] ?? 0),
  );
  return all.length === one.length && all.every((release, k) => release === one[k]) ? one : all;
}
