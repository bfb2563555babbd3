// Timelines as streamed CSV and NDJSON.
import type { Timeline, TimelineRow } from './timeline.js';

const COLUMNS = ['cycle', 'contract', 'requests', 'admitted', 'limited', 'count', 'state'] as const;

/** RFC 4180 with LF and a header. */
export function* csvLines(timeline: Timeline): Generator<string> {
  yield `${COLUMNS.join(',')}\n`;
  for (const row of timeline.rows()) yield `${COLUMNS.map((column) => csvField(row[column])).join(',')}\n`;
}

export function* ndjsonLines(timeline: Timeline): Generator<string> {
  for (const row of timeline.rows()) yield `${JSON.stringify(row)}\n`;
}

/** Escapes formulas: a spreadsheet would run a key of a log that looks like one. */
export function csvField(value: TimelineRow[keyof TimelineRow]): string {
  if (typeof value === 'number') return String(value);
  const safe = /^[=+\-@\t\r]/.test(value) ? `'${value}` : value;
  return /[",\n\r]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}
