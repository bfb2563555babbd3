// The state of a contract, moved by an XState actor of its machine.
//
//   record   ─ a guard could hold ─►   the guards of the machine   ─ a transition is due, fired and written ─►   the actor takes it
//     ▲                                                                                                              │
//     └──────────────────────────────────────── its snapshot, written back ─────────────────────────────────────────┘
//
// The record is the persisted snapshot: an actor starts from it with the first move, and may be dropped after any. The records of keys,
// of which many move once, are moved by the same logic without actors of their own.
import { type Actor, createActor, type SnapshotFrom } from 'xstate';
import { getOrInsert } from '../math/get-or-insert.js';
import { type ActorSystem, actorSystem, type Inspect } from './actor-system.js';
import { type ContractMachine, machineOfPlan } from './contract-machine.js';
import type { ContractEmitted, ContractEvent, Fire, Held } from './guards.js';
import type { CompiledTransition, Plan } from './plan.js';

/** What a contract keeps of its actor: the value and the context of the snapshot. */
export interface ContractRecord extends Held {
  /** Index into the states of the plan. */
  state: number;
  heldUntilCycle: number;
  refusals: number;
}

type ContractSnapshot = SnapshotFrom<ContractMachine>;

/** What the machine would do with an event. Nothing has moved yet. */
interface Step {
  readonly snapshot: ContractSnapshot;
  /** Undefined for a refusal. */
  readonly transition: CompiledTransition | undefined;
  readonly emitted: readonly ContractEmitted[];
}

export class ContractActor {
  readonly #record: ContractRecord;
  readonly #plan: Plan;
  readonly #name: string;
  readonly #actors: ContractActors | undefined;
  #actor: Actor<ContractMachine> | undefined;
  #snapshot: ContractSnapshot | undefined;

  /** @param actors undefined for a short life, as that of a key: without an actor of its own */
  constructor(plan: Plan, record: ContractRecord, actors?: ContractActors, name = plan.definition.name) {
    this.#plan = plan;
    this.#record = record;
    this.#actors = actors;
    this.#name = name;
    if (actors?.system !== undefined) this.#started(actors);
  }

  due(event: ContractEvent): Step | undefined {
    return logicOf(this.#plan).step(this.#present(), event);
  }

  take(event: ContractEvent): void {
    this.#snapshot = this.#moved(event);
    const { value, context } = this.#snapshot;
    this.#record.state = this.#plan.states.findIndex(({ name }) => name === value);
    this.#record.heldUntilCycle = context.heldUntilCycle;
    this.#record.refusals = context.refusals;
  }

  drop(): void {
    this.#actor = undefined;
    this.#snapshot = undefined;
  }

  #present(): ContractSnapshot {
    this.#snapshot ??= logicOf(this.#plan).snapshotOf(this.#record);
    return this.#snapshot;
  }

  #moved(event: ContractEvent): ContractSnapshot {
    if (this.#actors === undefined) return logicOf(this.#plan).step(this.#present(), event)!.snapshot;
    const actor = this.#started(this.#actors);
    if (this.#actors.system === undefined) actor.send(event);
    else this.#actors.system.send('gate', actor, event);
    return actor.getSnapshot();
  }

  #started(actors: ContractActors): Actor<ContractMachine> {
    if (this.#actor !== undefined) return this.#actor;
    const { machine } = logicOf(this.#plan);
    const snapshot = this.#present();
    const actor = actors.system?.addContract(this.#name, machine, snapshot) ?? createActor(machine, { snapshot });
    this.#actor = actor.start();
    actors.keep(this);
    return this.#actor;
  }
}

const logics = new WeakMap<Plan, ContractLogic>();

function logicOf(plan: Plan): ContractLogic {
  return getOrInsert(logics, plan, () => contractLogic(plan));
}

type ContractLogic = ReturnType<typeof contractLogic>;

/** The machine of a plan, as the logic of actors: what it would do with an event is worked out once, and taken by the actor as it is. */
function contractLogic(plan: Plan) {
  const resting = new Map<string, ContractSnapshot>();
  let last: { readonly snapshot?: ContractSnapshot; readonly event?: ContractEvent; readonly step?: Step | undefined } =
    {};
  const moves = machineOfPlan(plan);
  const context = { heldUntilCycle: Number.MIN_SAFE_INTEGER, refusals: 0 };
  for (const { name } of plan.states) resting.set(name, moves.resolveState({ value: name, context }));
  const transition: ContractMachine['transition'] = (snapshot, event, { emit }) => {
    const taken = step(snapshot, event);
    if (taken === undefined) return snapshot;
    for (const one of taken.emitted) emit(one);
    return taken.snapshot;
  };
  const restoreSnapshot = (snapshot: unknown) => snapshot;
  const machine: ContractMachine = Object.assign(Object.create(moves), { transition, restoreSnapshot });
  const stepOn = (snapshot: ContractSnapshot, event: ContractEvent): Step | undefined => {
    const [taken] = moves.getTransitionData(snapshot, event);
    if (taken === undefined || taken.actions.length === 0) return undefined;
    let transition: CompiledTransition | undefined;
    const emitted: ContractEmitted[] = [];
    const actionExecutor = ({ type, params }: Done) => {
      if (type === 'fire') transition = plan.transitions[params.transition];
      else if (type === 'xstate.emit') emitted.push(params.event);
    };
    const scope = { self: nobody, system: nobody, defer: nothing, actionExecutor };
    return { snapshot: moves.transition(snapshot, event, scope as never), transition, emitted };
  };
  /** Undefined if nothing moves. */
  const step = (snapshot: ContractSnapshot, event: ContractEvent): Step | undefined => {
    // An actor takes the event that it was asked about.
    if (last.snapshot !== snapshot || last.event !== event) last = { snapshot, event, step: stepOn(snapshot, event) };
    return last.step;
  };
  return {
    machine,
    step,
    snapshotOf({ state, heldUntilCycle, refusals }: ContractRecord): ContractSnapshot {
      return { ...resting.get(plan.states[state]!.name)!, context: { heldUntilCycle, refusals } };
    },
  };
}

/** An action as XState carries it out. */
type Done =
  | { readonly type: 'fire'; readonly params: Fire }
  | { readonly type: 'xstate.emit'; readonly params: { readonly event: ContractEmitted } };

const nothing = () => {};
/** Whom no event of an inspection reaches. */
const nobody = { _sendInspectionEvent: nothing };

/** Live actors take 4 kB each, and a run may have a million contracts. */
const MOST_LIVE = 4_096;

/** The actors of a run or of a node. Beyond `MOST_LIVE` the one that started first is dropped; inspected, all stay. */
export class ContractActors {
  readonly system: ActorSystem | undefined;
  readonly #live: ContractActor[] = [];
  #started = 0;

  constructor(inspect?: Inspect) {
    this.system = inspect && actorSystem(inspect);
  }

  keep(actor: ContractActor): void {
    if (this.system !== undefined) return;
    const place = this.#started % MOST_LIVE;
    this.#started += 1;
    this.#live[place]?.drop();
    this.#live[place] = actor;
  }
}
