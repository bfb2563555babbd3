// Checks of a scenario that a schema cannot express.
import { Failure, type Fault } from '../../core/schema/failure.js';
import type { ClientPlan } from '../clients/client-plan.js';
import type { ArrivalSpec } from '../traffic/arrival/arrival-schema.js';
import type { CustomArrivalSpec } from '../traffic/arrival/custom.js';
import type { LoadedScenario } from './loaded-scenario.js';

type Planned = Omit<LoadedScenario, 'at' | 'compared' | 'control' | 'expectations' | 'arrivals'> & {
  readonly arrivals: readonly (ArrivalSpec | CustomArrivalSpec)[];
};

/** Doubles up to here, 4,400 years from 1970, resolve at least 2^-5 ms. */
const MOST_MS = 2 ** 47;

/** @param unmade faults of parts that cannot be made @throws Failure `invalid_input`, every fault with its place */
export function checkParts(planned: Planned, unmade: readonly Fault[]): void {
  const faults = [
    ...timeFaults(planned),
    ...senderFaults(planned),
    ...contractFaults(planned),
    ...keyFaults(planned),
    ...placeFaults(planned),
    ...slowFaults(planned),
    ...retryAfterFaults(planned),
    ...costFaults(planned),
    ...unmade,
  ];
  if (faults.length > 0) throw new Failure('invalid_input', { what: 'The scenario was refused.', faults });
}

function timeFaults({ startCycle, duration = 0, drain, cycleMs }: Planned): Fault[] {
  const years = 'which is more than 4,000 years';
  return [
    ...(startCycle * cycleMs > MOST_MS
      ? [{ path: '/start_cycle', message: `lies ${startCycle} cycles of ${cycleMs} ms after 1970, ${years}` }]
      : []),
    ...((duration + drain) * cycleMs > MOST_MS
      ? [{ path: '/duration', message: `comes, with the drain, to ${duration + drain} cycles, ${years}` }]
      : []),
  ];
}

function senderFaults({ arrivals, clients, contracts, duration }: Planned): Fault[] {
  const makesOwn = clients.some((plan) => plan.count !== undefined && plan.share === 0);
  if (arrivals.length === 0 && !makesOwn) {
    return [{ path: '/arrivals', message: 'is required: nothing sends requests' }];
  }
  const endless = arrivals.some(({ model, to }) => model !== 'log' && to === undefined);
  if (duration === undefined && (makesOwn || endless)) {
    return [{ path: '/duration', message: 'is required: requests would come for ever' }];
  }
  if (arrivals.length > 0 && clients.length > 0 && clients.every(({ share }) => share === 0)) {
    return [{ path: '/clients', message: 'take no arrivals: add a kind that does, for example open' }];
  }
  return clients.flatMap((plan, index) => deviceFaults(plan, contracts, `/clients/${index}/count`));
}

function deviceFaults({ count, share }: ClientPlan, contracts: number, path: string): Fault[] {
  if (count === undefined || share === 0 || count >= contracts) return [];
  return [{ path, message: `is ${count}, and there are ${contracts} contracts: each needs a device of its own` }];
}

function contractFaults(planned: Planned): Fault[] {
  const { independent, popularity } = planned;
  if (!independent) return [];
  const others = [...reactingParts(planned), ...(popularity.law === 'even' ? [] : ['a popularity'])];
  if (others.length === 0) return [];
  return [{ path: '/contracts/independent', message: `cannot be combined with ${others.join(' and ')}` }];
}

/** Parts that send, hold or answer requests one by one. */
function reactingParts({ clients, service, network, faults }: Planned): string[] {
  return [
    ...(clients.length > 0 ? ['clients'] : []),
    ...(service === undefined ? [] : ['a service']),
    ...(network === undefined ? [] : ['a network']),
    ...(faults.length > 0 ? ['faults'] : []),
  ];
}

/** A request must end at the place where it began, but its key may gain or lose a place meanwhile. */
function placeFaults({ contracts, keyed, plan, service }: Planned): Fault[] {
  if (keyed === undefined || contracts <= keyed.max_keys) return [];
  if (plan.rule?.rule.release === undefined || service === undefined) return [];
  const message = `is ${keyed.max_keys}, and there are ${contracts} keys: with a rule that counts what is in flight, each needs a place`;
  return [{ path: '/keyed/max_keys', message }];
}

function slowFaults({ faults, service }: Planned): Fault[] {
  if (service !== undefined) return [];
  return faults.flatMap(({ kind }, index) =>
    kind === 'slow' ? [{ path: `/faults/${index}/kind`, message: 'slow needs a service' }] : [],
  );
}

/** `retry_after` of a service has no effect if the service cannot fail requests. */
function retryAfterFaults({ service }: Planned): Fault[] {
  if (service?.retryAfter === undefined) return [];
  const { fails, queue, deadlineMs, codelMs } = service;
  const mayFail = fails > 0 || codelMs !== undefined || Math.min(queue, deadlineMs) < Number.POSITIVE_INFINITY;
  const message = 'has no effect: the service fails no request, as by a queue, a deadline or fails';
  return mayFail ? [] : [{ path: '/service/retry_after', message }];
}

function costFaults({ costs, service, plan: { rule } }: Planned): Fault[] {
  if (costs === undefined) return [];
  if (rule?.rule.release !== undefined && rule.definition.counts !== 'requests')
    return [{ path: '/costs', message: 'need a limit on what is in flight to have counts: requests' }];
  if (costs.charged === undefined) return [];
  const path = '/costs/charged';
  if (service === undefined) return [{ path, message: 'needs a service: without one a request ends as it comes' }];
  if (rule === undefined || rule.rule.charge !== undefined) return [];
  return [
    { path, message: `needs a limiter whose charges can be corrected, and ${rule.definition.primitive} is none` },
  ];
}

function keyFaults(planned: Planned): Fault[] {
  const { arrivals, contracts, independent } = planned;
  const keyed = arrivals.findIndex((spec) => spec.model === 'log' && spec.key_column !== undefined);
  if (keyed < 0) return [];
  const others = [
    ...(arrivals.length > 1 ? ['other arrivals'] : []),
    ...(contracts > 1 || independent ? ['contracts'] : []),
    ...reactingParts(planned),
  ];
  if (others.length === 0) return [];
  const message = `gives each key a contract of its own, and cannot be combined with ${others.join(' and ')}`;
  return [{ path: `/arrivals/${keyed}/key_column`, message }];
}
