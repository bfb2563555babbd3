import { afterEach, beforeEach, expect, it } from 'vitest';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { ruleLimiter } from '../../src/core/limiter/rule-limiter.js';
import type { AuditRow } from '../../src/core/record/row.js';
import { type TimeSource, WallClock } from '../../src/core/time/wall.js';
import { CallerQueue, PAUSE } from '../../src/node/caller-queue.js';
import { LocalCounting } from '../../src/node/counting/local/counting.js';
import { countInSteps } from '../../src/node/counting/local/deciding.js';
import { Durability } from '../../src/node/durability.js';
import { Host } from '../../src/node/host/host.js';
import type { Machine } from '../../src/node/host/machine.js';
import type { Steps } from '../../src/node/host/steps.js';
import { MachineWork } from '../../src/node/machine-work.js';
import { LatencyHistogram } from '../../src/node/metrics.js';
import { MemoryStore } from '../../src/node/store/memory.js';
import type { ContractState } from '../../src/node/store/store.js';
import { verifyRows } from '../core/record/verifying.js';
import { virtualHost } from './host/virtual-host.js';

/** A row takes 0.3 ms. */
class SlowStore extends MemoryStore {
  onRow = () => {};

  override append(row: AuditRow): void {
    this.onRow();
    super.append(row);
  }
}

/** A clock that goes on only when it is told to, and by rows; and a host with two machines of two owners. */
class Node {
  ms = 1_000_000;
  readonly clock: WallClock;
  readonly store = new SlowStore();
  readonly host: Host;
  readonly work: MachineWork;
  readonly busy: Machine;
  readonly victim: Machine;

  constructor() {
    // A reading takes a moment, as on any clock: what is made due now is due later than what was due before.
    const read = () => {
      this.ms += 0.0001;
      return this.ms;
    };
    const source: TimeSource = { wallMs: read, monotonicMs: read };
    const onError = (error: unknown) => {
      throw error;
    };
    this.clock = new WallClock(1_000, { onError, source });
    this.host = new Host({ clock: this.clock, store: this.store });
    this.work = new MachineWork(new CallerQueue(this.clock));
    this.busy = this.host.createMachine({ slug: 'busy', owner: 'a' });
    this.victim = this.host.createMachine({ slug: 'victim', owner: 'b' });
    this.store.onRow = () => {
      this.ms += 0.3;
    };
    this.clock.start();
  }

  deploy(machine: Machine, times: number, threshold = 1, within = 3): void {
    const definition = rateLimiter({ threshold, within });
    for (let n = 0; n < times; n += 1) this.host.createContract(machine.slug, definition);
  }

  /** Counts events in all contracts of a machine. @returns the cycle, and how many each admitted */
  event(machine: Machine, n: number) {
    return this.work.of(machine, function* (cycle): Steps<{ cycle: number; admitted: number[] }> {
      const admitted: number[] = [];
      for (const contract of machine.contracts) {
        admitted.push(yield* countInSteps({ machine, contract, kind: 0, n, name: undefined }, cycle));
        yield;
      }
      return { cycle, admitted };
    });
  }
}

let node: Node;
beforeEach(() => {
  node = new Node();
});
afterEach(() => node.clock.stop());

it('work on a machine that fits in a slice is done at once', () => {
  node.deploy(node.busy, 500, 10);
  expect(node.event(node.busy, 1)).toEqual({ cycle: 1_000, admitted: Array(500).fill(1) });
});

it('work on a machine is cut into slices of a few rows, with a turn of the loop for others between any two', async () => {
  node.deploy(node.busy, 100);
  node.deploy(node.victim, 1, 1_000_000);
  let isDone = false;
  const rows: number[] = [];
  let before = node.busy.head.seq;
  const other = () => {
    rows.push(node.busy.head.seq - before);
    before = node.busy.head.seq;
    if (isDone) return;
    expect(node.event(node.victim, 1)).toMatchObject({ admitted: [1] });
    setImmediate(other);
  };
  setImmediate(other);
  const answer = await node.event(node.busy, 5);
  isDone = true;
  expect(answer.admitted).toEqual(Array(100).fill(1));
  // 100 transitions of 0.3 ms, and 1 ms a slice.
  expect(Math.max(...rows)).toBeLessThanOrEqual(5);
  expect(rows.length).toBeGreaterThanOrEqual(20);
});

it('work has the cycle in which it came, however long it takes; later work and wakes of the machine wait', async () => {
  node.deploy(node.busy, 100);
  const first = node.event(node.busy, 2);
  node.ms += 4_000;
  const second = node.event(node.busy, 1);
  node.ms += 1_000;
  const third = node.event(node.busy, 2);
  const answers = await Promise.all([first, second, third]);
  expect(answers.map(({ cycle }) => cycle)).toEqual([1_000, 1_004, 1_005]);
  expect(answers.map(({ admitted }) => new Set(admitted))).toEqual([new Set([1]), new Set([1]), new Set([0])]);
  const rows = node.store.rows('busy', { kind: 'transition', limit: 1_000 });
  expect(rows.map(({ cycle, to }) => `${to}@${cycle}`)).toEqual([
    ...Array(100).fill('limiting@1000'),
    ...Array(100).fill('allowing@1003'),
    ...Array(100).fill('limiting@1005'),
  ]);
  expect(verifyRows(node.store.rows('busy', { limit: 1_000 }))).toMatchObject({ valid: true });
});

it('work has the instant at which it came, for a contract that follows a rule too', async () => {
  node.deploy(node.busy, 100);
  // One request each 100 ms.
  const rule = ruleLimiter({ primitive: 'gcra', params: { T_ms: 100, tau_ms: 0 } });
  const { id } = node.host.createContract('busy', rule);
  const first = node.event(node.busy, 2);
  node.ms += 50;
  const second = node.event(node.busy, 1);
  node.ms += 70;
  const third = node.event(node.busy, 1);
  node.ms += 5_000;
  const answers = await Promise.all([first, second, third]);
  expect(answers.map(({ admitted }) => admitted.at(-1))).toEqual([1, 0, 1]);
  const rows = node.store.rows('busy', { contractId: id, kind: 'transition', limit: 10 });
  expect(rows.map(({ cycle, to }) => `${to}@${cycle}`)).toEqual(['limiting@1000', 'allowing@1000']);
  expect(verifyRows(node.store.rows('busy', { limit: 1_000 }))).toMatchObject({ valid: true });
});

it('work on another machine does not wait, and wakes of many contracts leave turns to others', async () => {
  node.deploy(node.busy, 100);
  node.deploy(node.victim, 1, 1_000_000);
  await node.event(node.busy, 2);
  const before = node.busy.head.seq;
  node.ms += 3_000;
  expect(node.event(node.victim, 1)).toMatchObject({ cycle: 1_003, admitted: [1] });
  expect(node.busy.head.seq).toBe(before);
  await new Promise((resolve) => setImmediate(resolve));
  expect(node.event(node.victim, 1)).toMatchObject({ admitted: [1] });
  expect(node.busy.head.seq - before).toBeLessThan(100);
  expect(await node.event(node.busy, 1)).toEqual({ cycle: 1_003, admitted: Array(100).fill(1) });
});

it('an event that waits for its turn is counted in the cycle of its arrival, and answered after a write', async () => {
  const saved = new Set<string>();
  const store = new (class extends MemoryStore {
    override putState(state: ContractState): void {
      super.putState(state);
      saved.add(state.id);
    }
  })();
  const { host, machine, clock, runTo } = virtualHost(10, store);
  const contract = host.createContract('m', rateLimiter({ threshold: 100, within: 3 }));
  const work = new MachineWork(new CallerQueue(clock));
  const durability = new Durability(
    host,
    Object.assign(clock, { monotonicMs: () => 0 }),
    'cycle',
    new LatencyHistogram(),
  );
  const counting = new LocalCounting({ host, clock, work, durability, idempotency: undefined!, onError: () => {} });
  void work.of(machine, function* () {
    yield PAUSE;
  });
  let isAnswered = false;
  const answer = Promise.resolve(counting.decide({ machine, contract, kind: 0, n: 1, name: undefined }, clock.now()));
  void answer.then(() => {
    isAnswered = true;
  });
  runTo(11);
  durability.saveCounts();
  saved.clear();
  while (!isAnswered) {
    clock.run({ untilMs: clock.now() });
    await Promise.resolve();
  }
  expect([await answer, saved.has(contract.id)]).toEqual([expect.objectContaining({ cycle: 10 }), true]);
});
