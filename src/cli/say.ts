// The one place that writes to the terminal: what others chose (names, keys, lines of logs, answers of servers) cannot steer it.

/** Colours that reports are written with: see report/terminal-text.ts. */
const COLOUR = '\\u001b\\[(?:1|2|22|31|32|39)m';
/** Control characters, and those that change the direction of a text or are not seen. */
const UNSEEN = new RegExp(`(${COLOUR})|[^\\P{C}\\n\\t]|[\\u2028\\u2029]`, 'gu');

/** A text with visible escapes in place of characters that a terminal acts on or does not show. JSON stays the same value. */
export function visible(text: string): string {
  return text.replace(UNSEEN, (found, colour: string | undefined) => colour ?? escapedOf(found));
}

function escapedOf(character: string): string {
  const units = Array.from({ length: character.length }, (_, k) => character.charCodeAt(k));
  return units.map((unit) => `\\u${unit.toString(16).padStart(4, '0')}`).join('');
}

let erase: (() => void) | undefined;

/** Sets how the line of a progress is removed from the screen, before anything else is written; undefined once it is gone. */
export function onScreen(erasing: (() => void) | undefined): void {
  erase = erasing;
}

export function eraseProgress(): void {
  erase?.();
}

/** Writes to standard output. @returns false where the reader is behind, as `write` does */
export function say(text: string): boolean {
  erase?.();
  return process.stdout.write(visible(text));
}

export function warn(text: string): void {
  erase?.();
  process.stderr.write(visible(text));
}
