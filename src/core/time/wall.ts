// Real time: the one file that reads a clock and sets timers.
//
//   wall clock      10:00 ---- 10:01 | stepped forward        11:05 ----       now() follows at once
//   wall clock      10:00 ---- 10:01 | stepped back           09:05 ----       now() stays on its course: 10:01 ----
//                                                                              skewMs = 56 min, until the wall clock has caught up
//
// now() = max(wall clock, course of the monotonic clock). A forward step skips cycles; a backward step repeats none.
import { assert } from '../schema/failure.js';
import { Agenda } from './agenda.js';
import type { Clock } from './clock.js';
import { cycleOf } from './cycle.js';
import { Rank } from './rank.js';

export interface TimeSource {
  /** Unix ms; steps in either direction when the clock is set. */
  wallMs(): number;
  /** Ms since some instant; never decreases, and may stop while the computer sleeps. */
  monotonicMs(): number;
}

export interface WallOptions {
  /** The clock continues with the next task. An exception thrown here or by `onLag` is uncaught. Default: throws it. */
  readonly onError?: ((error: unknown) => void) | undefined;
  /** Called after each task with its delay in ms, at least 0. A task added after its due is late, too. */
  readonly onLag?: ((lagMs: number) => void) | undefined;
  readonly source?: TimeSource | undefined;
}

/** Bounds the time until a step of the wall clock is noticed, and keeps delays below a timer's 2^31 - 1 ms. */
const LONGEST_SLEEP_MS = 1_000;

/** Late tasks run for this long, at least one of them, before the event loop gets a turn. */
const SLICE_MS = 10;

export function wallNowMs(): number {
  return ofThisMachine.wallMs();
}

/** Ms since some instant: see `TimeSource`. */
export function monotonicNowMs(): number {
  return ofThisMachine.monotonicMs();
}

const ofThisMachine: TimeSource = { wallMs: () => Date.now(), monotonicMs: () => performance.now() };

const thrown = (error: unknown) => {
  throw error;
};

/** Runs its agenda from `start()` to `stop()`; readable at any time. */
export class WallClock implements Clock {
  readonly agenda: Agenda;
  /** Unix ms at the zero of the monotonic clock, by the most advanced reading of the wall clock so far. */
  #originMs: number;
  #latestMs = -Infinity;
  #lagMs = 0;
  #started = false;
  #waking = false;
  /** In unix ms: Infinity for no timer, -Infinity for the next turn of the event loop. */
  #alarmMs = Infinity;
  #timer: NodeJS.Timeout | undefined;
  #immediate: NodeJS.Immediate | undefined;
  readonly #source: TimeSource;
  readonly #onError: (error: unknown) => void;
  readonly #onLag: ((lagMs: number) => void) | undefined;

  constructor(
    readonly cycleMs: number,
    { onError = thrown, onLag, source = ofThisMachine }: WallOptions = {},
  ) {
    assert(Number.isSafeInteger(cycleMs) && cycleMs >= 1, `a cycle cannot last ${cycleMs} ms`);
    this.#source = source;
    this.#onError = onError;
    this.#onLag = onLag;
    this.#originMs = source.wallMs() - source.monotonicMs();
    this.agenda = new Agenda(this.now(), (dueMs) => this.#onEarlier(dueMs));
  }

  now(): number {
    // In this order: a halt in between makes the wall time too old, which is harmless. The other order would put the clock ahead permanently.
    const wallMs = this.#source.wallMs();
    const monotonicMs = this.#source.monotonicMs();
    if (wallMs > this.#originMs + monotonicMs) this.#originMs = wallMs - monotonicMs;
    // Moving the origin rounds the last binary digit, hence the maximum.
    this.#latestMs = Math.max(this.#latestMs, this.#originMs + monotonicMs);
    return this.#latestMs;
  }

  cycle(): number {
    return cycleOf(this.now(), this.cycleMs);
  }

  notBefore(unixMs: number): void {
    const aheadMs = unixMs - this.now();
    if (aheadMs <= 0) return;
    this.#originMs += aheadMs;
    this.#latestMs = unixMs;
  }

  /** For durations: has a fraction, and no steps of the wall clock. */
  monotonicMs(): number {
    return this.#source.monotonicMs();
  }

  /** How far `now()` is ahead of the wall clock after a backward step, in ms. Up to 1 is rounding error. */
  get skewMs(): number {
    const wallMs = this.#source.wallMs();
    return this.now() - wallMs;
  }

  get lagMs(): number {
    return this.#lagMs;
  }

  /** Overdue tasks run late, from the event loop and never from here. */
  start(): void {
    this.#started = true;
    this.#setAlarm();
  }

  /** Takes effect after the present task. Waiting tasks wait for the next `start()`. */
  stop(): void {
    this.#started = false;
    this.#clearAlarm();
  }

  sleep(ms: number, signal?: AbortSignal): Promise<void> {
    return this.sleepUntil(this.now() + ms, signal);
  }

  /** Never early; 0 to 2 ms late on an idle loop. Resolves early on abort, and not while the clock is stopped. */
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
      return;
    }
    this.#alarmMs = dueMs;
    // Rounded up: a timer drops fractions, and waking too early costs a second sleep.
    this.#timer = setTimeout(this.#wake, Math.min(Math.ceil(waitMs), LONGEST_SLEEP_MS));
  }

  #clearAlarm(): void {
    clearTimeout(this.#timer);
    clearImmediate(this.#immediate);
    this.#timer = undefined;
    this.#immediate = undefined;
    this.#alarmMs = Infinity;
  }

  /**
   * Runs due tasks for one slice. Tasks that become due meanwhile wait for the next turn: one that reschedules itself at once does not starve
   * other events.
   */
  readonly #wake = (): void => {
    this.#waking = true;
    const sliceEndMs = this.monotonicMs() + SLICE_MS;
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

/** Needs no clock, in any runtime. Resolves early when the signal is aborted. */
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
