// The answers to a program under test, and its observed calls. Times are ms of a monotonic clock.

export interface AnnouncedWait {
  readonly form: 'seconds' | 'date';
  readonly seconds: number;
}

export interface Reply {
  readonly status: number | 'reset';
  /** `Retry-After`. */
  readonly retryAfter?: AnnouncedWait | undefined;
  readonly heldMs?: number | undefined;
}

/** The answers to one call, in order; the last one repeats. */
export interface Script {
  readonly name: string;
  readonly replies: readonly Reply[];
  readonly patienceMs: number;
}

export interface SeenAttempt {
  readonly arrivedMs: number;
  readonly endedMs: number;
  readonly reply: Reply;
  readonly hungUp: boolean;
  /** Whether this machine stalled in the preceding gap, which makes it useless. */
  readonly isStalled?: boolean | undefined;
}

export interface Call {
  readonly script: Script;
  readonly method: string;
  /** Index of the program start, and of the call within it. */
  readonly start: number;
  readonly place: number;
  /** The first call of its process, slowed by compiling and connecting. */
  readonly isFresh: boolean;
  readonly attempts: readonly SeenAttempt[];
  /** 'given up': the program ended or made a new call. 'silent': unknown, the observation ended. */
  readonly ending: 'served' | 'given up' | 'silent';
  /** The program still ran, and has ended by itself after other calls: it may be waiting. */
  readonly isRunning?: boolean | undefined;
  readonly silentMs: number;
}

export function replyAt({ replies }: Script, attempt: number): Reply {
  return replies[Math.min(attempt, replies.length - 1)]!;
}

/** Setbacks before an answer that serves, in a script that counts attempts. */
export const MANY = 60;

export function failsAlways({ replies }: Script): boolean {
  return replies.at(-1)!.status !== 200;
}

/** A silence ends a call if it is longer than `leastMs`, and than `factor` times the preceding gap. */
export const SILENCE = { leastMs: 10_000, factor: 4 };

export function lastGapMs({ attempts }: Pick<Call, 'attempts'>): number {
  const [before, last] = attempts.slice(-2);
  return last === undefined ? 0 : last.arrivedMs - before!.endedMs;
}

export function hasGivenUp(call: Call): boolean {
  const isLong = call.silentMs >= Math.max(SILENCE.leastMs, SILENCE.factor * lastGapMs(call));
  const isAdvised = call.attempts.at(-1)!.reply.retryAfter !== undefined;
  return call.ending === 'given up' || (call.ending === 'silent' && isLong && !isAdvised && call.isRunning !== true);
}
