// Checks of a scenario that a schema cannot express: that its parts can be made, and that they fit together. They run before the
// first run, so that every fault is reported with its line.
import type { ClientPlan } from '../actor/client/client-plan.js';
import { RandomStream } from '../math/random.js';
import { Failure, type Fault } from '../schema/failure.js';
import { MAX_CYCLES } from '../schema/quantity.js';
import { makeArrival } from '../traffic/arrival/make.js';
import { makePopularity } from '../traffic/popularity.js';
import type { LoadedScenario } from './loaded-scenario.js';
import { planService } from './service-plan.js';

/** A planned scenario, as far as the checks need it. */
type Planned = Omit<LoadedScenario, 'at' | 'compared' | 'expectations'>;

/**
 * Virtual time counts ms in doubles: up to this limit, 2 x 2,200 years from 1970, their resolution is at least 2^-5 ms.
 */
const MOST_MS = 2 ** 47;

/** An empty log: enough to check whether the model that plays it can be made. */
const silence = { cycles: new Float64Array(0), counts: new Float64Array(0), origin: 0 };

/** @throws Failure `invalid_input`, every fault with its place */
export function checkParts(planned: Planned): void {
  const faults = [
    ...timeFaults(planned),
    ...senderFaults(planned),
    ...contractFaults(planned),
    ...keyFaults(planned),
    ...placeFaults(planned),
    ...unmadeFaults(planned),
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

/** There must be requests, an end of them, and a client that sends them. */
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

function contractFaults({ independent, clients, service, faults, popularity }: Planned): Fault[] {
  if (!independent) return [];
  const others = [
    ...(clients.length > 0 ? ['clients'] : []),
    ...(service === undefined ? [] : ['a service']),
    ...(faults.length > 0 ? ['faults'] : []),
    ...(popularity.law === 'even' ? [] : ['a popularity']),
  ];
  if (others.length === 0) return [];
  return [{ path: '/contracts/independent', message: `cannot be combined with ${others.join(' and ')}` }];
}

/** A request in flight is to end where it began, and a key may have got or lost its place meanwhile. */
function placeFaults({ contracts, keyed, plan, service }: Planned): Fault[] {
  if (keyed === undefined || contracts <= keyed.max_keys) return [];
  if (plan.rule?.rule.release === undefined || service === undefined) return [];
  const message = `is ${keyed.max_keys}, and there are ${contracts} keys: with a rule that counts what is in flight, each needs a place`;
  return [{ path: '/keyed/max_keys', message }];
}

/** A log whose keys each have a contract defines all contracts and arrivals by itself. */
function keyFaults({ arrivals, contracts, independent, clients, service, faults }: Planned): Fault[] {
  const keyed = arrivals.findIndex((spec) => spec.model === 'log' && spec.key_column !== undefined);
  if (keyed < 0) return [];
  const others = [
    ...(arrivals.length > 1 ? ['other arrivals'] : []),
    ...(contracts > 1 || independent ? ['contracts'] : []),
    ...(clients.length > 0 ? ['clients'] : []),
    ...(service === undefined ? [] : ['a service']),
    ...(faults.length > 0 ? ['faults'] : []),
  ];
  if (others.length === 0) return [];
  const message = `gives each key a contract of its own, and cannot be combined with ${others.join(' and ')}`;
  return [{ path: `/arrivals/${keyed}/key_column`, message }];
}

/** Faults found by making a part: rates and times that cannot be read, fields that contradict each other. */
function unmadeFaults(planned: Planned): Fault[] {
  const { arrivals, contracts, cycleMs, duration = MAX_CYCLES, popularity, seed, service, within } = planned;
  const context = { seed, cycleMs, cycles: duration, within, log: silence };
  return [
    // A function is called only once, when the run begins.
    ...arrivals.flatMap((spec, index) =>
      spec.model === 'custom'
        ? []
        : faultsIn('', () => makeArrival(spec, { ...context, purpose: 'check', place: `/arrivals/${index}` })),
    ),
    ...(service === undefined ? [] : faultsIn('', () => planService(service, cycleMs, '/service'))),
    ...(popularity.law === 'weights'
      ? faultsIn('/contracts/popularity', () => makePopularity(popularity, contracts, new RandomStream(seed, 'check')))
      : []),
  ];
}

function faultsIn(place: string, make: () => unknown): Fault[] {
  try {
    make();
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return error.faults.map(({ path, message }) => ({ path: `${place}${path}`, message }));
  }
}
