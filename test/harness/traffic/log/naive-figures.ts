// The figures of a window over the counts of a log, cycle by cycle and request by request: the gate is not used here.
import type { Counts } from './counted.js';

export function naiveFigures({ cycles, counts }: Counts, threshold: number, within: number) {
  const inCycle = new Map(cycles.map((cycle, index) => [cycle, counts[index]!]));
  const moves: { to: string; cycle: number; count: number }[] = [];
  let [count, limited, peak, isLimiting, next] = [0, 0, 0, false, 0];
  const evaluate = (cycle: number): void => {
    if (isLimiting === count > threshold) return;
    isLimiting = !isLimiting;
    moves.push({ to: isLimiting ? 'limiting' : 'allowing', cycle, count });
  };
  const lastCycle = cycles.at(-1)! + within;
  for (let cycle = cycles[0]!; cycle <= lastCycle; cycle += 1) {
    count -= inCycle.get(cycle - within) ?? 0;
    evaluate(cycle);
    // An empty window stays so until the next cycle that has requests.
    while (next < cycles.length && cycles[next]! < cycle) next += 1;
    if (count === 0 && next < cycles.length) cycle = cycles[next]!;
    for (let k = inCycle.get(cycle) ?? 0; k > 0; k -= 1) {
      count += 1;
      evaluate(cycle);
      if (isLimiting) limited += 1;
      peak = Math.max(peak, count);
    }
  }
  return {
    entries: moves.filter(({ to }) => to === 'limiting').length,
    limiting_cycles: moves.reduce((sum, { to, cycle }) => sum + (to === 'allowing' ? cycle : -cycle), 0),
    limited,
    peak_count: peak,
    moves: moves.map(({ to, cycle, count: n }) => `${to} ${cycle} (${n})`),
  };
}
