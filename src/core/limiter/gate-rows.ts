// Many gates of one plan as rows of a table. While no guard can hold, events are counted and decided on the row; otherwise a gate is made
// from the row and written back.
//
//   window   oldest ─► | cycle 12 | 1 | ─► | 40 | 3 |     the busy cycles, one list for each aggregate
//   rule     { refused, atMs, state }
//   held     holds, and refusals of operators: few rows have any
import { startOf } from '../time/cycle.js';
import { GateHead } from './fast-path.js';
import { Gate, type GateImage, type GateOwner } from './gate.js';
import { opensMs, type RuleImage, ruleImageOf } from './gauge.js';
import { type Plan, quietBand } from './plan.js';
import { LIMITED, NEVER } from './rule/rule.js';
import { type Records, SparseWindows, WINDOW_FIELDS } from './sparse-windows.js';
import { ownCells } from './window.js';

const UNCOUNTED = -1;
/** The event was counted, and a guard may hold now: see `Gate.decideCounted`. */
export const UNEVALUATED = -2;

type RuleRow = { -readonly [Field in keyof RuleImage]: RuleImage[Field] } & { cost: number };

interface HeldRow {
  readonly heldUntilCycle: number;
  readonly refusals: number;
}

export function rowFields({ rule, aggregates }: Plan): number {
  return rule === undefined ? aggregates.length * WINDOW_FIELDS : 0;
}

export class GateRows {
  delayMs = 0;
  readonly #plan: Plan;
  readonly #cycleMs: number;
  readonly #windows: readonly SparseWindows[];
  readonly #rules: (RuleRow | undefined)[] = [];
  readonly #held = new Map<number, HeldRow>();

  constructor(plan: Plan, cycleMs: number, most: number, records: Records, field: number) {
    this.#plan = plan;
    this.#cycleMs = cycleMs;
    const aggregates = plan.rule === undefined ? plan.aggregates : [];
    this.#windows = aggregates.map(
      ({ within }, index) => new SparseWindows(within, most, records, field + index * WINDOW_FIELDS),
    );
  }

  begin(row: number, nowMs: number): void {
    const { rule } = this.#plan;
    if (rule !== undefined) this.#rules[row] = { refused: 0, cost: 1, atMs: nowMs, state: rule.rule.fresh(nowMs) };
  }

  isQuiet(row: number, state: number, n: number, cycle: number, kind: number): boolean {
    const plan = this.#plan;
    if (this.#held.has(row) || plan.rule !== undefined) return false;
    const windows = this.#windows;
    const fed = plan.kinds[kind]!.aggregates;
    for (let aggregate = 0; aggregate < windows.length; aggregate += 1) {
      const count = windows[aggregate]!.advance(row, cycle);
      const band = quietBand(plan, state, aggregate, count);
      if (band === undefined || (count + n > band.hi && fed.includes(aggregate))) return false;
    }
    return true;
  }

  /** @returns how many were admitted; UNCOUNTED or UNEVALUATED if a guard may hold */
  decide(row: number, state: number, n: number, cycle: number, kind: number, ms: number, isOne: boolean): number {
    const { rule, kinds, states, isShadow } = this.#plan;
    const admitted = isShadow || states[state]!.admits ? n : 0;
    if (rule !== undefined) return n === 1 || isOne ? (this.#charge(row, state, n, ms) ?? admitted) : UNCOUNTED;
    if (!this.isQuiet(row, state, n, cycle, kind)) return UNCOUNTED;
    for (const aggregate of kinds[kind]!.aggregates) this.#windows[aggregate]!.add(row, n, cycle);
    return admitted;
  }

  /** Undefined if the event was counted and no guard can hold. */
  #charge(row: number, state: number, cost: number, ms: number): number | undefined {
    const { rule, holdMs } = this.#plan.rule!;
    const own = this.#rules[row]!;
    const band = quietBand(this.#plan, state, 0, own.refused);
    // If a rule hastens, or the cost is below the last refused one, the wake-up of the gate must be rescheduled.
    if (band === undefined || rule.hastens || own.cost > cost || this.#held.has(row)) return UNCOUNTED;
    own.atMs = Math.max(own.atMs, ms);
    const delay = rule.decide(own.state, own.atMs, cost, holdMs);
    own.refused = delay === LIMITED ? 1 : 0;
    own.cost = own.refused === 1 ? cost : 1;
    this.delayMs = Math.max(0, delay);
    return band.lo <= own.refused && own.refused <= band.hi ? undefined : UNEVALUATED;
  }

  count(row: number, cycle: number): number | undefined {
    return this.#plan.aggregates.length === 0 ? 0 : this.#windows[0]?.advance(row, cycle);
  }

  wakeMs(row: number, state: number, cycle: number): number {
    const { heldUntilCycle = cycle } = this.#held.get(row) ?? {};
    if (cycle < heldUntilCycle) return startOf(heldUntilCycle, this.#cycleMs);
    const { rule } = this.#plan;
    if (rule !== undefined) {
      const { refused, cost, atMs, state: own } = this.#rules[row]!;
      const band = quietBand(this.#plan, state, 0, refused);
      if (band === undefined) return startOf(cycle + 1, this.#cycleMs);
      return refused === 0 || band.lo <= 0 ? NEVER : Math.max(atMs, opensMs(rule.rule, own, atMs, cost));
    }
    let first = Number.POSITIVE_INFINITY;
    for (const [aggregate, windows] of this.#windows.entries()) {
      const band = quietBand(this.#plan, state, aggregate, windows.advance(row, cycle));
      if (band === undefined) first = cycle + 1;
      else if (band.lo > 0) first = Math.min(first, windows.fallsBelow(row, band.lo, cycle));
    }
    return startOf(first, this.#cycleMs);
  }

  isFree(row: number): boolean {
    return !this.#held.has(row);
  }

  isEmpty(row: number, cycle: number): boolean {
    const { rule } = this.#plan;
    if (rule === undefined) return this.#windows.every((windows) => windows.advance(row, cycle) === 0);
    const { refused, atMs, state } = this.#ruleAt(row, cycle)!;
    return refused === 0 && rule.rule.nextChange(state, atMs) === NEVER;
  }

  image(row: number, state: number, cycle: number): GateImage {
    const { heldUntilCycle = cycle, refusals = 0 } = this.#held.get(row) ?? {};
    const rule = this.#ruleAt(row, cycle);
    return {
      state: this.#plan.states[state]!.name,
      heldUntilCycle,
      windows: rule === undefined ? this.#windows.map((one) => one.image(row, cycle)) : [{ cycle, counts: [] }],
      ...(rule === undefined ? {} : { rule }),
      ...(refusals === 0 ? {} : { refusals }),
    };
  }

  #ruleAt(row: number, cycle: number): RuleImage | undefined {
    const own = this.#rules[row];
    if (own === undefined) return undefined;
    const { refused, cost, state } = own;
    const atMs = Math.max(own.atMs, startOf(cycle, this.#cycleMs));
    const isOver = refused === 1 && opensMs(this.#plan.rule!.rule, state, atMs, cost) <= atMs;
    return ruleImageOf(isOver ? 0 : refused, cost, atMs, state);
  }

  gate(row: number, state: number, cycle: number, owner?: GateOwner): Gate {
    const cycleMs = this.#cycleMs;
    const image = this.image(row, state, cycle);
    const head = new GateHead(this.#plan, cycle, ownCells);
    return new Gate(this.#plan, { cycle, cycleMs, nowMs: startOf(cycle, cycleMs), owner, image, head });
  }

  put(row: number, { heldUntilCycle, refusals = 0, windows, rule }: GateImage, cycle: number): void {
    this.clear(row);
    for (const [aggregate, own] of this.#windows.entries()) own.restore(row, windows[aggregate]!);
    if (rule !== undefined) this.#rules[row] = { ...rule, cost: rule.cost ?? 1 };
    if (cycle < heldUntilCycle || refusals > 0) this.#held.set(row, { heldUntilCycle, refusals });
  }

  clear(row: number): void {
    for (const windows of this.#windows) windows.clear(row);
    if (row < this.#rules.length) this.#rules[row] = undefined;
    this.#held.delete(row);
  }
}
