// The events of a contract's machine, and the meaning of its guards and actions, which XState runs (actor/contract-machine.ts).
//
//   event                                        guard                                    actions
//   aggregate {cycle, counts}                    held                                     none: nothing moves a held contract
//                                                countIn {aggregate, ranges}              fire, hold, emit ...
//   move {to, cycle, counts, input, holdCycles}  asksFor {to, aggregate, fires_when}      fire, hold, emit ...
//   refused {cycle}                                                                       backOff
//
// The first transition whose guard holds is taken. Time arrives as the cycle of an event, never by a timer.
import { parseCondition, type ReadCondition } from './expression/condition.js';

/** Sent after an event was counted, and at the start of a cycle. */
export interface AggregateEvent {
  readonly type: 'aggregate';
  readonly cycle: number;
  /** One for each aggregate, in order of first use by the triggers. For a rule: 1 while it refuses, otherwise 0. */
  readonly counts: readonly number[];
}

export interface MoveEvent {
  readonly type: 'move';
  readonly to: string;
  readonly cycle: number;
  readonly counts: readonly number[];
  readonly input: Readonly<Record<string, number>>;
  readonly holdCycles: number;
  readonly by?: string | undefined;
}

/** The operator of a transition on counts refused. */
interface RefusedEvent {
  readonly type: 'refused';
  readonly cycle: number;
}

export type ContractEvent = AggregateEvent | MoveEvent | RefusedEvent;

export interface ContractEmitted {
  readonly type: string;
  readonly cycle: number;
  readonly count: number;
}

/** `ranges` are closed; hi is null for no upper end. */
export type CountIn = CountedEvents & {
  readonly aggregate: number;
  readonly ranges: readonly (readonly [lo: number, hi: number | null])[];
};
type CountedEvents = { readonly event: string } & ({ readonly within: number } | { readonly refused: true });
/** `fires_when`: the further condition as written; null for none. `aggregate`: the subject of its `count`. */
export type AsksFor = { readonly to: string; readonly aggregate: number; readonly fires_when: string | null };
export type Fire = {
  readonly transition: number;
  readonly operator: string;
  readonly inputs: Readonly<Record<string, number>>;
  readonly proof_required: boolean;
};
export type Emit = { readonly event: string; readonly aggregate: number };

/** The context of the machine. */
export interface Held {
  readonly heldUntilCycle: number;
  /** Refusals since the last transition. */
  readonly refusals: number;
}

export function held({ heldUntilCycle }: Held, { cycle }: ContractEvent): boolean {
  return cycle < heldUntilCycle;
}

export function inRanges({ aggregate, ranges }: CountIn, event: ContractEvent): boolean {
  if (event.type === 'refused') return false;
  const count = event.counts[aggregate]!;
  return ranges.some(([lo, hi]) => lo <= count && (hi === null || count <= hi));
}

export function asksFor(params: AsksFor, event: ContractEvent): boolean {
  if (event.type !== 'move' || event.to !== params.to) return false;
  const { fires_when: text, aggregate } = params;
  if (text === null) return true;
  const condition = conditions.get(params) ?? parseCondition(text, { names: ['count', 'refused'], prefixes: [INPUT] });
  conditions.set(params, condition);
  return condition.holds((name) => {
    if (!name.startsWith(INPUT)) return event.counts[aggregate];
    const field = name.slice(INPUT.length);
    // Object.hasOwn excludes inherited names such as `constructor`.
    return Object.hasOwn(event.input, field) ? event.input[field] : undefined;
  });
}

export const INPUT = 'input.';

const conditions = new WeakMap<AsksFor, ReadCondition>();

export function hold(event: ContractEvent): Held {
  return { heldUntilCycle: event.cycle + (event.type === 'move' ? event.holdCycles : 0), refusals: 0 };
}

/** 1, 2, 4 ... cycles up to this, as each try writes a row. A transition ends it. */
const LONGEST_BACK_OFF = 1_024;

export function backOff({ refusals }: Held, { cycle }: ContractEvent): Held {
  return { heldUntilCycle: cycle + Math.min(2 ** refusals, LONGEST_BACK_OFF), refusals: refusals + 1 };
}

export function countAt(event: ContractEvent, aggregate: number): number {
  return event.type === 'refused' ? 1 : (event.counts[aggregate] ?? 1);
}
