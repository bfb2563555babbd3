// A service without a queue discipline, failures or a price of refusals, unless a test says otherwise.
import type { ServicePlan } from '../../../src/harness/scenario/service-plan.js';

export function servicePlan(given: Pick<ServicePlan, 'time'> & Partial<ServicePlan>): ServicePlan {
  return {
    servers: 1,
    queue: Number.POSITIVE_INFINITY,
    dropsAbandoned: false,
    order: 'fifo',
    intervalMs: 0,
    codelMs: undefined,
    deadlineMs: Number.POSITIVE_INFINITY,
    fails: 0,
    perInFlightMs: 0,
    refusalMs: 0,
    ...given,
  };
}
