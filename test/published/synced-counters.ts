// Gateways that add up their counts every so often admit up to the limit each before they hear of one another.
//
//   pod a   |60 ......|      a burst of 300 in the first 9 s of a minute, with a limit of 60 a minute:
//   pod b   |60 ......|      synced after 10 s: 180 pass; never synced: 180; at each request: 60
//   pod c   |60 ......|sync
import { LIMITED } from '../../src/core/limiter/rule/rule.js';
import { ruleOf } from '../../src/core/limiter/rule/rule-definition.js';
import type { PublishedCheck } from './published-check.js';

const [LIMIT, PODS, SENT] = [60, 3, 300];
const cases = [
  { name: 'synced every 10 s', sync_ms: 10_000, expected: PODS * LIMIT },
  { name: 'not synced within the minute', sync_ms: 60_000, expected: PODS * LIMIT },
  { name: 'synced at each request', sync_ms: 0, expected: LIMIT },
] as const;

export const syncedCounters: PublishedCheck = {
  title: `Counters of ${PODS} gateways, limit ${LIMIT} a minute, synced every so often: what a burst gets through`,
  source: 'Kong, rate-limiting-advanced with sync_rate: github.com/Kong/kong/issues/6723, "up to 180 requests"',
  mechanism: 'the time between two syncs',
  rows: cases.map(({ name, expected }) => ({ name, expected, unit: 'requests' })),
  replicate: (_seed, _replication, without = false) =>
    cases.map(({ sync_ms }) => {
      const design = { design: 'batched', nodes: PODS, sync_ms: without ? 0 : sync_ms } as const;
      const params = { ...design, threshold: LIMIT, within: 60, cycle_ms: 1_000 };
      const rule = ruleOf({ primitive: 'many_nodes', params });
      const state = rule.fresh(0);
      let admitted = 0;
      for (let n = 0; n < SENT; n += 1) if (rule.admit(state, 60_000 + 30 * n, 1, 0) !== LIMITED) admitted += 1;
      return admitted;
    }),
};
