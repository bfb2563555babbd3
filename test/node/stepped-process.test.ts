// Real processes whose wall clock is stepped: ahead before a restart, and back while they run. Their records hold, and no row happens
// before the one it follows.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Serving, serve, temporaryFolder } from '../cli/command-line.js';
import { ask, figureIn, metricsOf } from './asking.js';

const HOUR_MS = 3_600_000;
// As a URL: the path of a checkout may have blanks, and options are separated by them.
const preload = new URL('./shifted-date.mjs', import.meta.url).href;

/** A computer whose clock can be set. */
function computer() {
  const path = join(temporaryFolder(), 'shift');
  const set = (aheadMs: number) => writeFileSync(path, String(aheadMs));
  set(0);
  const start = (args: readonly string[]) =>
    serve([...args, '--log-level', 'warn'], { NODE_OPTIONS: `--import=${preload}`, WEIR_TEST_SHIFT: path });
  return { set, start };
}

const deploy = (node: Serving, key: string) =>
  ask(node.url, 'POST', '/api/contracts/templates/rate-limiter/deploy', key, { slug: 'edge', threshold: 1, within: 5 });
const trip = (node: Serving, key: string) =>
  ask(node.url, 'POST', '/api/chain/edge/event', key, { type: 'request', count: 3 });

async function edgeOn(node: Serving): Promise<string> {
  const { key } = await ask(node.url, 'POST', '/api/demo-key/mint');
  await ask(node.url, 'POST', '/api/chain/state-machines', key, { slug: 'edge', is_public: true });
  await deploy(node, key);
  await trip(node, key);
  return key;
}

/** Whether the record is valid, and its rows are in the order of their times. */
async function recordOf(node: Serving) {
  const { valid } = await ask(node.url, 'GET', '/api/chain/edge/state/verify');
  const { rows } = await ask(node.url, 'GET', '/api/chain/edge/state');
  const times = rows.map(({ at }: { at: string }) => at);
  return { valid, isInOrder: times.join() === [...times].sort().join(), times };
}

it('a node that ran an hour ahead and starts again at the right time begins at its newest cycle', async () => {
  const { set, start } = computer();
  const data = join(temporaryFolder(), 'data');
  set(HOUR_MS);
  const first = await start(['--data', data]);
  const key = await edgeOn(first);
  await first.stop();
  set(0);
  const again = await start(['--data', data]);
  await deploy(again, key);
  const tripped = await trip(again, key);
  const record = await recordOf(again);
  const skewMinutes = Math.round(figureIn(await metricsOf(again.url), 'weir_clock_skew_seconds') / 60);
  await again.stop();
  expect({ record, skewMinutes, states: tripped.contracts.map(({ state }: { state: string }) => state) }).toMatchObject(
    {
      record: { valid: true, isInOrder: true },
      skewMinutes: 60,
      states: ['limiting', 'limiting'],
    },
  );
});

it('a clock that is stepped back an hour while the node runs takes no row back in time', async () => {
  const { set, start } = computer();
  const node = await start(['--store', 'memory']);
  const key = await edgeOn(node);
  set(-HOUR_MS);
  await deploy(node, key);
  await trip(node, key);
  const { times, ...record } = await recordOf(node);
  await node.stop();
  expect({ ...record, spanMs: Date.parse(times.at(-1)) - Date.parse(times[0]) < HOUR_MS }).toEqual({
    valid: true,
    isInOrder: true,
    spanMs: true,
  });
});
