// A test that counts ("60 pass, the 61st is refused") fails where the edge of a fixed window is within its burst.
//
//   window   |............|............|        P(the 61st passes) = d / w, for a burst of length d at a random place
//   burst          ||||                         holds: the 61st is refused
//   burst               ||||                    fails: both windows have room
import { LIMITED } from '../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../src/core/math/random.js';
import type { PublishedCheck } from './published-check.js';

const [LIMIT, WINDOW_MS, TRIALS] = [60, 60_000, 4_000];
const bursts = [1, 6, 30] as const;

export const windowEdge: PublishedCheck = {
  title: `A test of ${LIMIT} in 60 s by ${LIMIT + 1} requests in d seconds: share of runs in which the last one passes`,
  source:
    'd / w, by arithmetic; such tests: github.com/plausible/analytics/pull/6497, frankbria/auto-author/issues/442',
  mechanism: 'windows that begin at fixed times',
  rows: bursts.map((seconds) => ({ name: `d = ${seconds} s`, expected: seconds / 60, unit: 'of runs' })),
  replicate: (seed, replication, without = false) =>
    bursts.map((seconds) => {
      const draw = new RandomStream(seed, `published/window-edge/${replication}/${seconds}`);
      const params = { limit: LIMIT, window_ms: WINDOW_MS };
      const rule = without
        ? ruleOf({ primitive: 'sliding_log', params })
        : ruleOf({ primitive: 'fixed_window', params: { ...params, align: 'epoch' } });
      let passed = 0;
      for (let trial = 0; trial < TRIALS; trial += 1) {
        const state = rule.fresh(0);
        const fromMs = WINDOW_MS * (1 + draw.uniform());
        let last = LIMITED;
        for (let n = 0; n <= LIMIT; n += 1) last = rule.admit(state, fromMs + (seconds * 1_000 * n) / LIMIT, 1, 0);
        if (last !== LIMITED) passed += 1;
      }
      return passed / TRIALS;
    }),
};
