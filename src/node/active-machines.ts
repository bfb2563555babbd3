// Ranks public machines by recent transitions, counted as rows become durable, then by limiting contracts. Private ones are not counted.
//
//   one machine   cycle   100  103  104          transitions of cycles a .. b = difference of two sums:
//                 sum      1    4    6           a look-up costs O(log cycles), a transition O(1)
import type { Static } from 'typebox';
import { type listActive, STRETCHES } from '../api/machines.js';
import { LONGEST_WINDOW, WINDOWS } from '../api/windows.js';
import { firstIndex } from '../core/math/first-index.js';
import { getOrInsert } from '../core/math/get-or-insert.js';
import type { AuditRow } from '../core/record/row.js';
import type { Frozen } from '../core/schema/json-schema.js';
import type { Host } from './host/host.js';
import type { Machine } from './host/machine.js';
import type { Store } from './store/store.js';

type ActiveMachine = Frozen<Static<(typeof listActive.answers)[200]['schema']>>['machines'][number];

const PAGE = 500;

const MOST = 100;

export class ActiveMachines {
  readonly #host: Host;
  /** Whether states of contracts are in this process. */
  readonly knowsStates: boolean;
  readonly #activity = new Map<Machine, Activity>();
  /** By contract: in how many places it limits, itself or its keys, by durable rows. */
  readonly #limiting = new Map<Machine, Map<string, number>>();
  readonly #rankings = new Map<number, readonly ActiveMachine[]>();
  #rankedCycle = Number.NaN;

  constructor(host: Host, knowsStates = true) {
    this.#host = host;
    this.knowsStates = knowsStates;
    host.changes.subscribe(({ kind, machine }) => {
      if (kind !== 'machine_deleted') return;
      this.#activity.delete(machine);
      this.#limiting.delete(machine);
      this.#rankedCycle = Number.NaN;
    });
  }

  /** Counts the stored rows of the last cycles, reading few others; rows that are not durable yet come by `take`. */
  load(store: Store, cycle: number): void {
    const fromCycle = cycle - LONGEST_WINDOW + 1;
    for (const machine of this.#host.machines.values()) {
      const { slug, image, durableSeq, contracts } = machine;
      if (!image.isPublic) continue;
      if (this.knowsStates) for (const { id, limiting } of contracts) this.#limits(machine, id, () => limiting);
      const removed = store.cut(slug)?.removed_to_seq ?? 0;
      let afterSeq = durableSeq;
      for (let isInside = true; isInside && afterSeq > removed; ) {
        afterSeq = Math.max(removed, afterSeq - PAGE);
        const [first] = store.rows(slug, { afterSeq, limit: 1 });
        isInside = first !== undefined && first.cycle >= fromCycle;
      }
      while (afterSeq < durableSeq) {
        const rows = store.rows(slug, { afterSeq, limit: Math.min(PAGE, durableSeq - afterSeq) });
        for (const row of rows) this.#count(machine, row);
        afterSeq = rows.at(-1)?.seq ?? durableSeq;
      }
    }
  }

  take(row: AuditRow): void {
    const machine = this.#host.machines.get(row.machine);
    if (machine === undefined || !machine.image.isPublic) return;
    this.#follow(machine, row);
    this.#count(machine, row);
  }

  #follow(machine: Machine, { kind, contract_id: id, from, to, resets }: AuditRow): void {
    if (id === undefined || !this.knowsStates) return;
    if (kind === 'contract_deleted') this.#limits(machine, id, () => 0);
    const contract = this.#host.contracts.get(id);
    if (contract === undefined || kind === 'transition_failed') return;
    const limits = (name: string | undefined) =>
      contract.plan.states.find((state) => state.name === name)?.admits === false ? 1 : 0;
    // Idempotent for a contract without keys; with keys, each key counts, until a change lets all begin anew.
    const isOne = contract.image.keyed === undefined || resets === true;
    this.#limits(machine, id, (before) => (isOne ? limits(to) : Math.max(0, before + limits(to) - limits(from))));
  }

  #limits(machine: Machine, id: string, change: (before: number) => number): void {
    const ofMachine = this.#limiting.get(machine) ?? new Map<string, number>();
    const limiting = change(ofMachine.get(id) ?? 0);
    if (limiting === 0) ofMachine.delete(id);
    else ofMachine.set(id, limiting);
    if (ofMachine.size === 0) this.#limiting.delete(machine);
    else this.#limiting.set(machine, ofMachine);
    this.#rankedCycle = Number.NaN;
  }

  #count(machine: Machine, row: AuditRow): void {
    if (row.kind !== 'transition') return;
    const activity = getOrInsert(this.#activity, machine, () => new Activity());
    activity.add(row.cycle);
    this.#rankedCycle = Number.NaN;
  }

  /** In cycles `cycle - within + 1 .. cycle`, at most LONGEST_WINDOW: by transitions, limiting contracts, slug. */
  top(cycle: number, within: number, limit: number): readonly ActiveMachine[] {
    if (cycle !== this.#rankedCycle) {
      this.#rankings.clear();
      this.#rankedCycle = cycle;
    }
    const ranking = getOrInsert(this.#rankings, within, () => this.#rank(cycle, within));
    return ranking.slice(0, limit);
  }

  #rank(cycle: number, within: number): readonly ActiveMachine[] {
    const found: Ranked[] = [];
    for (const machine of new Set([...this.#activity.keys(), ...this.#limiting.keys()])) {
      const activity = this.#activity.get(machine) ?? none;
      const transitions = activity.since(cycle - within + 1);
      const limiting = this.knowsStates ? (this.#limiting.get(machine)?.size ?? 0) : undefined;
      if (transitions > 0 || limiting) found.push({ machine, activity, transitions, limiting });
    }
    found.sort(
      (a, b) =>
        b.transitions - a.transitions ||
        (b.limiting ?? 0) - (a.limiting ?? 0) ||
        (a.machine.slug < b.machine.slug ? -1 : 1),
    );
    return found.slice(0, MOST).map((ranked) => viewOf(ranked, cycle, within));
  }
}

interface Ranked {
  readonly machine: Machine;
  readonly activity: Activity;
  readonly transitions: number;
  readonly limiting: number | undefined;
}

function viewOf({ machine, activity, transitions, limiting }: Ranked, cycle: number, within: number): ActiveMachine {
  const { slug, contracts, image } = machine;
  const from = (stretch: number) => cycle - within + 1 + Math.floor((stretch * within) / STRETCHES);
  return {
    slug,
    transitions,
    ...(Number.isNaN(activity.lastCycle) ? {} : { last_transition_cycle: activity.lastCycle }),
    contracts: contracts.length,
    ...(limiting === undefined ? {} : { limiting }),
    display_name: image.displayName,
    last: WINDOWS.map((cycles) => activity.since(cycle - cycles + 1)),
    stretches: Array.from(
      { length: STRETCHES },
      (_, index) => activity.since(from(index)) - activity.since(from(index + 1)),
    ),
  };
}

/** Transitions of one machine as running sums: `#sums[i]` is up to and including `#cycles[i]`. */
class Activity {
  #cycles: number[] = [];
  #sums: number[] = [];
  #dropped = 0;

  get lastCycle(): number {
    return this.#cycles.at(-1) ?? Number.NaN;
  }

  /** A row of an earlier cycle, from a contract woken late, counts in the last cycle. */
  add(cycle: number): void {
    const last = this.#cycles.length - 1;
    if (last >= 0 && this.#cycles[last]! >= cycle) {
      this.#sums[last]! += 1;
      return;
    }
    this.#sums.push((this.#sums[last] ?? this.#dropped) + 1);
    this.#cycles.push(cycle);
    if (this.#cycles.length > 2 * LONGEST_WINDOW) this.#dropUntil(cycle - LONGEST_WINDOW);
  }

  since(cycle: number): number {
    const first = this.#indexOf(cycle);
    const before = first === 0 ? this.#dropped : this.#sums[first - 1]!;
    return (this.#sums.at(-1) ?? before) - before;
  }

  #dropUntil(cycle: number): void {
    const first = this.#indexOf(cycle + 1);
    this.#dropped = this.#sums[first - 1]!;
    this.#cycles = this.#cycles.slice(first);
    this.#sums = this.#sums.slice(first);
  }

  #indexOf(cycle: number): number {
    return firstIndex(this.#cycles.length, (index) => this.#cycles[index]! >= cycle);
  }
}

const none = new Activity();
