// A gate on the side of the client, shared by all requests of one instance. It hears how attempts end.
//
//   attempt ─► enter ─┬─ open      sent at once
//                     ├─ wait      sent after the wait
//                     ├─ again     asks again after the wait
//                     └─ refused   the job is given up
import type { RandomStream } from '../../../math/random.js';
import type { AttemptEnd } from '../retry-limit.js';

export interface GateAnswer {
  readonly type: 'open' | 'wait' | 'again' | 'refused';
  /** Of wait and again. */
  readonly ms: number;
}

export interface ClientGate {
  enter(nowMs: number, draw: RandomStream): GateAnswer;
  ended?(end: AttemptEnd): void;
}

export const open: GateAnswer = { type: 'open', ms: 0 };
export const refused: GateAnswer = { type: 'refused', ms: 0 };

export interface GatePlan {
  /** Which attempts have to pass. */
  readonly on: 'attempts' | 'retries';
  readonly make: (startMs: number) => ClientGate;
}
