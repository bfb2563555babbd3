// `weir verify`: verifies an exported record from a file or standard input, offline.
import * as fs from 'node:fs';
import { baseUrlFrom, DEFAULT_URL } from '../api/client/base-url.js';
import { NodeFolder } from '../api/client/nodes-folder.js';
import { rootKeyOf } from '../api/client/pin.js';
import { writePrivate } from '../core/files/private-file.js';
import { pinnedOnly, type Verification } from '../core/record/verification.js';
import type { ExportVerifier, VerifyExportOptions } from '../core/record/verify-export.js';
import { Failure } from '../core/schema/failure.js';
import { readText, refuseNamedPipe, unreadableFailure } from '../core/schema/text-file.js';
import { command, several, text } from '../report/command/command.js';
import { usageFailure } from '../report/command/exit-codes.js';
import { jsonOf } from '../report/command/options.js';
import { print } from '../report/command/print.js';
import { facts } from '../report/command/terminal.js';
import { counted } from '../report/words.js';

const options = {
  file: text('exported record; - for standard input', { place: true, required: true }),
  pin: several(
    text(
      'public key of the node: a PEM file, base64, or a fingerprint (default: the pinned one); of several nodes: once for each, or a file with one a line; none: a record whose key nothing pins holds, too, which finds damage, and no forgery',
    ),
  ),
  url: text(`the node whose pinned key is taken (default: WEIR_URL, or ${DEFAULT_URL})`, { without: ['pin'] }),
  checkpoint: text('a signed head saved earlier: a record that was rolled back or written anew since does not hold'),
  from: text('a signed head saved when the record was verified last: rows up to it are not verified again', {
    without: ['checkpoint'],
  }),
  out: text('file for the signed head of a record that holds', { writes: true }),
  json: jsonOf('verify'),
};

export const verify = command({
  options,
  examples: [
    ['verify edge.ndjson', 'against the key that was pinned on first use'],
    ['verify edge.ndjson --checkpoint edge.head --out edge.head', 'nothing was lost since the last time'],
    ['verify edge.ndjson --from edge.head --out edge.head', 'only what is new since then, of a long record'],
    ['verify edge.ndjson --pin SHA256:…', 'against a fingerprint'],
    ['node record edge-gateway | weir verify -', 'without a file'],
  ],
  run: async (given) => {
    const { file, pin: pins, url, json, checkpoint, from, out } = given;
    const allowUnpinned = pins?.includes('none') ?? false;
    const pin = allowUnpinned ? undefined : pins;
    const trusted =
      pin === undefined ? pinnedFor(url ?? (process.env['WEIR_URL'] || DEFAULT_URL)) : await trustedFrom(pin);
    const { ExportVerifier } = await import('../core/record/verify-export.js');
    const verifier = new ExportVerifier(trusted);
    if (checkpoint !== undefined) verifier.expect(contentOf(checkpoint, '--checkpoint takes a saved head'));
    if (from !== undefined) verifier.expect(contentOf(from, '--from takes a saved head'), true);
    const found = await walk(file, verifier);
    const verdict = { ok: true, ...(allowUnpinned ? found : pinnedOnly(found)) };
    // Only a verified head is saved.
    if (out !== undefined && verdict.valid && verifier.closing !== undefined)
      writePrivate(out, `${JSON.stringify(verifier.closing)}\n`);
    print({ answer: verdict, words: verdictText(verdict), exit: verdict.valid ? 0 : NOT_HELD }, json);
  },
});

function pinnedFor(url: string): VerifyExportOptions {
  const pin = new NodeFolder(baseUrlFrom(url)).pin.read();
  return pin === undefined ? {} : { pinned: rootKeyOf(pin), known: pin.successions };
}

async function trustedFrom(texts: readonly string[]): Promise<VerifyExportOptions> {
  const [{ isRawKey }, { isFingerprint, trustIn }] = await Promise.all([
    import('../core/record/signing.js'),
    import('../core/record/verify-export.js'),
  ]);
  const given = texts.flatMap((text) => {
    const keys = text.includes('BEGIN') || isRawKey(text) || isFingerprint(text) ? text : contentOf(text, PIN);
    return keys.match(/-----BEGIN[\s\S]*?-----END[^\n]*/g) ?? keys.split('\n').filter((line) => line.trim() !== '');
  });
  const [first = '', ...others] = given.map((key) => key.trim());
  const trust = trustIn(first);
  for (const other of others) trustIn(other);
  return others.length === 0 ? trust : { nodes: [first, ...others] };
}

const PIN = '--pin takes a PEM file, a key in base64 or a fingerprint (SHA256:…)';

function contentOf(path: string, takes: string): string {
  try {
    return readText(path, { what: path, fix: takes, isGiven: true }).trim();
  } catch (error) {
    const { why = '' } = error as Failure;
    throw usageFailure(`${takes}, and ${path} cannot be read as a file: ${why}`);
  }
}

/** Fields of rows and closing lines. A file that has none of them is no record that was changed. */
const OF_A_RECORD = /"(?:cause|hash|checkpoint|cut)"/;
const DATABASE = 'SQLite format 3';
const FIX =
  'Give a file that `weir node record` wrote, or - for standard input; `weir node restore` verifies a backup.';

async function walk(record: string, verifier: ExportVerifier): Promise<Verification> {
  let [isRecord, isDatabase]: (boolean | undefined)[] = [];
  try {
    const isStandardInput = record === '-';
    if (!isStandardInput) refuseNamedPipe(record);
    for await (const chunk of isStandardInput ? process.stdin : fs.createReadStream(record)) {
      const text = isRecord ? '' : (chunk as Buffer).toString('latin1');
      if (text !== '') isDatabase ??= text.startsWith(DATABASE);
      isRecord ||= OF_A_RECORD.test(text);
      if (isDatabase || !verifier.bytes(chunk as Buffer)) break;
    }
  } catch (error) {
    throw unreadableFailure(`The record ${record}`, error, FIX);
  }
  const found = verifier.end();
  // Nothing at all may be what is left of a record.
  if (isDatabase === undefined || found.valid || (isRecord && !isDatabase)) return found;
  throw new Failure('unreadable_file', {
    what: `${record} is ${isDatabase ? 'a database, and ' : ''}no exported record.`,
    why: isDatabase ? undefined : found.first_broken?.reason,
    fix: FIX,
  });
}

const NOT_HELD = 1;

function verdictText({
  valid,
  machine,
  rows,
  head,
  first_broken,
  checkpoint,
  proofs,
  removed,
  earlier,
}: Verification): string {
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
