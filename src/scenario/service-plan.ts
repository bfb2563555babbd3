// The shape of the service in a scenario, and its plan. simulate/service.ts runs it.
import type { Static } from 'typebox';
import { parseTimeLaw, type TimeLaw, TimeLawSpec } from '../math/time-law.js';
import { Type } from '../schema/json-schema.js';

export const ServiceSpec = Type.Object(
  {
    servers: Type.Optional(
      Type.Integer({
        minimum: 1,
        maximum: 1_000_000,
        description: 'How many requests are served at a time. Default: 1.',
      }),
    ),
    time: TimeLawSpec,
    queue: Type.Optional(
      Type.Integer({
        minimum: 0,
        maximum: 100_000_000,
        description: 'How many requests can wait; what comes when it is full is refused. Default: no limit.',
      }),
    ),
    drop_abandoned: Type.Optional(
      Type.Boolean({
        description: 'Whether requests whose client has given up leave the queue unserved. Default: false.',
      }),
    ),
  },
  {
    additionalProperties: false,
    description: 'What stands behind the gate. Default: nothing; what is admitted is served.',
  },
);

export type ServiceSpec = Static<typeof ServiceSpec>;

/** A service with numbers and defaults filled in. */
export interface ServicePlan {
  /** How many requests are served at a time, at least 1. */
  readonly servers: number;
  /** Time to serve one request. */
  readonly time: TimeLaw;
  /** How many can wait; Infinity for no limit, 0 for none: a request that finds all servers busy is refused. */
  readonly queue: number;
  /** Whether a request leaves the queue unserved once its client has given up. */
  readonly dropsAbandoned: boolean;
}

/**
 * @param place JSON pointer to the specification, for failures
 * @throws Failure `invalid_input` when a time cannot be read
 */
export function planService(spec: ServiceSpec, cycleMs: number, place = ''): ServicePlan {
  const { servers = 1, time, queue = Number.POSITIVE_INFINITY, drop_abandoned: dropsAbandoned = false } = spec;
  return { servers, time: parseTimeLaw(time, cycleMs, `${place}/time`), queue, dropsAbandoned };
}
