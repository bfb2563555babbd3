// Requests of an instance beside retries, accepts or failures, over a window that advances by tenths of its length.
import { RollingWindow, WindowCounts } from '../../limiter/window.js';
import { cycleOf } from '../../time/cycle.js';

export const SLICES = 10;

export class SlicedCounts {
  readonly #sliceMs: number;
  readonly #requests: RollingWindow;
  readonly #others: RollingWindow;

  /** @param overMs length of the window, at least SLICES */
  constructor(overMs: number, startMs: number) {
    this.#sliceMs = Math.ceil(overMs / SLICES);
    const slice = cycleOf(startMs, this.#sliceMs);
    this.#requests = new RollingWindow(new WindowCounts(SLICES, slice));
    this.#others = new RollingWindow(new WindowCounts(SLICES, slice));
  }

  get requests(): number {
    return this.#requests.count;
  }

  /** What else is counted: retries, accepts, failures. */
  get others(): number {
    return this.#others.count;
  }

  advance(nowMs: number): void {
    const slice = cycleOf(nowMs, this.#sliceMs);
    this.#requests.advance(slice);
    this.#others.advance(slice);
  }

  countRequest(nowMs: number): void {
    this.advance(nowMs);
    this.#requests.add(1);
  }

  countOther(nowMs: number): void {
    this.advance(nowMs);
    this.#others.add(1);
  }
}
