// A candidate: a second definition that decides the same events as a contract, for comparison only. The differences are counted.
//
//   event ─► contract ─► admitted ───────────────┐
//     └────► candidate: a contract of its own,   ├─► both | only_limiter | only_candidate, in all and by key
//            whose record nobody keeps ──────────┘
//
// It begins with the counts of the contract, as one that is changed in place does; after a restart it does so again.
import { carried, carryOver } from '../limiter/carry-over.js';
import type { Gate, GateImage } from '../limiter/gate.js';
import type { Plan, Steps } from '../limiter/plan.js';
import { copyOf } from '../limiter/rule/rule.js';
import { Failure } from '../schema/failure.js';
import type { ContractState } from '../store/store.js';
import type { Beside, Compared } from './beside.js';
import { Contract } from './contract.js';
import type { HostContext } from './host-context.js';
import type { Keys } from './keys.js';
import { Chain, Ledger } from './ledger.js';
import { Queue } from './queue.js';
import { type Convert, takeKeys } from './take-over.js';

/** Keys whose differences are counted one by one; those of further keys are summed. */
const MOST_KEYS = 10_000;

class ContractCandidate implements Beside {
  readonly #contract: Contract;
  since: number;
  requests = 0;
  compared: Compared = none();
  readonly byKey = new Map<string, Compared>();
  furtherKeys: Compared = none();
  readonly #limiter: Contract;

  /** @param saved with which it begins, by `key` undefined */
  constructor(limiter: Contract, plan: Plan, context: HostContext, saved: ContractState | undefined) {
    const { image, machine, cycle } = limiter;
    const keyed = image.keyed && { ...image.keyed, overflow: 'share' as const };
    const own = { ...image, definition: plan.definition, candidate: undefined, keyed };
    const from = saved?.windows[0]?.cycle ?? cycle;
    this.#limiter = limiter;
    this.since = cycle;
    this.#contract = new Contract(own, plan, new Chain(machine.slug), from, apart(context), saved);
    context.wakes.schedule(this.#contract);
  }

  get plan(): Plan {
    return this.#contract.plan;
  }

  get gate(): Gate {
    return this.#contract.gate;
  }

  get keys(): Keys | undefined {
    return this.#contract.keys;
  }

  get wouldLimit(): number {
    return this.compared.both + this.compared.only_candidate;
  }

  advance(cycle: number): void {
    if (this.#contract.failure === undefined) this.#contract.advance(cycle);
  }

  stop(): void {
    this.#contract.delete();
  }

  restart(cycle: number): void {
    this.since = cycle;
    this.requests = 0;
    this.compared = none();
    this.byKey.clear();
    this.furtherKeys = none();
  }

  compare(n: number, admitted: number, cycle: number, kind: number, name?: string, happened?: number): void {
    const limited = this.#limitedOf(n, admitted, cycle, name);
    const would = this.#wouldLimit(n, cycle, kind, name, happened);
    if (would === undefined) return;
    this.requests += n;
    const both = Math.min(limited, would);
    add(this.compared, both, limited, would);
    if (name !== undefined && (limited !== would || this.byKey.has(name))) add(this.#ofKey(name), both, limited, would);
  }

  /** A shadow admits all: its states are compared. */
  #limitedOf(n: number, admitted: number, cycle: number, name?: string): number {
    const { plan } = this.#limiter;
    if (!plan.isShadow) return n - admitted;
    return plan.states[this.#limiter.stateOf(name, cycle).stateIndex]!.admits ? 0 : n;
  }

  /** @returns undefined for what it cannot count: an event that is too old for its window, and all once it has stopped */
  #wouldLimit(n: number, cycle: number, kind: number, name?: string, happened?: number): number | undefined {
    try {
      if (happened !== undefined) return n - this.#contract.decideLate(n, happened, cycle, kind, name);
      return n - this.#contract.decide(n, cycle, kind, name);
    } catch (error) {
      if (error instanceof Failure) return undefined;
      throw error;
    }
  }

  #ofKey(name: string): Compared {
    let known = this.byKey.get(name);
    if (known === undefined && this.byKey.size >= MOST_KEYS) return this.furtherKeys;
    known ??= none();
    this.byKey.set(name, known);
    return known;
  }
}

interface Source {
  readonly image: GateImage;
  readonly keys: Keys | undefined;
}

/** A candidate that begins with what gates hold by the plan `before`; default: those of the limiter. */
export function* beginCandidate(
  limiter: Contract,
  plan: Plan,
  context: HostContext,
  source: Source = { image: limiter.gate.image(), keys: limiter.keys },
  before: Plan = limiter.plan,
): Steps<Beside> {
  const kept = carryOver(before, plan);
  const convert: Convert = (image) => {
    const gate = carried(image, kept, plan);
    // The rule of the limiter goes on with its own.
    return gate?.rule === undefined ? gate : { ...gate, rule: { ...gate.rule, state: copyOf(gate.rule.state) } };
  };
  const gate = convert(source.image);
  const candidate = new ContractCandidate(limiter, plan, context, gate && { id: limiter.id, ...gate });
  const { keys } = candidate;
  if (keys !== undefined && source.keys !== undefined) yield* takeKeys(keys, source.keys, convert);
  return candidate;
}

/** The candidate of a contract that was made from the store. */
export function candidateOfStored(limiter: Contract, plan: Plan, context: HostContext): Beside {
  const steps = beginCandidate(limiter, plan, context);
  for (let step = steps.next(); ; step = steps.next()) if (step.done === true) return step.value;
}

/** The context of a candidate: what it writes is discarded. */
function apart(context: HostContext): HostContext {
  const { clock, wakes, claimMemory } = context;
  const store = { append() {}, putState() {}, forgetKey() {}, commit: (settled: () => void) => settled() };
  return {
    ...{ clock, wakes, claimMemory, store, changed: new Queue() },
    ledger: new Ledger(clock, store),
    get busyMs() {
      return context.busyMs;
    },
  };
}

function none(): Compared {
  return { both: 0, only_limiter: 0, only_candidate: 0 };
}

function add(to: Compared, both: number, limited: number, would: number): void {
  to.both += both;
  to.only_limiter += limited - both;
  to.only_candidate += would - both;
}
