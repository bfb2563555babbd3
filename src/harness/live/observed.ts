// The observed arm of a live run: rows in the shape that a simulation gives, and the reaction times of the target.
import type { Plan } from '../../core/limiter/plan.js';
import { copyOf, LIMITED } from '../../core/limiter/rule/rule.js';
import { cycleOf, startOf } from '../../core/time/cycle.js';
import { byContract, type SeenRequest } from '../explain/seen-request.js';
import { costTally } from '../outcome/cost-tally.js';
import { type CycleRow, RowBuilder, type RunShape, shapeOf } from '../outcome/cycle-row.js';
import type { Past } from '../outcome/interval-figures.js';
import type { Reaction, TransitionSeen } from '../outcome/outcome-schema.js';
import { RunFold } from '../outcome/run-fold.js';
import type { ReceivedEvent } from './event-listener.js';
import type { Model, ModelOptions } from './model.js';
import type { EndedRequest, RequestLog } from './request-log.js';

interface Observed {
  readonly names: readonly string[];
  readonly plan: Plan;
  /** Whether the target reports transitions; otherwise they are derived from its decisions. */
  readonly reports: boolean;
  readonly levels?: readonly (ReadonlyMap<number, number> | undefined)[] | undefined;
  readonly costs?: { readonly unit: string; readonly cycleMs: number } | undefined;
}

export class ObservedRows<About extends object = object> {
  readonly run: RunShape & About;
  readonly #observed: Observed;
  readonly #builder: RowBuilder<RunShape & About>;
  readonly #states: { readonly name: string; readonly admits: boolean }[];
  /** By contract: count in the window, last cycle with requests, and the state derived from decisions. */
  readonly #windows: number[];
  readonly #lastRequests: number[] = [];
  readonly #shown: string[] = [];
  /** The first `#gone` entries have left their windows; the first `#moved` transitions are in rows. */
  readonly #counted: EndedRequest[] = [];
  #gone = 0;
  readonly #transitions: (readonly [contract: number, transition: TransitionSeen])[] = [];
  #moved = 0;

  constructor(observed: Observed, about: About) {
    const { names, plan, costs } = observed;
    const shape = shapeOf(names, plan);
    this.#observed = observed;
    this.#states = [...shape.states];
    this.#windows = names.map(() => 0);
    this.run = { ...shape, states: this.#states, costs: costs && costTally(costs.unit), ...about };
    this.#builder = new RowBuilder(this.run);
  }

  moved(contract: number, transition: TransitionSeen): void {
    this.#transitions.push([contract, transition]);
  }

  /** Cycles close in order. @param answered counted in the cycle */
  close(cycle: number, answered: readonly EndedRequest[]): CycleRow<RunShape & About> {
    const { plan, reports, levels } = this.#observed;
    const within = windowOf(plan);
    const changed = new Set<number>();
    for (; this.#gone < this.#counted.length; this.#gone += 1) {
      const { cycle: counted, contract, cost = 1 } = this.#counted[this.#gone]!;
      if (counted + within > cycle) break;
      this.#windows[contract]! -= cost;
      changed.add(contract);
    }
    levels?.forEach((own, contract) => {
      if (own !== undefined && own.get(cycle) !== (own.get(cycle - 1) ?? 0)) changed.add(contract);
    });
    const stated = new Map<number, number>();
    for (const request of answered) {
      const { contract, count = -1 } = request;
      changed.add(contract);
      this.#count(request);
      if (count >= 0) stated.set(contract, Math.max(count, stated.get(contract) ?? 0));
    }
    const countOf = (contract: number) =>
      levels?.[contract]?.get(cycle) ?? stated.get(contract) ?? this.#windows[contract]!;
    const due: (readonly [contract: number, transition: TransitionSeen])[] = [];
    for (; (this.#transitions[this.#moved]?.[1].cycle ?? Number.POSITIVE_INFINITY) <= cycle; this.#moved += 1)
      due.push(this.#transitions[this.#moved]!);
    if (!reports)
      for (const [contract, to] of this.#movesIn(answered))
        due.push([contract, { cycle, to, count: countOf(contract) }]);
    for (const [contract] of due) changed.add(contract);
    for (const contract of changed) this.#builder.counted(contract, countOf(contract));
    for (const [contract, { to, count }] of due.sort(([a], [b]) => a - b))
      this.#builder.moved(contract, this.#stateOf(to), count, this.#lastRequests[contract]);
    for (const { contract } of answered) this.#lastRequests[contract] = cycle;
    return this.#builder.take(cycle);
  }

  #count(request: EndedRequest): void {
    const { costs } = this.#observed;
    const { cycle, contract, cost = 1, decision, delayMs } = request;
    const isAdmitted = decision === 'admitted';
    this.#windows[contract]! += cost;
    this.#counted.push(request);
    this.#builder.requested(contract, 1, isAdmitted ? 1 : 0);
    if (delayMs !== undefined) this.#builder.delayed(delayMs);
    if (costs !== undefined) this.run.costs?.add(cost, isAdmitted, startOf(cycle, costs.cycleMs));
  }

  /** Admitted answers are taken to come first. */
  #movesIn(answered: readonly EndedRequest[]): [contract: number, to: string][] {
    const { states, initial } = this.#observed.plan;
    const open = states[initial]!.name;
    const shut = states.find(({ admits }) => !admits)?.name ?? open;
    return (['admitted', 'limited'] as const).flatMap((which) =>
      answered.flatMap(({ contract, decision }): [number, string][] => {
        const to = which === 'admitted' ? open : shut;
        if (decision !== which || (this.#shown[contract] ?? open) === to) return [];
        this.#shown[contract] = to;
        return [[contract, to]];
      }),
    );
  }

  /** A target may report states that the plan does not have; they admit nothing. */
  #stateOf(name: string): number {
    const known = this.#states.findIndex((state) => state.name === name);
    return known >= 0 ? known : this.#states.push({ name, admits: false }) - 1;
  }
}

function windowOf({ aggregates }: Plan): number {
  return aggregates[0]?.within ?? 1;
}

interface Observation extends ModelOptions {
  readonly requestLog: RequestLog;
  readonly transitions: readonly (readonly TransitionSeen[])[] | undefined;
}

export function observedFold(observation: Observation): RunFold {
  const { names, plan, costUnit, cycleMs, firstCycle, lastCycle, requestLog, transitions } = observation;
  const levels =
    plan.rule && byContract(requestLog.seen, names.length).map((own) => observedLevels(own, plan, observation));
  const costs = costUnit === undefined ? undefined : { unit: costUnit, cycleMs };
  const rows = new ObservedRows({ names, plan, reports: transitions !== undefined, levels, costs }, {});
  const fold = new RunFold(rows.run);
  const answeredIn = (cycle: number) => requestLog.byCycle.get(cycle)?.answered ?? [];
  const cycles = new Set<number>();
  for (const cycle of requestLog.byCycle.keys())
    if (answeredIn(cycle).length > 0) cycles.add(cycle).add(cycle + windowOf(plan));
  const moves = (transitions ?? []).flatMap((own, contract) => own.map((one) => [contract, one] as const));
  for (const [contract, one] of moves.sort(([, a], [, b]) => a.cycle - b.cycle)) {
    if (one.cycle < firstCycle) continue;
    rows.moved(contract, one);
    cycles.add(one.cycle);
  }
  for (const own of levels ?? []) {
    let before = 0;
    for (const [cycle, level] of own ?? []) {
      if (level !== before) cycles.add(cycle);
      before = level;
    }
  }
  const inOrder = [...cycles].filter((cycle) => cycle >= firstCycle && cycle <= lastCycle).sort((a, b) => a - b);
  for (const cycle of inOrder) fold.next(rows.close(cycle, answeredIn(cycle)));
  return fold;
}

//   entry     request that trips ──► 429                        reaction_ms
//                                └─► rate_limited received      event_ms
//   restore   the cycle begins in which the window has room ──► rate_restored received     restore_event_ms
//                                                           └─► first admitted answer      restore_ms (needs a request)

type EventHeard = Pick<ReceivedEvent, 'event' | 'cycle' | 'to' | 'atMs'>;

/** @param past of the observed fold @param events by contract; undefined if there was no listener */
export function reactionsIn(
  { names, requestLog, lastCycle, cycleMs }: Observation,
  { transitions, admits }: Past,
  model: Model,
  events: readonly (readonly EventHeard[])[] | undefined,
): Reaction[] {
  const answered = requestLog.requests.filter(({ cycle, fault }) => fault === undefined && cycle <= lastCycle);
  const each = byContract(answered, names.length);
  const reactions = names.flatMap((contract, index) => {
    const own = each[index]!.sort((a, b) => a.cycle - b.cycle);
    const entries = model.transitions[index]!.filter(({ to }) => !admits(to)).map(({ cycle }) => cycle);
    const heard = (events?.[index] ?? []).filter(({ event }) => event !== 'transition');
    return transitions[index]!.flatMap(({ cycle, to }, k, all): Reaction[] => {
      if (admits(to)) return [];
      const restoreCycle = all.slice(k + 1).find((one) => admits(one.to))?.cycle;
      const heardMs = (at: number | undefined, isOpen: boolean) =>
        heard.find((one) => one.cycle === at && admits(one.to) === isOpen)?.atMs;
      const entryCycle = entries.findLast((entry) => entry <= cycle) ?? cycle;
      return [
        {
          contract,
          entry_cycle: entryCycle,
          reaction_cycles: Math.max(0, cycle - entryCycle),
          ...enteredIn(own, cycle, restoreCycle, heardMs(cycle, false)),
          restore_cycle: restoreCycle ?? null,
          recovery_cycles: null,
          ...(restoreCycle !== undefined &&
            restoredIn(own, restoreCycle, startOf(restoreCycle, cycleMs), heardMs(restoreCycle, true))),
        },
      ];
    });
  });
  return reactions.sort((a, b) => a.entry_cycle - b.entry_cycle);
}

const since = (fromMs: number | undefined, atMs: number | undefined) =>
  fromMs === undefined || atMs === undefined ? null : Math.max(0, atMs - fromMs);

/** The entry in the first cycle with a refusal: the one with the least count trips, the one that came first shows it. */
function enteredIn(answered: readonly EndedRequest[], from: number, to = Number.POSITIVE_INFINITY, heardMs?: number) {
  const refused = answered.filter(({ cycle, decision }) => cycle >= from && cycle <= to && decision === 'limited');
  const [first] = refused;
  const trip = refused.reduce(
    (least, one) => (one.cycle === first?.cycle && (one.count ?? 0) < (least?.count ?? 0) ? one : least),
    first,
  );
  return { reaction_ms: since(trip?.sentMs, first?.answeredMs), event_ms: since(trip?.sentMs, heardMs) };
}

function restoredIn(answered: readonly EndedRequest[], restoreCycle: number, fromMs: number, heardMs?: number) {
  const last = answered.findLast(({ cycle }) => cycle < restoreCycle);
  const served = answered.find(({ cycle, decision }) => cycle >= restoreCycle && decision === 'admitted');
  return {
    recovery_cycles: last === undefined ? null : restoreCycle - last.cycle,
    restore_ms: since(fromMs, served?.answeredMs),
    restore_event_ms: since(fromMs, heardMs),
  };
}

// The level of a rule at a target, cycle by cycle, derived from the observed answers.
//
//   observed admitted    charged; a target that admits more than the rule rises above the level
//   observed limited     treated as the rule treats refused requests; ignored if the rule would have admitted it

/** Maximum per cycle, for one contract; undefined for a limiter that counts over windows, and for a rule that admits all. */
export function observedLevels(
  seen: readonly SeenRequest[],
  { rule: planned }: Plan,
  { firstCycle, lastCycle, cycleMs }: { firstCycle: number; lastCycle: number; cycleMs: number },
): ReadonlyMap<number, number> | undefined {
  if (planned === undefined || !Number.isFinite(planned.most)) return undefined;
  const { rule, most, holdMs } = planned;
  const inOrder = seen.filter(({ decision }) => decision !== 'unknown').sort((a, b) => a.sentMs - b.sentMs);
  let state = rule.fresh(startOf(firstCycle, cycleMs));
  const levels = new Map<number, number>();
  let place = 0;
  for (let cycle = firstCycle; cycle <= lastCycle; cycle += 1) {
    let level = most - rule.remaining(state, startOf(cycle, cycleMs));
    let above = 0;
    for (; place < inOrder.length && cycleOf(inOrder[place]!.sentMs, cycleMs) <= cycle; place += 1) {
      const { sentMs, decision, cost = 1 } = inOrder[place]!;
      const next = copyOf(state);
      const isLimited = rule.admit(next, sentMs, cost, holdMs) === LIMITED;
      if (decision === 'admitted' && isLimited) above += cost;
      else if ((decision === 'limited') === isLimited) state = next;
      level = Math.max(level, most - rule.remaining(state, sentMs));
    }
    levels.set(cycle, level + above);
  }
  return levels;
}
