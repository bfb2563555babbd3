// Real processes whose wall clock is stepped: ahead before a restart, and back while they run. Their records hold, and no row happens
// before the one it follows.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { type Serving, serve, temporaryFolder } from '../cli/command-line.js';
import { figureIn, metricsOf } from './asking.js';
import { type Caller, Holder } from './caller.js';

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

const LIMIT = { threshold: 1, within: 5 };

async function edgeOn(node: Serving): Promise<Caller> {
  const owner = await Holder.minted(node.url);
  await owner.contractOn('edge', LIMIT);
  await owner.event('edge', { count: 3 });
  return owner;
}

/** Whether the record is valid, and its rows are in the order of their times. */
async function recordOf(owner: Caller) {
  const { valid } = await owner.verified('edge');
  const times: string[] = (await owner.rows('edge')).map(({ at }) => at);
  return { valid, isInOrder: times.join() === [...times].sort().join(), times };
}

it('a node that ran an hour ahead and starts again at the right time begins at its newest cycle', async () => {
  const { set, start } = computer();
  const data = join(temporaryFolder(), 'data');
  set(HOUR_MS);
  const first = await start(['--data', data]);
  const before = await edgeOn(first);
  await first.stop();
  set(0);
  const again = await start(['--data', data]);
  const owner = before.at(again);
  await owner.deploy('edge', LIMIT);
  const { contracts } = (await owner.event('edge', { count: 3 })).body;
  const record = await recordOf(owner);
  const skewMinutes = Math.round(figureIn(await metricsOf(again.url), 'weir_clock_skew_seconds') / 60);
  await again.stop();
  expect(record).toMatchObject({ valid: true, isInOrder: true });
  expect(skewMinutes).toBe(60);
  expect(contracts).toMatchObject([{ state: 'limiting' }, { state: 'limiting' }]);
});

it('a clock that is stepped back an hour while the node runs takes no row back in time', async () => {
  const { set, start } = computer();
  const node = await start(['--store', 'memory']);
  const owner = await edgeOn(node);
  set(-HOUR_MS);
  await owner.deploy('edge', LIMIT);
  await owner.event('edge', { count: 3 });
  const { times, ...record } = await recordOf(owner);
  await node.stop();
  expect(record).toEqual({ valid: true, isInOrder: true });
  expect(Date.parse(times.at(-1)!) - Date.parse(times[0]!)).toBeLessThan(HOUR_MS);
});
