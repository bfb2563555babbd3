// The adaptive retry mode of AWS SDKs: a token bucket whose rate a throttled answer cuts, and which grows back as in TCP CUBIC.
//
//   rate |      _                   throttled   w = the measured rate, or that of the bucket if lower; rate = 0.7 w
//        |    _/ |                  served      rate = 0.4 (t - k)^3 + w,  k = cbrt(0.3 w / 0.4),  t in s since the cut
//        |---'   |     _--^         at most twice the measured rate, which is smoothed over halves of a second
//        |       |  .-'
//        |       | /
//
// The bucket begins to hold attempts back with the first throttled answer. An attempt that finds no token asks again when one should be
// there. Source: @smithy/core, retry, DefaultRateLimiter, whose clock is in whole ms.
import { pow } from '../../../math/elementary.js';
import type { AttemptEnd } from '../retry-limit.js';
import { type ClientGate, type GateAnswer, open } from './client-gate.js';

const BETA = 0.7;
const SCALE = 0.4;
const SMOOTH = 0.8;
const LEAST_RATE = 0.5;
const LEAST_MS = 2 ** -10;

export class Cubic implements ClientGate {
  #enabled = false;
  #fillRate = LEAST_RATE;
  #capacity = 1;
  #tokens = 0;
  /** Undefined before the first refill, which begins its clock. */
  #filledMs: number | undefined;
  #wMax = 0;
  #lastFailMs: number;
  #count = 0;
  #bucketS: number;
  #measured = 0;

  constructor(startMs: number) {
    this.#lastFailMs = startMs;
    this.#bucketS = Math.floor(startMs / 1000);
  }

  enter(nowMs: number): GateAnswer {
    if (!this.#enabled) return open;
    this.#refill(nowMs);
    if (this.#tokens < 1)
      return { type: 'again', ms: Math.max(LEAST_MS, ((1 - this.#tokens) / this.#fillRate) * 1000) };
    this.#tokens -= 1;
    return open;
  }

  ended({ type, nowMs }: AttemptEnd): void {
    if (type === 'abandoned') return;
    this.#measure(nowMs);
    this.#setRate(Math.min(type === 'limited' ? this.#cut(nowMs) : this.#grown(nowMs), 2 * this.#measured), nowMs);
  }

  #cut(nowMs: number): number {
    this.#wMax = this.#enabled ? Math.min(this.#measured, this.#fillRate) : this.#measured;
    this.#lastFailMs = nowMs;
    this.#enabled = true;
    return this.#wMax * BETA;
  }

  #grown(nowMs: number): number {
    const t = (nowMs - this.#lastFailMs) / 1000 - pow((this.#wMax * (1 - BETA)) / SCALE, 1 / 3);
    return SCALE * t * t * t + this.#wMax;
  }

  #measure(nowMs: number): void {
    const t = Math.floor((nowMs / 1000) * 2) / 2;
    this.#count += 1;
    if (t <= this.#bucketS) return;
    this.#measured = (this.#count / (t - this.#bucketS)) * SMOOTH + this.#measured * (1 - SMOOTH);
    this.#count = 0;
    this.#bucketS = t;
  }

  #setRate(rate: number, nowMs: number): void {
    this.#refill(nowMs);
    this.#fillRate = Math.max(rate, LEAST_RATE);
    this.#capacity = Math.max(rate, 1);
    this.#tokens = Math.min(this.#tokens, this.#capacity);
  }

  #refill(nowMs: number): void {
    const seconds = (nowMs - (this.#filledMs ?? nowMs)) / 1000;
    this.#tokens = Math.min(this.#capacity, this.#tokens + seconds * this.#fillRate);
    this.#filledMs = nowMs;
  }
}
