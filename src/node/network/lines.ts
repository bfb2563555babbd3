// Counts many events in Redis: the lines of a piece at once.
import type { Contract } from '../../host/contract.js';
import type { Host } from '../../host/host.js';
import type { Machine } from '../../host/machine.js';
import type { Steps } from '../../limiter/plan.js';
import { assert, Failure } from '../../schema/failure.js';
import type { CallerQueue } from '../caller-queue.js';
import type { DecisionResult } from '../counting/counting.js';
import type { Decision, DecisionRequest } from '../counting/decision.js';
import { Lines, type Read, type Sum } from '../counting/lines.js';
import { askedBy } from '../counting/listeners.js';
import type { OnceOnly } from '../counting/once-only.js';
import { ofOwner } from '../request-source.js';
import { doOnce } from './idempotency.js';
import type { Network } from './network.js';
import type { How } from './plain-counting.js';

const AT_ONCE = 1_000;

interface LinesContext {
  readonly network: Network;
  readonly host: Host;
  readonly queue: CallerQueue;
  readonly count: (asked: DecisionRequest, how: How) => Promise<DecisionResult>;
}

export class NetworkLines extends Lines {
  readonly #context: LinesContext;
  readonly #last = new Map<Contract, Decision>();

  constructor(context: LinesContext, machine: Machine) {
    super(context.host, machine);
    this.#context = context;
  }

  async count(reading: Steps<void>): Promise<void> {
    await this.#inTurns(reading);
    const read = this.takeRead();
    if (read.length === 0) return;
    // The decisions show it if Redis is away.
    await this.#context.network.directory.refresh(this.machine).catch(() => {});
    this.clearListeners();
    for (let from = 0; from < read.length && this.mayGoOn(read[from]!.number); from += AT_ONCE)
      await this.#countLines(read.slice(from, from + AT_ONCE));
  }

  countOnce(reading: Steps<void>, once: OnceOnly): Promise<object> {
    const { connection, clock } = this.#context.network;
    return doOnce(connection, this.machine, once, async () => {
      await this.count(reading);
      return this.#inTurns(this.answer(clock.cycle()));
    });
  }

  settled(): void {}

  protected decisionOn(contract: Contract, { events, admitted }: Sum): Decision {
    return { ...this.#last.get(contract)!, admitted, limited: events - admitted };
  }

  async #countLines(read: readonly Read[]): Promise<void> {
    const asked = read.map((one) => this.#askedBy(one));
    const outcomes = await Promise.all(
      asked.map((line, index) => (line instanceof Failure ? line : this.#countLine(line, read[index]!))),
    );
    for (const [index, { number }] of read.entries()) {
      const [line, given] = [asked[index]!, outcomes[index]!];
      if (line instanceof Failure || given instanceof Failure) this.refuseWith(number, given as Failure);
      else this.#take(number, line, given);
    }
  }

  async #countLine(asked: readonly DecisionRequest[], read: Read): Promise<readonly Decision[] | Failure> {
    const happened = 'cycle' in read ? read.cycle : undefined;
    const how = { happened, mustCount: true };
    const outcomes = await Promise.all(asked.map((one) => this.#context.count(one, how)));
    const decisions: Decision[] = [];
    for (const outcome of outcomes) {
      if (outcome instanceof Failure) return outcome;
      assert(!outcome.decision.away, 'lines are counted or refused');
      decisions.push(outcome.decision);
    }
    return decisions;
  }

  #take(number: number, asked: readonly DecisionRequest[], decisions: readonly Decision[]): void {
    let least = asked[0]!.n;
    for (const [index, decision] of decisions.entries()) {
      const { n, contract, kind } = asked[index]!;
      const sum = this.sumOf({ contract, kind });
      sum.events += n;
      sum.admitted += decision.admitted;
      this.#last.set(contract, decision);
      least = Math.min(least, decision.admitted);
    }
    this.took(number, asked[0]!.n, least);
  }

  #inTurns<T>(steps: Steps<T>): Promise<T> {
    return this.#context.queue.steps(ofOwner(this.machine.image.owner), steps);
  }

  #askedBy(read: Read): readonly DecisionRequest[] | Failure {
    try {
      if ('failure' in read) throw read.failure;
      return askedBy(this.machine, this.listenersOf(read), read.count, read.key);
    } catch (error) {
      if (error instanceof Failure) return error;
      throw error;
    }
  }
}
