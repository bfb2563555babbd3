// Owns the client that does as the limiter says: it waits as long as Retry-After tells, and sends again. Leaves the course of a job
// to requesting.ts.
//
//   send ─► limited, Retry-After 12 s ─► 12 s ─┬─ jitter ─► send ─► ...          at most maxAttempts times
//                                              └ u * jitter, u uniform in [0, 1)
//
// Clients that are limited together are told the same instant and come back together; the jitter sets them apart.
import { unreachable } from '../../schema/failure.js';
import type { Behaviour } from './port.js';
import { type RequestingState, requesting } from './requesting.js';

export interface ObedientPlan {
  /** Attempts that a job may take, at least 1. */
  readonly maxAttempts: number;
  /** The longest time waited on top of what the limiter says, in ms; 0 for none. */
  readonly jitterMs: number;
}

export function obedient({ maxAttempts, jitterMs }: ObedientPlan): Behaviour<RequestingState> {
  return requesting({
    after(setback, { attempts }, port) {
      switch (setback.type) {
        case 'limited': {
          if (setback.retryAfterMs === undefined || attempts >= maxAttempts) return undefined;
          return setback.retryAfterMs + (jitterMs > 0 ? port.draw.uniform() * jitterMs : 0);
        }
        // Nobody has said when to come again.
        case 'failed':
        case 'lost':
        case 'timeout':
          return undefined;
        default:
          return unreachable(setback);
      }
    },
  });
}
