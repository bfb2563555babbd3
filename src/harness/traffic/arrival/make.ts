// From the specification of an arrival to its model: planned once, made for each run.
import type { Draws } from '../../../core/math/random.js';
import { Failure } from '../../../core/schema/failure.js';
import { parseTime } from '../../../core/schema/quantity.js';
import { type Arrival, type Recording, refuse } from './arrival.js';
import { type ArrivalSpec, arrivalKinds } from './arrival-schema.js';
import { type CustomArrivalSpec, countsOf } from './custom.js';
import { type MakeArrival, Quantities } from './kind.js';
import { type PlacementName, placements } from './placement.js';

export type LogSpec = Extract<ArrivalSpec, { model: 'log' }>;

interface ArrivalSetting {
  readonly cycleMs: number;
  readonly within: number;
  /** JSON pointer to the specification. */
  readonly place?: string | undefined;
}

export interface ArrivalRun {
  readonly draws: Draws;
  /** Name of its random streams, for example `arrivals/0`: unique among the models of the run. */
  readonly purpose: string;
  readonly cycles: number;
  readonly log?: Recording | undefined;
}

export interface ArrivalPlan {
  /** The model sends in the cycles from .. to - 1 of the run; `to` is Infinity for the end of the run. */
  readonly from: number;
  readonly to: number;
  readonly log: LogSpec | undefined;
  readonly isCustom: boolean;
  /** @throws Failure `invalid_input` with every place, if a cycle has too many requests or fields contradict */
  make(run: ArrivalRun): Arrival;
}

/** @throws Failure `invalid_input` with every place, if a rate or time cannot be read. `spec` must match its schema. */
export function planArrival(
  spec: ArrivalSpec | CustomArrivalSpec,
  { cycleMs, within, place = '' }: ArrivalSetting,
): ArrivalPlan {
  const placing = <T>(body: () => T): T => {
    try {
      return body();
    } catch (error) {
      throw error instanceof Failure ? placed(error, place) : error;
    }
  };
  return placing(() => {
    const from = parseTime(spec.from ?? 0, cycleMs, '/from');
    const to = spec.to === undefined ? Infinity : parseTime(spec.to, cycleMs, '/to');
    const model = modelOf(spec, new Quantities(cycleMs, within));
    return {
      from,
      to,
      log: spec.model === 'log' ? spec : undefined,
      isCustom: spec.model === 'custom',
      make: ({ draws, purpose, cycles, log }) => {
        const stream = (use: string) => draws(`${purpose}/${use}`);
        const placement = (name: PlacementName) => placements[name](() => stream('instants'));
        const length = Math.min(to, cycles) - from;
        return placing(() => between(model({ length, stream, placement, log }), from, to));
      },
    };
  });
}

interface AnyKind {
  plan(spec: ArrivalSpec, read: Quantities): MakeArrival;
}

function modelOf(spec: ArrivalSpec | CustomArrivalSpec, read: Quantities): MakeArrival {
  if (spec.model !== 'custom') {
    const kind: AnyKind = arrivalKinds[spec.model];
    return kind.plan(spec, read);
  }
  return ({ length, stream, placement }) => {
    const draws = stream('counts');
    const counts = countsOf(spec.count, length, () => draws.uniform());
    return { count: (cycle) => counts[cycle] ?? 0, instants: placement('even') };
  };
}

function placed({ code, fix, faults, cause }: Failure, place: string): Failure {
  const all = faults.map(({ path, message }) => ({ path: `${place}${path}`, message }));
  return new Failure(code, {
    what: 'The arrival cannot be made.',
    why: all.map(({ path, message }) => `${path} ${message}.`).join(' '),
    fix: fix ?? 'Correct the fields named.',
    faults: all,
    cause,
  });
}

/**
 * The model in the cycles from `from` up to, not including, `to`; none in others. It counts cycles from `from`.
 *
 *   run      0  1  2  3  4  5  6  7            from 2, to 6
 *   model          0  1  2  3
 *
 * @throws Failure `invalid_input` unless from < to
 */
export function between(arrival: Arrival, from: number, to: number): Arrival {
  if (!(from < to)) refuse('/to', `must lie after from, which is cycle ${from}`);
  if (from === 0 && to === Infinity) return arrival;
  return {
    count: (cycle) => (cycle >= from && cycle < to ? arrival.count(cycle - from) : 0),
    instants: (out, n) => {
      if (n > 0) arrival.instants(out, n);
    },
  };
}
