// At which value of a field does a condition begin to hold? By bisection, where the answer changes only once along the axis.
//
//   values   50   60   70   80   90  100
//   holds     .    .    .    #    #    #        smallest 80: it fails at the first value and holds at the last
//   holds     #    #    .    .    .    .        largest 60:  the other way round
//
// Whether it changes only once cannot be known without trying every value. After the bisection further values are tried, spread over
// both sides; one that contradicts is reported, and there is no answer.

import { Failure } from '../../schema/failure.js';
import type { RunPlace } from '../run-pool.js';
import { type Axis, type Json, parseAxis } from './axis.js';
import { type FigureCondition, readFigureCondition } from './condition.js';
import type { Cell } from './grid.js';
import { type SweepPlan, scenarioOf } from './plan-sweep.js';
import { openRunner, type RunSweepOptions, rowOf, type SweptFigure } from './sweep.js';

export interface Find {
  /**
   * Comparisons of means over the replications, for example `limited < 1%` (a percentage is of all requests) or
   * `clients.given_up == 0 && limited < 20`.
   */
  readonly condition: string;
  /** The axis that is searched; a range without a step goes in whole numbers. */
  readonly over: string;
}

/** A value that was tried. */
export interface Tried {
  readonly value: Json;
  readonly holds: boolean;
  /** Those that the condition names. */
  readonly figures: Readonly<Record<string, SweptFigure>>;
}

export interface Found {
  /** The other fields that are set. */
  readonly set: Cell['set'];
  readonly over: string;
  /**
   * `smallest` or `largest`: `value` is the smallest or largest at which the condition holds. `all`, `none`: it holds at both ends, or at
   * neither. `not monotone`: it changes more than once, as `tried` shows.
   */
  readonly answer: 'smallest' | 'largest' | 'all' | 'none' | 'not monotone';
  /** Undefined where there is no answer. */
  readonly value: Json | undefined;
  /** The value beside it at which the condition fails: between the two nothing was tried. */
  readonly next: Json | undefined;
  /** In the order of the axis. */
  readonly tried: readonly Tried[];
}

/** How many further values are tried on each side. */
const FURTHER = 3;

/**
 * Searches for each cell of the plan; undefined when it was stopped.
 * @throws Failure `wrong_usage`
 */
export async function* findValues(
  plan: SweepPlan,
  { condition: text, over }: Find,
  { signal, ...place }: RunPlace & Pick<RunSweepOptions, 'signal'> = {},
): AsyncGenerator<Found, void, undefined> {
  const axis = searchedAxis(over);
  const values = axis.values!;
  if (plan.axes.some(({ path }) => path === axis.path))
    throw wrong(`${axis.path} is set and searched.`, 'Name it in --over only.');
  const { clients } = scenarioOf(plan, { cell: 0, set: { ...plan.cells[0]?.set, [axis.path]: values[0]! } });
  const condition = readFigureCondition(
    text,
    clients.map(({ name }) => name),
  );
  const runner = await openRunner(plan, place, { signal, runs: plan.replications });
  let number = 0;
  try {
    for (const { set } of plan.cells) {
      const tried = new Map<number, Tried>();
      const tryAt = async (index: number): Promise<boolean | undefined> => {
        const known = tried.get(index);
        if (known !== undefined) return known.holds;
        const cell = { cell: number, set: { ...set, [axis.path]: values[index]! } };
        number += 1;
        const asked = Array.from({ length: plan.replications }, (_, replication) => runner.run(cell, replication));
        const runs = (await Promise.all(asked)).filter((run) => run !== undefined);
        if (runs.length < plan.replications) return undefined;
        const one = judged(values[index]!, rowOf(cell, runs).figures, condition);
        tried.set(index, one);
        return one.holds;
      };
      const answer = await search(values.length - 1, tryAt);
      if (answer === undefined) return;
      const ordered = [...tried].sort(([a], [b]) => a - b).map(([, one]) => one);
      const { side, at } = answer;
      const next = at === undefined ? undefined : values[side === 'smallest' ? at - 1 : at + 1];
      yield { set, over: axis.path, answer: side, value: values[at ?? -1], next, tried: ordered };
    }
  } finally {
    await runner.close();
  }
}

interface Answer {
  readonly side: Found['answer'];
  readonly at?: number;
}

/** Undefined when it was stopped. */
async function search(
  last: number,
  tryAt: (index: number) => Promise<boolean | undefined>,
): Promise<Answer | undefined> {
  const first = await tryAt(0);
  const end = await tryAt(last);
  if (first === undefined || end === undefined) return undefined;
  /** The values 0 .. low are as the first, high .. last as the last. */
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

function searchedAxis(over: string): Axis {
  const axis = parseAxis(over);
  const stepped = axis.values === undefined ? parseAxis(`${over}:1`) : axis;
  if (stepped.values!.length < 2)
    throw wrong(`${over} has one value only.`, 'Write for example --over limiter.threshold=1..1000.');
  return stepped;
}

function judged(value: Json, figures: Readonly<Record<string, SweptFigure>>, condition: FigureCondition): Tried {
  const means = Object.fromEntries(Object.entries(figures).map(([name, { mean }]) => [name, mean]));
  return {
    value,
    holds: condition.holds(means),
    figures: Object.fromEntries(condition.names.map((name) => [name, figures[name]!])),
  };
}

function wrong(what: string, fix: string): Failure {
  return new Failure('wrong_usage', { what, fix });
}
