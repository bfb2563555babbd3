// Runs a scenario in the browser with the simulation of `weir simulate`, and reduces its charts to columns.
//
//   run     ─► rows of totals ─► at most 1,200 columns of whole cycles; the charts of a report
//   rules   ─► a separate run each, with the same seed ─────────► refused so far
import { lastValueFrom, tap } from 'rxjs';
import { parseDocument } from 'yaml';
import { isOnAggregate } from '../../core/limiter/definition.js';
import { products } from '../../core/limiter/products/products.js';
import { Failure } from '../../core/schema/failure.js';
import { startOf } from '../../core/time/cycle.js';
import type { CycleRow } from '../../harness/outcome/cycle-row.js';
import type { Outcome } from '../../harness/outcome/outcome-schema.js';
import type { Timeline } from '../../harness/outcome/timeline.js';
import type { LoadedScenario, RecordedLog, ScenarioSource } from '../../harness/scenario/loaded-scenario.js';
import { planScenario } from '../../harness/scenario/plan-scenario.js';
import { type Journeys, journeyRecorder } from '../../harness/simulate/journeys.js';
import {
  type Run,
  type SimulatedRun,
  type SimulateOptions,
  simulate$,
  toRun,
} from '../../harness/simulate/simulate.js';
import type { LogSpec } from '../../harness/traffic/arrival/make.js';
import { cycleAxis } from '../../report/chart/cycle-axis.js';
import { decisionsChart } from '../../report/chart/decisions.js';
import { queueChart } from '../../report/chart/queue-latency.js';
import { windowChart } from '../../report/chart/window-count.js';
import { type ChartSpec, type CycleAxis, type Tone, unmarked } from '../../report/chart-specs/spec.js';
import { number } from '../../report/words.js';
import type { OwnLog } from './own-files.js';

export interface Picture {
  readonly outcome: Outcome;
  readonly cycleMs: number;
  /** Unix ms. */
  readonly startMs: number;
  readonly cycles: number;
  readonly journeys: Journeys;
  readonly machine: MachineRun;
  readonly nearsLimit: boolean;
  readonly service: { readonly servers: number } | undefined;
  /** Clients react, rather than requests only being counted. */
  readonly hasClients: boolean;
  readonly requests: readonly number[];
  /** The chart of the most limited contract; undefined for a fleet without records by contract. */
  readonly window: ChartSpec | undefined;
  readonly rules: readonly RuleColumns[];
  readonly charts: readonly ChartSpec[];
}

export interface RuleColumns {
  readonly name: string;
  readonly requests: readonly number[];
  readonly admitted: readonly number[];
}

export interface MachineRun {
  readonly states: readonly { readonly name: string; readonly admits: boolean }[];
  readonly arrows: readonly { readonly from: string; readonly to: string; readonly words: readonly string[] }[];
  readonly initial: string;
  readonly moves: readonly { readonly cycle: number; readonly to: string }[];
}

const MOST_COLUMNS = 1_200;
const MOST_JOURNEYS = 60_000;

const MOST_CONTRACTS = 20_000;
const MOST_WORK = 50_000_000;

const SLICES = 24;

export type OwnFiles = ReadonlyMap<string, OwnLog>;

/** Reads only files given to the page. */
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

/** @param name default name of the scenario @throws Failure with the words of `weir simulate` */
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
  const options = { seed: scenario.seed, signal };
  const all = 1 + others.length;
  const journeys = journeyRecorder(MOST_JOURNEYS);
  const ran = async (done: number, one: LoadedScenario, more: Pick<SimulateOptions, 'journeys'> = {}) => {
    let shown = 0;
    const show = tap<CycleRow<SimulatedRun>>(({ cycle, run: { firstCycle, lastCycle } }) => {
      const share = (cycle - firstCycle) / Math.max(1, lastCycle - firstCycle);
      if (share < 1 && share < shown + 1 / SLICES) return;
      shown = share;
      onShare((done + share) / all);
    });
    return (await lastValueFrom(simulate$(one, { ...options, ...more }).pipe(show, toRun(one, options)))).run;
  };
  const run = await ran(0, scenario, { journeys });
  if (signal.aborted) return undefined;
  const grid = new Grid(run.outcome);
  const rules: RuleColumns[] = [];
  for (const [index, other] of others.entries()) {
    const { totals } = await ran(index + 1, other.scenario);
    if (signal.aborted) return undefined;
    rules.push({ name: other.name, ...grid.sums(totals) });
  }
  const { requests } = grid.sums(run.totals);
  const window = windowChart(run);
  const threshold = run.outcome.by_contract[0]?.threshold ?? null;
  return {
    outcome: run.outcome,
    cycleMs: scenario.cycleMs,
    startMs: startOf(scenario.startCycle, scenario.cycleMs),
    cycles: grid.cycles,
    journeys: journeys.journeys,
    machine: machineOf(scenario, run),
    nearsLimit: threshold === null || threshold <= 4 * Math.max(1, run.outcome.peak_count),
    service: scenario.service && { servers: scenario.service.servers },
    hasClients: scenario.senders.length > 0,
    requests,
    window,
    rules,
    charts: [
      ...(window === undefined ? [] : [window]),
      decisionsChart(run),
      ...(withProducts || rules.length === 0 ? [] : [refusedChart(rules, cycleAxis(run.outcome), grid.columnCycles)]),
      ...[queueChart(run) ?? []].flat(),
    ],
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

/** The scenario with each product's example limiter, mostly ten requests a second. */
function productRuns(
  text: string,
  name: string,
  files: OwnFiles,
): { readonly name: string; readonly scenario: LoadedScenario }[] {
  return Object.entries(products).map(([like, { example }]) => {
    const document = parseDocument(text);
    document.setIn(['limiter'], { like, ...example });
    for (const field of ['compare', 'control']) document.deleteIn([field]);
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
      words: [isOnAggregate(trigger) ? trigger.condition : 'asked for'],
    })),
    moves: (outcome.by_contract[0]?.transitions ?? []).map(({ cycle, to }) => ({ cycle: cycle - startCycle, to })),
  };
}

/** Distinct in colour or dash; further rules reuse them. */
const ruleTones: readonly Tone[] = [
  'observed',
  'limited',
  'admitted',
  'median',
  'tail',
  'jobs',
  'planned',
  'response',
  'band',
];

function refusedChart(rules: readonly RuleColumns[], axis: CycleAxis, columnCycles: number): ChartSpec {
  const refused = rules.map(({ requests, admitted }) => {
    let sum = 0;
    return requests.map((n, column) => (sum += n - admitted[column]!));
  });
  return {
    id: 'rules',
    title: 'Limited so far, by rule',
    about: rules.map(({ name }, rule) => `${name} ${number(refused[rule]!.at(-1) ?? 0)}`).join(', '),
    x: axis,
    yTitle: 'Requests limited',
    yWhole: true,
    lines: rules.map(({ name }, rule) => ({
      label: name,
      tone: ruleTones[rule % ruleTones.length]!,
      xs: refused[rule]!.map((_, column) => column * columnCycles),
      ys: refused[rule]!,
      stepped: true,
    })),
    ...unmarked,
    height: 280,
  };
}

class Grid {
  readonly cycles: number;
  readonly columnCycles: number;
  readonly #first: number;

  constructor({ first_cycle, last_cycle }: Outcome) {
    this.#first = first_cycle ?? 0;
    this.cycles = Math.max(this.#first, last_cycle ?? 0) - this.#first + 1;
    this.columnCycles = Math.ceil(this.cycles / MOST_COLUMNS);
  }

  sums(totals: Timeline): { readonly requests: number[]; readonly admitted: number[] } {
    const columns = Math.ceil(this.cycles / this.columnCycles);
    const [requests, admitted] = [new Array<number>(columns).fill(0), new Array<number>(columns).fill(0)];
    for (const row of totals.rows()) {
      const at = Math.floor((row.cycle - this.#first) / this.columnCycles);
      const column = Math.max(0, Math.min(columns - 1, at));
      requests[column]! += row.requests;
      admitted[column]! += row.admitted;
    }
    return { requests, admitted };
  }
}
