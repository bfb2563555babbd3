// `weir replay --compare` and `--policy`: the same requests through several rules.
import { definitionOf } from '../limiter/products/products.js';
import { percent } from '../report/sizing-text.js';
import { duration, number, plain } from '../report/words.js';
import { readDocument, readSource } from '../scenario/document.js';
import { Failure } from '../schema/failure.js';
import { compareLogs, type LogComparison } from '../sizing/compare-logs.js';
import { families, familyNamed } from '../sizing/families.js';
import type { Candidate } from '../sizing/side-by-side.js';
import { wallNowMs } from '../time/wall.js';
import type { LogOptions } from '../traffic/log/log-options.js';
import { summaryOf } from '../traffic/log/read-summary.js';
import { VERSION } from '../version.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { Progress } from './progress.js';
import type { GivenToReplay } from './replay.js';
import { checkWarnings, nameOf, readingText, readText } from './replay-log.js';
import { table } from './terminal.js';

/** @param within length of the window in cycles, for families */
export async function replayCompare(given: GivenToReplay, within: number, options: LogOptions): Promise<void> {
  const { compare, policy, threshold, cycleMs, log: files } = given;
  const isPolicy = policy !== undefined;
  const window = { limit: threshold, within, cycleMs };
  if (isPolicy && policy.length !== 2)
    throw new Failure('wrong_usage', {
      what: `--policy is given twice, not ${policy.length === 1 ? 'once' : `${policy.length} times`}.`,
      fix: 'First the policy of today, then the new one: --policy old.yaml --policy new.yaml.',
    });
  const candidates: Candidate[] = isPolicy
    ? await Promise.all(policy.map((path) => policyOf(path, cycleMs)))
    : (compare ?? [])
        .flatMap((text) => text.split(','))
        .map((text) => familyNamed(text.trim()))
        .map((name) => ({ name, definition: families[name](window) }));
  const nowMs = wallNowMs();
  const log = { ...options, nowMs };
  const name = nameOf(files);
  const { signal, release } = interruptible();
  const reading = new Progress(`reading ${name}`);
  const onProgress = (done: number, total: number | undefined) =>
    reading.show(total === undefined ? undefined : done / total, `${Math.round(done / 1e6)} MB`);
  const found = await compareLogs(files, candidates, log, { signal, onProgress }).finally(() => reading.clear());
  release();
  const { rules, changed, keys, readings } = found;
  const read = summaryOf(readings, log.keyColumn === undefined ? undefined : keys, nowMs);
  if (given.strict) checkWarnings(read.warnings);
  const changes = isPolicy ? changesOf(found, given.top) : undefined;
  const isWorse = isPolicy && changed.some(({ newly_refused }) => newly_refused > 0);
  process.exitCode = exitOfStop() ?? (isWorse ? 1 : 0);
  if (given.json) {
    const { requests } = rules[0]!;
    const partial = signal.aborted;
    const answer = { weir: VERSION, kind: 'compare', log: name, cycle_ms: cycleMs, requests, keys, partial, rules };
    process.stdout.write(`${JSON.stringify({ ...answer, ...(changes && { changes }), read })}\n`);
    return;
  }
  const lines = [...readings.map(readingText), ...readText(read), '', rulesText(found)];
  if (changes !== undefined) lines.push('', ...changesText(changes));
  process.stdout.write(`${lines.join('\n')}\n`);
}

/** A file with a limiter as a scenario has it, or a scenario with one. */
async function policyOf(path: string, cycleMs: number): Promise<Candidate> {
  const { value } = readDocument(await readSource(path), path);
  const limiter = (value as { limiter?: unknown } | null)?.limiter ?? value;
  return { name: nameOf([path]), definition: definitionOf(limiter, cycleMs) };
}

function changesOf({ changed }: LogComparison, top: number) {
  const sum = (of: (one: (typeof changed)[number]) => number) => changed.reduce((total, one) => total + of(one), 0);
  return {
    newly_refused: sum(({ newly_refused }) => newly_refused),
    newly_admitted: sum(({ newly_admitted }) => newly_admitted),
    keys_newly_refused: changed.filter(({ newly_refused }) => newly_refused > 0).length,
    keys_newly_admitted: changed.filter(({ newly_admitted }) => newly_admitted > 0).length,
    by_key: changed.slice(0, top),
  };
}

function rulesText({ rules }: LogComparison): string {
  const heads = ['rule', 'limited', 'share', 'keys', 'worst 1 s', 'fairness', 'longest closed'];
  const rows = rules.map((one) => [
    one.name,
    one.limited,
    percent(one.limited_share),
    one.keys_limited,
    one.worst_burst_1s,
    Number(one.fairness.toFixed(3)),
    duration(one.longest_closure_ms),
  ]);
  return `${table(heads, rows)}\n\nworst 1 s: the most of one key that started in a second. fairness: Jain's index of the shares admitted, 1 where all keys lose alike. longest closed: of one key, from a refused request to the next admitted one.`;
}

function changesText(changes: ReturnType<typeof changesOf>): string[] {
  const { newly_refused, newly_admitted, keys_newly_refused, keys_newly_admitted, by_key } = changes;
  const sum = `Newly refused: ${number(newly_refused)} of ${number(keys_newly_refused)} keys. Newly admitted: ${number(newly_admitted)} of ${number(keys_newly_admitted)} keys.`;
  if (by_key.length === 0) return [sum];
  const rows = by_key.map((one) => [plain(one.key), one.requests, one.newly_refused, one.newly_admitted]);
  return [sum, '', table(['key', 'requests', 'newly refused', 'newly admitted'], rows)];
}
