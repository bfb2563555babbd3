// The schema of `weir identify --json`, and the conversion to it. Pure.
import type { Static } from 'typebox';
import { flag, shape } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { Count, Measure, Text } from '../../harness/outcome/read-schema.js';
import type { Answer, IdentifiedRule } from './answer.js';
import type { Seen } from './evidence.js';

const End = Type.Number({ minimum: 0, maximum: 1e15 });

const Candidate = shape({
  primitive: Text('The rule, as in the limiter of a scenario.'),
  params: Type.Record(Type.String({ maxLength: 100 }), Type.Unknown(), {
    description: 'Its parameters, as in the limiter of a scenario: the roundest numbers of the intervals.',
  }),
  'clock_resolution_ms?': Measure('The step of its clock.'),
  intervals: Type.Record(
    Type.String({ maxLength: 100 }),
    Type.Array(Type.Array(End, { minItems: 2, maxItems: 2 }), {
      description: 'Pieces, each from its first to its last.',
    }),
    { description: 'By what was measured, all values that explain the answers.' },
  ),
  explains: Count('Answers that it explains, if each may be off by off_ms.'),
  of: Count('Answers with a decision.'),
  off_ms: Measure('By how much the answers are missed in the nearest order that was found; 0: they are not.'),
  like: Type.Array(Text('A product that follows this rule.')),
  words: Text('The rule in words.'),
});

const Told = Type.Union([Type.Number(), Type.String({ maxLength: 1_000 }), Type.Null()]);

export const Identification = shape({
  url: Type.Union([Text('What was asked, or the file that was read.'), Type.Null()]),
  requests: Count('Requests that were sent.'),
  seconds: Measure('How long it took.'),
  verdict: Type.Enum(['identified', 'ambiguous', 'undecided', 'none'], {
    description:
      'One candidate explains all answers; several do; too little is known, or no limit was met; no rule that is known explains them.',
  }),
  candidates: Type.Array(Candidate, { description: 'Best first.' }),
  next_probe: Type.Union([
    Type.Null(),
    shape({
      rest_ms: Measure('Silence before it; 0 where a new key does.'),
      volleys: Type.Array(shape({ at_ms: Measure('Since its start.'), n: Count('Requests sent at once.') })),
      counts: Type.Enum(['admitted', 'held'], { description: 'What of the last volley is counted.' }),
      expected: Type.Array(
        shape({ words: Text('The rule in words.'), least: Count('At least.'), most: Count('At most.') }),
      ),
      tells_all: flag('Whether it separates each candidate from each other one.'),
    }),
  ]),
  remarks: Type.Array(Text('A sentence.')),
  headers: Type.Array(shape('A false claim.', { name: Text('What a header announces.'), claims: Told, seen: Told })),
  'keys?': Type.Unknown({ description: 'Whether it counts keys separately.' }),
});
export type Identification = Static<typeof Identification>;

export function identificationOf(answer: Answer, seen: readonly Seen[], url: string | undefined): Identification {
  const { verdict, rules, remarks, distinguishing, keys, falseLimit, requests, seconds } = answer;
  const of = seen.filter(({ decision }) => decision !== 'unknown').length;
  return {
    url: url ?? null,
    requests,
    seconds,
    verdict: verdict === 'never limited' ? 'undecided' : verdict,
    candidates: rules.map((rule) => candidateOf(rule, of)),
    next_probe:
      distinguishing === undefined
        ? null
        : {
            rest_ms: distinguishing.restMs,
            volleys: distinguishing.volleys.map(({ atMs, n }) => ({ at_ms: atMs, n })),
            counts: distinguishing.counts,
            expected: distinguishing.expected.map(({ words, least, most }) => ({ words, least, most })),
            tells_all: distinguishing.distinguishesAll,
          },
    remarks: [...remarks],
    headers: falseLimit === undefined ? [] : [{ name: 'limit', claims: falseLimit.stated, seen: falseLimit.shown }],
    ...(keys === undefined ? {} : { keys }),
  };
}

function candidateOf(
  { limiter, parameters, offMs, products, words }: IdentifiedRule,
  of: number,
): Identification['candidates'][number] {
  const { primitive, params, clock_resolution_ms: stepMs } = limiter;
  return {
    primitive,
    params: { ...(params as Record<string, unknown>) },
    ...(stepMs === undefined ? {} : { clock_resolution_ms: stepMs }),
    intervals: Object.fromEntries(
      Object.entries(parameters).map(([name, one]) => [
        name,
        (one.pieces ?? [one]).map(({ least, most }) => [least, most]),
      ]),
    ),
    explains: of,
    of,
    off_ms: offMs,
    like: [...products],
    words,
  };
}
