// The shape of the clients in a scenario: one object a kind, distinguished by `kind`; and the words for a client that does not fit:
// only the rules of its own kind are named.
import type { Static, TProperties } from 'typebox';
import { TimeLawSpec } from '../../math/time-law.js';
import { nearest } from '../../schema/did-you-mean.js';
import type { Fault } from '../../schema/failure.js';
import { Type } from '../../schema/json-schema.js';
import { rateField, timeField } from '../../schema/quantity.js';
import { valueFaults } from '../../schema/value-faults.js';
import { backoffPolicies } from './backoff.js';

const strict = { additionalProperties: false } as const;

/** The most clients of a kind that has a fixed number: each is an actor of some kilobytes. */
export const MOST_CLIENTS = 100_000;

const MOST_ATTEMPTS = 1_000;
const MOST_RETRIES_PER_CYCLE = 1_000_000;

const Count = (description: string) => Type.Integer({ minimum: 1, maximum: MOST_CLIENTS, description });

const Flag = (description: string) => Type.Optional(Type.Boolean({ description }));

const share = {
  share: Type.Optional(
    Type.Number({
      minimum: 0,
      maximum: 1_000_000,
      description: 'Its weight when arriving requests are dealt among the kinds. Default: 1.',
    }),
  ),
};

const maxAttempts = (usual: number) => ({
  max_attempts: Type.Optional(
    Type.Integer({
      minimum: 1,
      maximum: MOST_ATTEMPTS,
      description: `Attempts that a job may take, the first included. Default: ${usual}.`,
    }),
  ),
});

const BackoffSpec = Type.Object(
  {
    policy: Type.Enum(backoffPolicies, { description: 'How the pause before the next attempt is found.' }),
    base: Type.Optional(timeField('The unit of the pauses; exponential policies double it. Default: 100ms.')),
    cap: Type.Optional(timeField('The longest pause, not below base. Default: 20s, or base if that is longer.')),
  },
  { ...strict, description: 'The pauses between attempts.' },
);

const RetryBudgetSpec = Type.Object(
  {
    share: Type.Number({ minimum: 0, maximum: 10, description: 'Retries allowed for each request, as 0.2.' }),
    floor: Type.Optional(
      rateField('Retries allowed however few the requests are. Default: 0.', MOST_RETRIES_PER_CYCLE),
    ),
    over: Type.Optional(timeField('Over how long both are counted. Default: 10s.')),
  },
  { ...strict, description: 'Shared by all clients of the kind, as by the requests of one process.' },
);

const FlushSpec = Type.Object(
  {
    batch: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'Items sent together; the next batch waits for their answers. Default: all that are held.',
      }),
    ),
    spread: Type.Optional(timeField('Time over which the batches are spread. Default: 0, at once.')),
    jitter: Flag('Whether each device begins its flush somewhere in its first gap between batches. Default: false.'),
  },
  { ...strict, description: 'How held items are sent once the gate is restored.' },
);

function Kind<const Name extends string, Fields extends TProperties>(kind: Name, description: string, fields: Fields) {
  return Type.Object(
    {
      kind: Type.Literal(kind, { description }),
      name: Type.Optional(
        Type.String({
          pattern: '^[a-z][a-z0-9_-]{0,31}$',
          description: 'Names its figures and its actors. Default: the kind, numbered from the second of a kind on.',
        }),
      ),
      timeout: Type.Optional(
        timeField('How long it waits for an answer, at least 1 ms; then the attempt is abandoned. Default: forever.'),
      ),
      ...fields,
    },
    { ...strict, description },
  );
}

/** Every kind by name, in the order in which they are explained. */
export const clientKinds = {
  open: Kind('open', 'Fires and forgets: every request is sent once.', { ...share }),
  obedient: Kind('obedient', 'Waits as long as Retry-After says, then sends again.', {
    ...share,
    ...maxAttempts(10),
    jitter: Type.Optional(timeField('Waits up to so much longer, by chance. Default: 0.')),
  }),
  retrying: Kind('retrying', 'Tries again after any setback, paced by a back-off policy.', {
    ...share,
    ...maxAttempts(3),
    backoff: Type.Optional(BackoffSpec),
    retry_budget: Type.Optional(RetryBudgetSpec),
    honours_retry_after: Flag('Whether it waits at least as long as a limiter says. Default: false.'),
    takes_late_answers: Flag(
      'Whether an answer to an attempt that timed out still ends the job while it is wanted. Default: false.',
    ),
  }),
  holding: Kind('holding', 'A device: holds its items back while the gate is limiting, and flushes them in batches.', {
    ...share,
    count: Count('How many devices; they are dealt to the contracts in turn, at least one to each.'),
    listens: Flag(
      'Whether it hears rate_limited and rate_restored; else it goes by limited answers and their Retry-After. Default: true.',
    ),
    buffer: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 10_000_000,
        description: 'Items that it can hold; what comes when it is full is dropped. Default: 1000.',
      }),
    ),
    flush: Type.Optional(FlushSpec),
  }),
  closed: Kind('closed', 'Thinks, asks, waits for the answer, and thinks again. Takes no arrivals.', {
    count: Count('How many clients; they are dealt to the contracts in turn.'),
    think: TimeLawSpec,
  }),
} as const;

export type ClientKind = keyof typeof clientKinds;

/** One kind of client of a scenario. Errors read better from the schema of its kind alone: see check.ts. */
export const ClientSpec = Type.Union(Object.values(clientKinds), {
  description: 'The clients that send the requests and how they react: one of the kinds, named by `kind`.',
});

export const ClientsSpec = Type.Array(ClientSpec, {
  minItems: 1,
  maxItems: 32,
  description: 'The kinds of clients. Default: open.',
});

export type ClientSpec = { [Name in ClientKind]: Static<(typeof clientKinds)[Name]> }[ClientKind];

/** Every fault of one kind of client, its path a JSON pointer from `place`; none when it fits. */
export function clientFaults(input: unknown, place = ''): Fault[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return [{ path: place, message: 'must be an object with a field kind' }];
  }
  const kind = (input as { kind?: unknown }).kind;
  if (!isKind(kind)) return [{ path: `${place}/kind`, message: unknownKind(kind) }];
  return valueFaults(clientKinds[kind], input, place);
}

function isKind(kind: unknown): kind is ClientKind {
  return typeof kind === 'string' && Object.hasOwn(clientKinds, kind);
}

function unknownKind(kind: unknown): string {
  const names = Object.keys(clientKinds);
  const among = `one of ${names.join(', ')}`;
  if (kind === undefined) return `is required: ${among}`;
  const guess = typeof kind === 'string' ? nearest(kind, names) : undefined;
  return guess === undefined ? `must be ${among}` : `must be ${among}; did you mean "${guess}"?`;
}
