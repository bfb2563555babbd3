// Reads the logs, and prints which limit fits them.
import { adviceText } from '../report/sizing-text.js';
import { linesToPaste } from '../sizing/lines-to-paste.js';
import { adviceOfLogs } from '../sizing/recommend.js';
import { wallNowMs } from '../time/wall.js';
import type { LogOptions } from '../traffic/log/log-options.js';
import { summaryOf } from '../traffic/log/read-summary.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { Progress } from './progress.js';
import type { GivenToRecommend } from './recommend.js';
import { checkWarnings, nameOf, readingText, readText } from './replay-log.js';
import { terminalAtHand } from './terminal.js';

/** What is asked, with the texts of the options read. */
interface Asked {
  readonly files: readonly string[];
  /** cycles */
  readonly withins: readonly number[];
  readonly shares: readonly number[];
  readonly thresholds: readonly number[];
  readonly excluded: readonly string[];
  readonly top: number;
}

export async function recommendLimit(given: GivenToRecommend, asked: Asked, options: LogOptions): Promise<void> {
  const nowMs = wallNowMs();
  const log = { ...options, nowMs };
  const name = nameOf(asked.files);
  const { signal, release } = interruptible();
  const reading = new Progress(`reading ${name}`);
  const { advice, readings, partial } = await adviceOfLogs(asked.files, {
    ...asked,
    cycleMs: given.cycleMs,
    log,
    signal,
    onRead: (done, total) =>
      reading.show(total === undefined ? undefined : done / total, `${Math.round(done / 1e6)} MB`),
  }).finally(() => reading.clear());
  release();
  const read = summaryOf(readings, log.keyColumn === undefined ? undefined : advice.keys, nowMs);
  if (given.strict) checkWarnings(read.warnings);
  const { threshold, within } = advice.recommendations[0]!;
  const paste = linesToPaste({ threshold, within, cycleMs: given.cycleMs, key: log.keyColumn });
  process.exitCode = exitOfStop() ?? 0;
  if (given.json) {
    process.stdout.write(`${JSON.stringify({ ...advice, log: name, partial, paste, read })}\n`);
    return;
  }
  const stopped = partial ? ['Stopped before the end of the log: this is what was read.'] : [];
  const lines = [...readings.map(readingText), ...readText(read), ...stopped];
  process.stdout.write(`${lines.join('\n')}\n\n${adviceText(advice, paste, terminalAtHand())}\n`);
}
