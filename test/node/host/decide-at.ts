import { countIn } from '../../../src/node/counting/local/deciding.js';
import type { Contract } from '../../../src/node/host/contract.js';
import type { Host } from '../../../src/node/host/host.js';

/** Counts `n` events that bear a cycle, now or earlier, as the routes of a node do. */
export function decideAt(host: Host, contract: Contract, n: number, happened: number, kind = 0, name?: string): number {
  const machine = host.machine(contract.machine.slug);
  return countIn({ machine, contract, kind, n, name }, n, machine.cycle, happened);
}
