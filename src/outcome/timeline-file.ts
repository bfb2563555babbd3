// Timelines as files: CSV for spreadsheets, NDJSON for programs. One line a row; the text is streamed, never held whole.
import type { Timeline, TimelineRow } from './timeline.js';

const COLUMNS = ['cycle', 'contract', 'requests', 'admitted', 'limited', 'count', 'state'] as const;

/** Lines of a CSV file (RFC 4180, LF), the header first. */
export function* csvLines(timeline: Timeline): Generator<string> {
  yield `${COLUMNS.join(',')}\n`;
  for (const row of timeline.rows()) yield `${COLUMNS.map((column) => csvField(row[column])).join(',')}\n`;
}

/** Lines of an NDJSON file. */
export function* ndjsonLines(timeline: Timeline): Generator<string> {
  for (const row of timeline.rows()) yield `${JSON.stringify(row)}\n`;
}

/** A cell. A key of a log may hold anything; what begins like a formula would be run by a spreadsheet. */
export function csvField(value: TimelineRow[keyof TimelineRow]): string {
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
