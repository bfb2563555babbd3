// The schema and the plan of a scenario's service.
import type { Static } from 'typebox';
import { parseTimeLaw, type TimeLaw, TimeLawSpec } from '../../core/math/time-law.js';
import { exact, flag, real, whole } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';
import { parseTimeMs, timeField } from '../../core/schema/quantity.js';

const orders = ['fifo', 'lifo', 'adaptive_lifo'] as const;

export const ServiceSpec = exact('What stands behind the gate. Default: nothing; what is admitted is served.', {
  'servers?': whole(1, 1_000_000, 'How many requests are served at a time. Default: 1.'),
  time: TimeLawSpec,
  'queue?': whole(
    0,
    100_000_000,
    'How many requests can wait; what comes when it is full is refused. Default: no limit.',
  ),
  'drop_abandoned?': flag('Whether requests whose client has given up leave the queue unserved. Default: false.'),
  'order?': Type.Enum(orders, {
    description:
      'Which request is next: the first; the last; or the last while the queue has not been empty for the interval of codel. Default: fifo.',
  }),
  'codel?': exact('Requests that waited for too long fail when their turn comes.', {
    'target?': timeField('The longest wait while the queue lasts. Default: 5ms.'),
    'interval?': timeField(
      'The queue lasts if it has not been empty for this long; else this is the longest wait. Default: 100ms.',
    ),
  }),
  'deadline?': timeField('A request that has waited for longer fails when its turn comes. Default: none.'),
  'fails?': real(0, 1, 'Share of the answers that fail after the work, by chance. Default: 0.'),
  'per_in_flight?': timeField('The work is longer by this for each other request in service. Default: 0.'),
  'refusal?': timeField('Work of a server for each request that is refused. Default: 0.'),
  'retry_after?': {
    ...TimeLawSpec,
    description:
      'The Retry-After of answers that fail, as a 503 may have one: a time, or a law to draw it from; in whole seconds, rounded up. Default: none.',
  } as typeof TimeLawSpec,
});

export type ServiceSpec = Static<typeof ServiceSpec>;

export interface ServicePlan {
  readonly servers: number;
  readonly time: TimeLaw;
  /** Capacity; Infinity: unlimited. 0: a request that finds all servers busy is refused. */
  readonly queue: number;
  readonly dropsAbandoned: boolean;
  readonly order: (typeof orders)[number];
  /** ms. The queue is persistent if it has not been empty for `intervalMs`. */
  readonly intervalMs: number;
  /** Longest wait in a persistent queue, in ms; otherwise it is `intervalMs`. Undefined: unlimited. */
  readonly codelMs: number | undefined;
  readonly deadlineMs: number;
  readonly fails: number;
  readonly perInFlightMs: number;
  readonly refusalMs: number;
  readonly retryAfter?: TimeLaw | undefined;
}

/** @throws Failure `invalid_input` for an invalid time */
export function planService(spec: ServiceSpec, cycleMs: number): ServicePlan {
  const ms = (value: number | string, path: string) => parseTimeMs(value, cycleMs, `/service${path}`);
  const { servers = 1, time, queue = Number.POSITIVE_INFINITY, drop_abandoned: dropsAbandoned = false } = spec;
  const { codel, deadline } = spec;
  return {
    servers,
    time: parseTimeLaw(time, cycleMs, '/service/time'),
    queue,
    dropsAbandoned,
    order: spec.order ?? 'fifo',
    intervalMs: ms(codel?.interval ?? '100ms', '/codel/interval'),
    codelMs: codel && ms(codel.target ?? '5ms', '/codel/target'),
    deadlineMs: deadline === undefined ? Number.POSITIVE_INFINITY : ms(deadline, '/deadline'),
    fails: spec.fails ?? 0,
    perInFlightMs: ms(spec.per_in_flight ?? 0, '/per_in_flight'),
    refusalMs: ms(spec.refusal ?? 0, '/refusal'),
    retryAfter:
      spec.retry_after === undefined ? undefined : parseTimeLaw(spec.retry_after, cycleMs, '/service/retry_after'),
  };
}
