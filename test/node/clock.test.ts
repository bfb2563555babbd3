// The clock of the machine is set while a node serves, an hour ahead, then an hour back, or is behind what a node has stored that starts
// again. Nothing is counted twice, nothing is forgotten, and no record goes back in time.
import { cpSync } from 'node:fs';
import { expect, it } from 'vitest';
import { generateSigner } from '../../src/core/record/signing.js';
import { openSqliteStore } from '../../src/node/store/sqlite.js';
import { temporaryFolder } from '../left-behind.js';
import { figureIn, metricsOf } from './asking.js';
import { Caller } from './caller.js';
import { Listening } from './listening.js';
import { type Running, startRunning } from './running.js';

const HOUR_MS = 3_600_000;
const CYCLE_MS = 777;

/** A machine whose clock is set by hand; its monotonic clock goes on as always. */
function adjustable() {
  let setMs = 0;
  const source = { wallMs: () => Date.now() + setMs, monotonicMs: () => performance.now() };
  const step = (ms: number) => {
    setMs += ms;
  };
  return { source, step };
}

it('a step ahead lets the cycles in between pass; a step back holds the course, and is told', async () => {
  const { source, step } = adjustable();
  const node = await startRunning({ cycleMs: CYCLE_MS, source });
  const owner = new Caller(node.url, node.keyOf('owner', 4 * HOUR_MS));
  await owner.contractOn('stepped', {}, true);
  const listening = await Listening.to(node, '/api/chain/stepped/stream');
  const send = async (count: number) => {
    const { status, body } = await owner.event('stepped', { count });
    return { status, cycle: body.cycle as number, ...body.contracts[0] };
  };

  const burst = await send(150);
  expect(burst).toMatchObject({ status: 200, state: 'limiting', admitted: 100, limited: 50 });
  step(HOUR_MS);
  const restored = await listening.next('rate_restored');
  // The window empties 60 cycles after the burst, in the cycle that a clock left alone would have said.
  expect(restored.data).toMatchObject({ data: { state: 'allowing', cycle: burst.cycle + 60 } });
  const after = await send(100);
  expect(after).toMatchObject({ status: 200, state: 'allowing', admitted: 100 });
  expect(after.cycle - burst.cycle).toBeGreaterThanOrEqual(Math.floor(HOUR_MS / CYCLE_MS));

  step(-HOUR_MS);
  const next = await send(1);
  expect(next).toMatchObject({ status: 200, state: 'limiting', count: 101, admitted: 0, limited: 1 });
  expect(next.cycle - after.cycle).toBeLessThan(60);
  expect(Math.round(figureIn(await metricsOf(node.url), 'weir_clock_skew_seconds'))).toBe(HOUR_MS / 1000);

  const rows = await owner.rows('stepped');
  const cycles = rows.map(({ cycle }) => cycle);
  expect(cycles).toEqual([...cycles].sort((a, b) => a - b));
  expect(rows.map(({ to }) => to)).toEqual([undefined, 'allowing', 'limiting', 'allowing', 'limiting']);
  expect(node.errors).toEqual([]);
});

const signer = generateSigner();

/** A node on a folder, on a computer whose clock is ahead. */
function start(dir: string, aheadMs = 0, cycleMs = CYCLE_MS): Promise<Running> {
  const source = { wallMs: () => Date.now() + aheadMs, monotonicMs: () => performance.now() };
  return startRunning({ store: openSqliteStore({ dir }), signer, source, cycleMs });
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
  const first = await start(dir, HOUR_MS, 100);
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
  const again = await start(killed, 0, 100);
  expect(await cycleOf(again.owner())).toBeGreaterThanOrEqual(last);
});

it('a node does not start where the clock is more than a day behind', async () => {
  const dir = await ranAhead(25 * HOUR_MS);
  await expect(start(dir)).rejects.toMatchObject({ code: 'clock_behind' });
});
