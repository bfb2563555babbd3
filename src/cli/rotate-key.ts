// `weir rotate-key`: gives a stopped node a new key. The data folder is locked meanwhile.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Argv } from 'yargs';
import { rotated } from '../node/ground.js';
import { identityIn } from '../node/identity.js';
import { openSqliteStore } from '../store/sqlite.js';
import { CYCLE_MS } from '../time/cycle.js';
import { WallClock } from '../time/wall.js';
import type { GivenTo } from './command.js';
import { usageFailure } from './ending.js';
import { jsonOption } from './options.js';

export const options = (yargs: Argv) =>
  yargs
    .option('data', { type: 'string', default: './weir-data', requiresArg: true, describe: 'folder of the store' })
    .option('json', jsonOption)
    .example('$0 rotate-key --data ./weir-data', 'then start the node again');

type Given = GivenTo<typeof options>;

/** @throws Failure `store_locked` while the node runs, and the failures of opening its store */
export function run(given: Given): void {
  const { data, json } = given;
  if (!existsSync(join(data, 'node.json'))) throw usageFailure(`There is no node in ${data}: it has no node.json.`);
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
    if (json) process.stdout.write(`${JSON.stringify({ ok: true, from, to, cycle })}\n`);
    else process.stdout.write(`The key changes from ${from}\n                to ${to} in cycle ${cycle}.\n`);
  } finally {
    store.close();
  }
}
