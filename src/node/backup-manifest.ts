// The manifest of a backup, signed by the node: size and digest of the file, and the head of each record. It is written last, beside the
// file: a file without it is no backup.
import { createHash } from 'node:crypto';
import * as fs from 'node:fs';
import { basename } from 'node:path';
import type { Static } from 'typebox';
import { reader } from '../core/record/shape.js';
import { type Signer, signText, textHolds } from '../core/record/signing.js';
import { HeadShape } from '../core/record/verification.js';
import { canonicalJson } from '../core/schema/canonical.js';
import { Failure } from '../core/schema/failure.js';
import { shape } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { readText } from '../core/schema/text-file.js';
import type { Store } from './store/store.js';

const Manifest = shape({
  weir_backup: Type.Literal(1),
  file: Type.String(),
  bytes: Type.Integer(),
  sha256: Type.String(),
  /** By slug. */
  heads: Type.Record(Type.String(), HeadShape),
  signature: Type.String(),
});
export type Manifest = Static<typeof Manifest>;

export function manifestFileOf(file: string): string {
  return `${file}.manifest.json`;
}

/** @param copy what gets the name `file` */
export function signManifest(signer: Signer, copy: string, file: string, heads: Manifest['heads']): string {
  const body = { weir_backup: 1, file: basename(file), ...measured(copy), heads } as const;
  return `${canonicalJson({ ...body, signature: signText(signer, 'backup', canonicalJson(body)) })}\n`;
}

export function headsOf(store: Store): Manifest['heads'] {
  return Object.fromEntries([...store.machines()].map(({ machine, head }) => [machine.slug, head]));
}

/** @param copy of `file` @param keys of the node, present and former @throws Failure `unreadable_file`, `record_broken` */
export function checkedManifest(file: string, copy: string, keys: readonly string[]): Manifest {
  const path = manifestFileOf(file);
  const text = readText(path, {
    mostBytes: 2 ** 30,
    what: 'The manifest of the backup',
    fix: `Copy it to ${path}: it is beside the backup.`,
  });
  const read = reader(Manifest)(jsonIn(text));
  if ('fault' in read) throw refused(`Its manifest is not as a node writes it: ${read.fault}.`);
  const { signature, ...body } = read.value;
  if (!keys.some((key) => textHolds(key, 'backup', canonicalJson(body), signature)))
    throw refused(
      'Its manifest was signed by another key, or has changed.',
      'Give the node.json of the very node, or an earlier backup.',
    );
  const { bytes, sha256 } = measured(copy);
  if (bytes !== body.bytes) throw refused(`The file has ${bytes} bytes, and its manifest says ${body.bytes}.`);
  if (sha256 !== body.sha256)
    throw refused('The digest of the file is not that of its manifest: its content has changed.');
  return read.value;
}

/** @throws Failure `record_broken` */
export function refuseOtherHeads({ heads }: Manifest, store: Store): void {
  const found = headsOf(store);
  for (const slug of new Set([...Object.keys(heads), ...Object.keys(found)])) {
    const [signed, there] = [heads[slug], found[slug]];
    if (signed?.hash === there?.hash) continue;
    const [ends, said] = [there, signed].map((head) =>
      head === undefined ? 'is not there' : `ends with row ${head.seq}, ${head.hash}`,
    );
    throw refused(`The record of ${slug} ${ends}; in its manifest it ${said}.`);
  }
}

function refused(why: string, fix = 'Give another copy of the file with its manifest, or an earlier backup.'): Failure {
  return new Failure('record_broken', {
    what: 'Nothing was restored: the backup is not as the node signed it.',
    why,
    fix,
  });
}

function jsonIn(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function measured(path: string): { readonly bytes: number; readonly sha256: string } {
  const hash = createHash('sha256');
  const file = fs.openSync(path, 'r');
  const chunk = Buffer.alloc(1 << 20);
  let bytes = 0;
  try {
    for (let read = 1; read > 0; bytes += read) {
      read = fs.readSync(file, chunk);
      hash.update(chunk.subarray(0, read));
    }
  } finally {
    fs.closeSync(file);
  }
  return { bytes, sha256: hash.digest('hex') };
}
