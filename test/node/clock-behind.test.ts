// A node that starts again with a clock that is behind what it has stored.
import { afterEach, expect, it } from 'vitest';
import { MemoryStore } from '../../src/store/memory.js';
import { verifyRows } from '../record/verifying.js';
import { figureIn, metricsOf } from './asking.js';
import { type Running, startRunning } from './running.js';

const CYCLE_MS = 777;
const HOUR_MS = 3_600_000;

/** A store that a second node opens after the first has closed it. */
class KeptStore extends MemoryStore {
  override close(): void {}
}

const ahead = (ms: number) => ({ wallMs: () => Date.now() + ms, monotonicMs: () => performance.now() });

let node: Running | undefined;
afterEach(() => node?.close());

async function runAhead(ms: number): Promise<KeptStore> {
  const memory = new KeptStore();
  const first = await startRunning({ cycleMs: CYCLE_MS, memory, source: ahead(ms) });
  const owner = first.owner();
  await owner.contractOn('m', { threshold: 1 }, true);
  await owner.event('m', { count: 3 });
  await first.close();
  return memory;
}

it('begins at the newest stored cycle, says by how much it is ahead, and its records hold', async () => {
  const memory = await runAhead(HOUR_MS);
  const newest = memory.rows('m').at(-1)?.cycle ?? 0;
  const again = await startRunning({ cycleMs: CYCLE_MS, memory });
  node = again;
  const owner = again.owner();
  const deployed = await owner.tryDeploy('m');
  expect(deployed.status).toBe(201);
  expect(deployed.body.contract.created_cycle).toBeGreaterThanOrEqual(newest);
  const { contracts } = (await owner.event('m')).body;
  // The window goes on from the cycle in which it was stored: nothing is forgotten, nothing stands still.
  expect(contracts.map(({ state, count }: { state: string; count: number }) => [state, count])).toEqual([
    ['limiting', 4],
    ['allowing', 1],
  ]);
  expect(verifyRows(memory.rows('m'))).toMatchObject({ valid: true });
  expect(Math.round(figureIn(await metricsOf(again.url), 'weir_clock_skew_seconds') / 60)).toBe(60);
});

it('refuses to start where the clock is more than a day behind', async () => {
  const memory = await runAhead(25 * HOUR_MS);
  await expect(startRunning({ cycleMs: CYCLE_MS, memory })).rejects.toMatchObject({ code: 'clock_behind' });
});
