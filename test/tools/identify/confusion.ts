// How many limiters drawn at random are named rightly, in virtual time.
import type { Range } from '../../../src/core/math/range.js';
import { type Answer, answerOf } from '../../../src/tools/identify/answer.js';
import type { Investigated } from '../../../src/tools/identify/explanations.js';
import { investigate } from '../../../src/tools/identify/investigation.js';
import { type RandomLimiter, randomLimiter } from './random-limiter.js';
import { limiterOf, played } from './virtual.js';

export interface Case {
  readonly seed: number;
  readonly truth: RandomLimiter;
  readonly found: Investigated;
  readonly answer: Answer;
  /** The one family of the answer, or its verdict. */
  readonly named: string;
  /** Limit and span of the first rule of the right family are those of the limiter. */
  readonly isExact: boolean;
  /** One rule is named, and it is of another family. */
  readonly isWrong: boolean;
  /** No interval of a span of the right family holds the span of the limiter. */
  readonly isOutside: boolean;
}

const options = { budget: 1_000, timeMs: 3_600_000, hasKeys: false };

export function identified(seed: number): Case {
  const truth = randomLimiter(seed);
  const { definition, network } = truth;
  const found = played(investigate(options), limiterOf(definition, 0, network.serviceMs), network, seed);
  const answer = answerOf(found);
  const families = [...new Set(answer.rules.map(({ family }) => family))];
  return {
    seed,
    truth,
    found,
    answer,
    named: families.length === 0 ? answer.verdict : families.length === 1 ? families[0]! : `one of ${families.length}`,
    isExact: isExact(truth, answer),
    isWrong: families.length > 0 && !families.includes(truth.family),
    isOutside: isOutside(truth, answer),
  };
}

function isOutside({ family, spanMs }: RandomLimiter, { rules }: Answer): boolean {
  const spans = rules
    .filter((one) => one.family === family)
    .map(({ parameters }) => parameters['window_ms'] ?? parameters['token_ms']);
  const isIn = ({ least, most }: Range) => least <= spanMs && spanMs <= most;
  return family !== 'concurrency' && spans.length > 0 && !spans.some((span) => (span!.pieces ?? [span!]).some(isIn));
}

/** Counts exactly; the span of a rate within 2 %, that of a window within the resolution, or what its network lets be seen of it. */
function isExact({ family, limit, spanMs, network }: RandomLimiter, { rules }: Answer): boolean {
  const rule = rules.find((one) => one.family === family);
  if (rule === undefined || rule.parameters['limit']!.value !== limit) return false;
  const span = rule.parameters['window_ms'] ?? rule.parameters['token_ms'];
  const share = rule.parameters['token_ms'] === undefined ? 0.01 : 0.02;
  return (
    family === 'concurrency' || Math.abs(span!.value - spanMs) <= Math.max(share * spanMs, 2 * network.jitterMs, 1)
  );
}

/** A row for each family, and one for all. */
export function familyRows(cases: readonly Case[]) {
  const families = [...new Set(cases.map(({ truth }) => truth.family))].sort();
  return [...families, undefined].map((family) => {
    const own = family === undefined ? cases : cases.filter(({ truth }) => truth.family === family);
    const right = own.filter(({ named, truth }) => named === truth.family);
    const others = own.filter((one) => !right.includes(one)).map(({ named, seed }) => `${named} (${seed})`);
    const seeds = (is: (one: Case) => boolean) =>
      own
        .filter(is)
        .map(({ seed }) => seed)
        .join(' ') || 'none';
    const middle = (of: (one: Case) => number) => own.map(of).sort((a, b) => a - b)[own.length >> 1]!;
    return {
      'what it is': family ?? 'all',
      asked: own.length,
      'named right': right.length,
      'limit and span exact': right.filter(({ isExact }) => isExact).length,
      'wrong name, by seed': seeds(({ isWrong }) => isWrong),
      'outside its interval': seeds(({ isOutside }) => isOutside),
      'requests, median': middle(({ answer }) => answer.requests),
      'seconds, median': middle(({ answer }) => answer.seconds),
      else: family === undefined ? others.length : others.join(', ') || 'none',
    };
  });
}
