// Counts many events: each line is counted or refused by itself, and has an outcome.
//
//   line     1 … 100     101 … 5000    5001      5002 …        neighbours with the same outcome share one entry, so that the
//   outcome  admitted    limited       refused   admitted …    answer stays small however many lines there are
import type { Contract } from '../../host/contract.js';
import type { Host } from '../../host/host.js';
import type { Machine } from '../../host/machine.js';
import type { Steps } from '../../limiter/plan.js';
import { Failure } from '../../schema/failure.js';
import type { LineReader } from '../../traffic/log/lines.js';
import { EventLine } from '../event-line.js';
import type { Decision } from './decision.js';
import { type Listener, listenersOf } from './listeners.js';
import type { OnceOnly } from './once-only.js';

const MOST_OUTCOMES = 20_000;

/** Reading stops there: refusing is slow, and something is wrong with the sender. */
const MOST_REFUSED = 10_000;

export const LONGEST_LINE = 4_096;

interface LineOutcome {
  readonly from_line: number;
  to_line: number;
  readonly outcome: 'admitted' | 'limited' | 'mixed' | 'refused';
  admitted: number;
  limited: number;
  readonly code?: string;
  readonly detail?: string;
}

export type Read = EventRead | { readonly number: number; readonly failure: unknown };

export type EventRead = EventFields & { readonly number: number };

export type EventFields = Pick<EventLine, 'type' | 'count' | 'cycle' | 'contractId' | 'key'>;

export interface Sum {
  readonly kind: number;
  events: number;
  admitted: number;
}

export abstract class Lines implements LineReader {
  readonly outcomes: LineOutcome[] = [];
  lines = 0;
  counted = 0;
  refused = 0;
  /** Of counted lines. An event of several contracts is admitted if all admit it. */
  admitted = 0;
  limited = 0;
  stoppedBefore: number | undefined;
  protected readonly host: Host;
  protected readonly machine: Machine;
  readonly #line = new EventLine();
  #unreadable = 0;
  #read: Read[] = [];
  readonly #sums = new Map<Contract, Sum>();
  #listeners: readonly Listener[] | undefined;
  #type = '';
  #contractId: string | undefined;

  constructor(host: Host, machine: Machine) {
    this.host = host;
    this.machine = machine;
  }

  /** Counts piece by piece, all in the running cycle. @throws Failure `store_failed`, and what reading throws */
  abstract count(reading: Steps<void>): void | Promise<void>;

  /** As `count`, once: repeated, it has the same answer. @returns the answer, or `Replayed`. @throws Failure as `Counting.event` */
  abstract countOnce(reading: Steps<void>, once: OnceOnly): object | Promise<object>;

  /** Resolves once the counts are as durable as the node promises. */
  abstract settled(): void | Promise<void>;

  protected abstract decisionOn(contract: Contract, sum: Sum): Decision;

  line(bytes: Buffer, from: number, to: number, number: number): void {
    this.#readBy(number, () => this.#line.read(bytes, from, to));
  }

  #readBy(number: number, read: () => void): void {
    if (this.stoppedBefore !== undefined || this.#unreadable > MOST_REFUSED) return;
    const line = this.#line;
    try {
      read();
    } catch (failure) {
      this.#read.push({ number, failure });
      this.#unreadable += 1;
      return;
    }
    if (this.#read.length === 0 && this.countNow(number, line)) return;
    const { type, count, cycle, contractId, key } = line;
    this.#read.push({ number, type, count, cycle, contractId, key });
  }

  /** @returns false if the line has to wait, and so all behind it */
  protected countNow(_number: number, _line: EventFields): boolean {
    return false;
  }

  end(): void {}

  /** A line that is longer than `LONGEST_LINE`. */
  refuse(number: number): void {
    const failure = new Failure('body_too_large', {
      what: 'The line was not counted.',
      why: `It has more than ${LONGEST_LINE} bytes, and no event does.`,
      fix: 'Write one event a line.',
    });
    this.#read.push({ number, failure });
  }

  stop(before: number): void {
    this.stoppedBefore ??= before;
  }

  contracts(): Iterable<Contract> {
    return this.#sums.keys();
  }

  *answer(cycle: number): Steps<object> {
    const contracts: object[] = [];
    for (const [contract, sum] of this.#sums) {
      const { id, keys } = contract;
      const { events, admitted } = sum;
      if (keys !== undefined) contracts.push({ id, keys: keys.table.size, admitted, limited: events - admitted });
      else contracts.push(this.decisionOn(contract, sum));
      yield;
    }
    const { stoppedBefore: next_line, lines, counted, refused, admitted, limited, outcomes } = this;
    const complete = next_line === undefined;
    const end = { complete, ...(!complete && { next_line }), outcomes, contracts };
    return { ok: true, cycle, lines, counted, refused, admitted, limited, ...end };
  }

  protected takeRead(): readonly Read[] {
    const read = this.#read;
    if (read.length > 0) this.#read = [];
    return read;
  }

  protected mayGoOn(number: number): boolean {
    if (this.stoppedBefore !== undefined) return false;
    if (this.outcomes.length < MOST_OUTCOMES && this.refused < MOST_REFUSED) return true;
    this.stop(number);
    return false;
  }

  /** Cached for neighbouring lines. @throws Failure as `listenersOf` */
  protected listenersOf({ type, contractId }: EventFields): readonly Listener[] {
    if (this.#listeners !== undefined && this.#type === type && this.#contractId === contractId) return this.#listeners;
    this.#listeners = listenersOf(this.host, this.machine, type, contractId);
    this.#type = type;
    this.#contractId = contractId;
    return this.#listeners;
  }

  protected clearListeners(): void {
    this.#listeners = undefined;
  }

  protected sumOf({ contract, kind }: Listener): Sum {
    let sum = this.#sums.get(contract);
    if (sum === undefined) {
      sum = { kind, events: 0, admitted: 0 };
      this.#sums.set(contract, sum);
    }
    return sum;
  }

  /** @param least how many of the n events all contracts admitted */
  protected took(number: number, n: number, least: number): void {
    this.lines += 1;
    this.counted += 1;
    this.admitted += least;
    this.limited += n - least;
    const outcome = least === n ? 'admitted' : least === 0 ? 'limited' : 'mixed';
    const last = this.outcomes.at(-1);
    if (last !== undefined && last.outcome === outcome && outcome !== 'mixed') {
      last.to_line = number;
      last.admitted += least;
      last.limited += n - least;
    } else {
      this.outcomes.push({ from_line: number, to_line: number, outcome, admitted: least, limited: n - least });
    }
  }

  protected refuseWith(number: number, { code, message: detail }: Failure): void {
    this.lines += 1;
    this.refused += 1;
    const last = this.outcomes.at(-1);
    if (last !== undefined && last.code === code) last.to_line = number;
    else {
      const place = { from_line: number, to_line: number };
      this.outcomes.push({ ...place, outcome: 'refused', admitted: 0, limited: 0, code, detail });
    }
  }
}
