// The files of a sweep, or of a map with `map` in the names. Each run is written as it ends, so a stopped sweep can resume.
//
//   sweep.json     the plan, and the digest at the end; a folder belongs to one sweep
//   runs.ndjson    a line per run, in the order of completion; after the end, in the order of cells
//   runs.csv       the same for spreadsheets
//   sweep.ndjson   a line per cell: { cell, set, n, held, <figure>: { mean, low, high } }
//   sweep.csv      the same for spreadsheets: <figure>, <figure>.low, <figure>.high

import {
  closeSync,
  existsSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from 'node:fs';
import { join } from 'node:path';
import { makeFolder } from '../../core/files/make-folder.js';
import { digestOf } from '../../core/schema/canonical.js';
import { Failure } from '../../core/schema/failure.js';
import { unwritableFailure } from '../../core/schema/unwritable.js';
import { VERSION } from '../../core/version.js';
import type { Cell } from '../../harness/scenario/grid.js';
import { column, type RunColumn, runTableCsv } from '../../report/run-table.js';
import type { SweepPlan } from './plan-sweep.js';
import type { SweepRow, SweepRun } from './sweep.js';

const ID = /^[0-9a-f]{64}$/;

type RunTableKind = 'sweep' | 'map';

export class RunFolder {
  readonly path: string;
  readonly known: readonly SweepRun[];
  readonly #journal: number;

  /** Creates and locks the folder. @throws Failure `wrong_usage` if taken; `unwritable_folder` */
  constructor(
    path: string,
    readonly kind: RunTableKind,
    readonly plan: SweepPlan,
  ) {
    this.path = path;
    try {
      makeFolder(path);
      this.#lock();
      this.#claim();
      this.known = this.#readJournal();
      this.#journal = openSync(this.#file('runs.ndjson'), 'a');
    } catch (error) {
      throw unwritableFailure(path, error, FIX);
    }
  }

  /** The run is in the file on return, so that a killed process loses none. */
  add(run: SweepRun): void {
    try {
      writeSync(this.#journal, `${JSON.stringify(run)}\n`);
    } catch (error) {
      throw unwritableFailure(this.path, error, FIX);
    }
  }

  get names(): readonly string[] {
    const kind = this.kind;
    return [`${kind}.csv`, `${kind}.ndjson`, 'runs.csv', 'runs.ndjson', `${kind}.json`];
  }

  /** Writes the rows, and the runs in order. Returns the digest. @param cells by their numbers in the runs */
  finish(rows: readonly SweepRow[], runs: readonly SweepRun[], cells: readonly Cell[]): string {
    const digest = sweepDigest(this.plan.name, rows);
    try {
      const ordered = runs.toSorted((a, b) => a.cell - b.cell || a.replication - b.replication);
      this.#replace('runs.ndjson', ordered.map((run) => `${JSON.stringify(run)}\n`).join(''));
      this.#replace('runs.csv', runsCsv(ordered, cells));
      this.#replace(`${this.kind}.ndjson`, rows.map((row) => `${JSON.stringify(flatRow(row))}\n`).join(''));
      this.#replace(`${this.kind}.csv`, rowsCsv(rows));
      this.#replace(`${this.kind}.json`, this.#description(digest));
    } catch (error) {
      throw unwritableFailure(this.path, error, FIX);
    }
    return digest;
  }

  close(): void {
    closeSync(this.#journal);
    rmSync(this.#file('lock'), { force: true });
  }

  #file(name: string): string {
    return join(this.path, name);
  }

  /** A killed process leaves its lock, so a lock counts only while its process lives. */
  #lock(): void {
    const lock = this.#file('lock');
    const owner = existsSync(lock) ? Number(readFileSync(lock, 'utf8')) : undefined;
    if (owner !== undefined && owner !== process.pid && isAlive(owner)) {
      throw new Failure('wrong_usage', {
        what: `Another ${this.kind} writes into ${this.path}.`,
        why: `Process ${owner} holds ${lock}.`,
        fix: 'Wait for it, or give another folder with --out.',
      });
    }
    writeFileSync(lock, String(process.pid));
  }

  #claim(): void {
    const file = this.#file(`${this.kind}.json`);
    if (existsSync(file)) {
      const { id } = readJson(file) as { id?: unknown };
      if (id === this.plan.id) return;
      rmSync(this.#file('lock'), { force: true });
      throw new Failure('wrong_usage', {
        what: `${this.path} holds another ${this.kind}.`,
        why:
          typeof id === 'string' && ID.test(id)
            ? 'Its scenario, axes, seed or replications are not those of this one.'
            : `Its ${this.kind}.json cannot be read.`,
        fix: 'Give another folder with --out, or remove this one.',
      });
    }
    writeFileSync(file, this.#description(undefined));
  }

  #description(digest: string | undefined): string {
    const { id, name, path, seed, replications, axes, cells, notes } = this.plan;
    const described = {
      weir: VERSION,
      id,
      scenario: name,
      path,
      seed,
      replications,
      cells: cells.length,
      set: Object.fromEntries(axes.map((axis) => [axis.path, axis.values])),
      ...(notes.length === 0 ? {} : { notes }),
      ...(digest === undefined ? {} : { digest }),
    };
    return `${JSON.stringify(described, undefined, 2)}\n`;
  }

  /** Removes a last line cut off by a kill. */
  #readJournal(): SweepRun[] {
    const file = this.#file('runs.ndjson');
    if (!existsSync(file)) return [];
    const text = readFileSync(file, 'utf8');
    const whole = text.slice(0, text.lastIndexOf('\n') + 1);
    if (whole.length < text.length) truncateSync(file, Buffer.byteLength(whole));
    return whole
      .split('\n')
      .filter((line) => line !== '')
      .map((line) => JSON.parse(line) as SweepRun);
  }

  /** Atomic: a kill leaves the old file or the new one. */
  #replace(name: string, content: string): void {
    writeFileSync(this.#file(`${name}.new`), content);
    renameSync(this.#file(`${name}.new`), this.#file(name));
  }
}

export function flatRow({ figures, ...row }: SweepRow): Readonly<Record<string, unknown>> {
  return { ...row, ...figures };
}

/** SHA-256 over the rows: equal for any number of threads and stops. */
export function sweepDigest(name: string, rows: readonly SweepRow[]): string {
  return `sha256:${digestOf({ scenario: name, rows })}`;
}

function runsCsv(runs: readonly SweepRun[], cells: readonly Cell[]): string {
  const heldOf = ({ held }: SweepRun) => (held.length === 0 ? undefined : String(!held.includes(false)));
  const columns: readonly RunColumn<SweepRun>[] = [
    column('cell', ({ cell }) => cell),
    ...fieldsOf(cells).map((path) => column(path, ({ cell }: SweepRun) => valueText(cells[cell]!.set[path]))),
    column('replication', ({ replication }) => replication),
    column('seed', ({ seed }) => seed),
    column('held', heldOf),
    ...figuresOf(runs).map((name) => column(name, ({ figures }: SweepRun) => figures[name])),
  ];
  return runTableCsv(columns, runs);
}

function rowsCsv(rows: readonly SweepRow[]): string {
  const columns: readonly RunColumn<SweepRow>[] = [
    column('cell', ({ cell }) => cell),
    ...fieldsOf(rows).map((path) => column(path, ({ set }: SweepRow) => valueText(set[path]))),
    column('n', ({ n }) => n),
    column('held', ({ held }) => held ?? undefined),
    ...figuresOf(rows).map((name) => column(name, ({ figures }: SweepRow) => figures[name])),
  ];
  return runTableCsv(columns, rows);
}

const fieldsOf = (cells: readonly Pick<Cell, 'set'>[]) => [...new Set(cells.flatMap(({ set }) => Object.keys(set)))];
const figuresOf = (of: readonly { readonly figures: object }[]) => [
  ...new Set(of.flatMap(({ figures }) => Object.keys(figures))),
];

export function valueText(value: SweepRow['set'][string] | undefined): string | number {
  if (typeof value === 'number' || typeof value === 'string') return value;
  return value === undefined ? '' : JSON.stringify(value);
}

function readJson(file: string): unknown {
  try {
    return JSON.parse(readFileSync(file, 'utf8'));
  } catch {
    return {};
  }
}

function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM';
  }
}

const FIX = 'Give another folder with --out.';
