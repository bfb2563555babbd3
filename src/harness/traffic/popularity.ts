// Which contract a request belongs to, if several share one stream of requests.
//
//   even       1 2 3 4 1 2 3 4 1 ..        in turn: no two contracts differ by more than one request
//   uniform    3 1 1 4 2 3 1 4 4 ..        each with the same probability
//   zipf       1 1 2 1 3 1 2 4 1 ..        contract k with a probability in proportion to k^-s:   |█▄▃▂▂▁▁▁
//   weights    2 2 3 2 2 3 3 2 2 ..        contract k with a probability in proportion to its weight
import type { Static, TProperties } from 'typebox';
import { pow } from '../../core/math/elementary.js';
import type { RandomStream } from '../../core/math/random.js';
import { weightedDraw } from '../../core/math/random-law.js';
import { Failure } from '../../core/schema/failure.js';
import { exact, real } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';

const MOST_CONTRACTS = 1_000_000;

function law<const Name extends string, Fields extends TProperties>(name: Name, description: string, fields: Fields) {
  return exact({ law: Type.Literal(name, { description }), ...fields });
}

export const PopularitySpec = Type.Union(
  [
    law('even', 'Contracts take requests in turn.', {}),
    law('uniform', 'Every contract is as likely as any other.', {}),
    law('zipf', 'The k-th contract is k^exponent times less likely than the first.', {
      exponent: real(0, 10, 'How uneven: 0 is uniform, 1 the classic law.'),
    }),
    law('weights', 'Every contract is as likely as its weight says.', {
      weights: Type.Array(real(0, 1e12, 'Weight of one contract.'), {
        minItems: 1,
        maxItems: MOST_CONTRACTS,
        description: 'One weight a contract, in their order; not all of them 0.',
        examples: [[3, 1]],
      }),
    }),
  ],
  { description: 'How requests are shared among the contracts.' },
);

export type PopularitySpec = Static<typeof PopularitySpec>;

/** Draws the contract of the next request. */
export type Popularity = () => number;

export interface PopularityPlan {
  readonly law: PopularitySpec['law'];
  make(stream: RandomStream): Popularity;
}

/** @throws Failure `invalid_input` unless each of 1 .. MOST_CONTRACTS contracts has one weight, not all 0 */
export function planPopularity(spec: PopularitySpec, contracts: number): PopularityPlan {
  if (spec.law === 'weights') checkWeights(spec.weights, contracts);
  let drawn: ReturnType<typeof weightedDraw> | undefined;
  const make = (stream: RandomStream): Popularity => {
    if (spec.law === 'even') return inTurn(contracts);
    drawn ??= weightedDraw(weightsOf(spec, contracts));
    const draw = drawn;
    return () => draw(stream);
  };
  return { law: spec.law, make };
}

function weightsOf(spec: Exclude<PopularitySpec, { law: 'even' }>, contracts: number): readonly number[] {
  switch (spec.law) {
    case 'uniform':
      return Array<number>(contracts).fill(1);
    case 'zipf':
      return zipfWeights(contracts, spec.exponent);
    case 'weights':
      return spec.weights;
  }
}

function inTurn(contracts: number): Popularity {
  let next = contracts - 1;
  return () => {
    next = next + 1 === contracts ? 0 : next + 1;
    return next;
  };
}

/** `k^-exponent` for k = 1 .. contracts (G. K. Zipf, 1949). */
function zipfWeights(contracts: number, exponent: number): number[] {
  return Array.from({ length: contracts }, (_, index) => pow(index + 1, -exponent));
}

function checkWeights(weights: readonly number[], contracts: number): void {
  const wrong =
    weights.length !== contracts
      ? `must be one a contract: there are ${weights.length} weights and ${contracts} contracts`
      : weights.every((weight) => weight === 0)
        ? 'must not all be 0'
        : undefined;
  if (wrong === undefined) return;
  throw new Failure('invalid_input', {
    what: 'Requests cannot be shared among the contracts.',
    why: `weights ${wrong}.`,
    fix: 'Give one weight a contract, for example [5, 1, 1].',
    faults: [{ path: '/weights', message: wrong }],
  });
}
