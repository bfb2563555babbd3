// Failures of a running or starting node that cannot reach Redis. Loads no client of Redis.
import { Failure } from '../../../core/schema/failure.js';

export function storeAway(why: string, what = 'Nothing was decided.'): Failure {
  return new Failure('store_away', {
    what,
    why: `Redis cannot be asked now: ${why}`,
    fix: 'Try again in a second; GET /readyz says when the node takes requests.',
  });
}

/** Rewords `store_away` for start-up; any other error as it is. */
export function asStartFailure(error: unknown): unknown {
  return error instanceof Failure && error.code === 'store_away' ? notStarted(error.why ?? error.what, error) : error;
}

export function notStarted(why: string, cause: unknown): Failure {
  return new Failure('store_away', {
    what: 'The node was not started.',
    why: why.replace(/\.+$/, '.'),
    fix: 'Start Redis, or correct its address, then start the node again.',
    cause,
  });
}
