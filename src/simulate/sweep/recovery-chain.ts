// Solves how clients recover, if the scenario is a Markov chain.
//
//   arrivals, poisson ─► n at the service, c servers ─ n mu up to c mu ─► served          full: to the orbit, or given up
//                           ▲── orbit ── theta each ──┘
//
//   open jobs  ____/‾‾‾‾\___.___         usual: before the trigger, on average, rounded up. Its distribution is solved with the chain:
//   cycle         |tr|   ^               the sum over the cycles is part of the state until the trigger comes
//
// Recovery is solved as runs measure `clients.drain_ms`: at the ends of cycles, its mean conditional on a recovery within the run.
import { type Rates, transient } from '../../math/chain.js';
import type { Stretch } from '../../outcome/stretch.js';
import type { ScenarioObject } from '../../scenario/load-scenario.js';
import type { LoadedScenario } from '../../scenario/loaded-scenario.js';
import { parseRate, parseTimeMs, type Rate } from '../../schema/quantity.js';
import { triggerOf } from '../replication.js';

interface ClientChain {
  readonly servers: number;
  readonly places: number;
  /** Rates are per cycle. */
  readonly serves: number;
  readonly returns: number;
  /** Returns per client; Infinity without a limit. */
  readonly retries: 0 | 1 | number;
  /** By cycle, drain included. */
  readonly arrives: readonly number[];
}

/** Fields that the chain models, or that do not affect the open jobs. */
const known = {
  scenario:
    'question name seed cycle_ms start_cycle duration drain warm_up limiter arrivals clients service phases target expect',
  arrival: 'model rate from to',
  client: 'kind name share max_attempts backoff',
  backoff: 'policy base cap jitter',
  service: 'servers time queue order drop_abandoned',
} as const;

function foreign(of: keyof typeof known, value: object, place = ''): string | undefined {
  const field = Object.keys(value).find((name) => !known[of].split(' ').includes(name));
  return field && `${place}${field} is set`;
}

export function chainOf(scenario: ScenarioObject, loaded: LoadedScenario): ClientChain | string {
  const { limiter, arrivals = [], clients = [{ kind: 'open' }], service } = scenario;
  const { cycleMs, duration, drain } = loaded;
  const [client, another] = clients;
  const other = foreign('scenario', scenario);
  if (other !== undefined) return other;
  if (limiter !== 'none') return 'the limiter is not none';
  if (service === undefined || loaded.service === undefined) return 'there is no service';
  if (typeof service.time !== 'object' || service.time.law !== 'exponential') return 'service.time is not exponential';
  if (duration === undefined) return 'it has no duration';
  const rates: Rate[] = [];
  for (const [index, one] of arrivals.entries()) {
    if (typeof one === 'function' || one.model !== 'poisson') return `arrivals.${index} are not poisson`;
    rates.push(parseRate(one.rate, cycleMs));
    const more = foreign('arrival', one, `arrivals.${index}.`);
    if (more !== undefined) return more;
  }
  if (client === undefined || another !== undefined) return 'there are several kinds of clients';
  const retries = retriesOf(client);
  if (typeof retries === 'string') return retries;
  const inService = foreign('service', service, 'service.');
  if (inService !== undefined) return inService;
  const { servers, queue, time } = loaded.service;
  const cycles = Math.min(duration, Number.MAX_SAFE_INTEGER);
  if (cycles + drain > MOST_CYCLES) return `it has more than ${MOST_CYCLES} cycles`;
  return {
    servers,
    places: servers + queue,
    serves: cycleMs / time.meanMs,
    returns: retries === 0 ? 0 : cycleMs / parseTimeMs(backoffOf(client)?.base ?? '100ms', cycleMs),
    retries,
    arrives: Array.from({ length: cycles + drain }, (_, cycle) =>
      loaded.arrivals.reduce((sum, { from, to }, index) => {
        const { requests, cycles: over } = rates[index]!;
        return cycle >= from && cycle < to && cycle < cycles ? sum + requests / over : sum;
      }, 0),
    ),
  };
}

type Client = NonNullable<ScenarioObject['clients']>[number];

const backoffOf = (client: Client) => ('backoff' in client ? client.backoff : undefined);

function retriesOf(client: Client): number | string {
  const more = foreign('client', client, 'clients.0.');
  if ('like' in client || (client.kind !== 'open' && client.kind !== 'retrying'))
    return 'clients.0 are neither open nor retrying';
  if (more !== undefined) return more;
  if (client.kind === 'open') return 0;
  const { max_attempts: attempts = 3, backoff } = client;
  if (attempts === 1) return 0;
  if (attempts !== 2 && attempts !== 'unlimited')
    return `clients.0.max_attempts is ${attempts}, neither 1 nor 2 nor unlimited`;
  const isConstant = backoff?.policy === 'fixed' && backoff.jitter === 'exponential';
  if (!isConstant) return 'the pauses of clients.0 are not exponential with a constant mean';
  return foreign('backoff', backoff, 'clients.0.backoff.') ?? (attempts === 2 ? 1 : Number.POSITIVE_INFINITY);
}

/** Rows of a longer run are thinned. */
const MOST_CYCLES = 8_000;
const MOST_STATES = 20_000;
/** In products, for a point of a map: some seconds. */
const MOST_WORK = 4e9;
const MOST_KEPT = 5e7;
/** Less probable usual backlogs are left out. */
const RARE = 1e-8;
const LEAST = 1e-9;
const NEGLIGIBLE = 1e-14;

/** State `orbit * (most + 1) + n`: n jobs at the service, up to `most`, and the orbit up to `orbits`. */
interface Box {
  readonly most: number;
  readonly orbits: number;
}

const sizeOf = ({ most, orbits }: Box) => (most + 1) * (orbits + 1);

const openIn = (box: Box) =>
  Int32Array.from({ length: sizeOf(box) }, (_, state) => (state % (box.most + 1)) + Math.floor(state / (box.most + 1)));

/** Per cycle. What leaves the box goes to the state `sizeOf(box)`, outside of it. */
export function ratesOf({ servers, places, serves, returns, retries }: ClientChain, arrives: number, box: Box): Rates {
  const width = box.most + 1;
  const outside = sizeOf(box);
  return (state, to) => {
    const [n, orbit] = [state % width, Math.floor(state / width)];
    const isFull = n === places;
    const higher = n < box.most ? state + 1 : outside;
    const wider = orbit < box.orbits ? state + width : outside;
    if (arrives > 0 && !isFull) to(higher, arrives);
    if (arrives > 0 && isFull && retries > 0) to(wider, arrives);
    if (n > 0) to(state - 1, Math.min(n, servers) * serves);
    if (orbit === 0) return;
    if (!isFull) to(higher === outside ? outside : higher - width, orbit * returns);
    else if (retries === 1) to(state - width, orbit * returns);
  };
}

export interface Recovery {
  /** P(not recovered by the end of the run). */
  readonly unrecovered: number;
  /** Undefined if they never recover. */
  readonly meanMs: number | undefined;
  readonly states: number;
}

export function solveRecovery(scenario: ScenarioObject, loaded: LoadedScenario): Recovery | string {
  const chain = chainOf(scenario, loaded);
  if (typeof chain === 'string') return chain;
  const trigger = triggerOf(loaded);
  if (trigger === undefined) return 'it has no trigger that ends within the run';
  const work = { done: 0 };
  const before = inBox(chain, (box) => usualIn(chain, box, trigger.from, work));
  if (typeof before === 'string') return before;
  const solved = inBox(chain, (box) => recoveryIn(chain, box, before, trigger, work));
  return typeof solved === 'string'
    ? solved
    : { ...solved.found, meanMs: solved.found.meanMs && solved.found.meanMs * loaded.cycleMs };
}

type InBox<Found> = { readonly found: Found; readonly box: Box };

/** The box grows in both directions until next to nothing leaves it. `solve` gives undefined for too much work. */
function inBox<Found>(
  chain: ClientChain,
  solve: (box: Box) => { readonly found: Found; readonly kept: number } | undefined,
): InBox<Found> | string {
  let box: Box = { most: Math.min(chain.places, chain.servers + 8), orbits: chain.retries === 0 ? 0 : 8 };
  while (sizeOf(box) <= MOST_STATES) {
    const solved = solve(box);
    if (solved === undefined) return 'it is too much work';
    if (solved.kept > 1 - LEAST) return { found: solved.found, box };
    box = { most: Math.min(chain.places, Math.ceil(1.5 * box.most)), orbits: Math.ceil(1.5 * box.orbits) };
  }
  return `it has more than ${MOST_STATES} states`;
}

type Shares = Float64Array<ArrayBufferLike>;

interface Work {
  done: number;
}

function cyclesIn(chain: ClientChain, box: Box, work: Work): (start: Shares, cycle: number) => Shares {
  const solvers = new Map<number, ReturnType<typeof transient>>();
  return (start, cycle) => {
    const arrives = chain.arrives[cycle]!;
    const solver = solvers.get(arrives) ?? transient(sizeOf(box), ratesOf(chain, arrives, box));
    solvers.set(arrives, solver);
    const jumps = arrives + Math.min(chain.servers, box.most) * chain.serves + box.orbits * chain.returns;
    work.done += 5 * sizeOf(box) * (jumps + 30);
    return solver(start, 1);
  };
}

/** Where a state is after a cycle: places in rows of all states; the row advances by the jobs that are then open. */
interface Steps {
  readonly places: Int32Array;
  readonly shares: Float64Array;
}

function stepsIn(chain: ClientChain, box: Box, open: Int32Array, work: Work): (state: number, cycle: number) => Steps {
  const afterCycle = cyclesIn(chain, box, work);
  const known = new Map<string, Steps>();
  return (state, cycle) => {
    const key = `${chain.arrives[cycle]} ${state}`;
    const before = known.get(key);
    if (before !== undefined) return before;
    const start = new Float64Array(open.length);
    start[state] = 1;
    const then = [...afterCycle(start, cycle).entries()].filter(([, share]) => share > NEGLIGIBLE);
    const steps = {
      places: Int32Array.from(then, ([next]) => open[next]! * open.length + next),
      shares: Float64Array.from(then, ([, share]) => share),
    };
    known.set(key, steps);
    return steps;
  };
}

function usualIn(chain: ClientChain, box: Box, from: number, work: Work) {
  const open = openIn(box);
  const size = open.length;
  const stepsOf = stepsIn(chain, box, open, work);
  /** A row of all states for each sum of open jobs at the ends of the cycles so far. */
  let rows = new Float64Array(size);
  rows[0] = 1;
  for (let cycle = 0; cycle < from; cycle += 1) {
    const sums = rows.findLastIndex((share) => share > NEGLIGIBLE) / size + box.most + box.orbits + 1;
    work.done += size * sums;
    if (work.done > MOST_WORK || size * sums > MOST_KEPT) return undefined;
    const next = new Float64Array(size * Math.ceil(sums));
    for (const [place, share] of rows.entries()) {
      if (share < NEGLIGIBLE) continue;
      const state = place % size;
      const { places, shares } = stepsOf(state, cycle);
      work.done += places.length;
      for (let k = 0; k < places.length; k += 1) next[place - state + places[k]!]! += share * shares[k]!;
      if (work.done > MOST_WORK) return undefined;
    }
    rows = next;
  }
  const found = new Map<number, Shares>();
  let kept = 0;
  for (const [place, share] of rows.entries()) {
    if (share === 0) continue;
    const usual = Math.ceil(Math.floor(place / size) / Math.max(1, from));
    const all = found.get(usual) ?? new Float64Array(size);
    found.set(usual, all);
    all[place % size]! += share;
    kept += share;
  }
  return { found, kept };
}

/** `meanMs` is in cycles. */
function recoveryIn(
  chain: ClientChain,
  box: Box,
  before: InBox<ReadonlyMap<number, Shares>>,
  { from, to }: Stretch,
  work: Work,
): { readonly found: Recovery; readonly kept: number } | undefined {
  const open = openIn(box);
  const afterCycle = cyclesIn(chain, box, work);
  let [all, unrecovered, recovered, sum] = [0, 0, 0, 0];
  for (const [usual, shares] of before.found) {
    const mass = shares.reduce((all, share) => all + share, 0);
    if (mass < RARE) continue;
    all += mass;
    let now: Shares = new Float64Array(open.length);
    const width = before.box.most + 1;
    for (const [state, share] of shares.entries()) {
      const place = Math.floor(state / width) * (box.most + 1) + (state % width);
      if (state % width <= box.most && place < now.length) now[place] = share;
    }
    for (let cycle = from; cycle < chain.arrives.length; cycle += 1) {
      now = afterCycle(now, cycle);
      if (work.done > MOST_WORK) return undefined;
      if (cycle < to - 1) continue;
      let ended = 0;
      for (const [state, jobs] of open.entries()) {
        if (jobs > usual) continue;
        ended += now[state]!;
        now[state] = 0;
      }
      recovered += ended;
      sum += ended * (cycle + 1 - to);
    }
    unrecovered += now.reduce((left, share) => left + share, 0);
    if (all - unrecovered - recovered > LEAST) break;
  }
  const meanMs = recovered < NEGLIGIBLE ? undefined : sum / recovered;
  return { found: { unrecovered, meanMs, states: open.length }, kept: 1 - all + unrecovered + recovered };
}
