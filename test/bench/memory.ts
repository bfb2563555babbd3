// Owns how much memory a contract takes on a node that holds very many. Leaves the node to memory-peer.ts.
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { atMost, type BenchRow } from './measure.js';

/** What a contract may take, in bytes. */
const MOST = 6_000;

export async function benchMemory(contracts = 100_000): Promise<BenchRow[]> {
  const peer = fileURLToPath(new URL('./memory-peer.js', import.meta.url));
  const node = fork(peer, [String(contracts)], { execArgv: ['--expose-gc'] });
  const [bytes] = (await once(node, 'message')) as [number];
  node.disconnect();
  const against = atMost(MOST, bytes, 'bytes');
  return [{ what: `node: memory of one of ${contracts} contracts`, value: bytes, unit: 'bytes', against }];
}
