// A record never goes back in time, whatever is late: wakes, creations, manual moves, events, a restart with a clock that is behind.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { Failure } from '../../../src/core/schema/failure.js';
import { Agenda } from '../../../src/core/time/agenda.js';
import type { Clock } from '../../../src/core/time/clock.js';
import { cycleOf, startOf } from '../../../src/core/time/cycle.js';
import { Host } from '../../../src/node/host/host.js';
import { MemoryStore } from '../../../src/node/store/memory.js';
import { verifyRows } from '../../core/record/verifying.js';
import { forAll, tries } from '../../draws.js';
import { decideAt } from './decide-at.js';

const CYCLE_MS = 777;
const START = 2_306_790_000;

/** A clock whose time passes while its agenda waits: an event loop that is late, or a process that was stopped. */
class LateClock implements Clock {
  readonly cycleMs = CYCLE_MS;
  readonly agenda: Agenda;
  #now: number;

  constructor(startCycle = START) {
    this.#now = startOf(startCycle, CYCLE_MS);
    this.agenda = new Agenda(this.#now);
  }

  now(): number {
    return this.#now;
  }

  cycle(): number {
    return cycleOf(this.#now, CYCLE_MS);
  }

  pass(ms: number): void {
    this.#now += ms;
  }

  notBefore(unixMs: number): void {
    this.#now = Math.max(this.#now, unixMs);
  }

  /** The event loop gets a turn: so many of the tasks that are due run. */
  run(tasks: number): void {
    for (let left = tasks; left > 0 && this.agenda.nextDue() <= this.#now; left -= 1) this.agenda.step();
  }
}

const step = fc.oneof(
  fc.record({ kind: fc.constant('pass' as const), ms: fc.integer({ min: 0, max: 9 * CYCLE_MS }) }),
  fc.record({ kind: fc.constant('run' as const), tasks: fc.integer({ min: 1, max: 3 }) }),
  fc.record({ kind: fc.constant('create' as const), machine: fc.nat(1), within: fc.integer({ min: 1, max: 6 }) }),
  fc.record({ kind: fc.constant('events' as const), contract: fc.nat(9), count: fc.integer({ min: 1, max: 5 }) }),
  fc.record({ kind: fc.constant('late' as const), contract: fc.nat(9), ago: fc.integer({ min: 0, max: 5 }) }),
  fc.record({ kind: fc.constant('move' as const), contract: fc.nat(9), hold: fc.nat(4) }),
  fc.record({ kind: fc.constant('restart' as const), backMs: fc.integer({ min: 0, max: 20 * CYCLE_MS }) }),
);

type Step = typeof step extends fc.Arbitrary<infer T> ? T : never;

const SLUGS = ['a', 'b'];

/** Runs the steps, and gives the record of every machine. */
function recordsAfter(steps: readonly Step[]) {
  const store = new MemoryStore();
  let clock = new LateClock();
  let host = new Host({ clock, store });
  for (const slug of SLUGS) {
    host.createMachine({ slug });
    host.createContract(slug, rateLimiter({ threshold: 2, within: 4 }));
  }
  const someContract = (index: number) => {
    const all = [...host.contracts.values()];
    return all[index % all.length]!;
  };
  const take = (one: Step) => {
    switch (one.kind) {
      case 'pass':
        clock.pass(one.ms);
        break;
      case 'run':
        clock.run(one.tasks);
        break;
      case 'create':
        host.createContract(SLUGS[one.machine]!, rateLimiter({ threshold: 2, within: one.within }));
        break;
      case 'events':
        someContract(one.contract).decide(one.count, clock.cycle());
        break;
      case 'late':
        decideAt(host, someContract(one.contract), 3, Math.max(START, clock.cycle() - one.ago));
        break;
      case 'move': {
        const contract = someContract(one.contract);
        host.transition(contract, {
          to: contract.state === 'allowing' ? 'limiting' : 'allowing',
          holdCycles: one.hold,
        });
        break;
      }
      case 'restart': {
        host.saveWindows();
        const cycle = cycleOf(clock.now() - one.backMs, CYCLE_MS);
        clock = new LateClock(cycle);
        host = new Host({ clock, store, holdClock: (newest) => clock.notBefore(startOf(newest, CYCLE_MS)) });
      }
    }
  };
  for (const one of steps) {
    try {
      take(one);
    } catch (error) {
      // A move that the contract made by itself meanwhile, an event that is too old: refused in words, and no row.
      if (!(error instanceof Failure) || error.code === 'contract_failed') throw error;
    }
  }
  clock.run(Number.POSITIVE_INFINITY);
  return SLUGS.map((slug) => store.rows(slug, { limit: 10_000 }));
}

it('a record never goes back in time, whatever is late, in any order', () => {
  forAll([fc.array(step, { maxLength: 60 })], { numRuns: tries(300), seed: 13 }, (steps) => {
    for (const rows of recordsAfter(steps)) {
      expect(verifyRows(rows)).toMatchObject({ valid: true, rows: rows.length });
      const times = rows.map(({ at }) => at);
      expect(times).toEqual([...times].sort());
    }
  });
});

it('a deploy after a late loop is written behind what was due before it', () => {
  const [rows] = recordsAfter([
    { kind: 'events', contract: 0, count: 5 },
    { kind: 'pass', ms: 10 * CYCLE_MS },
    { kind: 'create', machine: 0, within: 3 },
  ]);
  expect(rows?.map(({ kind, to, cycle }) => [kind, to, cycle - START])).toEqual([
    ['machine_created', undefined, 0],
    ['contract_created', 'allowing', 0],
    ['transition', 'limiting', 0],
    ['transition', 'allowing', 4],
    ['contract_created', 'allowing', 10],
  ]);
});
