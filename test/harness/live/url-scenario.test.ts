// What `weir load URL` sends: as many requests as the rate gives in the time, within it, whatever the cycles are.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { upTo } from '../../../src/harness/live/paced-sender.js';
import { scenarioOfUrl } from '../../../src/harness/live/url-scenario.js';
import { parseScenario } from '../../../src/harness/scenario/load-scenario.js';
import { scheduleOf, trafficOf } from '../../../src/harness/simulate/scenario-traffic.js';
import { forAllAsync } from '../../draws.js';

const asked = { url: 'http://127.0.0.1:1/', connections: 1, windows: [] as (number | string | undefined)[] };

/** When each request is due, in ms. */
async function sentFor(rate: string, duration: string, more: Partial<Parameters<typeof scenarioOfUrl>[0]> = {}) {
  const { scenario: document, requests } = scenarioOfUrl({ ...asked, rate, duration, ...more });
  const scenario = parseScenario(document, 'url');
  const schedule = upTo(requests, scheduleOf(await trafficOf(scenario, 1), scenario));
  return [...schedule].flatMap(({ instants }) => [...instants!]);
}

// biome-ignore format: one case a line
it.each<[rate: string, duration: string, more: Partial<Parameters<typeof scenarioOfUrl>[0]>, n: number]>([
  ['20/s', '8s', {}, 160],
  ['20/s', '8s', { windows: ['60 cycles'] }, 160],
  ['20/s', '8s', { windows: [undefined] }, 160],
  ['20/s', '8s', { cycleMs: 777 }, 160],
  ['100', '1.0007s', {}, 100],
  ['10/s', '7.919s', { windows: ['60s'] }, 79],
  ['30/min', '1m', { windows: ['1h'] }, 30],
  ['0.3/s', '10s', {}, 3],
  ['10/s', '3s', { windows: ['30d'] }, 30],
])('weir load URL at %s for %s with %o sends %i requests', async (rate, duration, more, n) => {
  expect(await sentFor(rate, duration, more)).toHaveLength(n);
});

it('weir load URL sends the rate times the time, and all of it within the time', async () => {
  const windows = fc.constantFrom([], ['60 cycles'], [undefined], ['60s'], ['1h', '10s'], ['7919ms']);
  const cycleMs = fc.constantFrom(undefined, undefined, 13, 777, 1_000);
  const given = fc.record({
    perSecond: fc.integer({ min: 1, max: 200 }),
    ms: fc.integer({ min: 1_000, max: 20_000 }),
    windows,
    cycleMs,
  });
  await forAllAsync([given], async ({ perSecond, ms, ...more }) => {
    const due = await sentFor(`${perSecond}/s`, `${ms}ms`, more);
    expect(due).toHaveLength(Math.floor((perSecond * ms) / 1000));
    // Within a cycle requests are spread evenly, so the last one may come later by less than their distance.
    expect(due.at(-1)!).toBeLessThan(ms + 1000 / perSecond + (more.cycleMs ?? 777) / perSecond);
  });
});

it('weir load URL cuts time by the windows of the limiter alone', () => {
  const cycleOf = (duration: string, windows: string[]) =>
    scenarioOfUrl({ ...asked, rate: '1/s', duration, windows }).scenario.cycle_ms;
  expect([cycleOf('7.919s', ['60s']), cycleOf('7.919s', []), cycleOf('8s', ['77ms'])]).toEqual([500, 500, 77]);
});
