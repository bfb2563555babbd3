// Counting many events: each line is counted or refused by itself, and every line has an outcome.
import type { Contract } from '../host/contract.js';
import type { Host } from '../host/host.js';
import { KeyedContract } from '../host/keyed-contract.js';
import type { Machine } from '../host/machine.js';
import type { Steps } from '../limiter/plan.js';
import { Failure } from '../schema/failure.js';
import type { LineReader } from '../traffic/log/lines.js';
import { BulkOutcomes, type KeyedSum, type Sum } from './bulk-outcomes.js';
import {
  costOf,
  countEvents,
  countInSteps,
  type Decision,
  decisionOf,
  type Listener,
  listenersOf,
  whyNotAt,
  whyNotSoMany,
} from './decision.js';
import { EventLine } from './event-line.js';
import { SLICE } from './fair-queue.js';
import { checkKey, claimPlaces, nameOf } from './keyed.js';
import { costSince } from './machine-work.js';
import type { Network } from './network/network.js';
import { type Asked, askedOf, type Outcome } from './network/plain-counting.js';

/** Entries after which no further line is read. */
const MOST_OUTCOMES = 20_000;

/** Refused lines after which no further line is read: refusing is slow, and something is wrong with the sender. */
const MOST_REFUSED = 10_000;

/** What counting one event in a contract costs, in units, where nothing moves and no decision is shown. */
const QUIET = 1 / 32;

/** The same where a rule decides. */
const QUIET_BY_RULE = 1;

/** Bytes of a line, or of an element of an array, that is read. No event has as many. */
export const LONGEST_LINE = 4_096;

/** What reading an event costs, in units. */
const READ = 1 / 4;

/** A line that was read and not counted yet: an event, or why it is none. */
type Read = { readonly number: number } & (
  | {
      readonly type: string;
      readonly count: number;
      readonly cycle: number | undefined;
      readonly contractId: string | undefined;
      readonly key: string | undefined;
    }
  | { readonly failure: unknown }
);

/** Listeners that are looked up once for all lines that ask for the same. */
interface Addressed {
  readonly listeners: readonly Listener[];
  readonly type: string;
  readonly contractId: string | undefined;
}

export class BulkCount extends BulkOutcomes implements LineReader {
  /** Why the first line that is not JSON is none. */
  notJson: Failure | undefined;
  #unreadable = 0;
  /** The line before which reading stopped; undefined when all were read. */
  stoppedBefore: number | undefined;
  readonly #host: Host;
  readonly #machine: Machine;
  readonly #line = new EventLine();
  #read: Read[] = [];
  readonly #sums = new Map<Contract, Sum>();
  #addressed: Addressed | undefined;

  constructor(host: Host, machine: Machine) {
    super();
    this.#host = host;
    this.#machine = machine;
  }

  /** @returns what reading it cost, in units */
  line(bytes: Buffer, from: number, to: number, number: number): number {
    // None of those behind is counted.
    if (this.stoppedBefore !== undefined || this.#unreadable > MOST_REFUSED) return 0;
    if (to - from > LONGEST_LINE) {
      this.refuse(number);
      return READ;
    }
    try {
      this.#line.read(bytes, from, to);
      const { type, count, cycle, contractId, key } = this.#line;
      this.#read.push({ number, type, count, cycle, contractId, key });
      return READ;
    } catch (failure) {
      this.#read.push({ number, failure });
      this.#unreadable += 1;
      return 1;
    }
  }

  /** Looks whether a line is JSON, and keeps nothing of it. @returns what that cost, in units */
  check(bytes: Buffer, from: number, to: number): number {
    if (to - from > LONGEST_LINE || this.notJson !== undefined) return 0;
    try {
      this.#line.read(bytes, from, to);
      return READ;
    } catch (failure) {
      if (failure instanceof Failure && failure.code === 'invalid_json') this.notJson = failure;
      return 1;
    }
  }

  end(): void {}

  /** A line that is too long to be read. */
  refuse(number: number): void {
    this.#read.push({ number, failure: tooLong() });
  }

  /** Counts in `cycle` what was read, and forgets it. */
  *count(cycle: number): Steps<void> {
    let cost = 0;
    const lines = this.#read;
    this.#read = [];
    for (const read of lines) {
      if (!this.#mayGoOn(read.number)) return;
      const { seq } = this.#machine.head;
      try {
        if ('failure' in read) throw read.failure;
        const { listeners } = this.#whoListens(read.type, read.contractId);
        checkKey(listeners, read.key);
        const late = read.cycle === undefined ? undefined : whyNotAt(listeners, read.cycle, cycle);
        const failure = late ?? whyNotSoMany(listeners, read.count);
        if (failure !== undefined) throw failure;
        claimPlaces(listeners, read.key, cycle);
        yield* this.#count(read.number, listeners, read.count, cycle, read.cycle, read.key);
      } catch (error) {
        this.#failed(read.number, error);
      }
      cost += costSince(this.#machine, seq);
      if (cost < SLICE / 4) continue;
      yield cost;
      cost = 0;
    }
  }

  /** Counts no line from this one on. */
  stop(before: number): void {
    this.stoppedBefore ??= before;
  }

  /** The contracts that counted. */
  contracts(): Iterable<Contract> {
    return this.#sums.keys();
  }

  /** What is said of every contract that counted, with all that it admitted and limited here: a slice at a time, none at the end. */
  decisions(): () => readonly (Decision | KeyedSum)[] {
    const sums = [...this.#sums];
    let at = 0;
    return () => {
      const some: (Decision | KeyedSum)[] = [];
      for (let cost = 0; at < sums.length && cost < SLICE; at += 1) {
        const [contract, { kind, events, admitted, last }] = sums[at]!;
        cost += 1;
        if (contract instanceof KeyedContract) {
          some.push({ id: contract.id, keys: contract.keys.table.size, admitted, limited: events - admitted });
          continue;
        }
        const decision = last
          ? { ...last, admitted, limited: events - admitted }
          : decisionOf(contract, kind, events, admitted);
        some.push(decision);
        cost += costOf(contract, decision);
      }
      return some;
    };
  }

  /** A failed store and internal errors fail the whole request. */
  #failed(number: number, error: unknown): void {
    if (!(error instanceof Failure) || error.code === 'store_failed' || error.code === 'disk_full') throw error;
    // A contract that stopped does not listen any more: look the listeners up again.
    this.#addressed = undefined;
    this.refuseWith(number, error);
  }

  #mayGoOn(number: number): boolean {
    if (this.stoppedBefore !== undefined) return false;
    if (this.outcomes.length < MOST_OUTCOMES && this.refused < MOST_REFUSED) return true;
    this.stop(number);
    return false;
  }

  #whoListens(type: string, contractId: string | undefined): Addressed {
    const known = this.#addressed;
    if (known !== undefined && known.type === type && known.contractId === contractId) return known;
    const listeners = listenersOf(this.#host, this.#machine, type, contractId);
    this.#addressed = { listeners, type, contractId };
    return this.#addressed;
  }

  *#count(
    number: number,
    listeners: readonly Listener[],
    n: number,
    cycle: number,
    happened: number | undefined,
    key: string | undefined,
  ): Steps<void> {
    let least = n;
    let cost = 0;
    for (const listener of listeners) {
      const { seq } = this.#machine.head;
      const name = nameOf(listener, key);
      // Nothing to be cut in one event, which is what most lines have: no generator is made for it.
      const admitted =
        n === 1
          ? countEvents(this.#host, listener, n, cycle, happened, name)
          : yield* countInSteps(this.#host, this.#machine, listener, n, cycle, happened, name);
      const quiet = listener.contract.plan.rule === undefined ? QUIET : QUIET_BY_RULE;
      cost += quiet + costSince(this.#machine, seq) - 1;
      if (cost >= SLICE / 4) {
        yield cost;
        cost = 0;
      }
      if (admitted < least) least = admitted;
      const sum = this.#sumOf(listener);
      sum.events += n;
      sum.admitted += admitted;
    }
    this.took(number, n, least);
  }

  /** As `count`, by a network of nodes. */
  async countOver(network: Network): Promise<void> {
    if (this.#read.length === 0) return;
    // Where it is away, the decisions say so.
    await network.directory.look(this.#machine).catch(() => {});
    this.#addressed = undefined;
    const lines = this.#read.map((read) => ({ number: read.number, asked: this.#asked(read) }));
    this.#read = [];
    const outcomes = await Promise.all(
      lines.map(({ asked }) => (asked instanceof Failure ? asked : network.decide(asked))),
    );
    for (const [index, { number, asked }] of lines.entries()) {
      if (!this.#mayGoOn(number)) return;
      const given = outcomes[index]!;
      const failure = given instanceof Failure ? given : given.find((outcome) => outcome instanceof Failure);
      if (failure instanceof Failure || asked instanceof Failure) {
        this.refuseWith(number, failure as Failure);
        continue;
      }
      let least = asked[0]!.n;
      for (const [place, outcome] of (given as Outcome[]).entries()) {
        if (outcome instanceof Failure || 'away' in outcome.decision) continue;
        const sum = this.#sumOf(asked[place]!);
        sum.events += asked[place]!.n;
        sum.admitted += outcome.decision.admitted;
        sum.last = outcome.decision;
        least = Math.min(least, outcome.decision.admitted);
      }
      this.took(number, asked[0]!.n, least);
    }
  }

  #asked(read: Read): Asked[] | Failure {
    try {
      if ('failure' in read) throw read.failure;
      const { listeners } = this.#whoListens(read.type, read.contractId);
      return askedOf(listeners, read.count, read.key, read.cycle, true);
    } catch (error) {
      if (error instanceof Failure) return error;
      throw error;
    }
  }

  #sumOf({ contract, kind }: Listener): Sum {
    let sum = this.#sums.get(contract);
    if (sum === undefined) {
      sum = { kind, events: 0, admitted: 0 };
      this.#sums.set(contract, sum);
    }
    return sum;
  }
}

function tooLong(): Failure {
  return new Failure('body_too_large', { what: 'The line was not counted.', why: 'It is longer than any event.' });
}
