// A scenario of the playground, run in the browser: the very simulation of `weir simulate`, and its charts as columns.
//
//   run     ─► rows of totals and of the contract that is limited most ─► at most 1,200 columns of whole cycles
//   rules   ─► each run of its own, under the same seed ───────────────► refused so far
import { lastValueFrom, tap } from 'rxjs';
import { parseDocument } from 'yaml';
import { isOnAggregate } from '../../limiter/definition.js';
import { products } from '../../limiter/products/products.js';
import type { CycleRow } from '../../outcome/cycle-row.js';
import type { Outcome } from '../../outcome/outcome-schema.js';
import type { Timeline } from '../../outcome/timeline.js';
import type { LoadedScenario, RecordedLog, ScenarioSource } from '../../scenario/loaded-scenario.js';
import { planScenario } from '../../scenario/plan-scenario.js';
import { Failure } from '../../schema/failure.js';
import { JourneyRecorder, type Journeys } from '../../simulate/journeys.js';
import { type Run, type SimulatedRun, type SimulateOptions, simulate$, toRun } from '../../simulate/simulate.js';
import { startOf } from '../../time/cycle.js';
import type { LogSpec } from '../../traffic/arrival/make.js';
import type { OwnLog } from './own-files.js';

export interface Picture {
  readonly outcome: Outcome;
  readonly cycleMs: number;
  /** Of the run, in unix ms and cycles. */
  readonly startMs: number;
  readonly cycles: number;
  readonly journeys: Journeys;
  readonly machine: MachineRun;
  /** Whether the requests come near the limit: one of a million says nothing. */
  readonly nearsLimit: boolean;
  readonly service: { readonly servers: number } | undefined;
  /** Whether clients react, and requests are not only counted. */
  readonly hasClients: boolean;
  readonly columnCycles: number;
  /** First cycle of each column, from the start of the run. */
  readonly xs: readonly number[];
  /** Sums of a column. */
  readonly requests: readonly number[];
  readonly admitted: readonly number[];
  /** Of the contract that is limited most; undefined for a fleet of which no contract is recorded. */
  readonly window: Window | undefined;
  /** By rule; empty where no rules are compared. */
  readonly rules: readonly RuleColumns[];
  /** Most of a column; undefined where no clients react. */
  readonly behind: Readonly<Record<'queue' | 'open jobs' | 'retries', readonly number[]>> | undefined;
}

/** What another limiter does with the same requests. */
export interface RuleColumns {
  readonly name: string;
  /** Refused so far. */
  readonly refused: readonly number[];
  /** Sums of a column. */
  readonly requests: readonly number[];
  readonly admitted: readonly number[];
}

/** The state machine of the contract that is limited most, and its transitions in the run. */
export interface MachineRun {
  readonly states: readonly { readonly name: string; readonly admits: boolean }[];
  readonly arrows: readonly { readonly from: string; readonly to: string; readonly label: string }[];
  readonly initial: string;
  readonly moves: readonly { readonly cycle: number; readonly to: string }[];
}

interface Window {
  readonly contract: string;
  readonly threshold: number | null;
  /** The most of each column. */
  readonly counts: readonly number[];
  /** [entry, restore) in cycles from the start. */
  readonly limiting: readonly (readonly [from: number, to: number])[];
}

const MOST_COLUMNS = 1_200;
/** They go from the worker to the page with each picture. */
const MOST_JOURNEYS = 60_000;

/** The most contracts, and cycles times contracts, that a page is asked for. */
const MOST_CONTRACTS = 20_000;
const MOST_WORK = 50_000_000;

/** So many steps take a few ms: a slider is never waited for. */
const STEPS_PER_TURN = 2_000;
const SLICES = 24;

/** Files that a person gave to the page, by name. */
export type OwnFiles = ReadonlyMap<string, OwnLog>;

/** A page reads what it was given, and no other file. */
class PageSource implements ScenarioSource {
  readonly path = 'scenario.yaml';

  constructor(
    readonly name: string,
    readonly files: OwnFiles,
  ) {}

  definition(file: string): string {
    throw new Error(`it is a file, and this page reads none; \`weir simulate\` does (${file})`);
  }

  async recording(spec: LogSpec, cycleMs: number): Promise<RecordedLog> {
    const own = this.files.get(spec.file);
    if (own !== undefined) return own.recording(spec, cycleMs);
    throw new Failure('unreadable_file', {
      what: `This scenario replays the log ${spec.file}.`,
      why: 'A page reads no files of the disk but those that are dropped on it.',
      fix: `Drop it here, or run it where the log is: weir simulate ${this.name}.yaml`,
    });
  }
}

/**
 * Plans and runs a scenario.
 * @param name of the scenario, unless it says one
 * @throws Failure with the words of `weir simulate`
 */
export async function playScenario(
  text: string,
  name: string,
  signal: AbortSignal,
  onShare: (share: number) => void,
  { withProducts = false, files = new Map() }: { readonly withProducts?: boolean; readonly files?: OwnFiles } = {},
): Promise<Picture | undefined> {
  const scenario = planScenario(text, new PageSource(name, files));
  checkSize(scenario);
  const others = [
    ...scenario.compared.map(({ rule, scenario: one }) => ({ name: rule, scenario: one })),
    ...(withProducts ? productRuns(text, name, files) : []),
  ];
  const options = { seed: scenario.seed, signal, slices: SLICES, stepsPerTurn: STEPS_PER_TURN };
  const all = 1 + others.length;
  const journeys = new JourneyRecorder(MOST_JOURNEYS);
  const ran = (done: number, one: LoadedScenario, more: Pick<SimulateOptions, 'journeys'> = {}) => {
    let shown = 0;
    const show = tap<CycleRow<SimulatedRun>>(({ cycle, run: { firstCycle, lastCycle } }) => {
      const share = (cycle - firstCycle) / Math.max(1, lastCycle - firstCycle);
      if (share < 1 && share < shown + 1 / SLICES) return;
      shown = share;
      onShare((done + share) / all);
    });
    return lastValueFrom(simulate$(one, { ...options, ...more }).pipe(show, toRun(one, options)));
  };
  const run = await ran(0, scenario, { journeys });
  if (signal.aborted) return undefined;
  const grid = new Grid(run.outcome);
  const rules: RuleColumns[] = [];
  for (const [index, other] of others.entries()) {
    const { totals } = await ran(index + 1, other.scenario);
    if (signal.aborted) return undefined;
    rules.push({ name: other.name, refused: grid.soFar(totals), ...grid.sums(totals) });
  }
  const { requests, admitted } = grid.sums(run.totals);
  const window = grid.window(run, scenario);
  return {
    outcome: run.outcome,
    cycleMs: scenario.cycleMs,
    startMs: startOf(scenario.startCycle, scenario.cycleMs),
    cycles: grid.cycles,
    journeys: journeys.journeys,
    machine: machineOf(scenario, run),
    nearsLimit: window?.threshold == null || window.threshold <= 4 * Math.max(1, run.outcome.peak_count),
    service: scenario.service && { servers: scenario.service.servers },
    hasClients: scenario.senders.length > 0,
    columnCycles: grid.columnCycles,
    xs: grid.xs,
    requests,
    admitted,
    window,
    rules,
    behind: grid.behind(run),
  };
}

function checkSize({ contracts, duration = 0, drain }: LoadedScenario): void {
  if (contracts <= MOST_CONTRACTS && contracts * (duration + drain) <= MOST_WORK) return;
  throw new Failure('limit_reached', {
    what: 'This scenario is too large for a page.',
    why: `It has ${contracts} contracts over ${duration + drain} cycles.`,
    fix: 'Make it smaller, or run it in a terminal: weir simulate',
  });
}

/** The scenario with each product in the place of its limiter, with the limits of the product's example: mostly ten a second. */
function productRuns(
  text: string,
  name: string,
  files: OwnFiles,
): { readonly name: string; readonly scenario: LoadedScenario }[] {
  return Object.entries(products).map(([like, { example }]) => {
    const document = parseDocument(text);
    document.setIn(['limiter'], { like, ...example });
    document.deleteIn(['compare']);
    document.deleteIn(['expect']);
    return { name: like, scenario: planScenario(document.toString(), new PageSource(name, files)) };
  });
}

function machineOf({ plan, startCycle }: LoadedScenario, { outcome }: Run): MachineRun {
  const { definition, states, initial } = plan;
  return {
    states: states.map(({ name, admits }) => ({ name, admits })),
    initial: states[initial]!.name,
    arrows: definition.transitions.map(({ from, to, trigger }) => ({
      from,
      to,
      label: isOnAggregate(trigger) ? trigger.condition : 'asked for',
    })),
    moves: (outcome.by_contract[0]?.transitions ?? []).map(({ cycle, to }) => ({ cycle: cycle - startCycle, to })),
  };
}

class Grid {
  readonly cycles: number;
  readonly xs: number[];
  readonly columnCycles: number;
  readonly #first: number;
  readonly #last: number;

  constructor({ first_cycle, last_cycle }: Outcome) {
    this.#first = first_cycle ?? 0;
    this.#last = Math.max(this.#first, last_cycle ?? 0);
    const cycles = this.#last - this.#first + 1;
    this.cycles = cycles;
    this.columnCycles = Math.ceil(cycles / MOST_COLUMNS);
    this.xs = Array.from({ length: Math.ceil(cycles / this.columnCycles) }, (_, column) => column * this.columnCycles);
  }

  sums(totals: Timeline): { readonly requests: number[]; readonly admitted: number[] } {
    const [requests, admitted] = [this.#zeros(), this.#zeros()];
    for (const row of totals.rows()) {
      const column = this.#columnOf(row.cycle);
      requests[column]! += row.requests;
      admitted[column]! += row.admitted;
    }
    return { requests, admitted };
  }

  soFar(totals: Timeline): number[] {
    const { requests, admitted } = this.sums(totals);
    let sum = 0;
    return requests.map((n, column) => {
      sum += n - admitted[column]!;
      return sum;
    });
  }

  window({ outcome, timeline }: Run, { plan }: LoadedScenario): Window | undefined {
    const shown = outcome.by_contract[0];
    if (shown === undefined || timeline === undefined) return undefined;
    const found: (number | undefined)[] = this.xs.map(() => undefined);
    let [last, column] = [0, -1];
    const ends = this.#zeros();
    for (const { cycle, contract, count } of timeline.rows()) {
      if (contract !== shown.id) continue;
      const at = this.#columnOf(cycle);
      while (column < at) ends[++column] = last;
      found[at] = Math.max(found[at] ?? (this.columnCycles === 1 ? 0 : ends[at]!), count);
      last = count;
      ends[at] = last;
    }
    while (column < this.xs.length - 1) ends[++column] = last;
    const admits = new Set(plan.states.flatMap((state) => (state.admits ? [state.name] : [])));
    const limiting: [number, number][] = [];
    for (const { cycle, to } of shown.transitions) {
      const open = limiting.at(-1);
      if (!admits.has(to)) limiting.push([cycle - this.#first, this.#last + 1 - this.#first]);
      else if (open !== undefined) open[1] = cycle - this.#first;
    }
    const counts = found.map((count, index) => count ?? ends[index]!);
    return { contract: shown.id, threshold: shown.threshold, counts, limiting };
  }

  behind({ series }: Run): Picture['behind'] {
    if (series === undefined) return undefined;
    const most = (values: readonly (number | null)[] = []) => {
      const column = this.#zeros();
      series.cycle.forEach((cycle, index) => {
        const at = this.#columnOf(cycle);
        column[at] = Math.max(column[at]!, values[index] ?? 0);
      });
      return column;
    };
    return { queue: most(series.queue), 'open jobs': most(series.open_jobs), retries: most(series.retries) };
  }

  #columnOf(cycle: number): number {
    return Math.max(0, Math.min(this.xs.length - 1, Math.floor((cycle - this.#first) / this.columnCycles)));
  }

  #zeros(): number[] {
    return new Array<number>(this.xs.length).fill(0);
  }
}
