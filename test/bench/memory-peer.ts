// Owns a node with very many contracts, in a process of its own, that tells how much memory each takes: everything is counted, from the
// machine's list to the store's cache. Started with --expose-gc. Leaves asking to memory.ts.
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { Rank } from '../../src/clock/rank.js';
import { WallClock } from '../../src/clock/wall.js';
import { rateLimiter, TEMPLATE_ID } from '../../src/core/contract/rate-limiter.js';
import { CYCLE_MS } from '../../src/core/cycle.js';
import { generateSigner } from '../../src/core/record/signing.js';
import { startNode } from '../../src/node/node.js';
import { openSqliteStore } from '../../src/store/sqlite.js';

const contracts = Number(process.argv[2]);
const dir = mkdtempSync(join(tmpdir(), 'weir-bench-'));
process.on('exit', () => rmSync(dir, { recursive: true, force: true }));
const clock: WallClock = new WallClock(CYCLE_MS, { onError: (error) => process.stderr.write(`${error}\n`) });
const defer = (flush: () => void) => clock.agenda.at(clock.now(), Rank.report, flush);
const store = openSqliteStore({ dir, defer });
const { host } = await startNode({ store, credentials: store.credentials, clock, signer: generateSigner() });
host.createMachine({ slug: 'bench' });
const definition = rateLimiter();
const make = () => host.createContract('bench', definition, TEMPLATE_ID);
// What is loaded once, with the first of them, is none of their own.
const first = make();
host.record(first.id, 1, clock.cycle());
const before = memory();
for (let k = 0; k < contracts; k += 1) {
  const { id } = make();
  host.record(id, 1, clock.cycle());
  // The disk keeps pace, as it does when requests make contracts one by one.
  if (k % 1_000 === 999) await committed();
}
await committed();
process.send?.((memory() - before) / contracts);
process.on('disconnect', () => process.exit());

function committed(): Promise<void> {
  return new Promise((resolve) => host.commit(() => resolve()));
}

function memory(): number {
  for (let round = 0; round < 3; round += 1) globalThis.gc?.();
  const { heapUsed, arrayBuffers } = process.memoryUsage();
  return heapUsed + arrayBuffers;
}
