// `weir replay` with --compare or several --limit: a log through several rules; of two limits, which keys the second newly refuses.

import { families, familyNamed } from '../core/limiter/products/families.js';
import type { Shaped } from '../core/schema/json-schema.js';
import { VERSION } from '../core/version.js';
import type { ChangedKey, ReplayComparison } from '../harness/outcome/compared-rules.js';
import type { LogComparison } from '../harness/simulate/compare-logs.js';
import type { Candidate } from '../harness/simulate/key-effects.js';
import type { LogOptions } from '../harness/traffic/log/log-options.js';
import { type Block, type ReportDocument, sentence } from '../report/block.js';
import type { CommandLine } from '../report/command/command.js';
import { exitOfStop, stopSignal } from '../report/command/interrupt.js';
import { limiterGiven, limiterNotesOf, ruleGiven } from '../report/command/limit.js';
import { logName, readingLines, readingProgress, readingText } from '../report/command/log-reading.js';
import { cycleMsOf, NONE } from '../report/command/options.js';
import { warn } from '../report/command/say.js';
import { column, rowName, runTable, runTableCsv } from '../report/run-table.js';
import { counted } from '../report/words.js';

/** Keys shown in terminal and Markdown; pages and compare.json have all. */
const BRIEF = 10;

interface Asked {
  readonly given: {
    readonly compare: readonly string[] | undefined;
    readonly limit: readonly string[] | undefined;
    readonly threshold: number;
    readonly cycleMs: number | undefined;
    readonly log: readonly string[];
    readonly top: number;
    readonly out: string | undefined;
    readonly json: boolean;
  };
  readonly line: CommandLine;
  readonly cycleMs: number;
  readonly within: number;
  readonly log: LogOptions;
  readonly notes: readonly string[];
}

export async function replayCompare({ given, line, cycleMs, within, log, notes }: Asked): Promise<void> {
  const [
    { refusalsChart },
    { rulesBlocks, rulesColumns },
    { openAnswerFolder, writeAnswer },
    { printDocument },
    { compareLogs },
    { summaryOf },
  ] = await Promise.all([
    import('../report/chart/rules.js'),
    import('../report/rules-table.js'),
    import('../report/folder.js'),
    import('../report/command/print.js'),
    import('../harness/simulate/compare-logs.js'),
    import('../harness/outcome/read-summary.js'),
  ]);
  const { compare = [], limit, threshold, log: files } = given;
  const fitted = compare.flatMap((text) => text.split(',')).map((text) => familyNamed(text.trim()));
  const candidates: Candidate[] = limit
    ? await Promise.all(limit.map((text) => candidateOf(text, given.cycleMs)))
    : fitted.map((name) => ({ name, definition: families[name]({ limit: threshold, within, cycleMs }) }));
  const name = logName(files);
  const signal = stopSignal();
  const folder = given.out === NONE ? undefined : await openAnswerFolder('compare', name, given.out);
  const found = await compareLogs(files, candidates, log, { signal, onProgress: readingProgress(name) });
  if (limit === undefined) for (const note of notes) warn(`weir: ${note}\n`);
  const { rules, keys, timeline, readings, warnings } = found;
  const { requests } = rules[0]!;
  const read = summaryOf(readings, log.keyColumn === undefined ? undefined : keys, log.nowMs, warnings);
  const changes = limit?.length === 2 ? changesOf(found, given.top) : undefined;
  process.exitCode = exitOfStop() ?? (changes !== undefined && changes.newly_refused > 0 ? 1 : 0);
  const answer: Shaped<typeof ReplayComparison> = {
    ...{ weir: VERSION, kind: 'compare' as const, log: name, cycle_ms: cycleMs, requests, keys },
    ...{ partial: signal.aborted, rules, timeline, ...(changes && { changes }), read },
  };
  const document: ReportDocument = {
    title: `Rules side by side on ${name}`,
    sentence: `${rules.length} rules on ${counted(requests, 'request')} of ${counted(keys, 'key')}`,
    blocks: [
      { kind: 'chart', spec: refusalsChart(found), where: 'documents' },
      ...rulesBlocks(rules, 'Rules'),
      ...(changes === undefined ? [] : changesBlocks(changes)),
    ],
    again: { command: line.repeat() },
  };
  const page = folder && (await writeAnswer(folder, { answer, csv: runTableCsv(rulesColumns, rules), document }));
  const lines = [...readings.map(readingText), ...readingLines(read)];
  printDocument(answer, document, given.json, { lines, page });
}

async function candidateOf(text: string, askedCycleMs: number | undefined): Promise<Candidate> {
  const [{ checkLimiter, windowsOf }, { fileIn }] = await Promise.all([
    import('../core/limiter/products/limiter-spec.js'),
    import('../harness/scenario/limit-file.js'),
  ]);
  const limiter = await limiterGiven(text);
  const cycleMs = cycleMsOf(askedCycleMs, windowsOf(limiter));
  const definition = await ruleGiven('definition' in limiter ? limiter : checkLimiter(limiter), cycleMs);
  for (const note of await limiterNotesOf(limiter, cycleMs)) warn(`weir: ${note}\n`);
  return { name: fileIn(text) === undefined ? text : logName([text]), definition };
}

function changesOf({ changed }: LogComparison, top: number) {
  const sum = (of: (one: ChangedKey) => number) => changed.reduce((total, one) => total + of(one), 0);
  return {
    newly_refused: sum(({ newly_refused }) => newly_refused),
    newly_admitted: sum(({ newly_admitted }) => newly_admitted),
    keys_newly_refused: changed.filter(({ newly_refused }) => newly_refused > 0).length,
    keys_newly_admitted: changed.filter(({ newly_admitted }) => newly_admitted > 0).length,
    by_key: changed.slice(0, top),
  };
}

const changeColumns = [
  rowName('key', ({ key }: ChangedKey) => key),
  column('requests', ({ requests }: ChangedKey) => requests),
  column('newly refused', ({ newly_refused }: ChangedKey) => newly_refused),
  column('newly admitted', ({ newly_admitted }: ChangedKey) => newly_admitted),
];

function changesBlocks(changes: ReturnType<typeof changesOf>): Block[] {
  const { newly_refused, newly_admitted, keys_newly_refused, keys_newly_admitted, by_key } = changes;
  const words = (requests: number, keys: number) =>
    requests === 0 ? 'none' : `${counted(requests, 'request')} of ${counted(keys, 'key')}`;
  const summary = sentence(
    `Newly refused: ${words(newly_refused, keys_newly_refused)}. Newly admitted: ${words(newly_admitted, keys_newly_admitted)}.`,
    { title: 'What changes' },
  );
  return by_key.length === 0 ? [summary] : [summary, runTable(changeColumns, by_key, { brief: BRIEF, more: 'keys' })];
}
