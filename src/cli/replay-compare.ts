// `weir replay --compare` and `--policy`: the same requests through several rules.

import { families, familyNamed } from '../limiter/products/families.js';
import { definitionOf } from '../limiter/products/products.js';
import {
  changedHeads,
  changedRows,
  changesOf,
  changesSentence,
  comparedAnswer,
  ruleTable,
} from '../report/rules-text.js';
import { openSizingFolder, writeCompared } from '../report/sizing-folder.js';
import { readDocument } from '../scenario/document.js';
import { readSource } from '../scenario/file-source.js';
import { Failure } from '../schema/failure.js';
import { compareLogs } from '../sizing/compare-logs.js';
import type { Candidate } from '../sizing/key-effects.js';
import { wallNowMs } from '../time/wall.js';
import type { LogOptions } from '../traffic/log/log-options.js';
import { summaryOf } from '../traffic/log/read-summary.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { windowOf } from './limiter-options.js';
import { cycleMsOf, topFlag } from './options.js';
import { Progress } from './progress.js';
import type { GivenToReplay } from './replay.js';
import { checkWarnings, nameOf, readingFlags, readingText, readText } from './replay-log.js';
import { rerunCommand } from './rerun-command.js';
import { say, warn } from './say.js';
import { table } from './terminal.js';

/**
 * @param within length of the window in cycles, for families
 * @param notes what is to be said of the window
 */
export async function replayCompare(
  given: GivenToReplay,
  within: number,
  options: LogOptions,
  notes: readonly string[],
): Promise<void> {
  const { compare, policy, threshold, cycleMs, log: files } = given;
  const isPolicy = policy !== undefined;
  const window = { limit: threshold, within, cycleMs };
  if (isPolicy && policy.length !== 2)
    throw new Failure('wrong_usage', {
      what: `--policy is given twice, not ${policy.length === 1 ? 'once' : `${policy.length} times`}.`,
      fix: 'First the policy of today, then the new one: --policy old.yaml --policy new.yaml.',
    });
  const candidates: Candidate[] = isPolicy
    ? await Promise.all(policy.map((path) => policyOf(path, given.askedCycleMs)))
    : (compare ?? [])
        .flatMap((text) => text.split(','))
        .map((text) => familyNamed(text.trim()))
        .map((name) => ({ name, definition: families[name](window) }));
  const nowMs = wallNowMs();
  const log = { ...options, nowMs };
  const name = nameOf(files);
  const { signal, release } = interruptible();
  const folder = given.report ? await openSizingFolder('compare', name, given.out) : undefined;
  const reading = new Progress(`reading ${name}`);
  const onProgress = (done: number, total: number | undefined) =>
    reading.show(total === undefined ? undefined : done / total, `${Math.round(done / 1e6)} MB`);
  const found = await compareLogs(files, candidates, log, { signal, onProgress }).finally(() => reading.clear());
  release();
  if (!isPolicy) for (const note of notes) warn(`weir: ${note}\n`);
  const { rules, changed, keys, readings, warnings } = found;
  const read = summaryOf(readings, log.keyColumn === undefined ? undefined : keys, nowMs, warnings);
  if (given.strict) checkWarnings(read.warnings);
  const changes = isPolicy ? changesOf(changed, given.top) : undefined;
  const isWorse = isPolicy && changed.some(({ newly_refused }) => newly_refused > 0);
  process.exitCode = exitOfStop() ?? (isWorse ? 1 : 0);
  const compared = comparedAnswer({ log: name }, found, cycleMs, signal.aborted);
  const answer = { ...compared, ...(changes && { changes }), read };
  const report = { ...found, name, changes, command: commandFor(given) };
  const page = folder === undefined ? undefined : await writeCompared(folder, report, answer);
  if (given.json) {
    say(`${JSON.stringify(answer)}\n`);
    return;
  }
  const { heads, rows, legend } = ruleTable(rules);
  const lines = [...readings.map(readingText), ...readText(read), '', table(heads, rows), '', legend];
  if (changes !== undefined) {
    lines.push('', changesSentence(changes));
    if (changes.by_key.length > 0) lines.push('', table(changedHeads, changedRows(changes)));
  }
  say(`${lines.join('\n')}\n`);
  if (page !== undefined) say(`\nopen it here: ${page}\n`);
}

/** A file with a limiter as a scenario has it, or a scenario with one. */
async function policyOf(path: string, askedCycleMs: number | undefined): Promise<Candidate> {
  const { value } = readDocument(await readSource(path), path);
  const limiter = (value as { limiter?: unknown } | null)?.limiter ?? value;
  return { name: nameOf([path]), definition: definitionOf(limiter, cycleMsOf(askedCycleMs, [windowOf(limiter)])) };
}

function commandFor(given: GivenToReplay): string {
  const { log, compare, policy, threshold, within, top } = given;
  const window = policy === undefined ? { compare: compare?.join(','), threshold, within } : { policy };
  return rerunCommand('replay', log, { ...window, ...readingFlags(given, [within]), ...topFlag(top) });
}
