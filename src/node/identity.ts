// The identity of a node: its signing key, the successions from earlier keys, and the cycle length. One file, made on the first start.
//
//   node.json   {"cycle_ms":777,"private_key":"-----BEGIN PRIVATE KEY-----…","successions":[…],"checksum":"6f1c…"}
//
// The checksum is the SHA-256 of the canonical JSON of the other fields: a flipped bit would silently change the key, the cycle length or the
// past. Key and successions share a file because a node cannot start with only one of them updated.
import { join } from 'node:path';
import { readPrivate, writePrivate } from '../core/files/private-file.js';
import { type Succession, SuccessionShape } from '../core/record/row.js';
import { reader } from '../core/record/shape.js';
import { newPrivateKeyPem, type Signer, signerFromPem, signSuccession } from '../core/record/signing.js';
import { digestOf } from '../core/schema/canonical.js';
import { Failure } from '../core/schema/failure.js';
import { exact } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { CYCLE_MS } from '../core/time/cycle.js';

export interface Identity {
  readonly signer: Signer;
  /** Oldest first. */
  readonly successions: readonly Succession[];
  readonly cycleMs: number;
  readonly isNew: boolean;
}

const readIdentity = reader(
  exact({
    cycle_ms: Type.Integer({ minimum: 1 }),
    private_key: Type.String(),
    successions: Type.Array(SuccessionShape),
    checksum: Type.String(),
  }),
);

/**
 * Loads the identity in a data folder, or creates it in a folder without data.
 * @param dir a folder that this process has locked
 * @param cycleMs for a new identity; an existing one must have the same, if given
 * @throws Failure `unreadable_file`, `unwritable_folder`, `wrong_usage` for another cycle length
 */
export function identityIn(dir: string, hasData: boolean, cycleMs?: number): Identity {
  const known = load(dir);
  if (known === undefined) {
    if (hasData) throw missing(pathIn(dir));
    const pem = newPrivateKeyPem();
    const made = { cycleMs: cycleMs ?? CYCLE_MS, successions: [] };
    save(dir, pem, made);
    return { ...made, signer: signerFromPem(pem), isNew: true };
  }
  if (cycleMs !== undefined && cycleMs !== known.cycleMs)
    throw new Failure('wrong_usage', {
      what: `The data in ${dir} cannot be continued with cycles of ${cycleMs} ms.`,
      why: `They were kept with cycles of ${known.cycleMs} ms, and their numbers would mean another time.`,
      fix: `Leave --cycle-ms out, or choose another folder.`,
    });
  return known;
}

/** The present key signs the new one. @throws Failure `unreadable_file`, `unwritable_folder` */
export function rotateKey(dir: string, identity: Identity, cycleNow: number): Identity {
  const { signer: previous, successions, cycleMs } = identity;
  const pem = newPrivateKeyPem();
  const signer = signerFromPem(pem);
  // Not before the last change: successions stay in cycle order even if the wall clock was set back.
  const cycle = Math.max(cycleNow, successions.at(-1)?.cycle ?? 0);
  const next = { cycleMs, successions: [...successions, signSuccession(previous, signer.publicKey, cycle)] };
  save(dir, pem, next);
  return { ...next, signer, isNew: true };
}

function load(dir: string): Identity | undefined {
  const path = pathIn(dir);
  const file = readPrivate(path);
  if (file === undefined) return undefined;
  const read = readIdentity(file.value);
  if ('fault' in read) throw unreadable(path, `It does not look like one: ${read.fault}.`);
  const { checksum, ...content } = read.value;
  if (checksum !== digestOf(content)) {
    throw unreadable(path, 'Its checksum does not fit: the file was changed, or the disk lost a bit of it.');
  }
  const { cycle_ms: cycleMs, private_key, successions } = content;
  try {
    return { signer: signerFromPem(private_key), successions, cycleMs, isNew: false };
  } catch (error) {
    throw unreadable(path, 'Its private_key is no Ed25519 key.', error);
  }
}

function save(dir: string, pem: string, { cycleMs, successions }: Pick<Identity, 'cycleMs' | 'successions'>): void {
  const content = { cycle_ms: cycleMs, private_key: pem, successions };
  writePrivate(pathIn(dir), `${JSON.stringify({ ...content, checksum: digestOf(content) }, undefined, 2)}\n`);
}

function pathIn(dir: string): string {
  return join(dir, 'node.json');
}

function unreadable(path: string, why: string, cause?: unknown): Failure {
  return new Failure('unreadable_file', {
    what: `The key of the node in ${path} cannot be read.`,
    why,
    fix: 'Put a copy of the file back. Without it the node gets a new key, which clients that pinned the old one refuse.',
    cause,
  });
}

/** With a new key, every record in the folder would fail its verification. */
function missing(path: string): Failure {
  return new Failure('unreadable_file', {
    what: `The key of the node, ${path}, is missing.`,
    why: 'The database beside it holds records that were signed with that key.',
    fix: 'Put a copy of the file back, or choose another folder for a new node.',
  });
}
