// `weir replay --compare` and several `--limit`: the same requests through several rules.

import { families, familyNamed } from '../limiter/products/families.js';
import { checkLimiter, windowsOf } from '../limiter/products/limiter-spec.js';
import { changesOf, comparedAnswer, comparedDocument } from '../report/rules-document.js';
import { openSizingFolder, writeCompared } from '../report/sizing-folder.js';
import { documentText } from '../report/terminal-blocks.js';
import { fileIn } from '../scenario/limit-file.js';
import { compareLogs } from '../sizing/compare-logs.js';
import type { Candidate } from '../sizing/key-effects.js';
import type { LogOptions } from '../traffic/log/log-options.js';
import { summaryOf } from '../traffic/log/read-summary.js';
import type { CommandLine } from './command.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { limiterGiven, limiterNotesOf, ruleGiven } from './limit.js';
import { logName, readingLines, readingText } from './log-reading.js';
import { cycleMsOf, NONE } from './options.js';
import { Progress } from './progress.js';
import { say, warn } from './say.js';
import { terminalAtHand } from './terminal.js';

interface Asked {
  readonly given: {
    readonly log: readonly string[];
    readonly compare?: readonly string[];
    readonly limit?: readonly string[];
    readonly threshold: number;
    readonly cycleMs?: number;
    readonly out?: string;
    readonly top: number;
    readonly json: boolean;
  };
  readonly line: CommandLine;
  readonly cycleMs: number;
  readonly within: number;
  readonly log: LogOptions;
  readonly notes: readonly string[];
}

export async function replayCompare({ given, line, cycleMs, within, log, notes }: Asked): Promise<void> {
  const { compare, limit, threshold, log: files } = given;
  const isChange = limit?.length === 2;
  const window = { limit: threshold, within, cycleMs };
  const candidates: Candidate[] = limit
    ? await Promise.all(limit.map((text) => candidateOf(text, given.cycleMs)))
    : (compare ?? [])
        .flatMap((text) => text.split(','))
        .map((text) => familyNamed(text.trim()))
        .map((name) => ({ name, definition: families[name](window) }));
  const name = logName(files);
  const { signal, release } = interruptible();
  const folder = given.out === NONE ? undefined : await openSizingFolder('compare', name, given.out);
  const reading = new Progress(`reading ${name}`);
  const onProgress = (done: number, total: number | undefined) =>
    reading.show(total === undefined ? undefined : done / total, `${Math.round(done / 1e6)} MB`);
  const found = await compareLogs(files, candidates, log, { signal, onProgress }).finally(() => reading.clear());
  release();
  if (limit === undefined) for (const note of notes) warn(`weir: ${note}\n`);
  const { changed, keys, readings, warnings } = found;
  const read = summaryOf(readings, log.keyColumn === undefined ? undefined : keys, log.nowMs, warnings);
  const changes = isChange ? changesOf(changed, given.top) : undefined;
  const isWorse = isChange && changed.some(({ newly_refused }) => newly_refused > 0);
  process.exitCode = exitOfStop() ?? (isWorse ? 1 : 0);
  const compared = comparedAnswer({ log: name }, found, cycleMs, signal.aborted);
  const answer = { ...compared, ...(changes && { changes }), read };
  const report = { ...found, name, changes, command: line.repeat() };
  const page = folder === undefined ? undefined : await writeCompared(folder, report, answer);
  if (given.json) {
    say(`${JSON.stringify(answer)}\n`);
    return;
  }
  const lines = [...readings.map(readingText), ...readingLines(read)];
  say(`${lines.join('\n')}\n\n${documentText(comparedDocument(report), terminalAtHand())}`);
  if (page !== undefined) say(`\nopen it here: ${page}\n`);
}

async function candidateOf(text: string, askedCycleMs: number | undefined): Promise<Candidate> {
  const limiter = await limiterGiven(text);
  const cycleMs = cycleMsOf(askedCycleMs, windowsOf(limiter));
  const definition = await ruleGiven('definition' in limiter ? limiter : checkLimiter(limiter), cycleMs);
  for (const note of await limiterNotesOf(limiter, cycleMs)) warn(`weir: ${note}\n`);
  return { name: fileIn(text) === undefined ? text : logName([text]), definition };
}
