// The schema of how a client retries: back-off, Retry-After, limits of retries, the gate on its own side, hedging.
import type { Static, TSchema } from 'typebox';
import { exact, flag, real, whole } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { rateField, timeField } from '../../core/schema/quantity.js';
import { backoffPolicies } from './backoff.js';
import { setbackTypes } from './behaviour.js';

const MOST_ATTEMPTS = 1_000;
const MOST_RETRIES_PER_CYCLE = 1_000_000;
const MOST_TOKENS = 1_000_000_000;

const tokens = (description: string, minimum = 0) => real(minimum, MOST_TOKENS, description);

const share = (description: string, maximum = 1) => real(0, maximum, description);

const BackoffSpec = exact('The pauses between attempts.', {
  policy: Type.Enum(backoffPolicies, { description: 'How the pause before the next attempt is found.' }),
  'base?': timeField('The unit of the pauses. Default: 100ms.'),
  'cap?': timeField('The longest pause, not below base. Default: 20s, or base if that is longer.'),
  'factor?': real(1, 100, 'Of geometric: each pause is this many times the one before, the first is base. Default: 2.'),
  'first?': timeField('Of geometric and linear: the first pause, where it does not follow the rule; 0 for none.'),
  'shorten_by?': share(
    'Of geometric and linear: a pause is shorter by up to this share, by chance; 1 is full jitter, 0.5 equal jitter.',
  ),
  'lengthen_by?': share('Of geometric and linear: a pause is longer by up to this share of it, by chance.', 10),
  'add?': timeField('Of geometric and linear: a pause is longer by up to this time, by chance.'),
  'jitter?': Type.Literal('exponential', {
    description:
      'Of fixed, exponential, geometric and linear: a pause is drawn from the exponential law, its mean what it would be otherwise.',
  }),
});

const bySetback = <Field extends TSchema>(field: Field) => ({
  'limited?': field,
  'failed?': field,
  'lost?': field,
  'timeout?': field,
});

export const retryAfterPolicies = ['ignore', 'obey', 'floor', 'clamp'] as const;

const RetryAfterPolicy = Type.Enum(retryAfterPolicies, {
  description:
    'ignore; obey: it replaces the pause; floor: the pause is at least as long; clamp: floor, but at most slack longer than the pause.',
});

const RetryAfterFields = exact({
  policy: RetryAfterPolicy,
  'limit?': timeField('The longest Retry-After that is taken as it is. Default: any.'),
  'above?': Type.Enum(['cap', 'ignore', 'stop'], {
    description: 'What is done with a longer one: cap: wait the limit; ignore; stop: give up. Default: cap.',
  }),
  'zero?': Type.Enum(['obey', 'backoff'], {
    description: 'Of obey: what is done with a Retry-After of 0: no pause, or the back-off. Default: obey.',
  }),
  'slack?': timeField('Of clamp: the most that the pause becomes longer. Default: 5s.'),
  'missing?': Type.Enum(['backoff', 'stop'], {
    description: 'What is done where none is announced: the back-off, or giving up. Default: backoff.',
  }),
});

const retryAfter = (usual: string) =>
  Type.Union([RetryAfterPolicy, RetryAfterFields], {
    description: `What is done with the Retry-After of a limiter. Default: ${usual}.`,
  });

const RetryBudgetSpec = exact('Retries as a share of requests; shared by all requests of one instance.', {
  share: share('Retries allowed for each request, as 0.2.', 10),
  'floor?': rateField('Retries allowed however few the requests are. Default: 0.', MOST_RETRIES_PER_CYCLE),
  'over?': timeField('Over how long both are counted. Default: 10s.'),
});

const RetryConcurrencySpec = exact('Retries at a time, as Envoy limits them; shared by all requests of one instance.', {
  'share?': share('Retries, waiting or in flight, as a share of all requests in flight. Default: 0.2.', 10),
  'least?': whole(0, 1_000_000, 'Allowed however few are in flight. Default: 3.'),
});

const RetryQuotaSpec = exact('Tokens that retries need; shared by all requests of one instance.', {
  capacity: tokens('Tokens at first and at most.', 1),
  'cost?': Type.Union([tokens('Of every kind of setback.'), exact(bySetback(tokens('Default: 1.')))], {
    description: 'Tokens that a retry costs, by the kind of setback before it. Default: 1.',
  }),
  'charge?': Type.Enum(['retry', 'setback'], {
    description:
      'retry: a retry pays, and is not made without enough tokens; setback: every setback takes its cost, down to 0. Default: retry.',
  }),
  'threshold?': tokens('Retries are made only while more tokens than this are left. Default: none.'),
  'refund?': exact('Tokens that come back.', {
    'start?': tokens('When the first attempt of a job is sent. Default: 0.'),
    'first?': tokens('When the first attempt of a job is served. Default: 0.'),
    'retried?': Type.Union(
      [tokens('A number of tokens.'), Type.Literal('cost', { description: 'What that retry cost.' })],
      {
        description: 'When a retry is served. Default: 0.',
      },
    ),
  }),
});

const applies = {
  'on?': Type.Enum(['attempts', 'retries'], { description: 'Which attempts have to pass it. Default: attempts.' }),
};

const GateSpec = Type.Union(
  [
    exact({
      kind: Type.Literal('limiter', { description: 'A limiter on the client side.' }),
      limiter: Type.String({
        minLength: 1,
        maxLength: 20_000,
        description: "As a text: '5 in 1s', 'gcra 5/s burst=10', 'concurrency limit=20'.",
        examples: ['gcra 5/s burst=10'],
      }),
      'full?': Type.Enum(['wait', 'fail'], { description: 'What an attempt does that it refuses. Default: wait.' }),
      ...applies,
    }),
    exact({
      kind: Type.Literal('throttle', {
        description: 'Refuses with probability max(0, (requests - k * accepts) / (requests + 1)).',
      }),
      'k?': real(1, 1000, 'Requests allowed for each accept. Default: 2.'),
      'over?': timeField('Over how long both are counted. Default: 2m.'),
      ...applies,
    }),
    exact({
      kind: Type.Literal('breaker', { description: 'Closed until too many attempts fail; then open for a while.' }),
      'share?': share('Opens at this share of setbacks. Default: 0.5.'),
      'over?': timeField('Over how long attempts are counted. Default: 10s.'),
      'least?': whole(1, 1_000_000, 'It stays closed for fewer attempts. Default: 10.'),
      'open?': timeField('How long it is open. Default: 30s.'),
      'trials?': whole(
        1,
        1_000_000,
        'Attempts it lets through afterwards; it closes once all of them were served. Default: 1.',
      ),
      ...applies,
    }),
    exact({
      kind: Type.Literal('cubic', {
        description: 'The adaptive mode of AWS SDKs: a rate that a limited answer cuts by 0.3, and that grows back.',
      }),
      ...applies,
    }),
    exact({
      kind: Type.Literal('pause', {
        description: 'After a limited answer all requests of the instance wait as long as Retry-After says.',
      }),
      'untold?': timeField('The wait where none is announced. Default: 1s.'),
      'ramp?': timeField('Waiting requests return spread over this time after the pause, by chance. Default: 0.'),
      ...applies,
    }),
  ],
  {
    description: 'A gate on the side of the client, shared by all requests of one instance: one of the kinds.',
  },
);

const HedgeSpec = exact('Further attempts while none has been answered; the first one served ends the job.', {
  after: timeField('How long an attempt goes without an answer before another is sent, at least 1 ms.'),
  'most?': whole(1, 100, 'Attempts in flight for a job at a time. Default: 2.'),
});

export const maxAttempts = (usual: number | string) =>
  whole(1, MOST_ATTEMPTS, `Attempts that a job may take, the first included. Default: ${usual}.`);

interface Usual {
  readonly attempts: number | string;
  readonly setbacks: string;
  readonly retryAfter: string;
}

const fieldsOf = ({ attempts, setbacks, retryAfter: advice }: Usual) => ({
  'max_attempts?': Type.Union(
    [maxAttempts(attempts), Type.Literal('unlimited', { description: 'It never gives up.' })],
    { description: `Attempts that a job may take, the first included. Default: ${attempts}.` },
  ),
  'retries_on?': Type.Array(Type.Enum(setbackTypes), {
    minItems: 1,
    maxItems: setbackTypes.length,
    uniqueItems: true,
    description: `Setbacks that are retried. Default: ${setbacks}.`,
  }),
  'backoff?': BackoffSpec,
  'backoff_after?': exact('The pauses after a kind of setback, if others.', bySetback(BackoffSpec)),
  'retry_after?': retryAfter(advice),
  'deadline?': timeField('How long a job may take, at least 1 ms: no attempt or pause goes beyond. Default: forever.'),
  'retry_budget?': RetryBudgetSpec,
  'retry_concurrency?': RetryConcurrencySpec,
  'retry_quota?': RetryQuotaSpec,
  'gate?': GateSpec,
  'hedge?': HedgeSpec,
  'instances?': whole(
    1,
    100_000,
    'Processes among which jobs are dealt, each with a budget, a quota and a gate of its own. Default: 1.',
  ),
  'takes_late_answers?': flag(
    'Whether an answer to an attempt that timed out still ends the job while it is wanted. Default: false.',
  ),
});

export const retryFields = fieldsOf({ attempts: 3, setbacks: 'all', retryAfter: 'ignore' });

const LIBRARY = 'that of the library';

export const libraryFields = fieldsOf({ attempts: LIBRARY, setbacks: LIBRARY, retryAfter: LIBRARY });

export const RetrySpec = exact(retryFields);

export type RetrySpec = Static<typeof RetrySpec>;
export type BackoffSpec = Static<typeof BackoffSpec>;
export type RetryAfterSpec = Static<ReturnType<typeof retryAfter>>;
export type GateSpec = Static<typeof GateSpec>;
export type RetryQuotaSpec = Static<typeof RetryQuotaSpec>;
