import { expect, it } from 'vitest';
import type { Series } from '../../../src/harness/outcome/series.js';
import { parseScenario, type ScenarioObject } from '../../../src/harness/scenario/load-scenario.js';
import { drainMs } from '../../../src/harness/simulate/replication.js';

const steady = { model: 'poisson', rate: '5/s' };
const spike = { model: 'spikes', requests: 9, from: '2s', to: '3s' };
const scenario = (more: object) =>
  parseScenario(
    {
      ...{ question: 'Q?', cycle_ms: 1000, duration: '8s', limiter: 'none', arrivals: [steady] },
      ...{ clients: [{ kind: 'retrying' }], ...more },
    } as unknown as ScenarioObject,
    'drain.yaml',
  );
/** Open jobs at the ends of cycles, of a run that begins in `first`. */
const series = (open: number[], first = 0) =>
  ({ cycle: open.map((_, n) => first + n), open_jobs: open }) as unknown as Series;

// biome-ignore format: one case a line
it.each<[name: string, more: object, open: number[], ms: number | undefined]>([
  ['from the end of a spike, down to what was open before', { arrivals: [steady, spike] }, [1, 1, 9, 5, 2, 1], 3000],
  ['0 where nothing is left in its last cycle', { arrivals: [steady, spike] }, [1, 1, 1, 1], 0],
  ['down to the mean before, rounded up', { arrivals: [steady, spike] }, [1, 2, 9, 5, 2, 1], 2000],
  ['undefined where it lasts', { arrivals: [steady, spike] }, [0, 0, 9, 9, 9, 9], undefined],
  ['from the end of a fault', { faults: [{ kind: 'pause', from: '1s', to: '4s' }] }, [0, 5, 5, 5, 5, 0, 0], 2000],
  ['from the end of the last of them',
    { arrivals: [steady, spike], faults: [{ kind: 'pause', from: '1s', to: '4s' }] }, [0, 0, 0, 9, 0], 1000],
  ['undefined where nothing disturbs', {}, [1, 5, 1, 1], undefined],
  ['undefined where the load only begins late', { arrivals: [{ ...steady, from: '2s' }] }, [0, 0, 3, 0], undefined],
  ['undefined where the trigger lasts to the end', { arrivals: [steady, { ...steady, from: '2s' }] }, [0, 0, 3, 0], undefined],
])('the time to drain is %s', (_name, more, open, ms) => {
  const one = scenario(more);
  expect(drainMs(one, series(open, one.startCycle))).toBe(ms);
});
