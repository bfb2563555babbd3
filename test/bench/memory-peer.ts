// Owns a node with very many contracts, in a process of its own, that tells how much memory each takes: everything is counted, from the
// machine's list to the store's cache. Started with --expose-gc. Leaves asking to memory.ts.
import { rateLimiter, TEMPLATE_ID } from '../../src/core/limiter/rate-limiter.js';
import { memory } from './heap.js';
import { startOwnNode } from './own-node.js';

const contracts = Number(process.argv[2]);
const { node, clock } = await startOwnNode();
const { host } = node;
host.createMachine({ slug: 'bench' });
const definition = rateLimiter();
const make = () => host.createContract('bench', definition, TEMPLATE_ID);
// What is loaded once, with the first of them, is none of their own.
const first = make();
host.contract(first.id).decide(1, clock.cycle());
const before = memory();
for (let k = 0; k < contracts; k += 1) {
  const { id } = make();
  host.contract(id).decide(1, clock.cycle());
  // The disk keeps pace, as it does when requests make contracts one by one.
  if (k % 1_000 === 999) await committed();
}
await committed();
process.send?.((memory() - before) / contracts);
process.on('disconnect', () => process.exit());

function committed(): Promise<void> {
  return new Promise((resolve) => host.commit(() => resolve()));
}
