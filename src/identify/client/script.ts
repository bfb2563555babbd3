// What a program under test is answered, and what was seen of it. Times are ms of a clock that never steps.

export interface Told {
  readonly form: 'seconds' | 'date';
  readonly seconds: number;
}

export interface Reply {
  readonly status: number | 'reset';
  /** `Retry-After`. */
  readonly told?: Told | undefined;
  /** How long the answer is held back, in ms. */
  readonly heldMs?: number | undefined;
}

/** The answers to one call, in their order; the last one is given to all further attempts. */
export interface Script {
  /** Scripts of one name are alike. */
  readonly name: string;
  readonly replies: readonly Reply[];
  /** How long a silence is watched until the call counts as given up, in ms. */
  readonly patienceMs: number;
}

export interface SeenAttempt {
  readonly arrivedMs: number;
  /** When the answer was sent, or the program hung up. */
  readonly endedMs: number;
  readonly reply: Reply;
  /** Whether the program hung up before the answer. */
  readonly hungUp: boolean;
  /** Whether this machine stalled before it, so that the gap says nothing. */
  readonly isStalled?: boolean | undefined;
}

export interface Call {
  readonly script: Script;
  readonly method: string;
  /** Which start of the program made it, and as which call of it; from 0. */
  readonly start: number;
  readonly place: number;
  /** Whether its process has made no other: what it compiles and connects is still to come. */
  readonly isFresh: boolean;
  readonly attempts: readonly SeenAttempt[];
  /** Served; given up, as the program has ended or called anew; or not known: it was silent when the watch ended. */
  readonly ending: 'served' | 'given up' | 'silent';
  readonly silentMs: number;
}

export function replyAt({ replies }: Script, attempt: number): Reply {
  return replies[Math.min(attempt, replies.length - 1)]!;
}

export function failsAlways({ replies }: Script): boolean {
  return replies.at(-1)!.status !== 200;
}

/** A silence counts as the end of a call if it is longer than this, in ms, and than the gap before it by the factor. */
export const SILENCE = { leastMs: 10_000, factor: 4 };

export function lastGapMs({ attempts }: Pick<Call, 'attempts'>): number {
  const [before, last] = attempts.slice(-2);
  return last === undefined ? 0 : last.arrivedMs - before!.endedMs;
}

export function hasGivenUp(call: Call): boolean {
  const isLong = call.silentMs >= Math.max(SILENCE.leastMs, SILENCE.factor * lastGapMs(call));
  return call.ending === 'given up' || (call.ending === 'silent' && isLong && lastReply(call).told === undefined);
}

function lastReply({ attempts }: Call): Reply {
  return attempts.at(-1)!.reply;
}
