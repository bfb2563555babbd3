// The layout of a log: lines are cut into named fields, and one reader turns fields into requests.
//
//   bytes ── LineCutter ── [envelope] ── Cutter of the format ── fields ── RequestReader ── Intake
//                                        "where is `ts`?"                  time, count, key, filters

import type { LineReader } from './lines.js';
import type { LogOptions, Warning } from './log-options.js';

const NOTHING = Buffer.alloc(0);

/** A value in the current line. Valid only until the next line is cut. */
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

export type Slots = ReadonlyMap<string, Field>;

export function slotsOf(names: readonly string[]): Slots {
  return new Map(names.map((name) => [name, new Field()]));
}

/** Those for which it holds. */
export function fieldsWhere(fields: Slots, holds: (name: string) => boolean): Slots {
  return new Map([...fields].filter(([name]) => holds(name)));
}

export interface Cutter {
  /** Sets every wanted field. Returns the reason if the line is not of the format; '' for a comment. */
  cut(bytes: Buffer, from: number, to: number): string | undefined;
  /** Time of the line last cut, if the layout `readsTime`. */
  readonly unixMs?: number | undefined;
  /** For rows that span lines: joins lines to rows and cuts those. */
  joinLines?(reader: LineReader): LineReader;
}

export interface Layout {
  readonly format: string;
  /** What surrounds each line, in words. */
  readonly envelope?: string;
  readonly noun: 'column' | 'field';
  readonly names: readonly string[];
  readonly lines: readonly Buffer[];
  /** Makes a cutter that sets these fields, by their names. */
  cutter(fields: Slots): Cutter;
  /** Whether its cutters parse the known time themselves: no line is valid without it. */
  readonly readsTime?: boolean;
  readonly known?: KnownFields;
}

export type Role =
  | 'client'
  | 'forwarded'
  | 'host'
  | 'method'
  | 'path'
  | 'query'
  | 'user'
  | 'agent'
  | 'referer'
  | 'status'
  | 'duration';

export interface KnownFields {
  readonly time?: string;
  readonly timeFrom?: string;
  readonly count?: string;
  /** The count is a running total, by `series`; the series `all` is the sum of the others. */
  readonly totals?: { readonly series: string; readonly all: string };
  readonly fields?: Readonly<Partial<Record<Role, string>>>;
  readonly clientFrom?: string;
  /** The client always ends with `:port`, even an IPv6 address without brackets. */
  readonly clientHasPort?: boolean;
  readonly warning?: Warning;
  /** Only rows with these values are requests. */
  readonly where?: readonly (readonly [name: string, value: string])[];
}

export interface FormatFacts {
  readonly name: string;
  /** Which moment of a request the time marks; `any`: up to the writer. */
  readonly moment: 'start' | 'end' | 'any';
  /** Precision of the time: `s`, `ms`, `us`, `ns`, or `any`. */
  readonly precision: string;
  readonly writer: string;
}

export interface LogHead {
  readonly bytes: Buffer;
  /** Without blank lines. */
  readonly lines: readonly Buffer[];
  readonly options: LogOptions;
}

/** Undefined if the log has another format. `isNamed`: the user named this format. */
export type Recognise = (head: LogHead, isNamed: boolean) => Layout | undefined;

export function mostly<T>(values: readonly T[], holds: (value: T) => boolean): boolean {
  return values.filter(holds).length * 2 > values.length;
}

export function valuesOf(layout: Layout, name: string): string[] {
  const field = new Field();
  const cutter = layout.cutter(new Map([[name, field]]));
  const values: string[] = [];
  for (const line of layout.lines) {
    field.clear();
    if (cutter.cut(line, 0, line.length) === undefined && !field.isMissing) values.push(field.text());
  }
  return values;
}
