// `weir rotate-key`: gives a stopped node a new key. The data folder is locked meanwhile.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Argv } from 'yargs';
import { CYCLE_MS } from '../time/cycle.js';
import { WallClock } from '../time/wall.js';
import type { GivenTo } from './command.js';
import { usageFailure } from './ending.js';
import { jsonOption } from './options.js';
import { say } from './say.js';

export const options = (yargs: Argv) =>
  yargs
    .option('data', { type: 'string', default: './weir-data', requiresArg: true, describe: 'folder of the store' })
    .option('json', jsonOption)
    .example('$0 rotate-key --data ./weir-data', 'then start the node again');

type Given = GivenTo<typeof options>;

/** @throws Failure `store_locked` while the node runs, and the failures of opening its store */
export async function run(given: Given): Promise<void> {
  const { data, json } = given;
  if (!existsSync(join(data, 'node.json'))) throw usageFailure(`There is no node in ${data}: it has no node.json.`);
  const [{ rotated }, { identityIn }, { openSqliteStore }] = await Promise.all([
    import('../node/ground.js'),
    import('../node/identity.js'),
    import('../store/sqlite.js'),
  ]);
  const store = openSqliteStore({ dir: data });
  try {
    const before = identityIn(store.dir, true, undefined, CYCLE_MS);
    const clock = new WallClock(before.cycleMs, {
      onError: (error) => {
        throw error;
      },
    });
    const after = rotated(store, before, clock);
    const [from, to] = [before.signer.fingerprint, after.signer.fingerprint];
    const cycle = after.successions.at(-1)?.cycle;
    if (json) say(`${JSON.stringify({ ok: true, from, to, cycle })}\n`);
    else say(`The key changes from ${from}\n                to ${to} in cycle ${cycle}.\n`);
  } finally {
    store.close();
  }
}
