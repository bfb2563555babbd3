// Owns how speed is measured: warm-up, rounds, medians, peers in turn. Leaves what is measured to the benches beside it.

/** One line of the bench: a figure, and the peer it was measured against in the same run. */
export interface BenchRow {
  readonly what: string;
  readonly value: number;
  readonly unit: string;
  /** `ratio` is the value over the peer's value; `target` is the least ratio wanted. */
  readonly against?: {
    readonly name: string;
    readonly value: number;
    readonly ratio: number;
    readonly target?: number;
  };
}

/** Does its work `n` times, synchronously. */
export type Body = (n: number) => void;

/** Operations per second of `body(n)`: the median of the rounds, after one round to warm up. */
export function opsPerSecond(body: Body, n: number, rounds = 5): number {
  return sideBySide({ body }, n, rounds).body;
}

/**
 * Operations per second of several bodies, measured in turn so that what disturbs the machine disturbs them all:
 * a b c, a b c, ... and of each the median.
 * @param n how often each body does its work in a round; per body when a peer is much slower than the others
 */
export function sideBySide<Name extends string>(
  bodies: Readonly<Record<Name, Body>>,
  n: number | Readonly<Record<Name, number>>,
  rounds = 5,
): Record<Name, number> {
  const names = Object.keys(bodies) as Name[];
  const times = (name: Name) => (typeof n === 'number' ? n : n[name]);
  const seen = Object.fromEntries(names.map((name) => [name, []])) as unknown as Record<Name, number[]>;
  for (const name of names) bodies[name](times(name));
  for (let round = 0; round < rounds; round++) {
    for (const name of names) {
      const startMs = performance.now();
      bodies[name](times(name));
      seen[name].push((1000 * times(name)) / (performance.now() - startMs));
    }
  }
  return Object.fromEntries(names.map((name) => [name, median(seen[name])])) as Record<Name, number>;
}

/** The middle of the values, or the mean of the two in the middle. */
export function median(values: readonly number[]): number {
  const sorted = [...values].sort((a, b) => a - b);
  const half = sorted.length >> 1;
  return sorted.length % 2 === 1 ? sorted[half]! : (sorted[half - 1]! + sorted[half]!) / 2;
}
