// Makes the model of an arrival from its specification: parses texts, fills in defaults, creates a random stream for each purpose.
import { RandomStream } from '../../math/random.js';
import type { Seed } from '../../math/seed.js';
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

/** The parameters of the run that a model needs. */
export interface ArrivalContext {
  readonly seed: Seed;
  /** Name of its random streams, for example `arrivals/0`: unique among the models of the run. */
  readonly purpose: string;
  /** Length of a cycle in ms, an integer >= 1. */
  readonly cycleMs: number;
  /** Length of the run in cycles. */
  readonly cycles: number;
  /** Length of the limiter's window in cycles. */
  readonly within: number;
  /** For model `log`: the content of the log, read beforehand. */
  readonly log?: Recording | undefined;
  /** JSON pointer to the specification, for failures. */
  readonly place?: string | undefined;
}

/**
 * Makes the model of an arrival that fits its schema.
 * @throws Failure `invalid_input`, with the place of every fault, if a rate or time cannot be read or fields contradict each other
 */
export function makeArrival(spec: ArrivalSpec | CustomArrivalSpec, context: ArrivalContext): Arrival {
  try {
    const from = parseTime(spec.from ?? 0, context.cycleMs, '/from');
    const to = spec.to === undefined ? Infinity : parseTime(spec.to, context.cycleMs, '/to');
    return between(new Maker(context, Math.min(to, context.cycles) - from).make(spec), from, to);
  } catch (error) {
    throw error instanceof Failure ? placed(error, context.place ?? '') : error;
  }
}

class Maker {
  readonly #context: ArrivalContext;
  readonly #length: number;

  /** @param length cycles in which the model sends requests */
  constructor(context: ArrivalContext, length: number) {
    this.#context = context;
    this.#length = length;
  }

  make(spec: ArrivalSpec | CustomArrivalSpec): Arrival {
    switch (spec.model) {
      case 'constant':
        return new ConstantArrival(this.#rate(spec.rate, '/rate'), this.#placement(spec.placement ?? 'even'));
      case 'poisson': {
        const rate = this.#rate(spec.rate, '/rate');
        return new PoissonArrival(rate, this.#stream('counts'), this.#placement(spec.placement ?? 'random'));
      }
      case 'ramp': {
        const shape = {
          start: this.#rate(spec.start_rate, '/start_rate'),
          end: this.#rate(spec.end_rate, '/end_rate'),
          over: this.#time(spec.over, '/over', 1) ?? Math.max(1, this.#length),
          repeat: spec.repeat ?? false,
        };
        return this.#byLaw(spec, (placement) => new RampArrival(shape, placement));
      }
      case 'burst': {
        const shape = {
          base: this.#rate(spec.base_rate ?? 0, '/base_rate'),
          burst: this.#rate(spec.burst_rate, '/burst_rate'),
          at: this.#time(spec.at, '/at') ?? 0,
          lasts: this.#time(spec.for, '/for', 1),
          every: this.#time(spec.every, '/every', 1),
        };
        return this.#byLaw(spec, (placement) => new BurstArrival(shape, placement));
      }
      case 'spikes': {
        const at = this.#time(spec.at, '/at') ?? 0;
        const every = this.#time(spec.every, '/every', 1);
        return new SpikesArrival({ requests: spec.requests, at, every }, this.#placement(spec.placement ?? 'start'));
      }
      case 'sine': {
        const shape = {
          mean: this.#rate(spec.rate, '/rate'),
          amplitude: this.#rate(spec.amplitude, '/amplitude'),
          period: parseTime(spec.period, this.#context.cycleMs, '/period', 1),
          phase: spec.phase ?? 0,
        };
        return this.#byLaw(spec, (placement) => new SineArrival(shape, placement));
      }
      case 'onoff': {
        const shape = {
          on: this.#rate(spec.on_rate, '/on_rate'),
          off: this.#rate(spec.off_rate ?? 0, '/off_rate'),
          onFor: parseMeanTime(spec.on_for, this.#context.cycleMs, '/on_for', LEAST_SOJOURN),
          offFor: parseMeanTime(spec.off_for, this.#context.cycleMs, '/off_for', LEAST_SOJOURN),
        };
        const [sojourns, counts] = [this.#stream('sojourns'), this.#stream('counts')];
        return new OnOffArrival(shape, { sojourns, counts, instants: this.#stream('instants') });
      }
      case 'pareto':
        return new ParetoArrival(this.#rate(spec.rate, '/rate'), spec.shape, this.#stream('gaps'));
      case 'edge': {
        const within = this.#time(spec.within, '/within', 1) ?? this.#context.within;
        const shape = { requests: spec.requests, within, boundary: spec.boundary ?? 1 };
        return new EdgeArrival(shape, this.#placement(spec.placement ?? 'start'));
      }
      case 'counts':
        return new CountsArrival(spec.counts, spec.repeat ?? false, this.#placement(spec.placement ?? 'even'));
      case 'log': {
        const { log } = this.#context;
        if (log === undefined) return refuse('/model', 'log has nothing to play: a log is read before the run');
        return new RecordedArrival(log, this.#placement(spec.placement ?? 'even'));
      }
      case 'custom':
        return this.#custom(spec);
      default:
        return unreachable(spec);
    }
  }

  #custom({ count }: CustomArrivalSpec): Arrival {
    const stream = this.#stream('counts');
    const counts = countsOf(count, this.#length, () => stream.uniform());
    return new CountsArrival(counts, false, this.#placement('even'));
  }

  /** A model that follows its curve exactly, or randomly around it. */
  #byLaw(
    { law, placement }: { law?: 'exact' | 'poisson'; placement?: PlacementName },
    make: (placement: Placement) => Arrival & Curve,
  ): Arrival {
    const around = this.#placement(placement ?? (law === 'poisson' ? 'random' : 'even'));
    const curve = make(around);
    return law === 'poisson' ? new PoissonAround(curve, this.#stream('counts'), around) : curve;
  }

  #rate(value: number | string, path: string): Rate {
    return parseRate(value, this.#context.cycleMs, path);
  }

  #time(value: number | string | undefined, path: string, least = 0): number | undefined {
    return value === undefined ? undefined : parseTime(value, this.#context.cycleMs, path, least);
  }

  #placement(name: PlacementName): Placement {
    return makePlacement(name, () => this.#stream('instants'));
  }

  #stream(use: string): RandomStream {
    return new RandomStream(this.#context.seed, `${this.#context.purpose}/${use}`);
  }
}

/** The same failure, with its places in the whole input. */
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
