// What is said where Redis cannot be asked: of a node that runs, and of one that starts. Loads no client of Redis.
import { Failure } from '../../schema/failure.js';

/** @returns the failure of whoever needs Redis while it is away */
export function away(why: string, what = 'Nothing was decided.'): Failure {
  return new Failure('store_away', {
    what,
    why: `Redis cannot be asked now: ${why}`,
    fix: 'Try again in a second; GET /readyz says when the node takes requests.',
  });
}

/** @returns the failure of a node that does not start, where it is that Redis cannot be asked; any other error as it is */
export function whileStarting(error: unknown): unknown {
  return error instanceof Failure && error.code === 'store_away' ? notStarted(error.why ?? error.what, error) : error;
}

/** @param why with a full stop */
export function notStarted(why: string, cause: unknown): Failure {
  return new Failure('store_away', {
    what: 'The node was not started.',
    why: why.replace(/\.+$/, '.'),
    fix: 'Start Redis, or correct its address, then start the node again.',
    cause,
  });
}
