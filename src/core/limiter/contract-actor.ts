// The state of a contract, moved by an XState actor of its machine.
//
//   record   ─ a guard could hold ─►   the guards of the machine   ─ a transition is due, fired and written ─►   the actor takes it
//     ▲                                                                                                              │
//     └──────────────────────────────────────── its snapshot, written back ─────────────────────────────────────────┘
//
// The record is the persisted snapshot: an actor starts from it with the first move, and may be dropped after any. The records of keys,
// of which many move once, are moved by one actor of their plan.
import { type Actor, type ActorLogic, createActor, type Snapshot, type SnapshotFrom } from 'xstate';
import { ActorSystem, type Inspect } from './actor-system.js';
import { type ContractMachine, machineOfPlan } from './contract-machine.js';
import type { ContractEvent, Fire, Held } from './guards.js';
import type { CompiledTransition, Plan } from './plan.js';

/** What a contract keeps of its actor: the value and the context of the snapshot. */
export interface ContractRecord extends Held {
  /** Index into the states of the plan. */
  state: number;
  heldUntilCycle: number;
  refusals: number;
}

export class ContractActor {
  readonly #record: ContractRecord;
  readonly #plan: Plan;
  readonly #name: string;
  readonly #actors: ContractActors | undefined;
  #actor: Actor<ContractMachine> | undefined;

  /** @param actors undefined for a short life, as that of a key: without an actor of its own */
  constructor(plan: Plan, record: ContractRecord, actors?: ContractActors, name = plan.definition.name) {
    this.#plan = plan;
    this.#record = record;
    this.#actors = actors;
    this.#name = name;
    if (actors?.system !== undefined) this.#started();
  }

  /** The transition that the guards of the machine let an event take. Nothing moves. */
  due(event: ContractEvent): CompiledTransition | undefined {
    const machine = this.#actor?.logic ?? machineOfPlan(this.#plan);
    const [taken] = machine.getTransitionData(this.#actor?.getSnapshot() ?? this.#snapshotFor(machine), event);
    const actions = taken?.actions as readonly { readonly type?: string; readonly params?: Fire }[] | undefined;
    const fire = actions?.find(({ type }) => type === 'fire');
    return fire && this.#plan.transitions[fire.params!.transition];
  }

  take(event: ContractEvent): void {
    const { value, context } = this.#actors === undefined ? this.#interpreted(event) : this.#sent(event, this.#actors);
    this.#record.state = this.#plan.states.findIndex(({ name }) => name === value);
    this.#record.heldUntilCycle = context.heldUntilCycle;
    this.#record.refusals = context.refusals;
  }

  drop(): void {
    this.#actor = undefined;
  }

  #snapshotFor(machine: ContractMachine) {
    const { state, heldUntilCycle, refusals } = this.#record;
    return machine.resolveState({ value: this.#plan.states[state]!.name, context: { heldUntilCycle, refusals } });
  }

  #sent(event: ContractEvent, { system }: ContractActors): ContractSnapshot {
    const actor = this.#started();
    if (system === undefined) actor.send(event);
    else system.send('gate', actor, event);
    return actor.getSnapshot();
  }

  #interpreted(event: ContractEvent): ContractSnapshot {
    const machine = machineOfPlan(this.#plan);
    let interpreter = interpreters.get(machine);
    if (interpreter === undefined) {
      interpreter = createActor(interpreterOf(machine)).start();
      interpreters.set(machine, interpreter);
    }
    interpreter.send({ type: 'move', snapshot: this.#snapshotFor(machine), event });
    return interpreter.getSnapshot().moved!;
  }

  #started(): Actor<ContractMachine> {
    if (this.#actor !== undefined) return this.#actor;
    const system = this.#actors?.system;
    const machine = machineOfPlan(this.#plan);
    const snapshot = this.#snapshotFor(machine);
    const actor = system?.addContract(this.#name, machine, snapshot) ?? createActor(machine, { snapshot });
    this.#actor = actor.start();
    this.#actors?.keep(this);
    return this.#actor;
  }
}

type ContractSnapshot = SnapshotFrom<ContractMachine>;
type Interpreter = ActorLogic<
  Snapshot<undefined> & { readonly moved?: ContractSnapshot },
  { readonly type: 'move'; readonly snapshot: ContractSnapshot; readonly event: ContractEvent }
>;

const interpreters = new WeakMap<ContractMachine, Actor<Interpreter>>();

function interpreterOf(machine: ContractMachine): Interpreter {
  const idle = { status: 'active', output: undefined, error: undefined } as const;
  return {
    transition: (_, { snapshot, event }, scope) => ({
      ...idle,
      moved: machine.transition(snapshot, event, scope as never),
    }),
    getInitialSnapshot: () => idle,
    getPersistedSnapshot: (snapshot) => snapshot,
  };
}

/** Live actors take 4 kB each, and a run may have a million contracts. */
const MOST_LIVE = 4_096;

/** The actors of a run or of a node. Beyond `MOST_LIVE` the one that started first is dropped; inspected, all stay. */
export class ContractActors {
  readonly system: ActorSystem | undefined;
  readonly #live: ContractActor[] = [];
  #started = 0;

  constructor(inspect?: Inspect) {
    this.system = inspect && new ActorSystem(inspect);
  }

  keep(actor: ContractActor): void {
    if (this.system !== undefined) return;
    const place = this.#started % MOST_LIVE;
    this.#started += 1;
    this.#live[place]?.drop();
    this.#live[place] = actor;
  }
}
