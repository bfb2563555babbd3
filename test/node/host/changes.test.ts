import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { Host } from '../../../src/node/host/host.js';
import { MemoryStore } from '../../../src/node/store/memory.js';

function hearing() {
  const host = new Host({ clock: new VirtualClock(1_000, 1), store: new MemoryStore() });
  const heard: string[] = [];
  host.changes.subscribe((change) =>
    heard.push(`${change.kind} ${'contract' in change ? change.contract.id.slice(0, 4) : change.machine.slug}`),
  );
  return { host, heard };
}

it('a host says what comes and what goes, each once it is so', () => {
  const { host, heard } = hearing();
  const machine = host.createMachine({ slug: 'm' });
  const [a, b, c] = [1, 2, 3].map(() => host.createContract('m', rateLimiter()));
  host.deleteContract(b!);
  host.deleteMachine(machine);
  host.removeMachine(machine);
  const [nameOfA, nameOfB, nameOfC] = [a, b, c].map((contract) => contract!.id.slice(0, 4));
  expect(heard).toEqual([
    'machine_added m',
    ...[`contract_added ${nameOfA}`, `contract_added ${nameOfB}`, `contract_added ${nameOfC}`],
    `contract_removed ${nameOfB}`,
    ...[`contract_removed ${nameOfC}`, `contract_removed ${nameOfA}`],
    'machine_deleted m',
    'machine_removed m',
  ]);
});

it('a host says the same of machines that another store has', () => {
  const other = new Host({ clock: new VirtualClock(1_000, 1), store: new MemoryStore() });
  const { image, head, contracts } = other.createMachine({ slug: 'm' });
  const { id } = other.createContract('m', rateLimiter());
  const { host, heard } = hearing();
  const images = contracts.map((contract) => contract.image);
  const machine = host.learn(image, images, head);
  host.learn(image, images, head);
  host.endLearned(machine, { kind: 'machine_deleted', cycle: 1_001, at: '2030-01-01T00:00:00.000Z' });
  const name = id.slice(0, 4);
  expect(heard).toEqual(['machine_added m', `contract_added ${name}`, `contract_removed ${name}`, 'machine_deleted m']);
  expect([machine.contracts.length, machine.deletedMs === undefined]).toEqual([0, false]);
});
