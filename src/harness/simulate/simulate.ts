// A scenario in virtual time, from its arrivals to its outcome.
//
//   no clients    arrivals ─► counts per cycle ─────────────► gates          a million cycles a second and more
//   clients       arrivals ─► instants ─► client ─► transport ─► gate ─► service  every attempt and answer at its own instant
import { lastValueFrom, type Observable, type OperatorFunction } from 'rxjs';
import type { GateFigures as Counted } from '../../core/limiter/fast-path.js';
import type { Seed } from '../../core/math/seed.js';
import { cycleOf, lastInstantOf, startOf } from '../../core/time/cycle.js';
import type { Client } from '../clients/client.js';
import { assembleOutcome, type ControlRun } from '../outcome/assemble.js';
import type { CycleRow, RunShape } from '../outcome/cycle-row.js';
import type { FigureSource } from '../outcome/expectation.js';
import type { Outcome } from '../outcome/outcome-schema.js';
import { folded } from '../outcome/run-fold.js';
import type { Series } from '../outcome/series.js';
import { MOST_ROWS, type Timeline } from '../outcome/timeline.js';
import { checkLoaded, type LoadedScenario } from '../scenario/loaded-scenario.js';
import { countsOfModels, priced, requestsOfModels } from '../traffic/requests.js';
import type { JourneyRecorder } from './journeys.js';
import { type KeyPlaces, keyPlaces } from './key-places.js';
import { type Drivable, rowsOf } from './run.js';
import { hasPlaces, trafficOf } from './scenario-traffic.js';
import { SimulatedClients } from './simulated-clients.js';
import { World, type WorldInspect } from './world.js';

export interface SimulateOptions {
  readonly signal?: AbortSignal | undefined;
  readonly seed?: Seed | undefined;
  /** The run ends with this cycle, counted from its start. */
  readonly untilCycle?: number | undefined;
  readonly inspect?: WorldInspect | undefined;
  readonly withDecisions?: boolean | undefined;
  readonly journeys?: JourneyRecorder | undefined;
}

export interface SimulatedRun extends RunShape {
  readonly firstCycle: number;
  readonly lastCycle: number;
  /** False if there are too many rows by contract. */
  readonly keepsTimeline: boolean;
  readonly control: ControlRun | undefined;
  readonly measured: () => Measured;
  readonly actors: () => ActorState[];
}

/** The state of an actor of a run, and what it waits for. */
export interface ActorState {
  readonly actor: string;
  readonly state: string;
  readonly waiting: string;
}

interface Measured extends Pick<Outcome, 'clients' | 'service'> {
  readonly without_place: Outcome['without_place'] | undefined;
  readonly partial: boolean;
  readonly skippedLines: number;
  readonly notes: readonly string[];
  readonly counted: readonly Counted[];
  readonly series: Series | undefined;
}

export interface Run {
  readonly outcome: Outcome;
  readonly timeline: Timeline | undefined;
  /** All contracts together: `count` is how many limit at the end of the cycle. */
  readonly totals: Timeline;
  readonly series?: Series;
}

type OutcomeOptions = Pick<SimulateOptions, 'seed'> & {
  readonly top?: number | undefined;
};

/**
 * One row for each cycle in which anything changed, in order, and one for the last. Each subscription is a run of its own,
 * determined by scenario and seed. Unsubscribing ends it, and so does the signal, with the present cycle as the last.
 * Errors: Failure if a log of the scenario cannot be read.
 */
export function simulate$(scenario: LoadedScenario, options: SimulateOptions = {}): Observable<CycleRow<SimulatedRun>> {
  return rowsOf((onRow) => begin(scenario, options, true, onRow), options.signal);
}

/** The outcome of the rows of `simulate$`. @throws Failure if a log of the scenario cannot be read */
export async function simulate(scenario: LoadedScenario, options: SimulateOptions & OutcomeOptions = {}): Promise<Run> {
  const { run } = await runAndSource(scenario, options);
  return run;
}

/** Its rows are folded at once, and have no columns. */
function runAndSource(scenario: LoadedScenario, options: SimulateOptions & OutcomeOptions) {
  const rows = rowsOf<SimulatedRun>((onRow) => begin(scenario, options, false, onRow), options.signal);
  return lastValueFrom(rows.pipe(toRun(scenario, options)));
}

/** Folds the rows of `simulate$`. @param options the seed of the rows */
export function toRun(
  scenario: LoadedScenario,
  options: OutcomeOptions = {},
): OperatorFunction<CycleRow<SimulatedRun>, { readonly run: Run; readonly source: FigureSource }> {
  checkLoaded(scenario);
  const { seed = scenario.seed, top = 100 } = options;
  return folded(
    (fold, _first, { cycle: reached, run }) => {
      const { partial, skippedLines, notes, counted, series, without_place, ...measured } = run.measured();
      for (const [contract, counts] of counted.entries()) fold.counted(contract, counts);
      const { outcome, source } = assembleOutcome(
        {
          kind: 'simulate',
          arm: 'predicted',
          scenario: scenario.name,
          question: scenario.question,
          notes: [...scenario.notes, ...notes],
          seed,
          ...(partial && { partial }),
          cycle_ms: scenario.cycleMs,
          first_cycle: run.firstCycle,
          last_cycle: reached,
          skipped_lines: skippedLines,
        },
        fold,
        { expectations: scenario.expectations, control: run.control, top },
        { ...fold.delays(), ...fold.costs(), ...(without_place && { without_place }), ...measured },
      );
      const { timeline, totals } = fold;
      return { run: { outcome, timeline, totals, ...(series && { series }) }, source };
    },
    ({ keepsTimeline }) => keepsTimeline,
  );
}

/** Runs a control with the seed of its run. */
export async function controlRun(
  { name, scenario }: NonNullable<LoadedScenario['control']>,
  options: SimulateOptions,
): Promise<ControlRun> {
  const { run, source } = await runAndSource(scenario, options);
  return { name, outcome: run.outcome, source };
}

/** The control runs first, with the same seed. */
async function begin(
  scenario: LoadedScenario,
  options: SimulateOptions,
  needsColumns: boolean,
  onRow: (row: CycleRow<SimulatedRun>) => void,
): Promise<Drivable> {
  checkLoaded(scenario);
  const { seed = scenario.seed, untilCycle = Number.POSITIVE_INFINITY, signal } = options;
  const control = scenario.control && (await controlRun(scenario.control, { seed, untilCycle, signal }));
  const traffic = await trafficOf(scenario, seed);
  const { inspect, withDecisions, journeys } = options;
  const { startCycle: firstCycle, drain, cycleMs, plan, keyed, senders, costs } = scenario;
  const { names, cycles, drawCost } = traffic;
  const wholeCycle = firstCycle + cycles - 1 + drain;
  const lastCycle = Math.min(wholeCycle, firstCycle + untilCycle);
  const keepsTimeline = names.length * (lastCycle - firstCycle + 1) <= MOST_ROWS;
  const byContract = keepsTimeline || needsColumns;
  const measured = (): Measured => ({
    partial: world.clock.now() < lastInstantOf(wholeCycle, cycleMs),
    skippedLines: traffic.skippedLines,
    notes: traffic.notes,
    counted: byContract ? [] : countsOf(world, places),
    without_place: places?.figures,
    ...clients?.figures(),
    series: clients?.series(world.clock.cycle()),
  });
  const world: World<Omit<SimulatedRun, keyof RunShape>> = new World({
    cycleMs,
    firstCycle,
    names,
    plan,
    byContract,
    inspect,
    costUnit: costs?.unit,
    withDecisions: withDecisions ?? (journeys !== undefined && plan.rule !== undefined),
    onMove: (contract, admits) => clients?.moved(contract, admits),
    onRow(row) {
      if (senders.length === 0) journeys?.row(row, cycleMs);
      onRow(row);
    },
    about: { firstCycle, lastCycle, keepsTimeline, control, measured, actors: () => actorStates(world, clients) },
  });
  const places = keyed === undefined || hasPlaces(scenario, names) ? undefined : keyPlaces(keyed, world);
  const clients =
    senders.length === 0 ? undefined : new SimulatedClients(scenario, { traffic, world, places, lastCycle, journeys });
  if (clients !== undefined) return { world, lastCycle, batches: [] };
  const models =
    plan.rule === undefined ? countsOfModels(traffic, firstCycle) : requestsOfModels(traffic, firstCycle, cycleMs);
  const batches = traffic.recorded ?? models;
  return { world, limiter: places, lastCycle, batches: drawCost === undefined ? batches : priced(batches, drawCost) };
}

/** For rows without columns. Requests refused for lack of a place do not pass a gate. */
function countsOf({ contracts }: World, places: KeyPlaces | undefined): Counted[] {
  return contracts.map(({ gate: { figures } }, index) =>
    index === places?.refusing ? { ...figures, ...places.figures } : figures,
  );
}

function actorStates(world: World, clients: SimulatedClients | undefined): ActorState[] {
  const contracts = world.contracts.map((contract, index) => {
    // A contract without requests is still in the cycle of its last one.
    contract.advance(world.clock.cycle());
    const { wakeMs } = contract;
    const waiting = wakeMs === Number.POSITIVE_INFINITY ? '' : `wakes at cycle ${cycleOf(wakeMs, world.clock.cycleMs)}`;
    return {
      actor: `contract ${world.run.names[index]}`,
      state: `${contract.state}, count ${contract.gate.count}`,
      waiting,
    };
  });
  const ofClients = [...(clients?.population.clients() ?? [])].map((client) => ({
    actor: client.id,
    state: client.state.at,
    waiting: [...heldIn(client.state), ...alarmOf(client, world.clock.cycleMs)].join(', '),
  }));
  return [...contracts, ...ofClients];
}

function heldIn(state: object): string[] {
  return Object.entries(state).flatMap(([name, value]: [string, unknown]) => {
    if (name === 'at') return [];
    if (typeof value === 'number' || typeof value === 'boolean') return [`${name} ${value}`];
    const { size, job, attempts } = (value ?? {}) as { size?: number; job?: { number: number }; attempts?: number };
    if (typeof size === 'number') return [`${name} ${size}`];
    return name === 'task' && job !== undefined ? [`job ${job.number} after attempt ${attempts}`] : [];
  });
}

function alarmOf({ alarmMs }: Client, cycleMs: number): string[] {
  if (alarmMs === undefined) return [];
  const cycle = cycleOf(alarmMs, cycleMs);
  return [`wakes at cycle ${cycle} + ${Math.round(alarmMs - startOf(cycle, cycleMs))} ms`];
}
