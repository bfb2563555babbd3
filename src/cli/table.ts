// Owns columns of text: aligned, two blanks apart, numbers to the right. Leaves what is in them to the commands.

export type Cell = string | number | undefined;

/** Lines of a table without a line feed at the end. Columns whose cells are all numbers stand to the right. */
export function table(heads: readonly string[], rows: readonly (readonly Cell[])[]): string {
  const isNumeric = heads.map((_, column) => rows.every((row) => typeof row[column] !== 'string'));
  const texts = [heads, ...rows.map((row) => row.map(textOf))];
  const widths = heads.map((_, column) => Math.max(...texts.map((row) => widthOf(row[column] ?? ''))));
  const lineOf = (row: readonly string[]) =>
    row
      .map((text, column) => padded(text, widths[column] ?? 0, isNumeric[column] ?? false))
      .join('  ')
      .trimEnd();
  return texts.map(lineOf).join('\n');
}

/** `name  value` lines, indented, with the values one below the other. Those without a value are left out. */
export function facts(entries: readonly (readonly [name: string, value: Cell])[]): string {
  const told = entries.filter(([, value]) => value !== undefined);
  const width = Math.max(0, ...told.map(([name]) => name.length));
  return told.map(([name, value]) => `  ${name.padEnd(width)}  ${textOf(value)}`).join('\n');
}

/** `1 contract`, `2 contracts`. */
export function plural(count: number, noun: string): string {
  return `${textOf(count)} ${noun}${count === 1 ? '' : 's'}`;
}

function textOf(cell: Cell): string {
  return cell === undefined ? '-' : String(cell);
}

function widthOf(text: string): number {
  return [...text].length;
}

function padded(text: string, width: number, toTheRight: boolean): string {
  const blanks = ' '.repeat(Math.max(0, width - widthOf(text)));
  return toTheRight ? blanks + text : text + blanks;
}
