// The output of a command: JSON for programs, text for people.
import type { ReportDocument } from '../block.js';
import { documentText } from '../terminal-blocks.js';
import { say, warn } from './say.js';
import { terminalAtHand } from './terminal.js';

export interface Printed {
  readonly answer: unknown;
  readonly words: string;
  readonly note?: string | undefined;
  readonly exit?: number;
}

export function print({ answer, words, note, exit = 0 }: Printed, asJson: boolean): void {
  say(asJson ? `${JSON.stringify(answer)}\n` : `${words}\n`);
  if (note !== undefined) warn(`weir: ${note}\n`);
  if (exit !== 0) process.exitCode = exit;
}

export function printDocument(
  answer: unknown,
  document: ReportDocument,
  asJson: boolean,
  { lines = [], page }: { readonly lines?: readonly string[]; readonly page?: string | undefined } = {},
): void {
  if (asJson) {
    say(`${JSON.stringify(answer)}\n`);
    return;
  }
  const before = lines.length === 0 ? '' : `${lines.join('\n')}\n\n`;
  say(`${before}${documentText(document, terminalAtHand())}`);
  if (page !== undefined) say(`\nopen it here: ${page}\n`);
}
