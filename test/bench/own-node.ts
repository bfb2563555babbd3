// Owns a node on a database file for a bench: as `weir serve` starts it, with the file thrown away at the end of the process.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { generateSigner } from '../../src/core/record/signing.js';
import { CYCLE_MS } from '../../src/core/time/cycle.js';
import { Rank } from '../../src/core/time/rank.js';
import { WallClock } from '../../src/core/time/wall.js';
import { type RunningNode, startNode } from '../../src/node/node.js';
import { openSqliteStore } from '../../src/node/store/sqlite.js';

export interface OwnNode {
  readonly node: RunningNode;
  readonly clock: WallClock;
  readonly credentials: ReturnType<typeof openSqliteStore>['credentials'];
}

export async function startOwnNode(): Promise<OwnNode> {
  const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
  process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
  // A peer is killed by its bench.
  process.once('SIGTERM', () => process.exit());
  const clock: WallClock = new WallClock(CYCLE_MS, { onError: (error) => process.stderr.write(`${error}\n`) });
  const defer = (flush: () => void) => clock.agenda.at(clock.now(), Rank.report, flush);
  const store = openSqliteStore({ dir, defer });
  const { credentials } = store;
  return { node: await startNode({ store, credentials, clock, signer: generateSigner() }), clock, credentials };
}
