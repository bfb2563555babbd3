// With which failure a call ends. Errors that are not failures are thrown.
import { Failure } from '../src/schema/failure.js';

/** Undefined if the call succeeds. */
export function failureOf(act: () => unknown): Failure | undefined {
  try {
    act();
    return undefined;
  } catch (error) {
    return asFailure(error);
  }
}

/** Undefined if the work succeeds. */
export async function failureIn(work: PromiseLike<unknown>): Promise<Failure | undefined> {
  return work.then(() => undefined, asFailure);
}

/** `/path message`, one a fault; none if the call succeeds. */
export function faultsOf(act: () => unknown): string[] {
  return (failureOf(act)?.faults ?? []).map(({ path, message }) => `${path} ${message}`);
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}
