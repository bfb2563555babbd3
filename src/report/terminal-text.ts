// Text for terminals: safe output of foreign names, colour, aligned tables.
import { isRight, type TableColumn, titleOf } from './block.js';
import { plain } from './words.js';

export interface Terminal {
  readonly columns: number;
  readonly color: boolean;
  readonly uncut?: boolean;
  /** False if block characters and arrows cannot be shown. */
  readonly unicode: boolean;
}

export type Hue = 'good' | 'bad' | 'strong' | 'faint';

const codes: Readonly<Record<Hue, readonly [on: number, off: number]>> = {
  good: [32, 39],
  bad: [31, 39],
  strong: [1, 22],
  faint: [2, 22],
};

export function hued(text: string, hue: Hue, { color }: Terminal): string {
  const [on, off] = codes[hue];
  return color ? `\u001b[${on}m${text}\u001b[${off}m` : text;
}

export function shownName(name: string, longest = 200): string {
  const characters = [...plain(name)];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : characters.join('');
}

export function asciiOnly(text: string): string {
  const nearest: Readonly<Record<string, string>> = {
    '–': '-',
    '…': '~',
    '·': '.',
    '✔': 'ok',
    '✘': 'x',
    '≠': '!=',
    '→': '->',
    '±': '+-',
  };
  // Keeps control characters: they are colours and line feeds; foreign names have none left.
  return text.replace(/[^\p{Cc}\p{ASCII}]/gu, (character) => nearest[character] ?? '?');
}

/**
 * Columns are two spaces apart. If the table is wider than `width`, the widest text column that has no names is cut. Where that is
 * not enough, figures, then texts, are left out from the right, and said to be below. Names are whole, and the first column remains.
 */
export function alignedTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const cells = [columns.map(titleOf), ...rows];
  const widths = columns.map((_, column) => cells.reduce((most, row) => Math.max(most, [...row[column]!].length), 0));
  const shown = new Set(columns.keys());
  const excess = () => [...shown].reduce((sum, column) => sum + widths[column]! + 2, -2) - width;
  const others = [...shown].filter((column) => isCut(columns[column]!));
  const isFigure = (column: number) => isRight(columns[column]);
  const texts = others.filter((column) => !isFigure(column));
  const widest = () => Math.max(-1, ...texts.filter((column) => shown.has(column)).map((column) => widths[column]!));
  const dropped = [...others.filter(isFigure).reverse(), ...texts.slice(1).reverse()].filter((column) => column > 0);
  for (const column of dropped) if (excess() > Math.max(0, widest() - LEAST_WIDTH)) shown.delete(column);
  const cut = texts.find((column) => shown.has(column) && widths[column] === widest());
  if (cut !== undefined && excess() > 0) widths[cut] = Math.max(LEAST_WIDTH, widths[cut]! - excess());
  const hidden = columns.filter((_, column) => !shown.has(column)).map((column) => titleOf(column).trim());
  const below = hidden.length === 0 ? [] : wrapped(`The terminal is too narrow for: ${hidden.join(', ')}.`, width);
  const lines = cells.map((row) =>
    [...shown]
      .map((column) => {
        const text = shownName(row[column]!, widths[column]!);
        const gap = ' '.repeat(widths[column]! - [...text].length);
        return isFigure(column) ? gap + text : text + gap;
      })
      .join('  ')
      .trimEnd(),
  );
  return [...lines, ...below];
}

const LEAST_WIDTH = 8;

const isCut = (column: TableColumn) => typeof column === 'string' || column.isName !== true;

/** Breaks at spaces; a word longer than `width` has its own line. */
export function wrapped(text: string, width: number): string[] {
  return filled(text.split(' '), ' ', width);
}

export function filled(words: readonly string[], gap: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    const longer = `${last}${gap}${word}`;
    if (last !== undefined && longer.length <= width) lines[lines.length - 1] = longer;
    else lines.push(word);
  }
  return lines;
}
