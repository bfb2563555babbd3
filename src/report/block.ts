// A report as data. Every renderer shows every kind of block. Text in blocks is raw; each renderer escapes it for its medium.
//
//   outcome ──► document: title, verdict, blocks ──► terminal · Markdown · page · JUnit
import type { ChartSpec } from './chart-specs/spec.js';
import { number, type VerdictMark } from './words.js';

export interface ReportDocument {
  readonly title: string;
  readonly besides?: string | undefined;
  readonly verdict?: VerdictMark | undefined;
  readonly sentence: string;
  readonly question?: string | undefined;
  readonly facts?: string | undefined;
  readonly blocks: readonly Block[];
  /** The command that repeats the run, and facts that identify the result; for the medium `documents`. */
  readonly again?: { readonly command: string; readonly facts?: string } | undefined;
  readonly properties?: Readonly<Record<string, string | number>>;
}

export type Block = Sentence | FiguresBlock | CheckList | Table | Chart | Code;

export type Medium = 'terminal' | 'documents' | 'junit';

interface Common {
  readonly title?: string | undefined;
  readonly where?: Medium;
  readonly folded?: boolean;
}

interface Sentence extends Common {
  readonly kind: 'sentence';
  readonly text: string;
  readonly hue?: 'good' | 'bad';
}

export interface FiguresBlock extends Common {
  readonly kind: 'figures';
  readonly meanTitle?: string | undefined;
  readonly rows: readonly {
    readonly label: string;
    readonly value: string;
    readonly beside?: string | undefined;
    readonly mean?: string | undefined;
  }[];
}

/** Demands and results. In JUnit each row is a test case. */
export interface CheckList extends Common {
  readonly kind: 'checks';
  readonly rows: readonly CheckRow[];
}

export interface CheckRow {
  readonly name: string;
  readonly condition?: string;
  readonly found?: string | undefined;
  readonly result: 'passed' | 'failed' | 'error' | 'skipped';
  readonly message?: string;
  readonly details?: string | undefined;
}

export interface Table extends Common {
  readonly kind: 'table';
  readonly columns: readonly TableColumn[];
  readonly rows: readonly (readonly TableCell[])[];
  readonly brief?: number;
  readonly total?: number;
  readonly more?: string;
  /** Splits a table too wide for a terminal; each part repeats this many leading columns. Default: cell text is cut. */
  readonly keep?: number;
}

/** A name is never cut: half a name is none. */
export type TableColumn = string | { readonly title: string; readonly right?: boolean; readonly isName?: boolean };

export type TableCell =
  | string
  | number
  | { readonly text: string; readonly beside?: string | undefined; readonly hue?: 'good' | 'bad' | undefined };

interface Chart extends Common {
  readonly kind: 'chart';
  readonly spec: ChartSpec;
}

export interface Code extends Common {
  readonly kind: 'code';
  readonly text: string;
  readonly language?: string;
  readonly below?: string | undefined;
}

export function right(title: string): TableColumn {
  return { title, right: true };
}

export function titleOf(column: TableColumn): string {
  return typeof column === 'string' ? column : column.title;
}

export function isRight(column: TableColumn | undefined): boolean {
  return typeof column === 'object' && column.right === true;
}

/** A column of names or times, of which a part is of no use: a narrow terminal drops figures in its place. */
export function nameColumn(title: string): TableColumn {
  return { title, isName: true };
}

export function sentence(text: string, more: Partial<Sentence> = {}): Sentence {
  return { kind: 'sentence', text, ...more };
}

export function cellOf(cell: TableCell): Exclude<TableCell, string | number> {
  if (typeof cell === 'number') return { text: number(cell) };
  return typeof cell === 'string' ? { text: cell } : cell;
}

export function shownIn(blocks: readonly Block[], medium: Medium): Block[] {
  return blocks.filter(({ where = medium }) => where === medium);
}

export function chartsIn({ blocks }: ReportDocument): ChartSpec[] {
  return shownIn(blocks, 'documents').flatMap((block) => (block.kind === 'chart' ? [block.spec] : []));
}

export function chartFile({ id }: ChartSpec): string {
  return `charts/${id}.png`;
}

export function briefRows({ rows, brief = rows.length, total = rows.length, more = 'rows' }: Table) {
  const shown = rows.slice(0, brief);
  const left = total - shown.length;
  return { shown, rest: left > 0 ? `and ${number(left)} more ${more}` : undefined };
}
