// With which failure something ends. What is no failure of ours is thrown on.
import { Failure } from '../src/core/schema/failure.js';

/** Undefined if the work is done. */
export function failureOf(work: () => unknown): Failure | undefined {
  try {
    work();
    return undefined;
  } catch (error) {
    return asFailure(error);
  }
}

/** Undefined if the work is done. */
export async function failureIn(work: PromiseLike<unknown>): Promise<Failure | undefined> {
  return work.then(() => undefined, asFailure);
}

/** What the work gives, or the code of its failure. */
export function valueOrCode<T>(work: () => T): T | string {
  let value: T | undefined;
  const failure = failureOf(() => (value = work()));
  return failure?.code ?? (value as T);
}

/** The code of the failure, or `done`. */
export function codeOf(work: () => unknown): string {
  return failureOf(work)?.code ?? 'done';
}

/** `/path message`, one a fault; none if the work is done. */
export function faultsOf(work: () => unknown): string[] {
  return (failureOf(work)?.faults ?? []).map(({ path, message }) => `${path} ${message}`);
}

function asFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  throw error;
}
