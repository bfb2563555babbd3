// Every threshold of three windows in one pass over a log, beside one replay of it, in processor time: by one limit for all, and by client.
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../src/core/limiter/validate.js';
import { replay } from '../../src/harness/simulate/replay.js';
import { adviceOfLogs } from '../../src/tools/recommend/recommend.js';
import { atMost, type BenchRow, inTurn, secondsOf } from './measure.js';
import { LINES, overLog } from './replay.js';

const ROUNDS = 3;
const CYCLE_MS = 777;
const MOST_REPLAYS = 1.5;

export const benchSizing = (): Promise<BenchRow[]> =>
  overLog(async (path) => {
    const rows: BenchRow[] = [];
    for (const keyColumn of [undefined, 'client']) {
      const log = { keyColumn };
      const plan = planContract(rateLimiter());
      const options = { cycleMs: CYCLE_MS, windowCycles: [60, 300, 1000], shares: [0.001], log };
      const one = () => replay([path], { name: 'log', cycleMs: CYCLE_MS, plan, log });
      const all = () => adviceOfLogs([path], options);
      const measures = { one: () => secondsOf(one, 'processor'), all: () => secondsOf(all, 'processor') };
      const seconds = await inTurn(measures, ROUNDS);
      const replays = seconds.all / seconds.one;
      const by = keyColumn === undefined ? '' : ', by client';
      rows.push({
        what: `recommend: all thresholds of three windows${by}, ${LINES} combined lines`,
        ...{ value: replays, unit: 'replays, by processor' },
        against: atMost(MOST_REPLAYS, replays, 'replays'),
      });
    }
    return rows;
  });
