// The recent history of contracts: what each counted, cycle by cycle, kept in memory for the cycles that a page shows.
//
//   cycle         7          8          9
//             .x..x..x|   x       |xxxx
//                     ▲           ▲
//                     taken when the cycle is over and nothing of the next has happened: Rank.close of the machine's own order of time
//
// A course begins with its contract, or with the node, so that a page has a past when it is first opened. All courses together are bounded:
// a contract in a stream takes the place of one that is in none; a new contract takes that of one without requests in its course.
//
// On a network nothing counts in this process: of contracts in a stream, count and state are looked up in Redis when a cycle begins. Their
// courses begin with the stream. Requests admitted and limited by all nodes are not kept there by cycle, and are unknown.
import type { Contract } from '../host/contract.js';
import type { Host } from '../host/host.js';
import { KeyedContract } from '../host/keyed-contract.js';
import type { Machine } from '../host/machine.js';
import type { Sleeper } from '../host/wakes.js';
import { Failure } from '../schema/failure.js';
import { cycleOf, startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';
import type { Limits } from './limits.js';

/** Cycles that a course goes back; on a network it is kept as long once no stream has it. */
export const COURSE_CYCLES = 600;

/** What is known of each cycle, in this order. */
const columns = [
  'count',
  'admitted',
  'limited',
  'entries',
  'restores',
  'limiting',
  'state',
  'keys',
  'limited_keys',
] as const;
type Column = (typeof columns)[number];

/** Columns that grow for as long as the contract lives: of a cycle, it is said by how much. */
const growing: ReadonlySet<Column> = new Set(['admitted', 'limited', 'entries', 'restores']);

/** What somebody watches: contracts of one machine, from a cycle on. */
export interface Watched {
  readonly ids: readonly string[];
  /** The last cycle that the watcher has. */
  cycle: number;
}

/** Contracts of a network as they are now, without those that were deleted. */
type Looks = (contracts: readonly Contract[]) => Promise<readonly Contract[]>;

export class Courses {
  readonly #host: Host;
  readonly #looks: Looks | undefined;
  #isLooking = false;
  readonly #limits: Pick<Limits, 'courses' | 'coursesPerStream'>;
  readonly #byContract = new Map<string, Course>();
  readonly #samplers = new Map<Machine, Sampler>();

  constructor(host: Host, limits: Pick<Limits, 'courses' | 'coursesPerStream'>, looks?: Looks) {
    this.#host = host;
    this.#limits = limits;
    this.#looks = looks;
    if (looks !== undefined) return;
    for (const contract of host.contracts.values()) {
      if (this.#byContract.size >= limits.courses) break;
      this.#begin(contract, host.machine(contract.image.machine));
    }
    host.onContract = (contract) => this.#keep(contract);
  }

  /** How many courses are kept. */
  get size(): number {
    return this.#byContract.size;
  }

  /** Whether a contract has a course. */
  has(id: string): boolean {
    return this.#byContract.has(id);
  }

  /**
   * Watches contracts until `leave`.
   * @throws Failure `invalid_input` for more than a stream may watch, `node_overloaded` when all courses are watched
   */
  watch(machine: Machine, contracts: readonly Contract[], afterCycle: number | undefined): Watched {
    const { courses: most, coursesPerStream } = this.#limits;
    if (contracts.length > coursesPerStream) throw tooManyContracts(coursesPerStream);
    const missing = contracts.filter(({ id }) => !this.#byContract.has(id)).length;
    for (const [id, { watchers }] of this.#byContract) {
      if (this.#byContract.size + missing <= most) break;
      if (watchers.size === 0 && !contracts.some((contract) => contract.id === id)) this.#drop(id);
    }
    if (this.#byContract.size + missing > most) throw tooManyCourses();
    const watched = { ids: contracts.map(({ id }) => id), cycle: afterCycle ?? 0 };
    for (const contract of contracts)
      (this.#byContract.get(contract.id) ?? this.#begin(contract, machine)).watchers.add(watched);
    return watched;
  }

  /** Begins the course of a new contract, if there is room or a course without requests. */
  #keep(contract: Contract): void {
    if (this.#byContract.size >= this.#limits.courses) {
      const idle = [...this.#byContract].find(([, course]) => course.watchers.size === 0 && course.isIdle);
      if (idle === undefined) return;
      this.#drop(idle[0]);
    }
    this.#begin(contract, this.#host.machine(contract.image.machine));
  }

  #begin(contract: Contract, machine: Machine): Course {
    const course = new Course(contract, machine.cycle);
    this.#byContract.set(contract.id, course);
    if (this.#looks === undefined) {
      let sampler = this.#samplers.get(machine);
      if (sampler === undefined) {
        sampler = new Sampler(
          machine,
          (one) => this.#host.contracts.get(one.id) === one,
          (id) => this.#drop(id),
        );
        this.#samplers.set(machine, sampler);
      }
      sampler.courses.add(course);
    }
    return course;
  }

  /**
   * On a network: takes the counts of the contracts that are watched, as they are when a cycle begins, for the one that is over.
   * @throws Failure `store_away`
   */
  async look(over: number): Promise<void> {
    if (this.#looks === undefined || this.#isLooking || this.#byContract.size === 0) return;
    this.#isLooking = true;
    try {
      const courses = [...this.#byContract.values()].filter(({ watchers }) => watchers.size > 0);
      const looked = await this.#looks(courses.map(({ contract }) => contract));
      const now = new Map(looked.map((contract) => [contract.id, contract]));
      for (const course of courses) {
        const seen = now.get(course.contract.id);
        if (seen !== undefined) course.takeSeen(over, seen);
      }
      for (const [id, { watchedCycle }] of this.#byContract) if (over - watchedCycle > COURSE_CYCLES) this.#drop(id);
    } finally {
      this.#isLooking = false;
    }
  }

  leave(watched: Watched): void {
    for (const id of watched.ids) this.#byContract.get(id)?.watchers.delete(watched);
  }

  /** The cycles that a watcher does not have yet, as JSON; undefined where there are none. The watcher has them from now on. */
  news(watched: Watched): string | undefined {
    const texts: string[] = [];
    let newest = watched.cycle;
    for (const id of watched.ids) {
      const course = this.#byContract.get(id);
      if (course === undefined) continue;
      newest = Math.max(newest, course.last);
      const text = course.textAfter(watched.cycle);
      if (text !== undefined) texts.push(text);
    }
    watched.cycle = newest;
    return texts.length === 0 ? undefined : `[${texts.join()}]`;
  }

  #drop(id: string): void {
    const course = this.#byContract.get(id);
    if (course === undefined) return;
    this.#byContract.delete(id);
    const machine = this.#host.machines.get(course.contract.image.machine);
    const sampler = machine && this.#samplers.get(machine);
    if (machine === undefined || sampler === undefined) return;
    sampler.courses.delete(course);
    if (sampler.courses.size === 0) {
      machine.parts.wakes.forget(sampler);
      this.#samplers.delete(machine);
    }
  }
}

/** Takes the figures of the contracts of one machine, as the first thing in each cycle. */
class Sampler implements Sleeper {
  readonly rank = Rank.close;
  readonly courses = new Set<Course>();
  wakeMs = 0;
  readonly #machine: Machine;
  readonly #isThere: (contract: Contract) => boolean;
  readonly #drop: (id: string) => void;

  constructor(machine: Machine, isThere: (contract: Contract) => boolean, drop: (id: string) => void) {
    this.#machine = machine;
    this.#isThere = isThere;
    this.#drop = drop;
    this.#next(machine.cycle + 1);
  }

  wake(ms: number): void {
    const { clock } = this.#machine.parts;
    const over = cycleOf(ms, clock.cycleMs) - 1;
    for (const course of this.courses) {
      if (this.#isThere(course.contract)) course.take(over);
      else this.#drop(course.contract.id);
    }
    // After a night's suspension only the cycles that a course holds are taken.
    if (this.courses.size > 0) this.#next(Math.max(over + 2, clock.cycle() - COURSE_CYCLES));
  }

  #next(cycle: number): void {
    const { clock, wakes } = this.#machine.parts;
    this.wakeMs = startOf(cycle, clock.cycleMs);
    wakes.schedule(this);
  }
}

/** The last cycles of one contract. */
class Course {
  readonly contract: Contract;
  readonly watchers = new Set<Watched>();
  /** The last cycle in which a stream had it. */
  watchedCycle: number;
  /** The last cycle with a request, or that in which it began. */
  #usedCycle: number;
  /** The cycles that are there; none while `last < first`. */
  first: number;
  last: number;
  readonly #rows = new Float64Array(COURSE_CYCLES * columns.length);
  /** Of the growing columns, what was reached. */
  #before: readonly number[];
  /** The last cycle as text: most watchers lack nothing else. */
  #text = '';

  constructor(contract: Contract, cycle: number) {
    this.contract = contract;
    this.first = cycle;
    this.last = cycle - 1;
    this.watchedCycle = cycle;
    this.#usedCycle = cycle;
    this.#before = figuresOf(contract);
  }

  /** Whether no request was counted in its cycles. */
  get isIdle(): boolean {
    return this.last - this.#usedCycle >= COURSE_CYCLES;
  }

  /** Takes the figures of a cycle that is over. */
  take(cycle: number): void {
    const { contract } = this;
    if (contract.failure === undefined) {
      contract.advance(cycle);
      if (contract instanceof KeyedContract) contract.reach(cycle);
    }
    this.#put(cycle, figuresOf(contract));
  }

  /** Takes what is known of a contract that another process counts: NaN, which JSON writes as null, for the other columns. */
  takeSeen(cycle: number, { gate, admits, stateIndex }: Contract): void {
    if (cycle <= this.last) return;
    const known: Partial<Record<Column, number>> = { count: gate.count, limiting: admits ? 0 : 1, state: stateIndex };
    this.#put(
      cycle,
      columns.map((name) => known[name] ?? Number.NaN),
    );
  }

  #put(cycle: number, figures: readonly number[]): void {
    if (this.watchers.size > 0) this.watchedCycle = cycle;
    if (cycle !== this.last + 1) this.first = cycle;
    const at = (cycle % COURSE_CYCLES) * columns.length;
    for (const [index, name] of columns.entries()) {
      this.#rows[at + index] = figures[index]! - (growing.has(name) ? this.#before[index]! : 0);
    }
    // The second column and the third: requests, admitted and limited.
    if (figures[1] !== this.#before[1] || figures[2] !== this.#before[2]) this.#usedCycle = cycle;
    this.#before = figures;
    this.last = cycle;
    this.first = Math.max(this.first, cycle - COURSE_CYCLES + 1);
    this.#text = this.#textFrom(cycle);
  }

  textAfter(cycle: number): string | undefined {
    const from = Math.max(this.first, cycle + 1);
    if (from > this.last) return undefined;
    return from === this.last ? this.#text : this.#textFrom(from);
  }

  #textFrom(from: number): string {
    const { states } = this.contract.plan;
    const said: Partial<Record<Column, (number | string | undefined)[]>> = {};
    for (const [index, name] of columns.entries()) {
      if (name.endsWith('keys') && !(this.contract instanceof KeyedContract)) continue;
      const values: (number | string | undefined)[] = [];
      for (let cycle = from; cycle <= this.last; cycle += 1) {
        const value = this.#rows[(cycle % COURSE_CYCLES) * columns.length + index]!;
        values.push(name === 'state' ? states[value]?.name : value);
      }
      said[name] = values;
    }
    return JSON.stringify({ id: this.contract.id, from_cycle: from, ...said });
  }
}

function figuresOf(contract: Contract): readonly number[] {
  const { gate, tally, stateIndex } = contract;
  const { table, limited } = contract instanceof KeyedContract ? contract.keys : { table: { size: 0 }, limited: 0 };
  const { admitted, entries, restores } = tally;
  const limiting = contract.limiting > 0 ? 1 : 0;
  return [gate.count, admitted, tally.limited, entries, restores, limiting, stateIndex, table.size, limited];
}

function tooManyContracts(most: number): Failure {
  return new Failure('invalid_input', {
    what: 'The stream was not opened.',
    why: `One stream gives the counts of up to ${most} contracts.`,
    fix: 'Open another stream for the others.',
    faults: [{ path: '/counts', message: `must name at most ${most} contracts` }],
  });
}

function tooManyCourses(): Failure {
  return new Failure('node_overloaded', {
    what: 'The stream was not opened.',
    why: 'The counts of as many contracts as this node takes are watched already.',
    fix: 'Open it without counts, or try again later.',
  });
}
