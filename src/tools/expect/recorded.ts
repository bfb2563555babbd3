// Records what a function that sends a request gets: fetch, supertest, axios, a limiter in this process.
//
//   recorded(() => fetch(url))    recorded(() => request(app).get('/'))    recorded(() => limiter.tryTake(), { limited: (taken) => !taken })
import { Failure } from '../../core/schema/failure.js';
import { monotonicNowMs } from '../../core/time/wall.js';
import type { SeenAnswer } from './follows.js';

export interface RecordOptions<Result> {
  /**
   * Whether a result, or what was thrown in its place, is a refusal; undefined: it does not say. Default: a `status` or `statusCode`, its
   * own or that of its `response`, of 429 is one, another number is none.
   */
  readonly limited?: (result: Result | undefined, thrown: unknown) => boolean | undefined;
}

/** Sends as the function does, with its arguments, and gives or throws what it does. */
export interface Recorded<Arguments extends unknown[], Result> {
  (...given: Arguments): Result;
  /** In the order of their answers. */
  readonly answers: SeenAnswer[];
}

export function recorded<Arguments extends unknown[], Result>(
  send: (...given: Arguments) => Result,
  { limited = byStatus }: RecordOptions<Awaited<Result>> = {},
): Recorded<Arguments, Result> {
  const answers: SeenAnswer[] = [];
  const note = (sentMs: number, result: Awaited<Result> | undefined, thrown?: unknown) => {
    const answeredMs = monotonicNowMs();
    answers.push({ sentMs, answeredMs, limited: limited(result, thrown) });
  };
  const call = (...given: Arguments): Result => {
    const sentMs = monotonicNowMs();
    let result: Result;
    try {
      result = send(...given);
    } catch (error) {
      note(sentMs, undefined, error);
      throw error;
    }
    if (!isThenable(result)) {
      note(sentMs, result as Awaited<Result>);
      return result;
    }
    // A request of supertest is sent once its result is asked for.
    return Promise.resolve(result).then(
      (value) => {
        note(sentMs, value as Awaited<Result>);
        return value;
      },
      (error) => {
        note(sentMs, undefined, error);
        throw error;
      },
    ) as Result;
  };
  return Object.assign(call, { answers });
}

const TOO_MANY = 429;

function byStatus(result: unknown, thrown: unknown): boolean | undefined {
  const status = statusOf(result) ?? statusOf(thrown);
  if (status !== undefined) return status === TOO_MANY;
  if (thrown !== undefined) return undefined;
  throw new Failure('invalid_input', {
    what: 'The result does not say whether it was limited.',
    why: 'It has no status.',
    fix: 'Say it: recorded(send, { limited: (result, thrown) => … }).',
  });
}

function statusOf(from: unknown): number | undefined {
  const { status, statusCode, response } = Object(from) as Readonly<Record<string, unknown>>;
  if (typeof status === 'number') return status;
  if (typeof statusCode === 'number') return statusCode;
  return response === undefined ? undefined : statusOf(response);
}

function isThenable(value: unknown): value is PromiseLike<unknown> {
  return typeof (value as { readonly then?: unknown } | undefined)?.then === 'function';
}
