// A pause that all requests of an account share.
//
//   limited, Retry-After 12 s      |----------- all wait -----------|~~ ramp ~~|      they return at uniform times in the ramp
import type { RandomStream } from '../../../math/random.js';
import type { AttemptEnd } from '../retry-limit.js';
import { type ClientGate, type GateAnswer, open } from './client-gate.js';

export class AccountPause implements ClientGate {
  readonly #untoldMs: number;
  readonly #rampMs: number;
  #untilMs = Number.NEGATIVE_INFINITY;

  constructor(untoldMs: number, rampMs: number) {
    this.#untoldMs = untoldMs;
    this.#rampMs = rampMs;
  }

  enter(nowMs: number, draw: RandomStream): GateAnswer {
    if (nowMs >= this.#untilMs) return open;
    const rampMs = this.#rampMs === 0 ? 0 : this.#rampMs * draw.uniform();
    return { type: 'wait', ms: this.#untilMs - nowMs + rampMs };
  }

  ended({ type, nowMs, retryAfterMs = this.#untoldMs }: AttemptEnd): void {
    if (type === 'limited') this.#untilMs = Math.max(this.#untilMs, nowMs + retryAfterMs);
  }
}
