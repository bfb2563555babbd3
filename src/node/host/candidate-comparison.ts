// A candidate beside a contract: it decides the same events, for comparison only. Differences are counted in total and per key.
import type { Gate } from '../../core/limiter/gate.js';
import type { Plan } from '../../core/limiter/plan.js';
import { Failure } from '../../core/schema/failure.js';
import type { Keys } from './keys.js';

const MOST_KEYS = 10_000;

export interface Compared {
  both: number;
  only_limiter: number;
  only_candidate: number;
}

interface Decider {
  readonly plan: Plan;
  readonly gate: Gate;
  readonly keys: Keys | undefined;
  readonly failure: Failure | undefined;
  decide(n: number, cycle: number, kind: number, name?: string, isOne?: boolean): number;
  decideLate(n: number, happened: number, cycle: number, kind: number, name?: string): number;
  gateOf(name: string | undefined, cycle: number): Gate;
  advance(cycle: number): void;
  delete(): void;
}

interface Events {
  readonly n: number;
  readonly cycle: number;
  readonly kind: number;
  readonly name: string | undefined;
  /** The earlier cycle of events that arrive late. */
  readonly happened?: number | undefined;
  /** Whether `n` is the cost of one request. */
  readonly isOne?: boolean;
}

export class CandidateComparison {
  since = 0;
  requests = 0;
  compared = none();
  readonly byKey = new Map<string, Compared>();
  readonly candidate: Decider;
  readonly #limiter: Decider;

  constructor(limiter: Decider, candidate: Decider, cycle: number) {
    this.#limiter = limiter;
    this.candidate = candidate;
    this.restart(cycle);
  }

  get plan(): Plan {
    return this.candidate.plan;
  }

  get wouldLimit(): number {
    return this.compared.both + this.compared.only_candidate;
  }

  advance(cycle: number): void {
    if (this.candidate.failure === undefined) this.candidate.advance(cycle);
  }

  restart(cycle: number): void {
    this.since = cycle;
    this.requests = 0;
    this.compared = none();
    this.byKey.clear();
  }

  compare(events: Events, admitted: number): void {
    const { n, name } = events;
    const limited = this.#limitedOf(events, admitted);
    const would = this.#wouldLimit(events);
    if (would === undefined) return;
    this.requests += n;
    add(this.compared, limited, would);
    if (name !== undefined && (limited !== would || this.byKey.has(name))) this.#addToKey(name, limited, would);
  }

  // A shadow admits everything: what it would limit follows from its state.
  #limitedOf({ n, cycle, name }: Events, admitted: number): number {
    const { plan } = this.#limiter;
    if (!plan.isShadow) return n - admitted;
    return plan.states[this.#limiter.gateOf(name, cycle).state]!.admits ? 0 : n;
  }

  /** Undefined if the candidate cannot count the events: they are too old for its window, or it has stopped. */
  #wouldLimit({ n, cycle, kind, name, happened, isOne }: Events): number | undefined {
    try {
      if (happened !== undefined) return n - this.candidate.decideLate(n, happened, cycle, kind, name);
      return n - this.candidate.decide(n, cycle, kind, name, isOne);
    } catch (error) {
      if (error instanceof Failure) return undefined;
      throw error;
    }
  }

  #addToKey(name: string, limited: number, would: number): void {
    let known = this.byKey.get(name);
    if (known === undefined) {
      if (this.byKey.size >= MOST_KEYS) return;
      known = none();
      this.byKey.set(name, known);
    }
    add(known, limited, would);
  }
}

function none(): Compared {
  return { both: 0, only_limiter: 0, only_candidate: 0 };
}

function add(to: Compared, limited: number, would: number): void {
  const both = Math.min(limited, would);
  to.both += both;
  to.only_limiter += limited - both;
  to.only_candidate += would - both;
}
