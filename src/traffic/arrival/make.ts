// From the specification of an arrival to its model, in two steps:
//
//   specification ── plan, once ──► quantities in cycles, defaults filled in ── make, for each run ──► model with its random streams
import type { Draws, RandomStream } from '../../math/random.js';
import { Failure, unreachable } from '../../schema/failure.js';
import { parseMeanTime, parseRate, parseTime, type Rate } from '../../schema/quantity.js';
import { type Arrival, refuse } from './arrival.js';
import type { ArrivalSpec } from './arrival-schema.js';
import { BurstArrival } from './burst.js';
import { ConstantArrival } from './constant.js';
import { type CustomArrivalSpec, countsOf } from './custom.js';
import { EdgeArrival } from './edge.js';
import { LEAST_SOJOURN, OnOffArrival } from './onoff.js';
import { ParetoArrival } from './pareto.js';
import { makePlacement, type Placement, type PlacementName } from './placement.js';
import { type Curve, PoissonAround, PoissonArrival } from './poisson.js';
import { RampArrival } from './ramp.js';
import { CountsArrival, RecordedArrival, type Recording } from './recorded.js';
import { SineArrival } from './sine.js';
import { SpikesArrival } from './spikes.js';

export type LogSpec = Extract<ArrivalSpec, { model: 'log' }>;

interface ArrivalSetting {
  readonly cycleMs: number;
  /** Length of the limiter's window in cycles. */
  readonly within: number;
  /** JSON pointer to the specification, for failures. */
  readonly place?: string | undefined;
}

export interface ArrivalRun {
  readonly draws: Draws;
  /** Name of its random streams, for example `arrivals/0`: unique among the models of the run. */
  readonly purpose: string;
  /** Length of the run. */
  readonly cycles: number;
  /** For model `log`: the content of the log, read beforehand. */
  readonly log?: Recording | undefined;
}

export interface ArrivalPlan {
  /** The model sends in the cycles from .. to - 1 of the run; `to` is Infinity for the end of the run. */
  readonly from: number;
  readonly to: number;
  /** Undefined for every other model. */
  readonly log: LogSpec | undefined;
  /** Whether a program gives the counts. */
  readonly isCustom: boolean;
  /** @throws Failure `invalid_input`, with the place of every fault, if a cycle has too many requests or fields contradict each other */
  make(run: ArrivalRun): Arrival;
}

/**
 * @param spec one that fits its schema
 * @throws Failure `invalid_input`, with the place of every fault, if a rate or time cannot be read
 */
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
    const model = modelOf(spec, new Quantities(cycleMs), within);
    return {
      from,
      to,
      log: spec.model === 'log' ? spec : undefined,
      isCustom: spec.model === 'custom',
      make: ({ draws, purpose, cycles, log }) => {
        const stream = (use: string) => draws(`${purpose}/${use}`);
        const placement = (name: PlacementName) => makePlacement(name, () => stream('instants'));
        const length = Math.min(to, cycles) - from;
        return placing(() => between(model({ length, stream, placement, log }), from, to));
      },
    };
  });
}

/** What a model is made with in one run. */
interface Making {
  /** Cycles in which the model sends requests. */
  readonly length: number;
  readonly log: Recording | undefined;
  stream(use: string): RandomStream;
  placement(name: PlacementName): Placement;
}

type Model = (making: Making) => Arrival;

function modelOf(spec: ArrivalSpec | CustomArrivalSpec, read: Quantities, limiterWithin: number): Model {
  switch (spec.model) {
    case 'constant': {
      const rate = read.rate(spec.rate, '/rate');
      return ({ placement }) => new ConstantArrival(rate, placement(spec.placement ?? 'even'));
    }
    case 'poisson': {
      const rate = read.rate(spec.rate, '/rate');
      return ({ stream, placement }) =>
        new PoissonArrival(rate, stream('counts'), placement(spec.placement ?? 'random'));
    }
    case 'ramp': {
      const start = read.rate(spec.start_rate, '/start_rate');
      const end = read.rate(spec.end_rate, '/end_rate');
      const over = read.time(spec.over, '/over', 1);
      const repeat = spec.repeat ?? false;
      return byLaw(
        spec,
        (placement, length) => new RampArrival({ start, end, over: over ?? Math.max(1, length), repeat }, placement),
      );
    }
    case 'burst': {
      const shape = {
        base: read.rate(spec.base_rate ?? 0, '/base_rate'),
        burst: read.rate(spec.burst_rate, '/burst_rate'),
        at: read.time(spec.at, '/at') ?? 0,
        lasts: read.time(spec.for, '/for', 1),
        every: read.time(spec.every, '/every', 1),
      };
      return byLaw(spec, (placement) => new BurstArrival(shape, placement));
    }
    case 'spikes': {
      const at = read.time(spec.at, '/at') ?? 0;
      const every = read.time(spec.every, '/every', 1);
      const shape = { requests: spec.requests, at, every };
      return ({ placement }) => new SpikesArrival(shape, placement(spec.placement ?? 'start'));
    }
    case 'sine': {
      const shape = {
        mean: read.rate(spec.rate, '/rate'),
        amplitude: read.rate(spec.amplitude, '/amplitude'),
        period: parseTime(spec.period, read.cycleMs, '/period', 1),
        phase: spec.phase ?? 0,
      };
      return byLaw(spec, (placement) => new SineArrival(shape, placement));
    }
    case 'onoff': {
      const shape = {
        on: read.rate(spec.on_rate, '/on_rate'),
        off: read.rate(spec.off_rate ?? 0, '/off_rate'),
        onFor: parseMeanTime(spec.on_for, read.cycleMs, '/on_for', LEAST_SOJOURN),
        offFor: parseMeanTime(spec.off_for, read.cycleMs, '/off_for', LEAST_SOJOURN),
      };
      return ({ stream }) =>
        new OnOffArrival(shape, {
          sojourns: stream('sojourns'),
          counts: stream('counts'),
          instants: stream('instants'),
        });
    }
    case 'pareto': {
      const rate = read.rate(spec.rate, '/rate');
      return ({ stream }) => new ParetoArrival(rate, spec.shape, stream('gaps'));
    }
    case 'edge': {
      const within = read.time(spec.within, '/within', 1) ?? limiterWithin;
      const shape = { requests: spec.requests, within, boundary: spec.boundary ?? 1 };
      return ({ placement }) => new EdgeArrival(shape, placement(spec.placement ?? 'start'));
    }
    case 'counts':
      return ({ placement }) =>
        new CountsArrival(spec.counts, spec.repeat ?? false, placement(spec.placement ?? 'even'));
    case 'log':
      return ({ log, placement }) =>
        log === undefined
          ? refuse('/model', 'log has nothing to play: a log is read before the run')
          : new RecordedArrival(log, placement(spec.placement ?? 'even'));
    case 'custom':
      return ({ length, stream, placement }) => {
        const draws = stream('counts');
        return new CountsArrival(
          countsOf(spec.count, length, () => draws.uniform()),
          false,
          placement('even'),
        );
      };
    default:
      return unreachable(spec);
  }
}

/** A model that follows its curve exactly, or randomly around it. */
function byLaw(
  { law, placement }: { law?: 'exact' | 'poisson'; placement?: PlacementName },
  make: (placement: Placement, length: number) => Arrival & Curve,
): Model {
  return (making) => {
    const around = making.placement(placement ?? (law === 'poisson' ? 'random' : 'even'));
    const curve = make(around, making.length);
    return law === 'poisson' ? new PoissonAround(curve, making.stream('counts'), around) : curve;
  };
}

class Quantities {
  constructor(readonly cycleMs: number) {}

  rate(value: number | string, path: string): Rate {
    return parseRate(value, this.cycleMs, path);
  }

  time(value: number | string | undefined, path: string, least = 0): number | undefined {
    return value === undefined ? undefined : parseTime(value, this.cycleMs, path, least);
  }
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
 * The model in the cycles from `from` up to, not including, `to`; no requests in other cycles. It counts cycles from `from`.
 *
 *   run      0  1  2  3  4  5  6  7            from 2, to 6
 *   model          0  1  2  3
 *
 * @throws Failure `invalid_input` unless from < to
 */
export function between(arrival: Arrival, from: number, to: number): Arrival {
  if (!(from < to)) refuse('/to', `must lie after from, which is cycle ${from}`);
  return from === 0 && to === Infinity ? arrival : new Between(arrival, from, to);
}

class Between implements Arrival {
  readonly #arrival: Arrival;
  readonly #from: number;
  readonly #to: number;

  constructor(arrival: Arrival, from: number, to: number) {
    this.#arrival = arrival;
    this.#from = from;
    this.#to = to;
  }

  count(cycle: number): number {
    return cycle >= this.#from && cycle < this.#to ? this.#arrival.count(cycle - this.#from) : 0;
  }

  instants(out: Float64Array, n: number): void {
    if (n > 0) this.#arrival.instants(out, n);
  }
}
