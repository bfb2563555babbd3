// How a log is laid out: lines are cut into named fields, and one reader makes requests of the fields.
//
//   bytes ── LineCutter ── [envelope] ── Cutter of the format ── fields ── RequestReader ── Intake
//                                        "where is `ts`?"                  time, count, key, filters

import type { LineReader } from './lines.js';
import type { LogOptions, Warning } from './log-options.js';
import type { TimeUnit } from './unix.js';

const NOTHING = Buffer.alloc(0);

/** The value of one field in the present line. Only valid until the next line is cut. */
export class Field {
  bytes: Buffer = NOTHING;
  from = 0;
  to = 0;

  set(bytes: Buffer, from: number, to: number): void {
    this.bytes = bytes;
    this.from = from;
    this.to = to;
  }

  setText(text: string, encoding: 'utf8' | 'latin1' = 'utf8'): void {
    const bytes = Buffer.from(text, encoding);
    this.set(bytes, 0, bytes.length);
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

export interface Cutter {
  /** Sets every wanted field. Gives a reason when the line is none of the format; '' when it is a comment of the format. */
  cut(bytes: Buffer, from: number, to: number): string | undefined;
  /** The time of the line that was cut, in a layout that `readsTime`. */
  readonly unixMs?: number | undefined;
  /** Where a row may take several lines: makes rows out of lines, and cuts those. */
  rowReader?(reader: LineReader): LineReader;
}

/** A log as it is laid out: a format, and where it is a table, the columns of this one. */
export interface Layout {
  readonly format: string;
  /** What stands around each line, in words. */
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
  readonly known?: Known;
  /** Where a line has several rows. */
  rowReader?(reader: LineReader): LineReader;
}

/** What a person may ask for in any format. */
export type Role = 'client' | 'forwarded' | 'host' | 'method' | 'path' | 'user' | 'status' | 'duration';

/** What a format says of its fields. */
export interface Known {
  readonly time?: string;
  /** In words, instead of the name of the field. */
  readonly timeFrom?: string;
  /** What its numbers count, where that is not to be guessed. */
  readonly timeUnit?: TimeUnit;
  readonly count?: string;
  /** Why it has to be said which field is the count. */
  readonly unclearCount?: { readonly why: string; readonly fix: string };
  /** The count is a total since the start: by `series`, of which `all` is the sum of the others. */
  readonly totals?: { readonly series: string; readonly all: string };
  /** The interval over which the requests of a row are spread unless a person says otherwise, in ms. */
  readonly spreadMs?: number;
  readonly fields?: Readonly<Partial<Record<Role, string>>>;
  /** The client in words, instead of the name of the field. */
  readonly clientFrom?: string;
  /** The client always ends with `:port`, also after an IPv6 address without brackets. */
  readonly clientHasPort?: boolean;
  /** What a person should know of every log in this format. */
  readonly warning?: Warning;
  /** Rows that are requests, by name and value of a field; others are something else. */
  readonly where?: readonly (readonly [name: string, value: string])[];
}

/** What `weir help logs` says of a format. */
export interface FormatFacts {
  readonly name: string;
  /** Which moment of a request its time is: when it came, when it was answered, or as the writer has it. */
  readonly marks: 'start' | 'end' | 'any';
  /** How exact its time is: `s`, `ms`, `us`, `ns`, or `any`. */
  readonly exact: string;
  /** What writes it. */
  readonly of: string;
}

export interface Head {
  /** Whole lines. */
  readonly bytes: Buffer;
  /** Those that are not blank. */
  readonly lines: readonly Buffer[];
  readonly options: LogOptions;
}

/**
 * The layout of a log that begins so; undefined when it is of another format.
 * @param isNamed whether the user named this format
 */
export type Recognise = (head: Head, isNamed: boolean) => Layout | undefined;

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
export function valuesOf(layout: Layout, name: string): string[] {
  const field = new Field();
  const cutter = layout.cutter([name], [field]);
  const values: string[] = [];
  for (const line of layout.lines) {
    field.clear();
    if (cutter.cut(line, 0, line.length) === undefined && !field.isMissing) values.push(field.text());
  }
  return values;
}
