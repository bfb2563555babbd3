// The observed arm of a live run: what was seen of the target as rows, one a cycle, in the shape that a simulation gives; and how long
// the target took to react.
import { defer, from, map, type Observable } from 'rxjs';
import type { Plan } from '../limiter/plan.js';
import { CostTally } from '../outcome/cost-tally.js';
import { type CycleRow, RowBuilder, type RunShape, shapeOf } from '../outcome/cycle-row.js';
import type { Reaction, TransitionSeen } from '../outcome/outcome-schema.js';
import { startOf } from '../time/cycle.js';
import { type Cell, costsOf } from './request-log.js';

export interface Observation {
  readonly names: readonly string[];
  readonly plan: Plan;
  readonly firstCycle: number;
  readonly lastCycle: number;
  readonly cells: readonly Cell[];
  /** By contract, as the target reported them; undefined where it does not: then they follow from its decisions. */
  readonly transitions: readonly (readonly TransitionSeen[])[] | undefined;
  /** By contract, of every cycle: in place of counts over windows. Default: there are windows. */
  readonly levels?: readonly (ReadonlyMap<number, number> | undefined)[] | undefined;
  /** Undefined where every request costs 1. */
  readonly costs?: { readonly unit: string; readonly cycleMs: number } | undefined;
}

export function cellsByContract({ names, cells, lastCycle }: Observation): Cell[][] {
  const all = names.map((): Cell[] => []);
  for (const cell of cells) if (cell.cycle <= lastCycle) all[cell.contract]!.push(cell);
  return all;
}

/** The run as rows, and what they refer to. Everything has been seen: a subscriber is given all rows at once. */
export function observedRows(observation: Observation): {
  readonly run: RunShape;
  readonly rows: Observable<CycleRow>;
} {
  const { names, plan, firstCycle, lastCycle, levels, costs: priced } = observation;
  const within = plan.aggregates[0]?.within ?? 1;
  const cellsOf = cellsByContract(observation);
  const windowOf = (contract: number) => new WindowSeen(cellsOf[contract]!, within, levels?.[contract]);
  const transitionsOf = observation.transitions ?? cellsOf.map((cells, k) => movesIn(cells, plan, windowOf(k)));
  const costs = priced && new CostTally(priced.unit);
  const run = { ...withStatesIn(transitionsOf, shapeOf(names, plan)), costs };
  const rows = defer(() => {
    const changes = new Map<number, Map<number, Change>>();
    const changeOf = (cycle: number, contract: number): Change => {
      const contracts = changes.get(cycle) ?? new Map<number, Change>();
      changes.set(cycle, contracts);
      const change = contracts.get(contract) ?? { cell: undefined, transitions: [] };
      contracts.set(contract, change);
      return change;
    };
    for (const [contract, cells] of cellsOf.entries()) {
      for (const cell of cells) {
        changeOf(cell.cycle, contract).cell = cell;
        changeOf(cell.cycle + within, contract);
      }
      for (const one of transitionsOf[contract]!) changeOf(one.cycle, contract).transitions.push(one);
      let before = 0;
      for (const [cycle, level] of levels?.[contract] ?? []) {
        if (level !== before) changeOf(cycle, contract);
        before = level;
      }
    }
    const windows = cellsOf.map((_, contract) => windowOf(contract));
    const builder = new RowBuilder(run);
    const lastRequests: number[] = [];
    const cycles = [...changes.keys()].filter((cycle) => cycle >= firstCycle && cycle <= lastCycle);
    return from(cycles.sort((a, b) => a - b)).pipe(
      map((cycle) => {
        const contracts = [...changes.get(cycle)!].sort(([a], [b]) => a - b);
        for (const [contract, { cell, transitions }] of contracts) {
          if (cell !== undefined) {
            builder.requested(contract, cell.answers.length, admittedIn(cell));
            for (const { delayMs, cost = 1, admitted } of cell.answers) {
              if (delayMs !== undefined) builder.delayed(delayMs);
              costs?.add(cost, admitted, startOf(cycle, priced!.cycleMs));
            }
          }
          builder.counted(contract, windows[contract]!.countAt(cycle));
          for (const { to, count } of transitions) {
            const state = run.states.findIndex(({ name }) => name === to);
            builder.moved(contract, state, count, lastRequests[contract]);
          }
          if (cell !== undefined) lastRequests[contract] = cycle;
        }
        return builder.take(cycle);
      }),
    );
  });
  return { run, rows };
}

/** What changed at a contract in a cycle; without a cell and transitions, requests have left its window. */
interface Change {
  cell: Cell | undefined;
  readonly transitions: TransitionSeen[];
}

/** A target may report states that the plan does not have; they admit nothing. */
function withStatesIn(transitions: readonly (readonly TransitionSeen[])[], run: RunShape): RunShape {
  const known = new Set(run.states.map(({ name }) => name));
  const others = new Set(transitions.flat().flatMap(({ to }) => (known.has(to) ? [] : [to])));
  return { ...run, states: [...run.states, ...[...others].map((name) => ({ name, admits: false }))] };
}

/** The transitions of a target that reports none: it limits, it admits again. */
function movesIn(cells: readonly Cell[], plan: Plan, window: WindowSeen): TransitionSeen[] {
  const open = plan.states[plan.initial]!.name;
  const shut = plan.states.find(({ admits }) => !admits)?.name ?? open;
  const moves: TransitionSeen[] = [];
  let state = open;
  for (const { cycle, answers } of cells) {
    const move = (to: string) => {
      if (state === to) return;
      state = to;
      moves.push({ cycle, to, count: window.countAt(cycle) });
    };
    if (answers.some(({ admitted }) => admitted)) move(open);
    if (answers.some(({ admitted }) => !admitted)) move(shut);
  }
  return moves;
}

/** The count of a window: as the target stated it at the end of the cycle, or else by what was seen to arrive. */
class WindowSeen {
  readonly #stated = new Map<number, number>();
  readonly #cycles: number[] = [];
  /** `#upTo[i]` requests were seen in the first i cycles. */
  readonly #upTo: number[] = [0];
  readonly #within: number;
  readonly #levels: ReadonlyMap<number, number> | undefined;

  constructor(cells: readonly Cell[], within: number, levels: ReadonlyMap<number, number> | undefined) {
    this.#within = within;
    this.#levels = levels;
    for (const { cycle, answers } of cells) {
      this.#cycles.push(cycle);
      this.#upTo.push(this.#upTo.at(-1)! + costsOf(answers));
      const stated = answers.reduce((most, { count = -1 }) => Math.max(most, count), -1);
      if (stated >= 0) this.#stated.set(cycle, stated);
    }
  }

  countAt(cycle: number): number {
    return (
      this.#levels?.get(cycle) ??
      this.#stated.get(cycle) ??
      this.#upTo[this.#before(cycle + 1)]! - this.#upTo[this.#before(cycle + 1 - this.#within)]!
    );
  }

  #before(cycle: number): number {
    let low = 0;
    let high = this.#cycles.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.#cycles[middle]! < cycle) low = middle + 1;
      else high = middle;
    }
    return low;
  }
}

function admittedIn({ answers }: Cell): number {
  return answers.reduce((sum, { admitted }) => sum + (admitted ? 1 : 0), 0);
}

//   entry     request that trips ──► 429                        reaction_ms
//                                └─► rate_limited received      event_ms
//   restore   the cycle begins in which the window has room ──► rate_restored received     restore_event_ms
//                                                           └─► first admitted answer      restore_ms (needs a request)

export interface EventHeard {
  readonly cycle: number;
  readonly to: string;
  /** Unix ms by the clock of the run. */
  readonly atMs: number;
}

export interface Reacted {
  readonly name: string;
  /** As the target reported them, in order of cycle. */
  readonly transitions: readonly TransitionSeen[];
  /** As the model has them: when the window first held too much. */
  readonly modelled: readonly TransitionSeen[];
  readonly cells: readonly Cell[];
  readonly events: readonly EventHeard[];
  readonly admits: (state: string) => boolean;
  readonly cycleMs: number;
}

/** One for each entry of a contract that was seen, in order of cycle. */
export function reactionsOf(reacted: Reacted): Reaction[] {
  const { transitions, admits } = reacted;
  const reactions: Reaction[] = [];
  transitions.forEach(({ cycle, to }, index) => {
    if (admits(to)) return;
    const restore = transitions.slice(index + 1).find((one) => admits(one.to));
    reactions.push(reactionOf(reacted, cycle, restore?.cycle));
  });
  return reactions;
}

function reactionOf(reacted: Reacted, seenCycle: number, restoreCycle: number | undefined): Reaction {
  const { name, cells, events, admits, cycleMs } = reacted;
  const entryCycle = entryFor(reacted, seenCycle);
  const shut = cells.filter(({ cycle }) => cycle >= seenCycle && (restoreCycle === undefined || cycle <= restoreCycle));
  const limited = shut.find(({ firstLimitedMs }) => firstLimitedMs !== undefined);
  const tripMs = limited?.trip?.sentMs;
  const heardMs = events.find(({ cycle, to }) => cycle === seenCycle && !admits(to))?.atMs;
  const since = (fromMs: number | undefined, atMs: number | undefined) =>
    fromMs === undefined || atMs === undefined ? null : Math.max(0, atMs - fromMs);
  const reaction: Reaction = {
    contract: name,
    entry_cycle: entryCycle,
    reaction_cycles: Math.max(0, seenCycle - entryCycle),
    reaction_ms: since(tripMs, limited?.firstLimitedMs),
    event_ms: since(tripMs, heardMs),
    restore_cycle: restoreCycle ?? null,
    recovery_cycles: null,
  };
  if (restoreCycle === undefined) return reaction;
  const last = cells.findLast(({ cycle }) => cycle < restoreCycle);
  const fromMs = startOf(restoreCycle, cycleMs);
  const restored = events.find(({ cycle, to }) => cycle === restoreCycle && admits(to));
  const served = cells.find(({ cycle, firstAdmittedMs }) => cycle >= restoreCycle && firstAdmittedMs !== undefined);
  return {
    ...reaction,
    recovery_cycles: last === undefined ? null : restoreCycle - last.cycle,
    restore_ms: since(fromMs, served?.firstAdmittedMs),
    restore_event_ms: since(fromMs, restored?.atMs),
  };
}

/** The entry of the model that this one answers: the last at or before it that is not answered by an earlier one. */
function entryFor({ modelled, admits }: Reacted, seenCycle: number): number {
  const entry = modelled.findLast(({ cycle, to }) => !admits(to) && cycle <= seenCycle);
  return entry?.cycle ?? seenCycle;
}
