// Backups of a data folder: copied by the running node, which has it locked, verified beside it, and restored into an empty folder.
//
//   node ─► DIR/weir.copy-x/weir.db, in pages ─► chains, operators, signatures verified ─► FILE ─► its manifest, signed
//   FILE, manifest, node.json ─► an empty folder ─► the manifest, then each record verified ─► left there, or removed as a whole
import { randomUUID } from 'node:crypto';
import * as fs from 'node:fs';
import { join, resolve } from 'node:path';
import { Failure } from '../core/schema/failure.js';
import { unreadableFailure } from '../core/schema/text-file.js';
import { unwritableFailure } from '../core/schema/unwritable.js';
import {
  checkedManifest,
  headsOf,
  type Manifest,
  manifestFileOf,
  refuseOtherHeads,
  signManifest,
} from './backup-manifest.js';
import { type Identity, identityIn } from './identity.js';
import { keysOf } from './node-context.js';
import { COMMITS, CYCLE, HeadMark, type MissingRows } from './store/head-mark.js';
import { openSqliteStore, type SqliteStore } from './store/sqlite.js';
import { verifierOf } from './verifications.js';

export type OnProgress = (what: 'copy' | 'verify', done: number, all: number) => void;

export interface Kept {
  readonly machines: number;
  readonly rows: number;
  /** When the newest row was written, ISO 8601; null without rows. */
  readonly newest_at: string | null;
  readonly fingerprint: string;
}

const COPY = 'weir.copy-';

/** Free space to leave, so that a backup never fills the node's disk. */
const SPARE_BYTES = 64 * 2 ** 20;

/** Copies a store into a new subfolder, which the caller removes. @throws Failure `disk_full`, `unwritable_folder` */
export async function copyInFolder(store: SqliteStore, onProgress: OnProgress): Promise<string> {
  const { dir } = store;
  refuseWithoutRoom(dir);
  const folder = fs.mkdtempSync(join(dir, COPY));
  try {
    const path = join(folder, 'weir.db');
    fs.closeSync(fs.openSync(path, 'wx', 0o600));
    await store.backup(path, (left, all) => onProgress('copy', all - left, all));
    return folder;
  } catch (error) {
    fs.rmSync(folder, { recursive: true, force: true });
    throw new Failure('unwritable_folder', {
      what: 'The backup was not made.',
      why: `${(error as Error).message}.`,
      fix: 'Make room on the disk of the data folder. The node itself goes on.',
      cause: error,
    });
  }
}

export function removeLeftCopies(dir: string): void {
  const left = fs.readdirSync(dir).filter((name) => name.startsWith(COPY) && name.length === COPY.length + 6);
  for (const name of left) fs.rmSync(join(dir, name), { recursive: true, force: true });
}

function refuseWithoutRoom(dir: string): void {
  const needed = ['weir.db', 'weir.db-wal'].reduce(
    (sum, name) => sum + (fs.statSync(join(dir, name), { throwIfNoEntry: false })?.size ?? 0),
    SPARE_BYTES,
  );
  const { bavail, bsize } = fs.statfsSync(dir);
  if (bavail * bsize >= needed) return;
  throw new Failure('disk_full', {
    what: 'The backup was not made.',
    why: `It needs ${Math.ceil(needed / 2 ** 20)} MB beside the data for a moment, and ${Math.floor((bavail * bsize) / 2 ** 20)} MB are free.`,
    fix: 'Make room on the disk of the data folder.',
  });
}

/**
 * Verifies a copy and moves it to its file; its manifest is written last. The copy's folder is removed in any case.
 * @param withKey whether the node's key is put beside the file, as `FILE.node.json`
 * @throws Failure `record_broken`, `store_damaged`, `unwritable_folder`
 */
export function keepCopy(
  folder: string,
  dir: string,
  file: string,
  withKey: boolean,
  onProgress: OnProgress,
): Kept & { readonly bytes: number } {
  const made: string[] = [];
  try {
    const identity = identityIn(dir, true);
    const [kept, heads] = inStore(folder, (store) => [verified(store, identity, onProgress), headsOf(store)]);
    const [copy, manifest] = ['weir.db', 'manifest.json'].map((name) => join(folder, name)) as [string, string];
    fs.writeFileSync(manifest, signManifest(identity.signer, copy, file, heads), { mode: 0o600 });
    const { size: bytes } = fs.statSync(copy);
    const parts = [
      [copy, file],
      ...(withKey ? [[join(dir, 'node.json'), keyFileOf(file)]] : []),
      [manifest, manifestFileOf(file)],
    ];
    for (const [from, to] of parts as [string, string][]) {
      if (from.startsWith(folder)) moved(from, to);
      else copied(from, to);
      made.push(to);
    }
    return { bytes, ...kept };
  } catch (error) {
    for (const path of made) fs.rmSync(path, { force: true });
    throw error;
  } finally {
    fs.rmSync(folder, { recursive: true, force: true });
  }
}

export function keyFileOf(file: string): string {
  return `${file}.node.json`;
}

interface RestoreOptions {
  readonly file: string;
  readonly dir: string;
  readonly keyFile: string;
  /** `weir.heads` of the lost folder, which names rows that the backup may lack. */
  readonly heads?: string | undefined;
}

/**
 * Makes a data folder from a backup, and removes it if it does not verify.
 * @throws Failure `wrong_usage` (not empty), `unreadable_file`, `unwritable_folder`, `record_broken`
 */
export function restore(
  { file, dir: given, keyFile, heads }: RestoreOptions,
  onProgress: OnProgress,
): Kept & { readonly lost: readonly MissingRows[] } {
  const dir = resolve(given);
  const wasThere = emptyFolder(dir);
  try {
    copied(file, join(dir, 'weir.db'));
    copied(keyFile, join(dir, 'node.json'), `Copy the node.json of the node to ${keyFile}.`);
    const identity = naming(keyFile, () => identityIn(dir, true));
    const { signer, successions } = identity;
    const manifest = checkedManifest(file, join(dir, 'weir.db'), [
      signer.publicKey,
      ...successions.map(({ previous }) => previous),
    ]);
    const [kept, commits] = inStore(dir, (store) => {
      refuseOtherHeads(manifest, store);
      return [verified(store, identity, onProgress), store.commits];
    });
    return { ...kept, lost: heads === undefined ? [] : takeHeads(dir, heads, commits, manifest) };
  } catch (error) {
    for (const name of fs.readdirSync(dir)) fs.rmSync(join(dir, name), { recursive: true, force: true });
    if (!wasThere) fs.rmdirSync(dir);
    throw error;
  }
}

/** What is wrong with a copy is wrong with the file that was given: the copy is removed. */
function naming<T>(file: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (!(error instanceof Failure) || error.code !== 'unreadable_file') throw error;
    const { code, why, cause } = error;
    const what = `Nothing was restored: ${file} cannot be read.`;
    throw new Failure(code, { what, why, fix: 'Give another copy of the file.', cause });
  }
}

/** @returns whether it was there before */
function emptyFolder(dir: string): boolean {
  const wasThere = fs.existsSync(dir);
  try {
    if (!wasThere) fs.mkdirSync(dir, { mode: 0o700 });
    if (fs.readdirSync(dir).length === 0) return wasThere;
  } catch (error) {
    throw unwritableFailure(dir, error, 'Make the folder above it, or choose another place with --data.');
  }
  throw new Failure('wrong_usage', {
    what: 'Nothing was restored.',
    why: `The folder ${dir} is not empty.`,
    fix: 'Give a folder that is not there yet, with --data.',
  });
}

/** Only now: the store would have taken them for the backup's own when it opened. @returns the rows that they have and it lacks */
function takeHeads(dir: string, heads: string, commits: number, backup: Manifest): readonly MissingRows[] {
  copied(heads, join(dir, 'weir.heads'));
  const mark = new HeadMark(dir);
  if (mark.machines.length + mark.of(COMMITS) + mark.of(CYCLE) === 0)
    throw unreadableFailure(heads, new Error('no node wrote it'), 'Give the file weir.heads of the lost folder.');
  const lost = mark.missing((machine) => backup.heads[machine]?.seq ?? 0);
  mark.note(COMMITS, commits);
  mark.write();
  mark.close();
  return lost;
}

function inStore<T>(dir: string, read: (store: SqliteStore) => readonly [Kept, T]): readonly [Kept, T] {
  const store = openSqliteStore({ dir });
  try {
    return read(store);
  } finally {
    store.close();
  }
}

const PAGE = 500;

function verified(store: SqliteStore, { signer, successions }: Identity, onProgress: OnProgress): Kept {
  const keys = keysOf(signer, successions);
  const all = [...store.machines()].map(({ machine: { slug }, head, last }) => ({ slug, head, last }));
  const removed = new Map(all.map(({ slug }) => [slug, store.cut(slug)?.removed_to_seq ?? 0]));
  const toWalk = all.reduce((sum, { slug, head }) => sum + head.seq - removed.get(slug)!, 0);
  let rows = 0;
  for (const { slug } of all) {
    const verifier = verifierOf(store, slug, keys, store.checkpoint(slug));
    for (;;) {
      const page = store.rows(slug, { afterSeq: verifier.head.seq, limit: PAGE });
      const holds = page.every((row) => verifier.row(row, row.seq));
      rows += page.length;
      onProgress('verify', rows, toWalk);
      if (!holds || page.length < PAGE) break;
    }
    const { valid, first_broken: broken } = verifier.end();
    if (!valid) throw doesNotHold(slug, `${broken?.seq === undefined ? '' : `Row ${broken.seq}: `}${broken?.reason}`);
  }
  const newest = all.map(({ last }) => last?.at ?? '').reduce((late, at) => (at > late ? at : late), '');
  return { machines: all.length, rows, newest_at: newest || null, fingerprint: signer.fingerprint };
}

/** Copies a file with mode 0600 and fsync; it gets its name only when complete. */
function copied(from: string, to: string, fix = 'Check its name.'): void {
  try {
    fs.accessSync(from, fs.constants.R_OK);
    // A named pipe would block.
    if (!fs.statSync(from).isFile()) throw new Error('it is not a regular file');
  } catch (error) {
    throw unreadableFailure(from, error, fix);
  }
  // An unguessable new name: another user of the folder may have planted a link under a known one.
  const draft = `${to}.${randomUUID()}`;
  try {
    fs.copyFileSync(from, draft, fs.constants.COPYFILE_EXCL);
    fs.chmodSync(draft, 0o600);
    sync(draft);
    fs.renameSync(draft, to);
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw unwritableFailure(to, error, 'Choose another place, or make room on the disk.');
  }
}

function moved(from: string, to: string): void {
  sync(from);
  try {
    fs.renameSync(from, to);
  } catch {
    copied(from, to);
  }
}

function sync(path: string): void {
  const file = fs.openSync(path, 'r+');
  try {
    fs.fsyncSync(file);
  } finally {
    fs.closeSync(file);
  }
}

function doesNotHold(slug: string, why: string): Failure {
  return new Failure('record_broken', {
    what: `The copy is not kept: the record of ${slug} does not hold.`,
    why,
    fix: 'Give the node.json of the very node. If the node itself says the same of GET …/state/verify, restore an earlier backup.',
  });
}
