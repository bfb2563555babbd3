// Shared by simulate, replay and load: rows of a run, report folders, printed result.
import { join } from 'node:path';
import { lastValueFrom, type Observable, type OperatorFunction, tap } from 'rxjs';
import type { LoadedScenario } from '../harness/scenario/loaded-scenario.js';
import type { CommandLine } from '../report/command/command.js';
import { exitCodes } from '../report/command/exit-codes.js';
import { exitOfStop, stopSignal } from '../report/command/interrupt.js';
import { NONE } from '../report/command/options.js';
import { say, warn } from '../report/command/say.js';
import { terminalAtHand } from '../report/command/terminal.js';
import { openReportFolder, type ReportFolder, safeName, type WrittenReport } from '../report/folder.js';
import type { Reported } from '../report/reported.js';
import { reportText } from '../report/run-document.js';
import { documentText } from '../report/terminal-blocks.js';
import { runsDocument } from './runs-document.js';

export function followRows<Row, Result>(
  rows: Observable<Row>,
  show: (row: Row) => void,
  sum: OperatorFunction<Row, Result>,
): Promise<Result> {
  return lastValueFrom(rows.pipe(tap(show), sum));
}

interface Given {
  readonly json: boolean;
  readonly out?: string | undefined;
}

/** Creates the folder before the run, so that an invalid path fails early. */
export async function folderFor(
  { out }: Given,
  run: { readonly scenario: string; readonly id: string; readonly ofSeveral?: boolean },
): Promise<ReportFolder | undefined> {
  if (out === NONE) return undefined;
  const place = out === undefined ? {} : { out: run.ofSeveral === true ? join(out, safeName(run.scenario)) : out };
  return openReportFolder({ ...place, scenario: run.scenario, run: run.id });
}

interface AskedRun {
  readonly path: string;
  readonly scenario: LoadedScenario;
}

export interface RunSetting {
  readonly signal: AbortSignal;
  readonly folder: ReportFolder | undefined;
}

/** Runs scenarios in turn and prints the results. @param run returns the run, and files it has written */
export async function runAll<Asked extends AskedRun>(
  given: Given & { readonly seed: number | string | undefined },
  line: CommandLine,
  all: readonly Asked[],
  run: (asked: Asked, place: RunSetting) => Promise<{ readonly run: Reported; readonly files?: readonly string[] }>,
  suffix = '',
): Promise<readonly Reported[]> {
  const signal = stopSignal();
  const runs: Reported[] = [];
  const reports: (WrittenReport | undefined)[] = [];
  for (const asked of all) {
    if (signal.aborted) break;
    const { path, scenario } = asked;
    const name = `${placeOf(scenario, all)}${suffix}`;
    const ofSeveral = all.length > 1;
    const folder = await folderFor(given, { scenario: name, id: String(given.seed ?? scenario.seed), ofSeveral });
    const { run: found, files } = await run(asked, { signal, folder });
    const repeatable = { ...found, command: line.repeat([path]) };
    runs.push(repeatable);
    reports.push(await folder?.write(repeatable, files));
  }
  printRuns(runs, reports, given);
  const left = all.length - runs.length;
  if (left > 0) warn(`weir: stopped; ${left} of ${all.length} scenarios were not run.\n`);
  return runs;
}

/** The scenario's name, numbered among namesakes so that no report replaces another. */
function placeOf(scenario: LoadedScenario, all: readonly AskedRun[]): string {
  const namesakes = all.filter((one) => one.scenario.name === scenario.name);
  const number = namesakes.findIndex((one) => one.scenario === scenario) + 1;
  return number > 1 ? `${scenario.name}-${number}` : scenario.name;
}

/** The exit code follows from the verdicts, or the signal that stopped them. */
export function printRuns(
  runs: readonly Reported[],
  reports: readonly (WrittenReport | undefined)[],
  { json }: Given,
): void {
  const outcomes = runs.map(({ outcome }) => outcome);
  process.exitCode = exitOfStop() ?? Math.max(0, ...outcomes.map(({ verdict }) => exitCodes[verdict]));
  if (json) {
    say(`${JSON.stringify(outcomes.length === 1 ? outcomes[0] : outcomes)}\n`);
    return;
  }
  const terminal = terminalAtHand();
  const [only] = runs;
  if (runs.length === 1 && only !== undefined) say(reportText(only, terminal));
  else if (runs.length > 1) say(documentText(runsDocument(outcomes), terminal));
  const places = reports.flatMap((report) => (report === undefined ? [] : [report.page]));
  if (places.length === 1) say(`\nopen it here: ${places[0]}\n`);
  else if (places.length > 1) say(`\nreports: ${places.join('\n         ')}\n`);
}
