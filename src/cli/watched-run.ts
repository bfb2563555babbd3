// The state of a running run for page and terminal, from the run's rows, like the outcome.
import { lastValueFrom, tap } from 'rxjs';
import type { LiveRun } from '../live/live-run.js';
import type { Seed } from '../math/seed.js';
import { assembleOutcome, type RunFacts } from '../outcome/assemble.js';
import { type CycleRow, shapeOf } from '../outcome/cycle-row.js';
import { RunFold } from '../outcome/run-fold.js';
import type { Reported } from '../report/reported.js';
import type { Terminal } from '../report/terminal-text.js';
import { number } from '../report/words.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { simulate$ } from '../simulate/simulate.js';
import { bundled } from '../web/bundled.js';
import type { RunScreen, WatchedArm } from '../web/watched.js';
import { type Shown, screenLines } from './watch-screen.js';

const MOST_COLUMNS = 600;
/** Above this number of rows, expectations are judged only at the end. */
const MOST_JUDGED = 200_000;

export interface WatchedOptions {
  readonly kind: 'simulate' | 'load';
  readonly seed: Seed;
  readonly nowMs: () => number;
}

class Arm {
  readonly #requests: number[] = [];
  readonly #admitted: number[] = [];
  readonly #counts: number[] = [];
  #count = 0;

  constructor(readonly columnCycles: number) {}

  static over(cycles: number): Arm {
    return new Arm(Math.max(1, Math.ceil(cycles / MOST_COLUMNS)));
  }

  add(at: number, requests: number, admitted: number, count: number | undefined): void {
    this.reach(at);
    const column = this.#requests.length - 1;
    this.#requests[column]! += requests;
    this.#admitted[column]! += admitted;
    if (count === undefined) return;
    this.#counts[column] = at % this.columnCycles === 0 ? count : Math.max(this.#counts[column] ?? 0, count);
    this.#count = count;
  }

  reach(at: number): void {
    while (this.#requests.length * this.columnCycles <= at) {
      this.#requests.push(0);
      this.#admitted.push(0);
      this.#counts.push(this.#count);
    }
  }

  shown(hasCounts: boolean): WatchedArm {
    return { requests: this.#requests, admitted: this.#admitted, counts: hasCounts ? this.#counts : [] };
  }
}

export class WatchedRun implements Shown {
  readonly page = bundled('watch.html');
  readonly #scenario: LoadedScenario;
  readonly #options: WatchedOptions;
  readonly #startMs: number;
  readonly #isFleet: boolean;
  #cycles: number;
  #reached = 0;
  #firstCycle = 0;
  #arm: Arm;
  #predicted: Arm | undefined;
  #fold: RunFold | undefined;
  #sent = 0;
  #answered = 0;
  #facts: RunScreen['facts'] = [];
  #share: number | undefined;

  constructor(scenario: LoadedScenario, options: WatchedOptions) {
    this.#scenario = scenario;
    this.#options = options;
    this.#startMs = options.nowMs();
    this.#isFleet = scenario.names?.length !== 1;
    this.#cycles = (scenario.duration ?? 0) + scenario.drain;
    this.#arm = Arm.over(this.#cycles);
    this.#firstCycle = scenario.startCycle;
  }

  /** Runs the model with the same scenario and seed. If the model cannot run it, the run itself explains why. */
  async predict(): Promise<void> {
    const arm = new Arm(this.#arm.columnCycles);
    const { startCycle } = this.#scenario;
    const last = await lastValueFrom(
      simulate$(this.#scenario, { seed: this.#options.seed }).pipe(
        tap(({ cycle, totals, counts }) =>
          arm.add(cycle - startCycle, totals.requests, totals.admitted, this.#isFleet ? totals.limiting : counts[0]),
        ),
      ),
    );
    arm.reach(last.cycle - startCycle);
    this.#predicted = arm;
  }

  readonly next = (row: CycleRow): void => {
    this.#fold ??= new RunFold(row.run);
    this.#fold.next(row);
    const { requests, admitted, limiting } = row.totals;
    this.#arm.add(row.cycle - this.#firstCycle, requests, admitted, this.#isFleet ? limiting : row.counts[0]);
    this.#reached = Math.max(this.#reached, row.cycle - this.#firstCycle + 1);
  };

  nextLive(row: CycleRow<LiveRun>): void {
    const { cycle, run, totals } = row;
    this.#firstCycle = run.firstCycle;
    const cycles = run.lastCycle - run.firstCycle + 1;
    // The node has another cycle length, so the prediction covers another number of cycles.
    if (cycles !== this.#cycles) {
      this.#predicted = undefined;
      this.#cycles = cycles;
      if (this.#reached === 0) this.#arm = Arm.over(cycles);
    }
    const { sent, sendLagMsP99, latencyMsP99 } = run.sending(cycle);
    this.#sent += sent;
    this.#answered += totals.requests;
    this.#facts = [
      ['sent', number(this.#sent)],
      ['under way', number(Math.max(0, this.#sent - this.#answered))],
      ['send lag, p99', `${number(sendLagMsP99)} ms`],
      ['latency, p99', `${number(latencyMsP99)} ms`],
    ];
    this.next(row);
  }

  part(share: number, facts: RunScreen['facts']): void {
    this.#share = share;
    this.#facts = facts;
  }

  /** The run so far; undefined before its first row, or with too many rows. */
  reported(): Reported | undefined {
    const fold = this.#fold;
    if (fold === undefined || (fold.timeline?.length ?? MOST_JUDGED) >= MOST_JUDGED) return undefined;
    const reached = this.#firstCycle + Math.max(0, this.#reached - 1);
    const facts: RunFacts = {
      kind: this.#options.kind,
      arm: this.#options.kind === 'load' ? 'observed' : 'predicted',
      scenario: this.#scenario.name,
      question: this.#scenario.question,
      notes: [...this.#scenario.notes],
      seed: this.#options.seed,
      partial: true,
      cycle_ms: this.#scenario.cycleMs,
      first_cycle: this.#firstCycle,
      last_cycle: reached,
      skipped_lines: 0,
    };
    const past = fold.past(this.#firstCycle, reached);
    const outcome = assembleOutcome(facts, fold.figures(reached, 100), past, this.#scenario.expectations);
    return { outcome, timeline: fold.timeline, totals: fold.totals };
  }

  lines(ended: RunScreen['ended'], terminal: Terminal): string[] {
    const reported = this.reported();
    return screenLines(this.shown(ended, reported), reported, terminal);
  }

  shown(ended?: RunScreen['ended'], reported = this.reported()): RunScreen {
    const { name, question, plan, expectations } = this.#scenario;
    const share = this.#share ?? Math.min(1, this.#reached / Math.max(1, this.#cycles));
    const hasCounts = this.#isFleet || plan.rule === undefined || this.#options.kind === 'simulate';
    const judged = reported?.outcome;
    const sums =
      judged === undefined
        ? []
        : [['limited', number(judged.limited)] as const, ['entries', number(judged.entries)] as const];
    return {
      name,
      question,
      cycles: this.#cycles,
      columnCycles: this.#arm.columnCycles,
      threshold: this.#isFleet ? null : shapeOf([], plan).threshold,
      isFleet: this.#isFleet,
      share,
      leftMs: ended !== undefined ? 0 : this.#leftMs(share),
      facts: [...this.#facts, ...sums],
      predicted: this.#predicted?.shown(true),
      running: this.#arm.shown(hasCounts),
      isLive: this.#options.kind === 'load',
      expectations: expectations.map((one, index) => {
        const found = judged?.expectations[index];
        const actual = found?.actual ?? null;
        return {
          name: one.name,
          expected: one.text,
          state: actual === null ? 'open' : found!.held ? 'held' : 'broken',
          found: actual === null ? '' : String(actual),
        };
      }),
      ended,
    };
  }

  #leftMs(share: number): number | null {
    if (this.#options.kind === 'load' && this.#share === undefined)
      return (this.#cycles - this.#reached) * this.#scenario.cycleMs;
    return share < 0.01 ? null : ((this.#options.nowMs() - this.#startMs) * (1 - share)) / share;
  }
}
