// Owns choosing the reader for a log from its first bytes. Leaves telling the format to recognise.ts, reading to the formats.
import { Failure, unreachable } from '../../schema/failure.js';
import { ClfReader } from './clf.js';
import { type Columns, chooseColumns } from './columns.js';
import { delimitedReader, tableIn, tableSample } from './delimited.js';
import { HarReader } from './har.js';
import type { Intake } from './intake.js';
import { LineCutter, type LogReader } from './lines.js';
import { isJsonObject, ndjsonReader, recordSample } from './ndjson.js';
import type { LogFormat, LogOptions } from './options.js';
import { linesOf, recognise, wholeLines } from './recognise.js';

/** Where time, count and key are read from, in words. */
export interface Origin {
  /** As `column t_ms (unix ms)`. */
  readonly timeFrom: string;
  /** Absent when each line is one request. */
  readonly countFrom?: string;
  /** Absent when no key was asked for. */
  readonly keyFrom?: string;
}

export interface OpenLog {
  readonly format: LogFormat | 'empty';
  readonly reader: LogReader;
  /** Known when all is read. */
  readonly origin: () => Origin;
}

/**
 * The reader for a log that begins with `head`.
 * @throws Failure `unknown_format`; `invalid_input` for options that do not fit the log
 */
export function openLog(head: Buffer, path: string, options: LogOptions, intake: Intake): OpenLog {
  const format = recognise(head, options, path);
  switch (format) {
    case 'empty':
      return {
        format,
        reader: new LineCutter({ line: () => undefined, end: () => undefined }, intake),
        origin: () => noOrigin,
      };
    case 'common':
    case 'combined': {
      const byClient = clientWanted(options, format, path);
      const origin: Origin = { timeFrom: 'the time in brackets', ...(byClient && { keyFrom: 'the client address' }) };
      return { format, reader: new LineCutter(new ClfReader(intake, byClient), intake), origin: () => origin };
    }
    case 'csv':
    case 'tsv': {
      const table = tableIn(wholeLines(head));
      const columns = chooseColumns(tableSample(table), options, path);
      return { format, reader: delimitedReader(intake, table, columns), origin: () => originOf(columns) };
    }
    case 'ndjson': {
      const records = linesOf(head).filter((line) => isJsonObject(line, 0, line.length));
      const columns = chooseColumns(recordSample(records), options, path);
      return { format, reader: ndjsonReader(intake, columns), origin: () => originOf(columns) };
    }
    case 'har': {
      const reader = new HarReader(intake, options, path);
      return { format, reader, origin: () => (reader.columns === undefined ? noOrigin : originOf(reader.columns)) };
    }
    default:
      return unreachable(format);
  }
}

const noOrigin: Origin = { timeFrom: 'nothing' };

function originOf({ timeFrom, countFrom, keyFrom }: Columns): Origin {
  return { timeFrom, ...(countFrom !== undefined && { countFrom }), ...(keyFrom !== undefined && { keyFrom }) };
}

/** Whether an access log is to be read by client; refuses what only a table can give. */
function clientWanted(options: LogOptions, format: LogFormat, path: string): boolean {
  const { timeColumn, countColumn, keyColumn, spreadMs = 0 } = options;
  const why = `It is a log in ${format} format: each line is one request, with a time in brackets and an address.`;
  const named = timeColumn ?? (countColumn === false ? undefined : countColumn);
  if (named !== undefined || spreadMs > 0) {
    const what = named === undefined ? `${path} has no counts to spread.` : `${path} has no column ${named}.`;
    throw new Failure('invalid_input', { what, why, fix: 'Leave out what is for tables, or tell another --format.' });
  }
  if (keyColumn !== undefined && keyColumn.toLowerCase() !== 'client') {
    throw new Failure('invalid_input', { what: `${path} has no column ${keyColumn}.`, why, fix: 'Use --key client.' });
  }
  return keyColumn !== undefined;
}
