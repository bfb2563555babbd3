// Owns text for terminals: what may be printed of foreign names, colour when asked for, tables in columns. Leaves what is said to others.
import { plain } from './words.js';

/** What a terminal can show. */
export interface Terminal {
  /** Width in columns; at least 40 are used. */
  readonly columns: number;
  readonly color: boolean;
  /** False where block characters and arrows would not show. */
  readonly unicode: boolean;
}

export type Hue = 'good' | 'bad' | 'strong' | 'faint';

const codes: Readonly<Record<Hue, readonly [on: number, off: number]>> = {
  good: [32, 39],
  bad: [31, 39],
  strong: [1, 22],
  faint: [2, 22],
};

/** Select Graphic Rendition around a text, when colour is asked for. */
export function hued(text: string, hue: Hue, { color }: Terminal): string {
  const [on, off] = codes[hue];
  return color ? `\u001b[${on}m${text}\u001b[${off}m` : text;
}

/** A foreign name on one line, without anything that a terminal would obey, cut to a length. */
export function shownName(name: string, longest = 200): string {
  const characters = [...plain(name)];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : characters.join('');
}

/** Leaves ASCII only: dashes, signs and dots by what comes nearest. */
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
  // Control characters are left alone: those of foreign names were taken out before, the others are colours and line feeds.
  return text.replace(/[^\p{Cc}\p{ASCII}]/gu, (character) => nearest[character] ?? '?');
}

export interface TableColumn {
  readonly title: string;
  readonly right?: boolean;
}

/** A table in aligned columns, two spaces apart. The widest column of words is cut when the table would be wider than the terminal. */
export function alignedTable(
  columns: readonly TableColumn[],
  rows: readonly (readonly string[])[],
  width: number,
): string[] {
  const cells = [columns.map(({ title }) => title), ...rows];
  const widths = columns.map((_, column) => cells.reduce((most, row) => Math.max(most, [...row[column]!].length), 0));
  const excess = widths.reduce((sum, one) => sum + one + 2, -2) - width;
  if (excess > 0) {
    const cut = columns.reduce(
      (widest, { right }, column) => (right !== true && widths[column]! > widths[widest]! ? column : widest),
      0,
    );
    widths[cut] = Math.max(8, widths[cut]! - excess);
  }
  return cells.map((row) =>
    row
      .map((cell, column) => {
        const text = shownName(cell, widths[column]!);
        const gap = ' '.repeat(widths[column]! - [...text].length);
        return columns[column]!.right === true ? gap + text : text + gap;
      })
      .join('  ')
      .trimEnd(),
  );
}

/** Breaks a text at spaces so that no line is longer than `width`, unless a word is. */
export function wrapped(text: string, width: number): string[] {
  const lines: string[] = [];
  for (const word of text.split(' ')) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + 1 + word.length <= width) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(word);
  }
  return lines;
}
