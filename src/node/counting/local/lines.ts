// Counts many events in the host of this process: in steps, in the machine's turn.
import type { Contract } from '../../../host/contract.js';
import type { Host } from '../../../host/host.js';
import type { Machine } from '../../../host/machine.js';
import type { Steps } from '../../../limiter/plan.js';
import { Failure } from '../../../schema/failure.js';
import type { Clock } from '../../../time/clock.js';
import type { Durability } from '../../durability.js';
import { checkKey, claimPlaces, nameOf } from '../../keyed.js';
import type { MachineWork } from '../../machine-work.js';
import type { MaybePromise } from '../counting.js';
import { type Decision, decisionOf } from '../decision.js';
import { type EventFields, type EventRead, Lines, type Sum } from '../lines.js';
import { type Listener, whyNotAt, whyNotSoMany } from '../listeners.js';
import type { OnceOnly } from '../once-only.js';
import { countIn, countInSteps } from './deciding.js';
import type { Idempotency } from './idempotency.js';

export interface LocalContext {
  readonly host: Host;
  readonly clock: Clock;
  readonly work: MachineWork;
  readonly durability: Durability;
  readonly idempotency: Idempotency;
  readonly onError: (error: unknown) => void;
}

const AT_ONCE = 256;

export class LocalLines extends Lines {
  readonly #context: LocalContext;
  #cycle = 0;
  #firstCycle: number | undefined;
  /** A transition takes as long as hundreds of lines: later lines of its step wait. */
  #hasMoved = false;

  constructor(context: LocalContext, machine: Machine) {
    super(context.host, machine);
    this.#context = context;
  }

  count(reading: Steps<void>): MaybePromise<void> {
    return this.#context.work.of(this.machine, (cycle) => this.#countAll(reading, cycle));
  }

  countOnce(reading: Steps<void>, once: OnceOnly): MaybePromise<object> {
    const { work, idempotency } = this.#context;
    const { machine } = this;
    const windows = () => this.contracts();
    return work.of(machine, (cycle) =>
      idempotency.once(machine, once, cycle, () => this.#answerTo(reading, cycle), windows),
    );
  }

  settled(): MaybePromise<void> {
    const { durability, clock } = this.#context;
    return durability.ofCounts(this.machine, this.#firstCycle ?? clock.cycle());
  }

  protected decisionOn(contract: Contract, { kind, events: n, admitted }: Sum): Decision {
    return decisionOf({ contract, kind, n, name: undefined }, admitted, contract);
  }

  *#answerTo(reading: Steps<void>, cycle: number): Steps<object> {
    yield* this.#countAll(reading, cycle);
    return yield* this.answer(cycle);
  }

  *#countAll(reading: Steps<void>, cycle: number): Steps<void> {
    this.#cycle = cycle;
    this.#firstCycle ??= cycle;
    for (const _ of reading) {
      yield* this.#countRead(cycle);
      this.#hasMoved = false;
      yield;
    }
    yield* this.#countRead(cycle);
  }

  protected override countNow(number: number, line: EventFields): boolean {
    if (this.#hasMoved || line.cycle !== undefined || !this.mayGoOn(number)) return false;
    const { seq } = this.machine.head;
    try {
      if (!this.#countAtOnce(number, line, this.#readyFor(line, this.#cycle), this.#cycle)) return false;
    } catch (error) {
      this.#failed(number, error);
    }
    this.#hasMoved = this.machine.head.seq !== seq;
    return true;
  }

  *#countRead(cycle: number): Steps<void> {
    for (const read of this.takeRead()) {
      if (!this.mayGoOn(read.number)) return;
      const { seq } = this.machine.head;
      try {
        if ('failure' in read) throw read.failure;
        const listeners = this.#readyFor(read, cycle);
        if (!this.#countAtOnce(read.number, read, listeners, cycle)) yield* this.#countLine(read, listeners, cycle);
      } catch (error) {
        this.#failed(read.number, error);
      }
      if (this.machine.head.seq !== seq) yield;
    }
  }

  #readyFor(read: EventFields, cycle: number): readonly Listener[] {
    const listeners = this.listenersOf(read);
    checkKey(listeners, read.key);
    const late = read.cycle === undefined ? undefined : whyNotAt(listeners, read.cycle, cycle);
    const failure = late ?? whyNotSoMany(listeners, read.count);
    if (failure !== undefined) throw failure;
    claimPlaces(listeners, read.key, cycle);
    return listeners;
  }

  /** For nearly every line: one contract, the running cycle, at most one transition. @returns whether it is one */
  #countAtOnce(
    number: number,
    { count: n, cycle: happened, key }: EventFields,
    listeners: readonly Listener[],
    cycle: number,
  ): boolean {
    const listener = listeners[0]!;
    const { contract, kind } = listener;
    if (listeners.length > 1 || happened !== undefined) return false;
    const name = nameOf(contract, key);
    if (n > 1 && contract.stepOf(n, cycle, kind, name) < n) return false;
    const admitted = contract.decide(n, cycle, kind, name);
    this.#add(listener, n, admitted);
    this.took(number, n, admitted);
    return true;
  }

  *#countLine(
    { number, count: n, cycle: happened, key }: EventRead,
    listeners: readonly Listener[],
    cycle: number,
  ): Steps<void> {
    const { machine } = this;
    let least = n;
    for (const [index, listener] of listeners.entries()) {
      const { contract, kind } = listener;
      const { seq } = machine.head;
      const asked = { machine, contract, kind, n, name: nameOf(contract, key) };
      const admitted = n === 1 ? countIn(asked, 1, cycle, happened) : yield* countInSteps(asked, cycle, happened);
      if (admitted < least) least = admitted;
      this.#add(listener, n, admitted);
      if (index % AT_ONCE === AT_ONCE - 1 || machine.head.seq !== seq) yield;
    }
    this.took(number, n, least);
  }

  #add(listener: Listener, n: number, admitted: number): void {
    const sum = this.sumOf(listener);
    sum.events += n;
    sum.admitted += admitted;
  }

  /** A failed store and internal errors fail the whole request. */
  #failed(number: number, error: unknown): void {
    if (!(error instanceof Failure) || error.code === 'store_failed' || error.code === 'disk_full') throw error;
    // A stopped contract no longer listens.
    this.clearListeners();
    this.refuseWith(number, error);
  }
}
