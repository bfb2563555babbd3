// The actor of a contract: it owns the state and the hold. An event goes through it in three steps, so that a transition which the
// operator refuses, or which cannot be stored, never happened:
//
//   event ─► propose: the machine, pure          ─► perform: operator, row  ─► take: the next snapshot, and what it emits
//            (snapshot, event) -> [next, effects]   refused: the snapshot stays
//
// Guards run once for a transition. The XState actor is created at the first transition, since most of many contracts never leave
// their first state; with `inspect` it starts at once and hears every request and every cycle.
import {
  type Actor,
  type AnyActorLogic,
  createActor,
  type InspectionEvent,
  type Observer,
  type SnapshotFrom,
} from 'xstate';
import type { Gate, GateActor } from '../limiter/gate.js';
import type { Plan, PlannedTransition } from '../limiter/plan.js';
import { gateFor } from '../limiter/rule-gate.js';
import { CYCLE_MS, startOf } from '../time/cycle.js';
import {
  type ContractEmitted,
  type ContractEvent,
  type ContractMachine,
  type Fire,
  machineOf,
} from './contract-machine.js';

type ContractSnapshot = SnapshotFrom<ContractMachine>;

/** Watches every message of an actor, for traces. */
export type Inspect = Observer<InspectionEvent> | ((event: InspectionEvent) => void);

/** Where an actor begins. */
interface ContractStart {
  /** Name of a state of the plan. */
  readonly state: string;
  /** No evaluation moves the contract before this cycle. */
  readonly heldUntilCycle: number;
  /** How often in a row operators have refused what triggers fired; default 0. */
  readonly refusals?: number | undefined;
}

/**
 * A refused trigger is due again after 1, 2, 4 ... cycles, and at the latest after this many: it writes a row each time. A transition that
 * is taken ends the series. Until then the contract is held.
 */
const LONGEST_BACK_OFF = 1_024;

/** A transition that the machine takes at an event, before anything has happened. */
export interface Proposal extends Next {
  readonly event: ContractEvent;
  readonly transition: PlannedTransition;
  /** The count of the trigger's window, else of the first one; 1 where the contract counts nothing. */
  readonly count: number;
}

interface Next {
  readonly next: ContractSnapshot;
  readonly emitted: readonly ContractEmitted[];
}

export class ContractActor implements GateActor {
  readonly plan: Plan;
  /** Names the actor in traces. */
  readonly id: string;
  /** Index of the state into `plan.states`. This and the hold are read from the snapshot, and from nothing else. */
  stateIndex: number;
  heldUntilCycle: number;
  /** How often in a row operators have refused what triggers fired. */
  refusals: number;
  readonly #inspect: Inspect | undefined;
  #actor: Actor<AnyActorLogic> | undefined;

  constructor(plan: Plan, id: string, start: ContractStart, inspect?: Inspect) {
    this.plan = plan;
    this.id = id;
    this.stateIndex = plan.states.findIndex(({ name }) => name === start.state);
    this.heldUntilCycle = start.heldUntilCycle;
    this.refusals = start.refusals ?? 0;
    this.#inspect = inspect;
    if (inspect !== undefined) this.#started();
  }

  /** Name of the state, for example `allowing`. */
  get state(): string {
    return this.plan.states[this.stateIndex]!.name;
  }

  /** Whether a request that finds the contract in this state is admitted. */
  get admits(): boolean {
    return this.plan.states[this.stateIndex]!.admits;
  }

  get hearsAll(): boolean {
    return this.#inspect !== undefined;
  }

  evaluate(cycle: number, counts: readonly number[]): void {
    this.send({ type: 'aggregate', cycle, counts });
  }

  /**
   * Gives the actor an event.
   * @returns `stayed`: no guard held; `refused`: a transition was due and was not performed
   * @throws the errors of guards and of `perform`; the state is then unchanged
   */
  send(event: ContractEvent): 'stayed' | 'moved' | 'refused' {
    const proposal = this.#propose(event);
    if (proposal === undefined) {
      if (this.hearsAll) this.#take(event, { next: this.#snapshot(), emitted: [] });
      return 'stayed';
    }
    if (!this.perform(proposal)) {
      if (event.type === 'aggregate') this.#backOff(event.cycle);
      return 'refused';
    }
    this.refusals = 0;
    this.#take(event, proposal);
    return 'moved';
  }

  /** What a transition entails before it is taken. False: refused, and it never happened. */
  protected perform(_proposal: Proposal): boolean {
    return true;
  }

  /** Called with what the actor emits, while it takes a transition. */
  protected published(_emitted: ContractEmitted): void {}

  #propose(event: ContractEvent): Proposal | undefined {
    const { machine, scope, effects } = logicOf(this.plan);
    effects.length = 0;
    const next = machine.transition(this.#snapshot(), event, scope) as ContractSnapshot;
    const fire = effects.find(({ type }) => type === 'fire');
    if (fire === undefined) return undefined;
    const transition = this.plan.transitions[(fire.params as Fire).transition]!;
    const emitted = effects
      .filter(({ type }) => type === 'xstate.emit')
      .map(({ params }) => (params as { event: ContractEmitted }).event);
    const count = event.type === 'refused' ? 1 : (event.counts[transition.trigger?.aggregate ?? 0] ?? 1);
    return { event, transition, count, next, emitted };
  }

  #backOff(cycle: number): void {
    this.#started().send({ type: 'refused', cycle, holdCycles: Math.min(2 ** this.refusals, LONGEST_BACK_OFF) });
    this.refusals += 1;
  }

  #take(event: ContractEvent, next: Next): void {
    this.#started().send({ ...event, [NEXT]: next });
  }

  #snapshot(): ContractSnapshot {
    if (this.#actor !== undefined) return this.#actor.getSnapshot();
    const { heldUntilCycle } = this;
    return logicOf(this.plan).machine.resolveState({
      value: this.state,
      context: { heldUntilCycle },
    }) as ContractSnapshot;
  }

  #started(): Actor<AnyActorLogic> {
    if (this.#actor !== undefined) return this.#actor;
    const inspect = this.#inspect;
    const options = { id: this.id, snapshot: this.#snapshot(), ...(inspect === undefined ? {} : { inspect }) };
    const actor = createActor(logicOf(this.plan).logic, options);
    actor.on('*', (emitted) => this.published(emitted as unknown as ContractEmitted));
    actor.subscribe((snapshot: ContractSnapshot) => {
      this.stateIndex = this.plan.states.findIndex(({ name }) => name === snapshot.value);
      this.heldUntilCycle = snapshot.context.heldUntilCycle;
    });
    this.#actor = actor;
    return actor.start();
  }
}

/**
 * A gate to embed: it counts and decides as a contract of the node does, in memory, without operators and without a record. Time is
 * passed in: `makeGate(plan, cycleOf(now, CYCLE_MS)).decide(1, cycleOf(now, CYCLE_MS))` is how many of one request are admitted.
 * @param cycle the cycle at which the gate begins
 * @param inspect hears every request and every cycle, for traces
 * @param cycleMs length of a cycle in ms, for a plan with a rule. Default: 777
 */
export function makeGate(plan: Plan, cycle: number, inspect?: Inspect, cycleMs = CYCLE_MS): Gate {
  const state = plan.states[plan.initial]!.name;
  const actor = new ContractActor(plan, plan.definition.name, { state, heldUntilCycle: cycle }, inspect);
  return gateFor(plan, cycle, { cycleMs, nowMs: startOf(cycle, cycleMs) }, actor);
}

/** Key of an event under which a running actor finds what the machine made of it: the guards are not asked again. */
const NEXT = Symbol('next');

interface Effect {
  readonly type: string;
  readonly params: unknown;
}

interface Logic {
  readonly machine: ContractMachine;
  /** The machine as the logic of a running actor, which takes what was proposed and performed. */
  readonly logic: AnyActorLogic;
  /** Collects the effects of a pure transition. `transition()` of XState makes one anew each time, and takes ten times as long. */
  readonly scope: Parameters<ContractMachine['transition']>[2];
  readonly effects: Effect[];
}

const logics = new WeakMap<Plan, Logic>();

function logicOf(plan: Plan): Logic {
  const known = logics.get(plan);
  if (known !== undefined) return known;
  const machine = machineOf(plan);
  const effects: Effect[] = [];
  const self = createActor(machine);
  const scope = {
    self,
    system: self.system,
    id: '',
    sessionId: '',
    logger: () => {},
    defer: () => {},
    emit: () => {},
    stopChild: () => {},
    actionExecutor: (effect: Effect) => effects.push(effect),
  } as unknown as Logic['scope'];
  const logic = Object.create(machine, {
    transition: {
      value: (snapshot: ContractSnapshot, event: ContractEvent & { [NEXT]?: Next }, actor: Logic['scope']) => {
        const taken = event[NEXT];
        if (taken === undefined) return machine.transition(snapshot, event, actor as never);
        for (const emitted of taken.emitted) actor.emit(emitted as never);
        return taken.next;
      },
    },
  }) as AnyActorLogic;
  const made = { machine, logic, scope, effects };
  logics.set(plan, made);
  return made;
}
