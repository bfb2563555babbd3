// Options that describe a log, shared by commands, and the words on how it was read.
import { basename } from 'node:path';
import { parseTimeMs } from '../../core/schema/quantity.js';
import type { ReadSummary } from '../../harness/outcome/read-schema.js';
import { readInstant } from '../../harness/traffic/log/instant.js';
import { type LogOptions, parseWhere } from '../../harness/traffic/log/log-options.js';
import type { LogReading } from '../../harness/traffic/log/read-bytes.js';
import { timeUnits, unitOfDigits, wholeDigits } from '../../harness/traffic/log/unix.js';
import { counted, readFacts } from '../words.js';
import { type GivenTo, several, text, value } from './command.js';
import { usageFailure } from './exit-codes.js';
import { cycleMs } from './options.js';
import { Progress } from './progress.js';

export const readingOptions = {
  log: several(text('log files, also .gz; - for standard input', { place: true, required: true })),
  cycleMs,
  logFormat: text(
    'name of a format (weir help logs), or a line as nginx or Apache describe theirs; default: recognised',
  ),
  time: value(
    'a column',
    timeIn,
    `column or field with the time; with what plain numbers count after a colon, as ts:ms or :ms (${timeUnits.join(', ')})`,
  ),
  count: value(
    'a column',
    countIn,
    'what counts: a column with a number of requests, spread over a time as n/60s or /60s; none: each row is one; or what requests cost: tokens, bytes, or tokens=input+output with their columns',
  ),
  key: text(
    'one contract for each client, forwarded address (forwarded:2, forwarded:-1), path, method, user, or value of a column',
  ),
  where: several(
    value(
      'a condition',
      parseWhere,
      "only requests for which it holds: method=POST, 'status>=500', 'path=/api/*'; repeat for several",
    ),
  ),
  from: value('a time as 2026-01-01T12:00:00Z, or seconds since 1970', instantIn, 'only requests from this time on'),
  to: value('a time as 2026-01-01T12:00:00Z, or seconds since 1970', instantIn, 'only requests before this time'),
};

type GivenLog = GivenTo<typeof readingOptions>;

export function logOptions(given: GivenLog, cycleMs: number): LogOptions {
  const { logFormat, time, count, where, from, to } = given;
  if (from !== undefined && to !== undefined && to <= from)
    throw usageFailure('--to is not after --from: no request lies between.', 'Swap the two, or leave one out.');
  return {
    format: logFormat,
    timeColumn: time?.column,
    countColumn: count?.column,
    keyColumn: given.key,
    cost: count?.cost,
    where,
    spreadMs: count?.spread === undefined ? undefined : parseTimeMs(count.spread, cycleMs, '--count'),
    timeUnit: time?.unit,
    fromMs: from,
    toMs: to,
  };
}

/** `ts`, `ts:ms`, `:ms`; a column name may contain colons. */
function timeIn(text: string) {
  const at = text.lastIndexOf(':');
  const unit = timeUnits.find((one) => at !== -1 && one === text.slice(at + 1));
  const column = (unit === undefined ? text : text.slice(0, at)) || undefined;
  return column === undefined && unit === undefined ? undefined : { column, unit };
}

/** `n`, `n/60s`, `/60s`, `none`; `tokens`, `bytes`, `tokens=input+output`. */
function countIn(text: string): Count | undefined {
  const [, unit, columns] = /^(tokens|bytes|[a-z][a-z_]{0,31}(?==.))(?:=(.+))?$/.exec(text) ?? [];
  if (unit !== undefined) return { cost: { unit, columns: columns?.split('+') } };
  const [, name = '', spread] = /^(.*?)(?:\/(\d[\w. ]*))?$/.exec(text) ?? [];
  const column = name === 'none' ? (false as const) : name || undefined;
  return column === undefined && spread === undefined ? undefined : { column, spread };
}

export interface Count {
  readonly column?: string | false | undefined;
  readonly spread?: string | undefined;
  readonly cost?: LogOptions['cost'];
}

export function refuseCosts({ cost }: LogOptions, beside: string | undefined): void {
  if (cost === undefined || beside === undefined) return;
  throw usageFailure(
    `--count ${cost.unit} has no effect with ${beside}, which counts requests.`,
    'Leave one of them out.',
  );
}

function instantIn(text: string): number | undefined {
  const bytes = Buffer.from(text);
  const ms = readInstant(bytes, 0, bytes.length, unitOfDigits(wholeDigits(bytes, 0, bytes.length)) ?? 's');
  return Number.isNaN(ms) ? undefined : ms;
}

export function readingLines(read: ReadSummary): string[] {
  return readFacts(read).map((one) => `  ${one}`);
}

export function readingText({
  path,
  format,
  envelope,
  timeFrom,
  countFrom,
  costFrom,
  keyFrom,
  requests,
  skippedLines,
  skipped,
}: LogReading): string {
  if (format === 'empty') return `${path}: empty`;
  const from = [
    `time from ${timeFrom}`,
    ...(countFrom === undefined ? [] : [`count from ${countFrom}`]),
    ...(costFrom === undefined ? [] : [`cost from ${costFrom}`]),
    ...(keyFrom === undefined ? [] : [`one key per ${keyFrom.replace(/^the /, '')}`]),
  ];
  const head = `${path}: read as ${format}${envelope === undefined ? '' : ` in ${envelope}`}: ${from.join(', ')}; ${counted(requests, 'request')}`;
  if (skippedLines === 0) return head;
  const shown = skipped.map(({ line, reason, text }) => `  line ${line}: ${reason}: ${text}`);
  const more = skippedLines > skipped.length ? [`  and ${skippedLines - skipped.length} more`] : [];
  const skip =
    skippedLines === 1
      ? '1 line was skipped: it is not a request'
      : `${counted(skippedLines, 'line')} were skipped: they are not requests`;
  return [`${head}; ${skip}:`, ...shown, ...more].join('\n');
}

export function readingProgress(name: string): (done: number, total: number | undefined) => void {
  const progress = new Progress(`reading ${name}`);
  return (done, total) => progress.show(total === undefined ? undefined : done / total, `${Math.round(done / 1e6)} MB`);
}

export function logName([first = 'log', ...more]: readonly string[]): string {
  const name = first === '-' ? 'stdin' : basename(first);
  return more.length === 0 ? name : `${name}-and-${more.length}-more`;
}
