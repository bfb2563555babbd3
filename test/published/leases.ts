// N nodes that lease a limit of L per window in batches of B admit up to L + N (B - 1) in the next window.
//
//   window 0   |             x at each node|      each leases B and spends 1, which leaves B - 1
//   window 1   |x x x x x x x ...          |      L more are leased, and all are spent
//
// This adversary reaches the bound; random ones stay below it.
import { LIMITED } from '../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../src/core/math/random.js';
import { UNIT_MS } from './arrivals.js';
import type { PublishedCheck } from './published-check.js';

const [LIMIT, NODES, BATCH] = [100, 4, 10];
const BOUND = LIMIT + NODES * (BATCH - 1);
const [WINDOWS, MOST] = [20, 2 * BOUND];

/** @param ends whether batches expire with their window */
function leasing(ends: boolean): (node: number, window: number) => boolean {
  const rule = ruleOf({ primitive: 'fixed_window', params: { limit: LIMIT, window_ms: UNIT_MS } });
  const state = rule.fresh(0);
  const held = Array.from({ length: NODES }, () => ({ n: 0, window: 0 }));
  return (node, window) => {
    const batch = held[node]!;
    if (ends && batch.window < window) batch.n = 0;
    if (batch.n === 0 && rule.admit(state, window * UNIT_MS, BATCH, 0) !== LIMITED) {
      batch.n = BATCH;
      batch.window = window;
    }
    if (batch.n === 0) return false;
    batch.n -= 1;
    return true;
  };
}

export const leases: PublishedCheck = {
  title: `Leases of a limit of ${LIMIT} over ${NODES} nodes in batches of ${BATCH}: the most admitted in a window`,
  source: 'arithmetic of leases: L + N (B - 1), tight',
  mechanism: 'batches that outlast their window',
  rows: [
    { name: 'by the adversary of the bound', expected: BOUND, unit: 'requests' },
    { name: 'adversaries at random: windows above the bound', expected: 0, unit: 'windows' },
  ],
  replicate(seed, replication, without = false) {
    const admits = leasing(without);
    for (let node = 0; node < NODES; node += 1) admits(node, 0);
    let most = 0;
    for (let n = 0; n < MOST; n += 1) if (admits(n % NODES, 1)) most += 1;
    const draw = new RandomStream(seed, `published/leases/${replication}`);
    const other = leasing(without);
    let above = 0;
    for (let window = 0; window < WINDOWS; window += 1) {
      let admitted = 0;
      for (let n = draw.integer(0, MOST); n > 0; n -= 1) if (other(draw.integer(0, NODES - 1), window)) admitted += 1;
      if (admitted > BOUND) above += 1;
    }
    return [most, above];
  },
};
