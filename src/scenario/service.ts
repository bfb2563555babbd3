// Owns the shape of the service in a scenario, and the way from there to a plan. Leaves what a service does to simulate/service.ts.
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

/** A service ready to be made. */
export interface ServicePlan {
  /** How many requests are served at a time, at least 1. */
  readonly servers: number;
  /** How long one takes. */
  readonly time: TimeLaw;
  /** How many can wait; Infinity for no limit, 0 for none: what finds all servers busy is refused. */
  readonly queue: number;
  /** Whether a request that nobody waits for any more leaves the queue unserved. */
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
