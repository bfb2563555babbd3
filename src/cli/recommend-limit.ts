// Reads the logs, and prints which limit fits them.
import { openSizingFolder, writeSizing } from '../report/sizing-folder.js';
import { adviceText } from '../report/sizing-text.js';
import { linesToPaste } from '../sizing/lines-to-paste.js';
import { adviceOfLogs } from '../sizing/recommend.js';
import type { LadderPlan } from '../sizing/rule-ladder.js';
import { wallNowMs } from '../time/wall.js';
import type { LogOptions } from '../traffic/log/log-options.js';
import { summaryOf } from '../traffic/log/read-summary.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { limiterFlags } from './limiter-options.js';
import { Progress } from './progress.js';
import { type GivenToRecommend, OWN } from './recommend.js';
import { checkWarnings, nameOf, readingFlags, readingText, readText } from './replay-log.js';
import { rerunCommand } from './rerun-command.js';
import { say } from './say.js';
import { terminalAtHand } from './terminal.js';

/** What is asked, with the texts of the options read. */
interface Asked {
  readonly files: readonly string[];
  /** cycles */
  readonly withins: readonly number[];
  /** As they were written. */
  readonly windows: readonly string[];
  /** What is to be said of them. */
  readonly notes: readonly string[];
  readonly shares: readonly number[];
  readonly thresholds: readonly number[];
  readonly excluded: readonly string[];
  readonly top: number;
  readonly rules: readonly LadderPlan[];
}

export async function recommendLimit(given: GivenToRecommend, asked: Asked, options: LogOptions): Promise<void> {
  const nowMs = wallNowMs();
  const log = { ...options, nowMs };
  const name = nameOf(asked.files);
  const { signal, release } = interruptible();
  const folder = given.report ? await openSizingFolder('recommend', name, given.out) : undefined;
  const reading = new Progress(`reading ${name}`);
  const found = await adviceOfLogs(asked.files, {
    ...asked,
    cycleMs: given.cycleMs,
    log,
    signal,
    onRead: (done, total) =>
      reading.show(total === undefined ? undefined : done / total, `${Math.round(done / 1e6)} MB`),
  }).finally(() => reading.clear());
  release();
  const { advice, readings, partial, warnings } = found;
  const isKeyed = log.keyColumn !== undefined;
  const read = summaryOf(readings, isKeyed ? advice.keys : undefined, nowMs, warnings);
  if (given.strict) checkWarnings(read.warnings);
  const { threshold, within, limited_below } = advice.recommendations[0]!;
  // A product that was compared has a limit of its own.
  const own = advice.fitted.filter((one) => one.within === within && one.limited_below === limited_below);
  const limits = Object.fromEntries(
    own.flatMap(({ rule, value }) => (typeof value === 'number' ? [[rule, value]] : [])),
  );
  const paste = linesToPaste({ threshold, within, cycleMs: given.cycleMs, key: log.keyColumn }, limits);
  const answer = { ...advice, log: name, partial, paste, read, ...(asked.notes.length > 0 && { notes: asked.notes }) };
  const report = { ...found, name, isKeyed, paste, command: commandFor(given, asked) };
  const page = folder === undefined ? undefined : await writeSizing(folder, report, answer);
  process.exitCode = exitOfStop() ?? 0;
  if (given.json) {
    say(`${JSON.stringify(answer)}\n`);
    return;
  }
  const stopped = partial ? ['Stopped before the end of the log: this is what was read.'] : [];
  const lines = [...readings.map(readingText), ...readText(read), ...asked.notes, ...stopped];
  say(`${lines.join('\n')}\n\n${adviceText(advice, paste, terminalAtHand())}\n`);
  if (page !== undefined) say(`\nopen it here: ${page}\n`);
}

function commandFor(given: GivenToRecommend, { files, excluded, thresholds, windows }: Asked): string {
  return rerunCommand('recommend', files, {
    'limited-below': given.limitedBelow.join(','),
    within: given.within.join(','),
    threshold: thresholds.length === 0 ? undefined : thresholds.join(','),
    compare: given.compare?.join(','),
    ...limiterFlags(given, OWN),
    fit: given.fit,
    exclude: excluded,
    ...readingFlags(given, windows),
  });
}
