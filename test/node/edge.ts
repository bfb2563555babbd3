// A node with the machine `edge`, as gateways find it.
import { startRunning } from './running.js';

const HOUR_MS = 3_600_000;

/** @param options of the node; a cycle is longer than the test: counts are those of one cycle */
export async function startEdge(options: Parameters<typeof startRunning>[0] = {}) {
  const node = await startRunning({ cycleMs: HOUR_MS, ...options });
  const owner = node.owner();
  await owner.createMachine('edge');
  /** Of a gateway: asks the gates of this machine, and nothing else. */
  const key = node.keyOf('owner', 100 * HOUR_MS, { scopes: ['gate'], machine: 'edge' });
  return { node, owner, key };
}
