// The output of runs for simulate, replay and load: the printed result and the folders of reports.
import { join } from 'node:path';
import type { Outcome } from '../outcome/outcome-schema.js';
import { openReportFolder, type ReportFolder, safeName, type WrittenReport } from '../report/folder.js';
import type { Reported } from '../report/reported.js';
import { reportText, summaryText } from '../report/text.js';
import { foundWords } from '../report/words.js';
import { exitCodes, worstExit } from './ending.js';
import { exitOfStop } from './interrupt.js';
import { say } from './say.js';
import { terminalAtHand } from './terminal.js';

interface FindingsOptions {
  readonly json: boolean;
  readonly report: boolean;
  readonly out?: string | undefined;
}

/** Creates the folder of a report before the run starts, so that an invalid path fails early. */
export async function folderFor(
  { report, out }: FindingsOptions,
  run: { readonly scenario: string; readonly id: string; readonly ofSeveral?: boolean },
): Promise<ReportFolder | undefined> {
  if (!report) return undefined;
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
  if (runs.length === 1 && only !== undefined) say(`${reportText(only, terminal)}\n`);
  else {
    for (const run of runs.filter(({ outcome }) => exitCodes[outcome.verdict] !== 0))
      say(`${failedText(run.outcome)}\n`);
    say(`${summaryText(outcomes, terminal)}\n`);
  }
  const places = reports.flatMap((report) => (report === undefined ? [] : [report.page]));
  if (places.length === 1) say(`\nopen it here: ${places[0]}\n`);
  else if (places.length > 1) say(`\nreports: ${places.join('\n         ')}\n`);
}

/** The expectations that did not hold, with expected and actual values. */
function failedText(outcome: Outcome): string {
  const { scenario, expectations } = outcome;
  const failed = expectations.filter(({ held }) => !held);
  return [
    `${scenario}:`,
    ...failed.map((one) => `  ${one.name}: expected ${one.expected}, ${foundWords(one, outcome)}`),
  ].join('\n');
}
