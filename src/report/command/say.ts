// The only output to the terminal: foreign text (names, keys, log lines, answers of servers) cannot control it.

/** Colours of reports: see report/terminal-text.ts. */
const COLOUR = '\\u001b\\[(?:1|2|22|31|32|39)m';
const UNSEEN = new RegExp(`(${COLOUR})|[^\\P{C}\\n\\t]|[\\u2028\\u2029]`, 'gu');

/** Escapes characters that a terminal interprets or does not show. JSON keeps its value. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (found, colour: string | undefined) => colour ?? escapedOf(found));
}

function escapedOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, k) => character.charCodeAt(k));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

let erase: (() => void) | undefined;

export function onScreen(erasing: (() => void) | undefined): void {
  erase = erasing;
}

export function eraseProgress(): void {
  erase?.();
}

/** Writes to standard output. @returns false if the reader is behind, as `write` does */
export function say(text: string): boolean {
  erase?.();
  return process.stdout.write(visible(text));
}

export function warn(text: string): void {
  erase?.();
  process.stderr.write(visible(text));
}
