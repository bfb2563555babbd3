// Text for terminals: safe output of foreign names, colour if it is on, aligned tables.
import { plain } from './words.js';

export interface Terminal {
  /** Width in columns; reports use at least 40. */
  readonly columns: number;
  readonly color: boolean;
  /** Nothing is cut or split, as in a pipe. */
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

/** A foreign name on one line, without control characters, cut to a length. */
export function shownName(name: string, longest = 200): string {
  const characters = [...plain(name)];
  return characters.length > longest ? `${characters.slice(0, longest - 1).join('')}…` : characters.join('');
}

/** Replaces every character outside ASCII by a similar one, or by a question mark. */
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
  // Control characters stay: they are colours and line feeds, because those of foreign names are already removed.
  return text.replace(/[^\p{Cc}\p{ASCII}]/gu, (character) => nearest[character] ?? '?');
}

interface TableColumn {
  readonly title: string;
  readonly right?: boolean;
}

/** A table with aligned columns, two spaces apart. If it is wider than `width`, the widest text column is cut. */
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

/** Breaks a text at spaces into lines of at most `width` characters; a longer word has a line of its own. */
export function wrapped(text: string, width: number): string[] {
  return filled(text.split(' '), ' ', width);
}

/** Lines of words with a gap between them, of at most `width` characters; a longer word has a line of its own. */
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
