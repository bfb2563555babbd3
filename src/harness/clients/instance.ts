// Shared by all requests of one process: a limit of its retries, and the gate on its side.
import type { ClientGate, GatePlan } from './client-gates.js';
import type { AttemptEnd, RetryLimit } from './retry-limits.js';

export interface InstancePlan {
  readonly count: number;
  readonly limit: ((startMs: number) => RetryLimit) | undefined;
  readonly gate: GatePlan | undefined;
}

export class Instance {
  readonly limit: RetryLimit | undefined;
  readonly gate: ClientGate | undefined;
  readonly hears: boolean;

  constructor(
    readonly index: number,
    plan: Pick<InstancePlan, 'limit' | 'gate'> | undefined,
    startMs: number,
  ) {
    this.limit = plan?.limit?.(startMs);
    this.gate = plan?.gate?.make(startMs);
    this.hears = this.limit?.ended !== undefined || this.gate?.ended !== undefined;
  }

  ended(end: AttemptEnd): void {
    this.limit?.ended?.(end);
    this.gate?.ended?.(end);
  }
}
