// What all kinds of arrivals share: the shape of their fields, and the two steps from a specification to a model.
//
//   specification ── plan, once ──► quantities in cycles, defaults filled in ── make, for each run ──► model with its random streams
import type { Static, TProperties } from 'typebox';
import type { RandomStream } from '../../../core/math/random.js';
import { drawPoisson } from '../../../core/math/random-law.js';
import { exact } from '../../../core/schema/fields.js';
import { Type } from '../../../core/schema/json-schema.js';
import { parseRate, parseTime, type Rate, rateField, timeField } from '../../../core/schema/quantity.js';
import { type Arrival, MOST_PER_CYCLE, type Recording } from './arrival.js';
import { type PlacementName, placements } from './placement.js';

interface Making {
  /** Cycles in which the model sends requests. */
  readonly length: number;
  readonly log: Recording | undefined;
  stream(use: string): RandomStream;
  placement(name: PlacementName): Arrival['instants'];
}

export type MakeArrival = (making: Making) => Arrival;

export class Quantities {
  /** @param within length of the limiter's window in cycles */
  constructor(
    readonly cycleMs: number,
    readonly within: number,
  ) {}

  rate(value: number | string, path: string): Rate {
    return parseRate(value, this.cycleMs, path);
  }

  time(value: number | string | undefined, path: string, least = 0): number | undefined {
    return value === undefined ? undefined : parseTime(value, this.cycleMs, path, least);
  }
}

function fieldsOf<const Name extends string, Fields extends TProperties>(
  name: Name,
  description: string,
  fields: Fields,
) {
  return exact(description, {
    model: Type.Literal(name, { description }),
    ...fields,
    'from?': timeField('The model is silent before, and its own time begins here. Default: 0.'),
    'to?': timeField('The model is silent from here on. Default: the end of the run.'),
  });
}

/** @param plan may refuse a specification, and so may its result: too many requests in a cycle, contradictory fields */
export function kind<const Name extends string, Fields extends TProperties>(
  name: Name,
  description: string,
  fields: Fields,
  plan: (spec: Static<ReturnType<typeof fieldsOf<Name, Fields>>>, read: Quantities) => MakeArrival,
) {
  return { schema: fieldsOf(name, description, fields), plan };
}

export const RateOf = (description: string) => rateField(description, MOST_PER_CYCLE);

export const RequestsOf = (description: string) =>
  Type.Integer({ minimum: 0, maximum: MOST_PER_CYCLE, description, examples: [120] });

export const Placed = (usual: string) =>
  Type.Enum(Object.keys(placements) as PlacementName[], {
    description: `Where in its cycle each request comes: evenly, all at its start, or at random. Default: ${usual}.`,
  });

export const byLawFields = {
  'law?': Type.Enum(['exact', 'poisson'], {
    description: 'Whether the counts follow the rate exactly, or by chance around it. Default: exact.',
  }),
  'placement?': Placed('even; with law poisson, random'),
};

interface RateCurve {
  count(cycle: number): number;
  /** Mean number of requests in this cycle. Pure: cycles may be asked for in any order. */
  meanIn(cycle: number): number;
}

/** Counts follow the curve exactly, or are Poisson draws around it; the rate is constant within a cycle. */
export function byLaw(
  { law, placement }: { law?: 'exact' | 'poisson'; placement?: PlacementName },
  curveOf: (length: number) => RateCurve,
): MakeArrival {
  return (making) => {
    const { count, meanIn } = curveOf(making.length);
    const instants = making.placement(placement ?? (law === 'poisson' ? 'random' : 'even'));
    if (law !== 'poisson') return { count, instants };
    const stream = making.stream('counts');
    return { count: (cycle) => drawPoisson(meanIn(cycle), stream), instants };
  };
}
