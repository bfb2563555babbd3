// The schema of the clients in a scenario.
import type { Static, TProperties } from 'typebox';
import { TimeLawSpec } from '../../core/math/time-law.js';
import { exact, flag, real, whole } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { timeField } from '../../core/schema/quantity.js';
import { clientLibraries, type LibraryName } from './libraries.js';
import { libraryFields, maxAttempts, retryFields } from './retry-schema.js';

/** Each is an actor of some kilobytes. */
export const MOST_CLIENTS = 100_000;

const Count = (description: string) => whole(1, MOST_CLIENTS, description);

const share = {
  'share?': real(0, 1_000_000, 'Its weight when arriving requests are dealt among the kinds. Default: 1.'),
};

const FlushSpec = exact('How held items are sent once the gate is restored.', {
  'batch?': whole(
    1,
    1_000_000,
    'Items sent together; the next batch waits for their answers. Default: all that are held.',
  ),
  'spread?': timeField('Time over which the batches are spread. Default: 0, at once.'),
  'jitter?': flag('Whether each device begins its flush somewhere in its first gap between batches. Default: false.'),
});

const common = {
  'name?': Type.String({
    pattern: '^[a-z][a-z0-9_-]{0,31}$',
    description: 'Names its figures and its actors. Default: the kind, numbered from the second of a kind on.',
  }),
  'timeout?': timeField(
    'How long it waits for an answer, at least 1 ms; then the attempt is abandoned. Default: forever.',
  ),
};

function Kind<const Name extends string, Fields extends TProperties>(kind: Name, description: string, fields: Fields) {
  return exact(description, { kind: Type.Literal(kind, { description }), ...common, ...fields });
}

export const clientKinds = {
  open: Kind('open', 'Fires and forgets: every request is sent once.', { ...share }),
  obedient: Kind('obedient', 'Waits as long as Retry-After says, then sends again.', {
    ...share,
    'max_attempts?': maxAttempts(10),
    'jitter?': timeField('Waits up to so much longer, by chance. Default: 0.'),
  }),
  retrying: Kind('retrying', 'Tries again after setbacks, paced by a back-off policy.', { ...share, ...retryFields }),
  holding: Kind('holding', 'A device: holds its items back while the gate is limiting, and flushes them in batches.', {
    ...share,
    count: Count('How many devices; they are dealt to the contracts in turn, at least one to each.'),
    'listens?': flag(
      'Whether it hears rate_limited and rate_restored; else it goes by limited answers and their Retry-After. Default: true.',
    ),
    'buffer?': whole(1, 10_000_000, 'Items that it can hold; what comes when it is full is dropped. Default: 1000.'),
    'flush?': FlushSpec,
  }),
  closed: Kind('closed', 'Thinks, asks, waits for the answer, and thinks again. Takes no arrivals.', {
    count: Count('How many clients; they are dealt to the contracts in turn.'),
    think: TimeLawSpec,
  }),
} as const;

export type ClientKind = keyof typeof clientKinds;

const Like = exact('A client that retries as a library does: what is not given is as the library has it.', {
  like: Type.Enum(Object.keys(clientLibraries) as LibraryName[], {
    description: 'A client library with its defaults; what else is given replaces them. `weir client` lists them.',
  }),
  ...common,
  ...share,
  ...libraryFields,
});

export const ClientSpec = Type.Union([...Object.values(clientKinds), Like], {
  description:
    'The clients that send the requests and how they react: one of the kinds, named by `kind`, or a library, named by `like`.',
});

export const ClientsSpec = Type.Array(ClientSpec, {
  minItems: 1,
  maxItems: 32,
  description: 'The kinds of clients. Default: open.',
});

export type LikeSpec = Static<typeof Like>;

export type ClientSpec = { [Name in ClientKind]: Static<(typeof clientKinds)[Name]> }[ClientKind] | LikeSpec;
