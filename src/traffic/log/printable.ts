// Owns showing a piece of a log to a person. Leaves the sentence around it to who shows it.

/** How much is shown, in bytes. */
const SHOWN_BYTES = 120;

/** The start of a text on one line, without anything a terminal would obey. */
export function printable(bytes: Buffer, from: number, to: number): string {
  const raw = bytes.toString('utf8', from, Math.min(to, from + SHOWN_BYTES));
  const text = raw.replaceAll('\t', ' ').replace(/[\p{C}\u2028\u2029\ufffd]/gu, '\u00b7');
  return to - from > SHOWN_BYTES ? `${text}\u2026` : text;
}
