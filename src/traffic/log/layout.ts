// What the reader of every format looks like: lines are cut into named fields, and one reader makes requests of the fields.
//
//   bytes ── LineCutter ── [envelope] ── Cutter of the format ── fields ── RequestReader ── Intake
//                                        "where is `ts`?"                  time, count, key, filters

import type { LineReader } from './lines.js';
import type { Warning } from './log-options.js';

/** The value of one field in the present line. Only valid until the next line is cut. */
export class Field {
  bytes: Buffer = NOTHING;
  /** From `from` up to `to`; both alike when the line does not have the field. */
  from = 0;
  to = 0;

  set(bytes: Buffer, from: number, to: number): void {
    this.bytes = bytes;
    this.from = from;
    this.to = to;
  }

  /** As in a line that does not have it. */
  clear(): void {
    this.set(NOTHING, 0, 0);
  }

  get isMissing(): boolean {
    return this.bytes.length === 0;
  }

  text(): string {
    return this.bytes.toString('utf8', this.from, this.to);
  }
}

const NOTHING = Buffer.alloc(0);

/** Cuts the lines of one format. */
export interface Cutter {
  /** Sets every wanted field. Gives a reason when the line is none of the format; '' when it is a comment of the format. */
  cut(bytes: Buffer, from: number, to: number): string | undefined;
  /** The time of the line that was cut, in a layout that `readsTime`. */
  readonly unixMs?: number | undefined;
}

/** A log as it is laid out: a format, and where it is a table, the columns of this one. */
export interface Layout {
  readonly format: string;
  /** What stands around each line, in words; undefined when nothing does. */
  readonly envelope?: string;
  /** What the format calls its fields. */
  readonly noun: 'column' | 'field';
  /** In the order of the log. */
  readonly names: readonly string[];
  /** Whole lines from the start of the log, to choose fields from. */
  readonly lines: readonly Buffer[];
  /** Makes a cutter that sets `fields[i]` to the field `names[i]`. */
  cutter(names: readonly string[], fields: readonly Field[]): Cutter;
  /** Whether its cutters read the known time themselves, since no line is one without it. */
  readonly readsTime?: boolean;
  /** What is known of the fields without looking at them. */
  readonly known?: Known;
  /** Of a table: puts the lines of a row together before they are read. */
  rowReader?(cutter: Cutter, reader: LineReader): LineReader;
}

/** What a format says of its fields. */
export interface Known {
  readonly time?: string;
  /** In words, instead of the name of the field. */
  readonly timeFrom?: string;
  readonly count?: string;
  /** The count is a total since the start: by `series`, of which `all` is the sum of the others. */
  readonly totals?: { readonly series: string; readonly all: string };
  readonly client?: string;
  /** In words, instead of the name of the field. */
  readonly clientFrom?: string;
  /** The client always ends with `:port`, also after an IPv6 address without brackets. */
  readonly clientHasPort?: boolean;
  /** What a person should know of every log in this format. */
  readonly warning?: Warning;
  /** Rows that are requests; others are something else. Name and value. */
  readonly where?: readonly (readonly [name: string, value: string])[];
}

/** Whether it holds for more than half of the values; looks at no more of them than it needs. */
export function mostly<T>(values: readonly T[], holds: (value: T) => boolean): boolean {
  let held = 0;
  let failed = 0;
  for (const value of values) {
    if (holds(value)) held++;
    else failed++;
    if (held * 2 > values.length || failed * 2 >= values.length) break;
  }
  return held * 2 > values.length;
}

/** The values that the sampled lines have for a field; lines without it are left out. */
export function valuesOf(layout: Layout, name: string): Buffer[] {
  const field = new Field();
  const cutter = layout.cutter([name], [field]);
  const values: Buffer[] = [];
  for (const line of layout.lines) {
    field.clear();
    if (cutter.cut(line, 0, line.length) !== undefined || field.isMissing) continue;
    values.push(Buffer.from(field.bytes.subarray(field.from, field.to)));
  }
  return values;
}
