// A scenario in virtual time, from its arrivals to its outcome: the predicted arm.
//
//   no clients    arrivals ─► counts per cycle ─────────────► gates          a million cycles a second and more
//   clients       arrivals ─► instants ─► client ─► transport ─► gate ─► service  every attempt and answer at its own instant
import type { Observable } from 'rxjs';
import { planClients } from '../actor/client/client-plan.js';

import type { Inspect } from '../actor/interpreted-moves.js';
import { RandomStream } from '../math/random.js';
import type { Seed } from '../math/seed.js';
import { assemble } from '../outcome/assemble.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { Outcome } from '../outcome/outcome-schema.js';
import { RunFold } from '../outcome/run-fold.js';
import type { Series } from '../outcome/series.js';
import { MOST_ROWS, type Timeline } from '../outcome/timeline.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { makePopularity } from '../traffic/popularity.js';
import { drive, rowsOfRun, type Watch } from './drive.js';
import { type Feed, FleetFeed, ModelFeed } from './feed.js';
import { hasPlaces, type Traffic, trafficOf } from './scenario-traffic.js';
import { SimulatedClients } from './simulated-clients.js';
import { TimedFeed } from './timed-feed.js';
import { World } from './world.js';

export interface SimulateOptions extends Watch {
  /** Instead of the seed of the scenario. */
  readonly seed?: Seed;
  /** How many contracts the outcome lists. Default: 100. */
  readonly top?: number;
  /** Stops at the end of this cycle, counted from the start. */
  readonly untilCycle?: number;
  /** Watches every message of every actor. */
  readonly inspect?: Inspect;
  /** Called when the world is made, before it runs. */
  readonly onWorld?: (world: World, clients: SimulatedClients | undefined) => void;
}

/** What a run leaves behind. */
export interface Run {
  readonly outcome: Outcome;
  /** Each contract, cycle by cycle; undefined for a run with too many rows. */
  readonly timeline: Timeline | undefined;
  /** All contracts together. */
  readonly totals: Timeline;
  /** What clients and service did over time; undefined where there are none. */
  readonly series?: Series;
}

/**
 * Runs a scenario in virtual time. The same scenario and seed give the same outcome, digest included.
 * @throws Failure when a log of the scenario cannot be read
 */
export async function simulate(scenario: LoadedScenario, options: SimulateOptions = {}): Promise<Run> {
  const simulation = await prepare(scenario, options, options.onWorld !== undefined);
  const { world, clients, feed, firstCycle, lastCycle, wholeCycle, seed, byContract, keepsTimeline } = simulation;
  const fold = new RunFold(world.run, keepsTimeline);
  world.rows.subscribe(fold);
  options.onWorld?.(world, clients);
  const ended = await drive(world, lastCycle, options, feed);
  const reached = ended ? lastCycle : world.clock.cycle();
  if (!byContract) countAll(world, fold);
  const outcome = assemble(
    {
      kind: 'simulate',
      arm: 'predicted',
      scenario: scenario.name,
      question: scenario.question,
      notes: [...scenario.notes],
      seed,
      partial: !ended || reached < wholeCycle,
      cycle_ms: scenario.cycleMs,
      first_cycle: firstCycle,
      last_cycle: reached,
      skipped_lines: simulation.skippedLines,
      ...delaysOf(world),
      ...(world.places && { without_place: world.places.figures }),
      ...clients?.figures(),
    },
    fold.figures(reached, options.top ?? 100),
    fold.past(firstCycle, reached),
    scenario.expectations,
  );
  const run = { outcome, timeline: fold.timeline, totals: fold.totals };
  return clients === undefined ? run : { ...run, series: clients.series(reached) };
}

/**
 * A scenario in virtual time as a stream: a row for each cycle in which anything changed, in order. Each subscription is a run of its
 * own, the same for the same scenario and seed; unsubscribing ends it. Errors: Failure when a log of the scenario cannot be read.
 */
export function simulate$(
  scenario: LoadedScenario,
  options: Pick<SimulateOptions, 'seed' | 'untilCycle'> = {},
): Observable<CycleRow> {
  return rowsOfRun(async (subscriber, signal) => {
    const { world, lastCycle, feed } = await prepare(scenario, options, true);
    world.rows.subscribe((row) => subscriber.next(row));
    await drive(world, lastCycle, { signal }, feed);
  });
}

/** What is ready to run. */
interface Simulation {
  readonly world: World;
  readonly clients: SimulatedClients | undefined;
  /** Undefined where clients send. */
  readonly feed: Feed | undefined;
  readonly seed: Seed;
  readonly firstCycle: number;
  readonly lastCycle: number;
  /** Where the scenario ends by itself. */
  readonly wholeCycle: number;
  readonly skippedLines: number;
  /** Whether there are few enough rows to keep those of every contract. */
  readonly keepsTimeline: boolean;
  /** Whether rows have columns. */
  readonly byContract: boolean;
}

/** @param needsColumns whether somebody else wants to see the rows */
async function prepare(scenario: LoadedScenario, options: SimulateOptions, needsColumns: boolean): Promise<Simulation> {
  const seed = options.seed ?? scenario.seed;
  const traffic = await trafficOf(scenario, seed);
  const { startCycle, drain } = scenario;
  const wholeCycle = startCycle + traffic.cycles - 1 + drain;
  const lastCycle = Math.min(wholeCycle, startCycle + (options.untilCycle ?? Number.POSITIVE_INFINITY));
  const keepsTimeline = traffic.names.length * (lastCycle - startCycle + 1) <= MOST_ROWS;
  const byContract = keepsTimeline || needsColumns;
  const world = new World({
    cycleMs: scenario.cycleMs,
    firstCycle: startCycle,
    names: traffic.names,
    plan: scenario.plan,
    byContract,
    inspect: options.inspect,
    keyed: hasPlaces(scenario.keyed, traffic.names) ? undefined : scenario.keyed,
  });
  const clients = needsClients(scenario) ? clientsOf(scenario, traffic, world, seed, lastCycle, options) : undefined;
  return {
    world,
    clients,
    feed: clients === undefined ? feedOf(scenario, traffic, seed) : undefined,
    seed,
    firstCycle: startCycle,
    lastCycle,
    wholeCycle,
    skippedLines: traffic.skippedLines,
    keepsTimeline,
    byContract,
  };
}

/** What the gates have counted, for a run without columns; what is refused without a place passes none of them. */
function countAll({ contracts, places }: World, fold: RunFold): void {
  contracts.forEach(({ gate: { figures } }, index) => {
    fold.counted(index, index === places?.refusing ? { ...figures, ...places.figures } : figures);
  });
}

/** How long a rule held admitted requests; nothing of contracts without one. */
export function delaysOf({ run, delays }: World): Pick<Outcome, 'delay_ms'> {
  if (run.rule === undefined) return {};
  return { delay_ms: delays.figures('how long the limiter held a request, those left out that it did not hold') };
}

/** Requests that nobody reacts to, and that nothing delays, are counted cycle by cycle: no instant matters. */
function needsClients({ clients, service, faults }: LoadedScenario): boolean {
  return clients.length > 0 || service !== undefined || faults.length > 0;
}

function feedOf(scenario: LoadedScenario, traffic: Traffic, seed: Seed): Feed {
  if (traffic.feed !== undefined) return traffic.feed;
  if (scenario.plan.rule !== undefined) return timedFeedOf(scenario, traffic, seed);
  if (scenario.independent) return new FleetFeed(traffic.arrivals, scenario.startCycle, traffic.cycles);
  const popularity = makePopularity(scenario.popularity, scenario.contracts, new RandomStream(seed, 'popularity'));
  return new ModelFeed(traffic.arrivals, popularity, scenario.contracts, scenario.startCycle, traffic.cycles);
}

/** A rule decides by the ms. */
function timedFeedOf(scenario: LoadedScenario, { arrivals, cycles, names }: Traffic, seed: Seed): Feed {
  const popularity = makePopularity(scenario.popularity, names.length, new RandomStream(seed, 'popularity'));
  const contractOf = (arrival: number) => (scenario.independent ? arrival : popularity.pick());
  const { startCycle: firstCycle, cycleMs } = scenario;
  return new TimedFeed({ arrivals, contractOf, firstCycle, cycles, cycleMs });
}

function clientsOf(
  scenario: LoadedScenario,
  traffic: Traffic,
  world: World,
  seed: Seed,
  lastCycle: number,
  { inspect }: SimulateOptions,
): SimulatedClients {
  const plans = scenario.clients.length > 0 ? scenario.clients : planClients([{ kind: 'open' }], scenario.cycleMs);
  const popularity = makePopularity(scenario.popularity, traffic.names.length, new RandomStream(seed, 'popularity'));
  return new SimulatedClients({ scenario, plans, traffic, world, popularity, seed, lastCycle, inspect });
}
