// `weir recommend`: the limit that fits the requests of logs.
import { families } from '../../core/limiter/products/families.js';
import { MOST_WITHIN } from '../../core/schema/quantity.js';
import { wallNowMs } from '../../core/time/wall.js';
import type { LogOptions } from '../../harness/traffic/log/log-options.js';
import { command, type GivenTo, several, text, value } from '../../report/command/command.js';
import { usageFailure } from '../../report/command/exit-codes.js';
import { exitOfStop, stopSignal } from '../../report/command/interrupt.js';
import { limiterGiven } from '../../report/command/limit.js';
import {
  logName,
  logOptions,
  readingLines,
  readingOptions,
  readingProgress,
  readingText,
  refuseCosts,
} from '../../report/command/log-reading.js';
import { cycleMsOf, jsonOf, NONE, outFor, readShare, windowsIn } from '../../report/command/options.js';
import { printDocument } from '../../report/command/print.js';
import { linesAs, otherProducts } from './other-products.js';
import type { LogAdviceOptions } from './recommend.js';

const options = {
  ...readingOptions,
  limit: text(
    "a rule with the parameter that is wanted as a range, from strict to loose: 'nginx burst=20 rate=1r/s..50r/s:1r/s'",
  ),
  limitedBelow: several(
    value(
      'a share, for example 0.1%',
      (text) => allOf(each(text).map(readShare)),
      'limit less than this share of requests; repeat for several limits (default: 0.1%)',
    ),
  ),
  within: several(
    value(
      'a window',
      each,
      'length of the rolling window as a time, several as a list: 60s,5m; a bare number counts cycles (default: 60s)',
    ),
  ),
  compare: several(
    value('names of rules', each, `the limits of other rules in the same windows: ${Object.keys(families).join(',')}`),
  ),
  as: several(
    value(
      'names of products',
      (text) => (each(text).every((one) => Object.hasOwn(otherProducts, one)) ? each(text) : undefined),
      `lines for further products: ${Object.keys(otherProducts).join(',')}`,
      { local: true },
    ),
  ),
  out: outFor('reports/<log>/recommend'),
  json: jsonOf('recommend'),
};

type Given = GivenTo<typeof options>;

export const recommend = command({
  options,
  examples: [
    ['recommend access.log --key client', 'the limit per client that refuses less than 0.1 % of the requests'],
    ['recommend access.log --limited-below 1%,0.1% --within 60s,5m', 'four limits in one pass'],
    ['recommend llm.csv --count tokens --within 60s', 'how many tokens a minute'],
    ["recommend access.log --key client --where 'client!=203.0.113.9'", 'without a client'],
    ['recommend access.log --key client --compare nginx,haproxy,gcra', 'the same for other rules'],
    [
      "recommend access.log --key client --limit 'nginx burst=20 rate=1r/s..50r/s:1r/s'",
      'the rate that nginx needs with that burst',
    ],
  ],
  run: async (given, line) => {
    const [{ familyNamed }, { limiterNotes }, { familyLadder, fitLadder }] = await Promise.all([
      import('../../core/limiter/products/families.js'),
      import('../../core/limiter/products/limiter-spec.js'),
      import('./rule-ladder.js'),
    ]);
    const { log: files, limitedBelow = [[0.001]], within: windows = [['60s']] } = given;
    const cycleMs = cycleMsOf(given.cycleMs, windows.flat());
    const { cycles, notes } = windowsIn(windows.flat(), cycleMs);
    if (cycles.some((within) => within > MOST_WITHIN))
      throw usageFailure(`--within takes up to ${MOST_WITHIN} cycles.`, 'For example --within 60s, or --within 5m.');
    const log = logOptions(given, cycleMs);
    refuseCosts(log, given.compare === undefined ? given.as && '--as' : '--compare');
    const ranged = given.limit === undefined ? undefined : await withRange(given.limit);
    const limiter = ranged?.limiter;
    const compared = unique((given.compare ?? []).flat().map(familyNamed)).filter((name) => name !== 'weir');
    const windowCycles = unique(cycles);
    const rules = [
      ...compared.flatMap((name) => windowCycles.map((within) => familyLadder(name, within, cycleMs))),
      ...(ranged === undefined ? [] : [fitLadder(ranged.limiter, ranged.range, cycleMs)]),
    ];
    const question = {
      cycleMs,
      windowCycles,
      shares: unique(limitedBelow.flat()),
      files,
      rules,
      notes: [...notes, ...limiterNotes(limiter)],
    };
    await recommendLimit(given, { ...question, ranged }, log, line.repeat());
  },
});

async function withRange(text: string) {
  const [, word] = /(?:^|\s)([\w.]+=\S*\.\.\S*)/.exec(text) ?? [];
  if (word === undefined)
    throw usageFailure(
      `--limit takes a rule with a range, not "${text}".`,
      "For example --limit 'nginx burst=20 rate=1r/s..50r/s:1r/s'.",
    );
  const [name = ''] = word.split('=');
  const withValue = (value: number | string) => text.replace(word, `${name}=${value}`);
  // Read with the least of its values, so that it is whole.
  return { limiter: await limiterGiven(text.replace(word, word.replace(/\.\..*/, ''))), range: word, withValue };
}

function each(text: string): string[] {
  return text.split(',').map((one) => one.trim());
}

function allOf<T>(values: readonly (T | undefined)[]): T[] | undefined {
  return values.includes(undefined) ? undefined : (values as T[]);
}

function unique<T>(values: readonly T[]): T[] {
  return [...new Set(values)];
}

interface Asked extends Omit<LogAdviceOptions, 'log'> {
  readonly files: readonly string[];
  readonly notes: readonly string[];
  /** The rule of --limit, with a range for a value. */
  readonly ranged: Awaited<ReturnType<typeof withRange>> | undefined;
}

async function recommendLimit(given: Given, asked: Asked, options: LogOptions, command: string): Promise<void> {
  const [
    { openAnswerFolder, writeAnswer },
    { sizingPageHtml },
    { adviceDocument, recommendedColumns },
    { foundToPaste, linesToPaste },
    { adviceOfLogs },
    { summaryOf },
    { runTableCsv },
  ] = await Promise.all([
    import('../../report/folder.js'),
    import('./sizing-page.js'),
    import('./sizing-document.js'),
    import('./lines-to-paste.js'),
    import('./recommend.js'),
    import('../../harness/outcome/read-summary.js'),
    import('../../report/run-table.js'),
  ]);
  const nowMs = wallNowMs();
  const log = { ...options, nowMs };
  const name = logName(asked.files);
  const folder = given.out === NONE ? undefined : await openAnswerFolder('recommend', name, given.out);
  const found = await adviceOfLogs(asked.files, {
    ...asked,
    log,
    signal: stopSignal(),
    onRead: readingProgress(name),
  });
  const { advice, readings, partial, warnings } = found;
  const read = summaryOf(readings, log.keyColumn === undefined ? undefined : advice.keys, nowMs, warnings);
  const { threshold, within, limited_below } = advice.recommendations[0]!;
  const own = advice.fitted.filter((one) => one.within === within && one.limited_below === limited_below);
  const limits = Object.fromEntries(
    own.flatMap(({ rule, value }) => (typeof value === 'number' ? [[rule, value]] : [])),
  );
  const limit = { threshold, within, cycleMs: asked.cycleMs, key: log.keyColumn };
  const further = (given.as ?? []).flat().map((product) => linesAs(product, limit));
  const value = advice.fitted.find((one) => one.within === null && one.limited_below === limited_below)?.value;
  const text = value == null ? undefined : asked.ranged?.withValue(value);
  const best = text === undefined ? [] : [foundToPaste({ ...(await limiterGiven(text)) }, text, log.keyColumn)];
  const usual = linesToPaste(limit, limits).filter(({ product }) => product !== best[0]?.product);
  const paste = log.cost === undefined ? [...best, ...usual, ...further] : [];
  const answer = { ...advice, log: name, partial, paste, read, ...(asked.notes.length > 0 && { notes: asked.notes }) };
  const report = { ...found, name, key: log.keyColumn, paste, command };
  const document = adviceDocument(report);
  const pageOf = (files: readonly string[]) => sizingPageHtml(report, files);
  const csv = runTableCsv(recommendedColumns(advice.cycle_ms), advice.recommendations);
  const page = folder && (await writeAnswer(folder, { answer, csv, document, pageOf }));
  process.exitCode = exitOfStop() ?? 0;
  const stopped = partial ? ['Stopped before the end of the log: this is what was read.'] : [];
  const lines = [...readings.map(readingText), ...readingLines(read), ...asked.notes, ...stopped];
  printDocument(answer, document, given.json, { lines, page });
}
