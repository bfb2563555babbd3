// A node with the machine `edge`, as gateways find it.
import type { Caller } from './caller.js';
import { type Running, startRunning } from './running.js';

export async function startEdge(): Promise<{ readonly node: Running; readonly owner: Caller }> {
  // A cycle longer than the test: counts are those of one cycle.
  const node = await startRunning({ cycleMs: 3_600_000 });
  const owner = node.owner();
  await owner.createMachine('edge');
  return { node, owner };
}
