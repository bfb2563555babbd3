// The verdict on a verified record, as data and as text. The verification itself is in record/verify-export.ts.
import type { Pin } from '../client/nodes-folder.js';
import { lastCycleOf } from '../client/pin.js';
import { readable } from '../client/refusal.js';
import type { Verification } from '../record/verification.js';
import { facts, plural } from './terminal.js';

export type Verdict = Verification & { readonly ok: true };

/** Exit code for an invalid record. */
export const NOT_HELD = 1;

/**
 * Adds the knowledge of the pin to a verification: a former key is valid only up to the cycle of its succession, even if the record
 * itself does not contain the succession.
 */
export function verdictOf(found: Verification, pin?: Pin): Verdict {
  const { checkpoint } = found;
  const last = checkpoint === null || pin === undefined ? undefined : lastCycleOf(pin, checkpoint.signed_by);
  if (checkpoint === null || last === undefined || checkpoint.cycle <= last) return { ok: true, ...found };
  const reason = `The checkpoint of cycle ${checkpoint.cycle} is signed by ${checkpoint.signed_by}, which another key replaced in cycle ${last}.`;
  return {
    ok: true,
    ...found,
    valid: false,
    checkpoint: null,
    first_broken: { line: found.rows + 1, check: 'key', reason },
  };
}

export function verdictText({ valid, machine, rows, head, first_broken, checkpoint, proofs }: Verdict): string {
  const name = machine === null ? 'The record' : `The record of ${readable(machine)}`;
  const signed =
    checkpoint === null
      ? 'no'
      : `in cycle ${checkpoint.cycle} by ${checkpoint.signed_by}, ${checkpoint.pinned ? 'as pinned' : 'which the record itself names'}`;
  const about = facts([
    ['head', head === null ? undefined : `row ${head.seq}, ${head.hash}`],
    ['signed', valid ? signed : undefined],
  ]);
  if (valid) {
    const trusted =
      checkpoint?.pinned === true ? [] : ['  no key was given or pinned: this shows damage, and no forgery'];
    return [
      `${name} holds: ${plural(rows, 'row')}, ${plural(proofs, 'firing')} computed again.`,
      about,
      ...trusted,
    ].join('\n');
  }
  const { seq, line = 0, check = 'shape', reason = '' } = first_broken ?? {};
  const place = [seq === undefined ? '' : `row ${seq}`, line === 0 ? '' : `line ${line}`]
    .filter((part) => part !== '')
    .join(', ');
  return [
    `${name} does not hold.`,
    facts([
      ['broken', `${place === '' ? 'its keys' : place}: ${check}`],
      ['why', readable(reason)],
      ['whole', plural(rows, 'row')],
    ]),
  ].join('\n');
}
