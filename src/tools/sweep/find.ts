// At which value of a field does a condition begin to hold? Bisection, which requires a single change along the axis.
//
//   values   50   60   70   80   90  100
//   holds     .    .    .    #    #    #        smallest 80: it fails at the first value and holds at the last
//   holds     #    #    .    .    .    .        largest 60:  the other way round
//
// Around the change, the search continues in finer steps, to three significant figures or the step of the axis; in whole numbers for
// a field of whole numbers. Then a few more values are tried on both sides. If one contradicts the bisection, there is no answer.
import { Failure } from '../../core/schema/failure.js';
import { type Axis, type Cell, type Json, parseAxis, withUnit, wrongSweep } from '../../harness/scenario/grid.js';
import type { RunPlace } from '../../harness/simulate/replication.js';
import { type FigureCondition, readFigureCondition, type SweepPlan, scenarioOf } from './plan-sweep.js';
import { openRunner, type RunSweepOptions, rowOf, type SweptFigure } from './sweep.js';

export interface Find {
  /** Compares means over replications: `limited < 1%` (of all requests), `clients.given_up == 0 && limited < 20`. */
  readonly condition: string;
  /** The answer is exact to its step; without one, to 3 significant figures. */
  readonly over: string;
}

export interface Tried {
  readonly value: Json;
  readonly holds: boolean;
  readonly figures: Readonly<Record<string, SweptFigure>>;
}

export interface Found {
  readonly set: Cell['set'];
  readonly over: string;
  /**
   * `smallest`, `largest`: at `value` the condition just holds. `all`, `none`: it holds, or fails, at both ends.
   * `not monotone`: it changes more than once, see `tried`.
   */
  readonly answer: 'smallest' | 'largest' | 'all' | 'none' | 'not monotone';
  readonly value: Json | undefined;
  /** The nearest value tried at which the condition fails. */
  readonly next: Json | undefined;
  /** Distance from `value` to `next`, with the unit of the axis; undefined for a list, and without an answer. */
  readonly resolution: Json | undefined;
  readonly tried: readonly Tried[];
}

const FURTHER = 3;
const SIGNIFICANT_FIGURES = 3;

/** One answer per cell of the plan, until stopped. @throws Failure `wrong_usage` */
export async function* findValues(
  plan: SweepPlan,
  { condition: text, over }: Find,
  { signal, ...place }: RunPlace & Pick<RunSweepOptions, 'signal'> = {},
): AsyncGenerator<Found, void, undefined> {
  const axis = searchedAxis(over);
  const { values } = axis;
  if (plan.axes.some(({ path }) => path === axis.path))
    throw wrongSweep(`${axis.path} is set and searched.`, 'Give all its values in one --set.');
  const condition = readFigureCondition(text, plan, { [axis.path]: values[0]! });
  const runner = await openRunner(plan, place, { signal, runs: plan.replications });
  let number = 0;
  try {
    for (const { set } of plan.cells) {
      const tried = new Map<number, Tried>();
      const tryAt = async (place: number, value: Json): Promise<boolean | undefined> => {
        const known = tried.get(place);
        if (known !== undefined) return known.holds;
        const cell = { cell: number, set: { ...set, [axis.path]: value } };
        number += 1;
        const asked = Array.from({ length: plan.replications }, (_, replication) => runner.run(cell, replication));
        const runs = (await Promise.all(asked)).filter((run) => run !== undefined);
        if (runs.length < plan.replications) return undefined;
        const one = judged(value, rowOf(cell, runs).figures, condition);
        tried.set(place, one);
        return one.holds;
      };
      const answer = await search(values.length - 1, (index) => tryAt(index, values[index]!));
      if (answer === undefined) return;
      const { side, at } = answer;
      const isTaken = (value: Json) => isTakenBy(plan, { ...set, [axis.path]: value });
      const gap = at === undefined ? undefined : gapOf(axis, side === 'smallest' ? at - 1 : at, isTaken);
      if (gap !== undefined && !(await narrow(gap, tryAt))) return;
      const ordered = [...tried].sort(([a], [b]) => a - b).map(([, one]) => one);
      const place = ordered.findIndex(
        ({ holds }, index) => at !== undefined && holds !== ordered[index + 1]?.holds && index + 1 < ordered.length,
      );
      const ends = at === undefined ? [] : [ordered[place]!.value, ordered[place + 1]!.value];
      const [next, value] = side === 'smallest' ? ends : ends.toReversed();
      yield { set, over: axis.path, answer: side, value, next, resolution: distance(axis, ends), tried: ordered };
    }
  } finally {
    await runner.close();
  }
}

interface Answer {
  readonly side: Found['answer'];
  readonly at?: number;
}

async function search(
  last: number,
  tryAt: (index: number) => Promise<boolean | undefined>,
): Promise<Answer | undefined> {
  const first = await tryAt(0);
  const end = await tryAt(last);
  if (first === undefined || end === undefined) return undefined;
  let [low, high] = [0, last];
  while (first !== end && high - low > 1) {
    const middle = Math.floor((low + high) / 2);
    const found = await tryAt(middle);
    if (found === undefined) return undefined;
    if (found === first) low = middle;
    else high = middle;
  }
  if (first === end) low = last;
  for (const [from, to, expected] of [
    [0, low, first],
    [high, last, end],
  ] as const) {
    for (let further = 1; further <= FURTHER; further += 1) {
      const found = await tryAt(from + Math.floor(((to - from) * further) / (FURTHER + 1)));
      if (found === undefined) return undefined;
      if (found !== expected) return { side: 'not monotone' };
    }
  }
  if (first === end) return { side: first ? 'all' : 'none' };
  return first ? { side: 'largest', at: low } : { side: 'smallest', at: high };
}

interface Gap {
  readonly place: number;
  readonly low: number;
  readonly high: number;
  readonly step: number;
  readonly unit: string;
}

function gapOf({ values, unit, step }: Axis, place: number, isTaken: (value: Json) => boolean): Gap | undefined {
  if (unit === undefined) return undefined;
  const [low, high] = [numberOf(values[place]!), numberOf(values[place + 1]!)];
  const wanted = step ?? 10 ** (exponentOf(Math.max(Math.abs(low), Math.abs(high))) - SIGNIFICANT_FIGURES + 1);
  if (Number((high - low).toPrecision(12)) <= wanted) return undefined;
  const between = multipleOf(wanted, Math.floor(low / wanted) + 1);
  const isFine = Number.isInteger(wanted) || isTaken(withUnit(between < high ? between : low + (high - low) / 2, unit));
  return { place, low, high, step: isFine ? wanted : Math.max(1, Math.round(wanted)), unit };
}

async function narrow(
  { place, low, high, step, unit }: Gap,
  tryAt: (place: number, value: Json) => Promise<boolean | undefined>,
): Promise<boolean> {
  const first = await tryAt(place, withUnit(low, unit));
  let [below, above] = [Math.floor(low / step), Math.ceil(high / step)];
  while (above - below > 1) {
    const middle = Math.floor((below + above) / 2);
    const value = multipleOf(step, middle);
    const found = await tryAt(place + (value - low) / (high - low), withUnit(value, unit));
    if (found === undefined) return false;
    if (found === first) below = middle;
    else above = middle;
  }
  return true;
}

function multipleOf(step: number, times: number): number {
  return Number((times * step).toPrecision(12));
}

function numberOf(value: Json): number {
  return Number.parseFloat(String(value));
}

function exponentOf(value: number): number {
  return Number(value.toExponential().split('e')[1]);
}

function distance({ unit }: Axis, [low, high]: readonly Json[]): Json | undefined {
  if (unit === undefined || low === undefined || high === undefined) return undefined;
  return withUnit(Number((numberOf(high) - numberOf(low)).toPrecision(6)), unit);
}

function isTakenBy(plan: SweepPlan, set: Cell['set']): boolean {
  try {
    scenarioOf(plan, set);
    return true;
  } catch (error) {
    if (error instanceof Failure) return false;
    throw error;
  }
}

function searchedAxis(over: string): Axis {
  const axis = parseAxis(over, true);
  if (axis.values.length < 2)
    throw wrongSweep(`${over} has one value only.`, 'Write for example --set limiter.threshold=1..1000.');
  return axis;
}

function judged(value: Json, figures: Readonly<Record<string, SweptFigure>>, condition: FigureCondition): Tried {
  const means = Object.fromEntries(Object.entries(figures).map(([name, { mean }]) => [name, mean]));
  return {
    value,
    holds: condition.holds(means),
    figures: Object.fromEntries(condition.names.map((name) => [name, figures[name]!])),
  };
}
