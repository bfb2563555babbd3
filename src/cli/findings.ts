// The output of runs for simulate, replay and load: the printed result and the folders of reports.
import { join } from 'node:path';
import { openReportFolder, type ReportFolder, safeName, type WrittenReport } from '../report/folder.js';
import type { Reported } from '../report/reported.js';
import { reportText, runsDocument } from '../report/run-document.js';
import { documentText } from '../report/terminal-blocks.js';
import { exitCodes, worstExit } from './ending.js';
import { exitOfStop } from './interrupt.js';
import { NONE } from './options.js';
import { say } from './say.js';
import { terminalAtHand } from './terminal.js';

interface FindingsOptions {
  readonly json: boolean;
  readonly out?: string | undefined;
}

/** Creates the folder of a report before the run starts, so that an invalid path fails early. */
export async function folderFor(
  { out }: FindingsOptions,
  run: { readonly scenario: string; readonly id: string; readonly ofSeveral?: boolean },
): Promise<ReportFolder | undefined> {
  if (out === NONE) return undefined;
  const place = out === undefined ? {} : { out: run.ofSeveral === true ? join(out, safeName(run.scenario)) : out };
  return openReportFolder({ ...place, scenario: run.scenario, run: run.id });
}

/** Prints one run, or a table of several. The exit code follows from their verdicts, or from the signal that stopped them. */
export function printFindings(
  runs: readonly Reported[],
  reports: readonly (WrittenReport | undefined)[],
  { json }: FindingsOptions,
): void {
  const outcomes = runs.map(({ outcome }) => outcome);
  process.exitCode = exitOfStop() ?? worstExit(outcomes.map(({ verdict }) => exitCodes[verdict]));
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
