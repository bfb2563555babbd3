// Owns an outcome as JSON text: the file beside each report, and what `--json` prints.
import type { Outcome } from '../outcome/schema.js';

/** Two spaces of indent, keys in the order of the schema; ends with a line feed. */
export function outcomeJson(outcome: Outcome): string {
  return `${JSON.stringify(outcome, undefined, 2)}\n`;
}
