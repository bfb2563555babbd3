// Real time: the one file that looks at a clock and sets timers.
//
//   wall clock      10:00 ---- 10:01 | stepped forward        11:05 ----       now() follows at once
//   wall clock      10:00 ---- 10:01 | stepped back           09:05 ----       now() holds its course: 10:01 ----
//                                                                              skewMs = 56 min, until the wall has caught up
//
// now() = max(wall clock, where the monotonic clock says we are). Cycles that a forward step jumps over are passed over
// at once. After a backward step time goes on at the rate of the monotonic clock and no cycle comes twice.

import { assert } from '../schema/failure.js';
import { Agenda } from './agenda.js';
import type { Clock } from './clock.js';
import { cycleOf } from './cycle.js';
import { Rank } from './rank.js';

/** Where time comes from. Tests bring their own, to step the wall clock by an hour. */
export interface TimeSource {
  /** Unix ms; may be stepped in either direction when the clock is set. */
  wallMs(): number;
  /** Milliseconds since some instant; never decreases, and may stand still while the computer sleeps. */
  monotonicMs(): number;
}

export interface WallOptions {
  /** Is given what a task throws; the clock goes on with the next. What this or `onLag` throws is an uncaught exception. */
  readonly onError: (error: unknown) => void;
  /** Called after each task with how late it began, in ms after its due, at least 0. A task that was added late is late, too. */
  readonly onLag?: ((lagMs: number) => void) | undefined;
  /** Catching up gives the event loop its turn after this long, in ms; one task at least is run in between. Default 10. */
  readonly sliceMs?: number | undefined;
  /** True when waiting shall not keep the process alive. Default false. */
  readonly unref?: boolean | undefined;
  readonly source?: TimeSource | undefined;
}

/** No sleep is longer than this: a step of the wall clock is noticed within it, and no delay exceeds a timer's 2^31 - 1 ms. */
const LONGEST_SLEEP_MS = 1_000;

/** A timer this late means that the process did not run: it was stopped, the computer slept, or one task held the event loop. */
const STALL_MS = 250;

/** The present time in unix ms, for who needs it once and no clock. */
export function wallNowMs(): number {
  return ofThisMachine.wallMs();
}

const ofThisMachine: TimeSource = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

/** The clock of a node and of a live load. It drives its agenda between `start()` and `stop()`; it can be read at any time. */
export class WallClock implements Clock {
  readonly agenda: Agenda;
  /** Unix ms at the zero of the monotonic clock, by the furthest that the wall clock has been seen. */
  #originMs: number;
  #latestMs = -Infinity;
  #lagMs = 0;
  #started = false;
  #waking = false;
  /** When the timer goes off, in unix ms: Infinity when none is set, -Infinity when the next turn of the event loop is it. */
  #alarmMs = Infinity;
  /** When the timer should go off, and when the last one that was very late did, both by the monotonic clock. */
  #expectedMs = Infinity;
  #stalledMs = -Infinity;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  readonly #source: TimeSource;
  readonly #sliceMs: number;
  readonly #unref: boolean;
  readonly #onError: (error: unknown) => void;
  readonly #onLag: ((lagMs: number) => void) | undefined;

  /** @param cycleMs length of a cycle in ms, an integer of at least 1 */
  constructor(
    readonly cycleMs: number,
    { onError, onLag, sliceMs = 10, unref = false, source = ofThisMachine }: WallOptions,
  ) {
    assert(Number.isSafeInteger(cycleMs) && cycleMs >= 1, `a cycle cannot last ${cycleMs} ms`);
    this.#source = source;
    this.#sliceMs = sliceMs;
    this.#unref = unref;
    this.#onError = onError;
    this.#onLag = onLag;
    this.#originMs = source.wallMs() - source.monotonicMs();
    this.agenda = new Agenda(this.now(), (dueMs) => this.#onEarlier(dueMs));
  }

  now(): number {
    // The wall first, then the monotonic clock: a process that is halted between the two readings then finds its wall
    // reading too old, which changes nothing, rather than its own course too slow, which would put it ahead permanently.
    const wallMs = this.#source.wallMs();
    const monotonicMs = this.#source.monotonicMs();
    if (wallMs > this.#originMs + monotonicMs) this.#originMs = wallMs - monotonicMs;
    // Moving the origin rounds in the last binary digit, hence the maximum.
    this.#latestMs = Math.max(this.#latestMs, this.#originMs + monotonicMs);
    return this.#latestMs;
  }

  cycle(): number {
    return cycleOf(this.now(), this.cycleMs);
  }

  /**
   * Lets time begin no earlier than `unixMs`, as after a backward step: from there it goes on at the rate of the monotonic clock until
   * the wall clock has caught up, and `skewMs` says by how much it is ahead.
   */
  notBefore(unixMs: number): void {
    const aheadMs = unixMs - this.now();
    if (aheadMs <= 0) return;
    this.#originMs += aheadMs;
    this.#latestMs = unixMs;
  }

  /** For measuring durations: milliseconds since some instant, with a fraction, untouched by steps of the wall clock. */
  monotonicMs(): number {
    return this.#source.monotonicMs();
  }

  /** How far `now()` is ahead of the wall clock, in ms: what a backward step has left. Up to 1 is the wall clock's own rounding. */
  get skewMs(): number {
    const wallMs = this.#source.wallMs();
    return this.now() - wallMs;
  }

  /** How late the last task began, in ms after its due. */
  get lagMs(): number {
    return this.#lagMs;
  }

  /** Milliseconds since the process last went on after it had not run for a quarter of a second or longer; Infinity if that never was. */
  get sinceStallMs(): number {
    return this.monotonicMs() - this.#stalledMs;
  }

  /** Begins to drive the agenda; what became due before is caught up with. Tasks run from the event loop, never from in here. */
  start(): void {
    this.#started = true;
    this.#setAlarm();
  }

  /** Ceases to drive the agenda, after the task that runs now. What waits goes on waiting for the next `start()`. */
  stop(): void {
    this.#started = false;
    this.#clearAlarm();
  }

  /** Waits as `sleepUntil(now() + ms)` does, so a forward step of the wall clock shortens it. */
  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.sleepUntil(this.now() + ms, signal);
  }

  /**
   * Resolves at `unixMs` or soon after, never before: timers count whole milliseconds, so 0 to 2 ms late on an idle loop.
   * Resolves early when the signal is aborted, and not at all while the clock is stopped.
   */
  sleepUntil(unixMs: number, signal?: AbortSignal): Promise<void> {
    return new Promise((resolve) => {
      if (signal?.aborted) return resolve();
      const wake = () => {
        this.agenda.cancel(ticket);
        signal?.removeEventListener('abort', wake);
        resolve();
      };
      const ticket = this.agenda.at(unixMs, Rank.client, wake);
      signal?.addEventListener('abort', wake);
    });
  }

  #onEarlier(dueMs: number): void {
    if (this.#started && !this.#waking && dueMs < this.#alarmMs) this.#setAlarm();
  }

  #setAlarm(): void {
    this.#clearAlarm();
    const dueMs = this.agenda.nextDue();
    if (!this.#started || this.#waking || dueMs === Infinity) return;
    const waitMs = dueMs - this.now();
    if (waitMs <= 0) {
      this.#alarmMs = -Infinity;
      this.#immediate = setImmediate(this.#wake);
      if (this.#unref) this.#immediate.unref();
      return;
    }
    this.#alarmMs = dueMs;
    // Rounded up: a timer cuts fractions off, and waking too early costs a second sleep.
    const sleepMs = Math.min(Math.ceil(waitMs), LONGEST_SLEEP_MS);
    this.#expectedMs = this.monotonicMs() + sleepMs;
    this.#timer = setTimeout(this.#wake, sleepMs);
    if (this.#unref) this.#timer.unref();
  }

  #clearAlarm(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
    this.#alarmMs = Infinity;
    this.#expectedMs = Infinity;
  }

  /**
   * Runs what is due, at most a slice of it, and sets the alarm for the rest. What becomes due meanwhile is for the next turn of the
   * event loop: a task that makes another one due at once leaves room for what came in between the two.
   */
  readonly #wake = (): void => {
    this.#waking = true;
    const startMs = this.monotonicMs();
    if (startMs > this.#expectedMs + STALL_MS) this.#stalledMs = startMs;
    const sliceEndMs = startMs + this.#sliceMs;
    const beganMs = this.now();
    try {
      do {
        const dueMs = this.agenda.nextDue();
        if (dueMs > beganMs) break;
        this.#runNext(this.now() - dueMs);
      } while (this.#started && this.monotonicMs() < sliceEndMs);
    } finally {
      this.#waking = false;
      this.#setAlarm();
    }
  };

  #runNext(lagMs: number): void {
    this.#lagMs = lagMs;
    try {
      this.agenda.step();
    } catch (error) {
      this.#onError(error);
    }
    this.#onLag?.(lagMs);
  }
}

/** Waits `ms`, for who has no clock, in any runtime. Resolves early when the signal is aborted. */
export function pause(ms: number, signal?: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal?.aborted) return resolve();
    const wake = () => {
      clearTimeout(timer);
      signal?.removeEventListener('abort', wake);
      resolve();
    };
    const timer = setTimeout(wake, ms);
    signal?.addEventListener('abort', wake);
  });
}
