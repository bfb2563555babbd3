// The options that describe a log, of every command that reads some, and the words about how it was read.
import { basename, dirname } from 'node:path';
import type { Argv } from 'yargs';
import { counted } from '../report/words.js';
import { canonicalJson, sha256Hex } from '../schema/canonical.js';
import { nearest } from '../schema/did-you-mean.js';
import { Failure } from '../schema/failure.js';
import { parseTimeMs } from '../schema/quantity.js';
import { CYCLE_MS } from '../time/cycle.js';
import { readInstant } from '../traffic/log/instant.js';
import { type LogOptions, logFormats, type Warning } from '../traffic/log/log-options.js';
import type { LogReading } from '../traffic/log/read.js';
import type { ReadSummary } from '../traffic/log/read-summary.js';
import { type TimeUnit, timeUnits } from '../traffic/log/unix.js';
import { parseCondition } from '../traffic/log/where.js';
import { showDashes } from './command.js';
import { cycleMsOf, cycleMsOption, noDefault } from './options.js';
import type { Flag } from './rerun-command.js';

/** Flags that say what the requests of logs are. */
interface GivenLog {
  readonly log: readonly string[];
  readonly cycleMs: number;
  readonly logFormat: string | undefined;
  readonly timeColumn: string | undefined;
  readonly timeUnit: string | undefined;
  readonly countColumn: string | undefined;
  readonly spread: string | undefined;
  readonly key: string | undefined;
  readonly keyColumn: string | undefined;
  readonly where: readonly string[] | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
}

/** And the flags of `weir replay` that change its outcome. */
interface Given extends GivenLog {
  readonly threshold: number;
  readonly live: boolean;
  readonly url: string | undefined;
  readonly speed: number;
}

/** The options of a command that reads logs: which files, and how they are read. */
export const readingOptions = (yargs: Argv) =>
  yargs
    .positional('log', {
      type: 'string',
      array: true,
      demandOption: true,
      ...noDefault,
      coerce: showDashes,
      describe: 'log files, also .gz; - for standard input',
    })
    .option('cycle-ms', cycleMsOption)
    .option('log-format', {
      alias: 'format',
      type: 'string',
      requiresArg: true,
      describe: `format (default: recognised): ${logFormats.join(', ')}; or a line as nginx or Apache describe theirs`,
    })
    .option('time-column', { type: 'string', requiresArg: true, describe: 'column or field with the time' })
    .option('time-unit', {
      type: 'string',
      requiresArg: true,
      describe: `what plain numbers count: ${timeUnits.join(', ')}`,
    })
    .option('count-column', {
      type: 'string',
      requiresArg: true,
      describe: 'column or field with a number of requests; none: each row is one',
    })
    .option('spread', {
      type: 'string',
      requiresArg: true,
      describe: 'spread the requests of a row over so long, for example 60s',
    })
    .option('key', {
      type: 'string',
      requiresArg: true,
      describe:
        'one contract for each client, forwarded address (forwarded:2, forwarded:-1), path, method, user, or value of a column',
    })
    .option('key-column', { type: 'string', requiresArg: true, describe: 'the same as --key' })
    .option('where', {
      type: 'string',
      array: true,
      requiresArg: true,
      describe:
        "only requests for which it holds: method=POST, 'status>=500', 'path=/api/*'; several times for several",
    })
    .option('from', { type: 'string', requiresArg: true, describe: 'only requests from this time on, ISO 8601' })
    .option('to', { type: 'string', requiresArg: true, describe: 'only requests before this time' })
    .option('strict', {
      type: 'boolean',
      default: false,
      describe: 'refuse a log whose reading gives reason for a warning',
    });

/** The flags of `readingOptions` for a rerun command. */
/** @param windows as they were written */
export function readingFlags(
  given: GivenLog & { readonly strict: boolean },
  windows: readonly string[],
): Record<string, Flag> {
  const { cycleMs, logFormat, timeColumn, timeUnit, countColumn, spread, key, keyColumn, where, from, to, strict } =
    given;
  return {
    'cycle-ms': cycleMs === cycleMsOf(undefined, windows) ? undefined : cycleMs,
    'log-format': logFormat,
    'time-column': timeColumn,
    'time-unit': timeUnit,
    'count-column': countColumn,
    spread,
    key: key ?? keyColumn,
    where,
    from,
    to,
    strict,
  };
}

/** What the command line says of a log; `--key` and `--key-column` mean the same. */
export function logOptions(given: GivenLog): LogOptions {
  const { logFormat, timeColumn, countColumn, spread, timeUnit, where, from, to } = given;
  return {
    format: logFormat,
    timeColumn,
    countColumn: countColumn === 'none' ? false : countColumn,
    keyColumn: given.key ?? given.keyColumn,
    where: where?.map(parseCondition),
    spreadMs: spread === undefined ? undefined : parseTimeMs(spread, given.cycleMs),
    timeUnit: timeUnit === undefined ? undefined : (oneOf('time-unit', timeUnit, timeUnits) as TimeUnit),
    fromMs: from === undefined ? undefined : instantIn('from', from),
    toMs: to === undefined ? undefined : instantIn('to', to),
  };
}

function instantIn(option: string, text: string): number {
  const bytes = Buffer.from(text);
  const ms = readInstant(bytes, 0, bytes.length, 's');
  if (!Number.isNaN(ms)) return ms;
  throw new Failure('wrong_usage', {
    what: `--${option} cannot be read: "${text}".`,
    fix: `For example --${option} 2026-01-01T12:00:00Z, or a number of seconds since 1970.`,
  });
}

function oneOf(option: string, word: string, allowed: readonly string[]): string {
  if (allowed.includes(word)) return word;
  const guess = nearest(word, allowed);
  throw new Failure('wrong_usage', {
    what: `--${option} does not know "${word}".`,
    why: `It takes ${allowed.join(', ')}.`,
    ...(guess === undefined ? {} : { fix: `Did you mean "${guess}"?` }),
  });
}

/** Distinguishes the reports of one log: the limiter, and a hash of every other option that changes the outcome. */
export function runName(given: Given, within: number, limiter?: unknown): string {
  const { log, cycleMs, speed, live } = given;
  const others = {
    ...logOptions(given),
    folders: log.map((path) => dirname(path)).filter((folder) => folder !== '.'),
    cycleMs: cycleMs === CYCLE_MS ? undefined : cycleMs,
    speed: live && speed !== 1 ? speed : undefined,
    url: live ? given.url : undefined,
    limiter,
  };
  const text = canonicalJson(
    Object.fromEntries(
      Object.entries(others).filter(
        ([, value]) => value !== undefined && !(Array.isArray(value) && value.length === 0),
      ),
    ),
  );
  const suffix = text === '{}' ? '' : `-${sha256Hex(text).slice(0, 8)}`;
  if (limiter === undefined) return `${given.threshold}-within-${within}${suffix}`;
  const { like, primitive = 'rule' } = limiter as { readonly like?: string; readonly primitive?: string };
  return `${like?.replace(/\W+/g, '-') ?? primitive}${suffix}`;
}

/** @throws Failure `implausible_log` */
export function checkWarnings(warnings: readonly Warning[]): void {
  if (warnings.length === 0) return;
  throw new Failure('implausible_log', {
    what: `The log was probably misread: ${warnings[0]!.what}`,
    fix: 'Say how it is to be read (--log-format, --time-column, --time-unit, --key), or leave out --strict.',
    faults: warnings.map(({ code, what }) => ({ path: code, message: what })),
  });
}

/** What the log said as a whole. */
export function readText(read: ReadSummary): string[] {
  const { first_at, last_at, key, keys, filtered, warnings } = read;
  const parts = [
    ...(first_at === null ? [] : [`${first_at} to ${last_at}`]),
    ...(key === null || keys === null ? [] : [counted(keys, 'key')]),
    ...(filtered === 0 ? [] : [`${counted(filtered, 'request')} left out by filters`]),
  ];
  return [
    ...(parts.length === 0 ? [] : [`  ${parts.join('; ')}`]),
    ...warnings.map(({ code, what }) => `  warning ${code}: ${what}`),
  ];
}

/** How a file was understood, and the first of the lines that were skipped. */
export function readingText({
  path,
  format,
  envelope,
  timeFrom,
  countFrom,
  keyFrom,
  requests,
  skippedLines,
  skipped,
}: LogReading): string {
  const from = [
    `time from ${timeFrom}`,
    ...(countFrom === undefined ? [] : [`count from ${countFrom}`]),
    ...(keyFrom === undefined ? [] : [`one key per ${keyFrom.replace(/^the /, '')}`]),
  ];
  const head = `${path}: read as ${format}${envelope === undefined ? '' : ` in ${envelope}`}: ${from.join(', ')}; ${requests} requests`;
  if (skippedLines === 0) return head;
  const shown = skipped.map(({ line, reason, text }) => `  line ${line}: ${reason}: ${text}`);
  const more = skippedLines > skipped.length ? [`  and ${skippedLines - skipped.length} more`] : [];
  return [`${head}; ${skippedLines} lines were skipped: they are not requests:`, ...shown, ...more].join('\n');
}

/** What a run of these logs is called. */
export function nameOf([first = 'log', ...more]: readonly string[]): string {
  const name = first === '-' ? 'stdin' : basename(first);
  return more.length === 0 ? name : `${name}-and-${more.length}-more`;
}
