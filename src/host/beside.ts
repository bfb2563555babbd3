// A second rule that decides the events of a contract, for comparison only. candidate.ts makes it.
import type { Gate } from '../limiter/gate.js';
import type { Plan } from '../limiter/plan.js';
import type { Keys } from './keys.js';

export interface Compared {
  /** Limited by both, by the limiter alone, by the candidate alone. */
  both: number;
  only_limiter: number;
  only_candidate: number;
}

export interface Beside {
  readonly plan: Plan;
  readonly gate: Gate;
  readonly keys: Keys | undefined;
  /** The first cycle of which differences are counted. */
  readonly since: number;
  /** How many requests both have decided since. */
  readonly requests: number;
  readonly compared: Readonly<Compared>;
  /** What the candidate has limited. */
  readonly wouldLimit: number;
  /** Keys that the two decided differently. */
  readonly byKey: ReadonlyMap<string, Readonly<Compared>>;
  /** Of these, the sum over keys without room in `byKey`. */
  readonly furtherKeys: Readonly<Compared>;
  /** `n` events of which `admitted` were admitted. @param happened the cycle that they bear */
  compare(n: number, admitted: number, cycle: number, kind: number, name?: string, happened?: number): void;
  advance(cycle: number): void;
  /** Counts the differences anew: the limiter is another one. */
  restart(cycle: number): void;
  stop(): void;
}
