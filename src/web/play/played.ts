// A scenario of the playground, run in the browser: the very simulation of `weir simulate`, and its charts as columns.
//
//   run     ─► rows of totals and of the contract that is limited most ─► at most 1,200 columns of whole cycles
//   rules   ─► each run of its own, under the same seed ───────────────► refused so far
import type { Outcome } from '../../outcome/outcome-schema.js';
import type { Timeline } from '../../outcome/timeline.js';
import type { LoadedScenario, RecordedLog, ScenarioSource } from '../../scenario/loaded-scenario.js';
import { planScenario } from '../../scenario/plan-scenario.js';
import { Failure } from '../../schema/failure.js';
import { type Run, simulate } from '../../simulate/simulate.js';

export interface Picture {
  readonly outcome: Outcome;
  readonly cycleMs: number;
  /** Cycles in a column of a chart. */
  readonly columnCycles: number;
  /** First cycle of each column, from the start of the run. */
  readonly xs: readonly number[];
  /** Sums of a column. */
  readonly requests: readonly number[];
  readonly admitted: readonly number[];
  /** Of the contract that is limited most; undefined for a fleet of which no contract is recorded. */
  readonly window: Window | undefined;
  /** Refused so far, by rule; empty where no rules are compared. */
  readonly rules: readonly { readonly name: string; readonly refused: readonly number[] }[];
  /** Most of a column; undefined where no clients react. */
  readonly behind: Readonly<Record<'queue' | 'open jobs' | 'retries', readonly number[]>> | undefined;
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

/** The most contracts, and cycles times contracts, that a page is asked for. */
const MOST_CONTRACTS = 20_000;
const MOST_WORK = 50_000_000;

/** So many steps take a few ms: a slider is never waited for. */
const STEPS_PER_TURN = 2_000;
const SLICES = 24;

/** A page reads no files. */
class PageSource implements ScenarioSource {
  readonly path = 'scenario.yaml';

  constructor(readonly name: string) {}

  definition(file: string): string {
    throw new Error(`it is a file, and this page reads none; \`weir simulate\` does (${file})`);
  }

  async recording({ file }: { readonly file: string }): Promise<RecordedLog> {
    throw new Failure('unreadable_file', {
      what: `This scenario replays the log ${file}.`,
      why: 'A page reads no files of the disk.',
      fix: `Run it where the log is: weir simulate ${this.name}.yaml`,
    });
  }
}

/**
 * Plans and runs a scenario.
 * @param name of the scenario, unless it says one
 * @throws Failure with the words of `weir simulate`
 */
export async function play(
  text: string,
  name: string,
  signal: AbortSignal,
  onShare: (share: number) => void,
): Promise<Picture | undefined> {
  const scenario = planScenario(text, new PageSource(name));
  checkSize(scenario);
  const { compared } = scenario;
  const options = { signal, slices: SLICES, stepsPerTurn: STEPS_PER_TURN };
  const all = 1 + compared.length;
  const first = scenario.startCycle;
  const onProgress = (done: number) => (cycle: number, last: number) =>
    onShare((done + (cycle - first) / Math.max(1, last - first)) / all);
  const run = await simulate(scenario, { ...options, onProgress: onProgress(0) });
  if (signal.aborted) return undefined;
  const grid = new Grid(run.outcome);
  const refused: { name: string; refused: number[] }[] = [];
  for (const [index, one] of compared.entries()) {
    const other = await simulate(one.scenario, { ...options, seed: scenario.seed, onProgress: onProgress(index + 1) });
    if (signal.aborted) return undefined;
    refused.push({ name: one.rule, refused: grid.soFar(other.totals) });
  }
  const { requests, admitted } = grid.sums(run.totals);
  return {
    outcome: run.outcome,
    cycleMs: scenario.cycleMs,
    columnCycles: grid.columnCycles,
    xs: grid.xs,
    requests,
    admitted,
    window: grid.window(run, scenario),
    rules: refused,
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

/** The columns of a run. */
class Grid {
  readonly xs: number[];
  readonly columnCycles: number;
  readonly #first: number;
  readonly #last: number;

  constructor({ first_cycle, last_cycle }: Outcome) {
    this.#first = first_cycle ?? 0;
    this.#last = Math.max(this.#first, last_cycle ?? 0);
    const cycles = this.#last - this.#first + 1;
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
