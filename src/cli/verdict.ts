// The verdict on a verified record, as data and as text. The verification itself is in record/verify-export.ts.
import { pinnedOnly, type Verification } from '../record/verification.js';
import { counted } from '../report/words.js';
import { facts } from './terminal.js';

type RecordVerdict = Verification & { readonly ok: true };

export const NOT_HELD = 1;

export function recordVerdictOf(found: Verification, allowUnpinned: boolean): RecordVerdict {
  return { ok: true, ...(allowUnpinned ? found : pinnedOnly(found)) };
}

export function verdictText({
  valid,
  machine,
  rows,
  head,
  first_broken,
  checkpoint,
  proofs,
  removed,
  earlier,
}: RecordVerdict): string {
  const name = machine === null ? 'The record' : `The record of ${machine}`;
  const signed =
    checkpoint === null
      ? 'no'
      : `in cycle ${checkpoint.cycle} by ${checkpoint.signed_by}, ${checkpoint.pinned ? 'as pinned' : 'which the record itself names'}`;
  const about = facts([
    ['head', head === null ? undefined : `row ${head.seq}, ${head.hash}`],
    ['signed', valid ? signed : undefined],
    [
      'removed',
      removed &&
        `rows 1 to ${removed.to_seq} were removed on ${removed.at}, in cycle ${removed.cycle}, as signed by ${removed.signed_by}`,
    ],
    ['earlier', earlier === undefined ? undefined : `rows 1 to ${earlier} were verified then, and not again`],
  ]);
  if (valid) {
    const trusted =
      checkpoint?.pinned === true ? [] : ['  no key was given or pinned: this shows damage, and no forgery'];
    return [
      `${name} holds: ${counted(rows, 'row')}, ${counted(proofs, 'firing')} computed again.`,
      about,
      ...trusted,
    ].join('\n');
  }
  const { seq, line = 0, check = 'shape', reason = '' } = first_broken ?? {};
  const place = [seq === undefined ? '' : `row ${seq}`, line === 0 ? '' : `line ${line}`]
    .filter((part) => part !== '')
    .join(', ');
  const [title, fix] =
    checkpoint?.pinned === false && check === 'key'
      ? [
          `${name} holds in itself, and nothing says who signed it.`,
          'Give the key of the node with --pin, or --pin none to look for damage alone.',
        ]
      : [`${name} does not hold.`, undefined];
  return [
    title,
    facts([
      ['broken', `${place === '' ? 'its keys' : place}: ${check}`],
      ['why', reason],
      ['fix', fix],
      ['whole', counted(rows, 'row')],
    ]),
  ].join('\n');
}
