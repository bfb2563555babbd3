// Owns changing the key of a stopped node, with its data folder locked meanwhile. Leaves the change to identity.ts.
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { identityIn, rotateKey } from '../node/identity.js';
import { openSqliteStore } from '../store/sqlite.js';
import { CYCLE_MS } from '../time/cycle.js';
import { WallClock } from '../time/wall.js';
import { usageFailure } from './ending.js';
import type { RotateKeyArguments } from './rotate-key.js';
import { checkSpelling } from './spelling.js';

/** @throws Failure `store_locked` while the node runs, and what opening its store throws */
export function runRotateKey(given: RotateKeyArguments): void {
  checkSpelling(given);
  const { data, json } = given;
  if (!existsSync(join(data, 'node.json'))) throw usageFailure(`There is no node in ${data}: it has no node.json.`);
  const store = openSqliteStore({ dir: data });
  try {
    const before = identityIn(store.dir, undefined, CYCLE_MS);
    const clock = new WallClock(before.cycleMs, {
      onError: (error) => {
        throw error;
      },
    });
    const after = rotateKey(store.dir, before, clock.cycle());
    const [from, to] = [before.signer.fingerprint, after.signer.fingerprint];
    const cycle = after.successions.at(-1)?.cycle;
    if (json) process.stdout.write(`${JSON.stringify({ ok: true, from, to, cycle })}\n`);
    else process.stdout.write(`The key changes from ${from}\n                to ${to} in cycle ${cycle}.\n`);
  } finally {
    store.close();
  }
}
