// Costs of requests other than 1: tokens of a language model, bytes.
//
//   charged 0        | cost |          nothing on arrival, everything after service
//   charged 800      | 800 |+ or - |   an estimate, corrected
//   charged 4096     | 4096 |---|      a reservation, with the rest returned
//
// With at most F requests in flight, each of at most `most`, admitted costs exceed the limit by at most F * max(0, most - charged),
// which the limiter does not know yet. A window counts that at its end.
import type { Static } from 'typebox';
import type { Draws } from '../../core/math/random.js';
import { parseTimeLaw } from '../../core/math/time-law.js';
import { exact, real } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';

const MOST_COST = 1_000_000_000;

const amount = (description: string) => real(0, MOST_COST, description);
const whole = (description: string, minimum = 0) => Type.Integer({ minimum, maximum: MOST_COST, description });
const law = <const Name extends string>(name: Name, description: string) => Type.Literal(name, { description });

export const CostsSpec = exact(
  {
    description:
      'What requests cost a limiter, in tokens or bytes, say. Every attempt of a request costs the same. A limiter counts costs; one with `counts: requests` counts each request as 1.',
    examples: [{ unit: 'tokens', each: { law: 'lognormal', mean: 900, deviation: 700 }, most: 4096 }],
  },
  {
    'unit?': Type.String({
      pattern: '^[a-z][a-z_]{0,31}$',
      description: 'What is counted, for reports. Default: cost.',
    }),
    each: Type.Union(
      [
        whole('Every request costs this.', 1),
        exact({ law: law('exponential', 'Without memory.'), mean: amount('Mean.') }),
        exact({
          law: law('uniform', 'Every cost between two is as likely.'),
          from: amount('The smallest.'),
          to: amount('The largest; not below from.'),
        }),
        exact({
          law: law('lognormal', 'Mostly small, now and then very large.'),
          mean: amount('Mean, above 0.'),
          deviation: amount('Standard deviation.'),
        }),
      ],
      {
        description: 'What a request costs: a number, or a law to draw it from; rounded, at least 1.',
        examples: [500],
      },
    ),
    'most?': whole('The most that a request costs: a larger draw is cut to it. Default: no bound.', 1),
    'charged?': whole(
      'What a request is charged when it comes, where its cost is known only when the service is done: the difference is charged then, or given back; all is given back if it was not served. 0 charges afterwards, the mean estimates, the most reserves. Default: the cost is known when it comes.',
    ),
  },
);

type CostsSpec = Static<typeof CostsSpec>;

export interface CostPlan {
  readonly unit: string;
  /** Charged on arrival; undefined: the cost. */
  readonly charged: number | undefined;
  /** Draws the cost of each request. */
  make(draws: Draws): () => number;
}

export function planCosts({ unit = 'cost', each, most = MOST_COST, charged }: CostsSpec): CostPlan {
  const costs = parseTimeLaw(each, 1, '/costs/each');
  const make = (draws: Draws) => {
    const stream = draws('costs');
    return () => Math.min(most, Math.max(1, Math.round(costs.drawMs(stream))));
  };
  return { unit, charged, make };
}
