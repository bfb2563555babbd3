// Replays a log through a limiter: requests in order of cycle, through one contract or one per key.
//
//   log ──► LogRequests: counts by cycle ──► decide ──► rows ──► fold ──► outcome          the run starts while the log is read
import { lastValueFrom, type Observable, type OperatorFunction } from 'rxjs';
import type { Plan } from '../../core/limiter/plan.js';
import { assembleOutcome } from '../outcome/assemble.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { Expectation } from '../outcome/expectation.js';
import type { Outcome } from '../outcome/outcome-schema.js';
import { folded } from '../outcome/run-fold.js';
import type { LogOptions, Warning } from '../traffic/log/log-options.js';
import type { LogReading } from '../traffic/log/read-bytes.js';
import { LogRequests, type LogRequestsOptions } from './log-requests.js';
import type { Run } from './simulate.js';
import { replay$ } from './stream.js';

interface ReplayFacts {
  readonly name: string;
  readonly cycleMs: number;
  readonly expectations?: readonly Expectation[] | undefined;
  readonly notes?: readonly string[] | undefined;
  readonly top?: number | undefined;
}

/** What was read for the rows of a replay, and what it found besides them. */
export interface ReplaySource {
  readonly readings: readonly LogReading[];
  readonly isPartial: boolean;
  warnings(limited: number): Warning[];
  /** The limits of gateway files, with what each refused. */
  limits?(): Outcome['limits'];
}

export interface GatewayFiles {
  readonly file: string;
  /** Default: all places. */
  readonly location: string | undefined;
}

/** The port for limits of gateways: of their files, or one in words. */
export interface GatewayTool {
  replay(files: GatewayFiles): Promise<GatewayReplay>;
  explain(asked: ExplainAsked): Promise<void>;
}

export interface ExplainAsked {
  readonly limit: string;
  /** Undefined for a limit in words. */
  readonly files: GatewayFiles | undefined;
  readonly paths: readonly string[];
  readonly log: LogOptions;
  /** How many refusals, or which share of them, may not be those of the limit. */
  readonly unexplainedAbove: UnexplainedAbove | undefined;
  readonly top: number;
  readonly out: string | undefined;
  readonly json: boolean;
  /** What repeats it. */
  readonly command: string;
}

export type UnexplainedAbove = { readonly text: string } & ({ readonly n: number } | { readonly share: number });

/** Files of a gateway, through whose limits logs are replayed. */
export interface GatewayReplay {
  /** What was not understood, or is not applied. */
  readonly notes: readonly string[];
  begin(paths: readonly string[], options: LogRequestsOptions): GatewaySource;
}

interface GatewaySource extends ReplaySource {
  /** Rows of another call start over: the logs are read again. Errors: Failure of the log readers, `no_requests`. */
  rows(cycleMs: number): Observable<CycleRow>;
}

export interface ReplayOptions extends ReplayFacts, LogRequestsOptions {
  readonly plan: Plan;
}

export interface Replay extends Run {
  readonly readings: readonly LogReading[];
  readonly warnings: readonly Warning[];
}

/** The outcome of the rows of `replay$`. @throws Failure of the log readers, `no_requests` */
export function replay(paths: readonly string[], options: ReplayOptions): Promise<Replay> {
  const requests = new LogRequests(paths, options);
  return lastValueFrom(replay$(requests, options.plan, options).pipe(toReplay(requests, options)));
}

export function toReplay(
  requests: ReplaySource,
  { name, cycleMs, notes = [], expectations = [], top = 100 }: ReplayFacts,
): OperatorFunction<CycleRow, Replay> {
  return folded((fold, { cycle: firstCycle }, { cycle: lastCycle }) => {
    const { readings } = requests;
    const limits = requests.limits?.();
    const { outcome } = assembleOutcome(
      {
        kind: 'replay',
        arm: 'predicted',
        scenario: name,
        notes: [...notes],
        seed: 0,
        ...(requests.isPartial && { partial: true }),
        cycle_ms: cycleMs,
        first_cycle: firstCycle,
        last_cycle: lastCycle,
        skipped_lines: readings.reduce((sum, { skippedLines }) => sum + skippedLines, 0),
      },
      fold,
      { expectations, top },
      { ...fold.delays(), ...fold.costs(), ...(limits && { limits }) },
    );
    const { timeline, totals } = fold;
    return { outcome, timeline, totals, readings, warnings: requests.warnings(outcome.limited) };
  });
}
