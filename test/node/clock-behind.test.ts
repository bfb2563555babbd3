// A node that starts again with a clock that is behind what it has stored.
import { cpSync } from 'node:fs';
import { afterEach, expect, it } from 'vitest';
import { generateSigner } from '../../src/core/record/signing.js';
import { openSqliteStore } from '../../src/node/store/sqlite.js';
import { temporaryFolder } from '../left-behind.js';
import { figureIn, metricsOf } from './asking.js';
import { type Running, startRunning } from './running.js';

const HOUR_MS = 3_600_000;
const signer = generateSigner();

let node: Running | undefined;
afterEach(() => node?.close());

/** A node on a folder, on a computer whose clock is ahead. */
async function start(dir: string, aheadMs = 0): Promise<Running> {
  const source = { wallMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() };
  node = await startRunning({ store: openSqliteStore({ dir }), signer, source });
  return node;
}

/** The folder of a node that ran ahead. */
async function ranAhead(ms: number): Promise<string> {
  const dir = temporaryFolder();
  const first = await start(dir, ms);
  const owner = first.owner();
  await owner.contractOn('m', { threshold: 1 }, true);
  await owner.event('m', { count: 3 });
  await first.close();
  return dir;
}

it('a node whose clock is behind begins at the newest stored cycle, tells its lead, and its records hold', async () => {
  const again = await start(await ranAhead(HOUR_MS));
  const owner = again.owner();
  const newest = (await owner.rows('m')).at(-1).cycle;
  const deployed = await owner.tryDeploy('m');
  expect(deployed.status).toBe(201);
  expect(deployed.body.contract.created_cycle).toBeGreaterThanOrEqual(newest);
  const { contracts } = (await owner.event('m')).body;
  // The window goes on from the cycle in which it was stored: nothing is forgotten, nothing stands still.
  expect(contracts.map(({ state, count }: { state: string; count: number }) => [state, count])).toEqual([
    ['limiting', 4],
    ['allowing', 1],
  ]);
  expect(await owner.verified('m')).toMatchObject({ valid: true });
  const times: string[] = (await owner.rows('m')).map(({ at }) => at);
  expect(times).toEqual([...times].sort());
  expect(Math.round(figureIn(await metricsOf(again.url), 'weir_clock_skew_seconds') / 60)).toBe(60);
});

it('a killed node begins at the cycle of its last answer, though nothing was stored since', async () => {
  const [dir, killed] = [temporaryFolder(), temporaryFolder()];
  const first = await start(dir, HOUR_MS);
  const owner = first.owner();
  const id = await owner.contractOn('m', { threshold: 1 });
  const cycleOf = async (caller = owner) => (await caller.get(`/api/chain/m/contracts/${id}/keys`)).body.cycle;
  const begun = await cycleOf();
  let last = begun;
  while (last < begun + 3) last = await cycleOf();
  // An answer may come a ms before the cycle is noted.
  await first.clock.sleep(50);
  cpSync(dir, killed, { recursive: true });
  await first.close();
  const again = await start(killed);
  expect(await cycleOf(again.owner())).toBeGreaterThanOrEqual(last);
});

it('a node does not start where the clock is more than a day behind', async () => {
  const dir = await ranAhead(25 * HOUR_MS);
  await expect(start(dir)).rejects.toMatchObject({ code: 'clock_behind' });
});
