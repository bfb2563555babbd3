// What a backup holds, what a folder restored from it lacks, and what is refused; the commands are in test/cli/backup.long.test.ts.
import {
  copyFileSync,
  existsSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { signText } from '../../src/core/record/signing.js';
import { canonicalJson } from '../../src/core/schema/canonical.js';
import { copyInFolder, keepCopy, keyFileOf, restore } from '../../src/node/backup.js';
import { manifestFileOf } from '../../src/node/backup-manifest.js';
import { identityIn } from '../../src/node/identity.js';
import { startNode } from '../../src/node/node.js';
import { openStorage } from '../../src/node/node-storage.js';
import { openOperatorSocket } from '../../src/node/operator-socket.js';
import type { Key } from '../../src/node/store/credential-store.js';
import { sqlite } from '../../src/node/store/sqlite-library.js';
import { codeOf, failureOf } from '../failures.js';
import { temporaryFolder } from '../left-behind.js';

const nothing = () => {};

const KEY: Key = {
  ...{ id: 'one', hash: 'a'.repeat(64), owner: 'owner', createdAtMs: 0, expiresAtMs: 9e15, isRevoked: false },
  ...{ scopes: ['admin'], machine: undefined },
};

/** An empty folder, and where the data of a node and its backup are in it. */
function places() {
  const folder = temporaryFolder();
  const at = (name: string) => join(folder, name);
  return { folder, at, dir: at('data'), file: at('backup'), keyFile: keyFileOf(at('backup')) };
}

/** A node on a data folder; with `edge` there, a contract of it is moved so many times. */
async function nodeIn(dir: string, acceptLoss = false) {
  const storage = openStorage({ dir, cycleMs: 3_600_000, acceptLoss, onError: nothing });
  const { signer, successions } = storage.identity;
  const node = await startNode({ ...storage, signer, successions });
  const { host } = node;
  if (!host.machines.has('edge')) {
    host.createMachine({ slug: 'edge' });
    host.createContract('edge', rateLimiter({ threshold: 5, within: 60 }));
  }
  const move = (times: number) => {
    const [contract] = host.machine('edge').contracts;
    for (let time = 0; time < times; time += 1) {
      host.transition(contract!, { to: contract!.state === 'limiting' ? 'allowing' : 'limiting', holdCycles: 100 });
    }
    host.commit();
  };
  return { node, move, stored: storage.stored!, kinds: () => storage.store.rows('edge').map(({ kind }) => kind) };
}

async function backedUp(dir: string, file: string, withKey: boolean) {
  const { node, move, stored } = await nodeIn(dir);
  move(2);
  const kept = keepCopy(await copyInFolder(stored, nothing), dir, file, withKey, nothing);
  return { node, move, kept };
}

it('a backup is that of one commit while others follow, and leaves nothing in the folder of the node', async () => {
  const { dir, file } = places();
  const { node, move, stored } = await nodeIn(dir);
  move(300);
  let steps = 0;
  const copy = await copyInFolder(stored, () => {
    steps += 1;
    move(2);
  });
  move(5);
  const kept = keepCopy(copy, dir, file, false, nothing);
  const after = node.host.machine('edge').head.seq;
  await node.close();
  expect([kept.machines, steps > 1, existsSync(keyFileOf(file))]).toEqual([1, true, false]);
  expect(readdirSync(dir).sort()).toEqual(['node.json', 'weir.db', 'weir.heads']);
  // Each step is between two commits: pairs of moves, behind the rows of machine and contract.
  expect([kept.rows >= 2 + 300, kept.rows <= after - 5, kept.rows % 2]).toEqual([true, true, 0]);
});

it('a backup that nobody took is gone after the next start, and nothing else is', async () => {
  const dir = join(temporaryFolder(), 'data');
  const { node, stored } = await nodeIn(dir);
  await copyInFolder(stored, nothing);
  for (const mine of ['weir.copy-of-mine', 'backup']) mkdirSync(join(dir, mine));
  const door = await openOperatorSocket(dir, stored, pino({ level: 'silent' }), node.evict);
  door?.close();
  await node.close();
  expect(readdirSync(dir).sort()).toEqual(['backup', 'node.json', 'weir.copy-of-mine', 'weir.db', 'weir.heads']);
});

it('a backup of a node with an open transaction holds what was written in it', async () => {
  const { dir, file } = places();
  const { node, stored } = await nodeIn(dir);
  stored.putMachine({ slug: 'waits', owner: '', isPublic: false, displayName: '', createdCycle: 0 });
  const { machines } = keepCopy(await copyInFolder(stored, nothing), dir, file, false, nothing);
  await node.close();
  expect(machines).toBe(2);
});

it('a restored folder goes on as the same node, and the heads of the lost folder say which rows are missing', async () => {
  const { at, dir, file, keyFile } = places();
  const [back, blind] = [at('back'), at('blind')];
  const { node, move, kept } = await backedUp(dir, file, true);
  move(3);
  await node.close();
  const restored = restore({ file, dir: back, keyFile, heads: join(dir, 'weir.heads') }, nothing);
  const unaware = restore({ file, dir: blind, keyFile }, nothing);
  const started = await nodeIn(blind);
  const kinds = started.kinds();
  await started.node.close();
  const { bytes: _, ...facts } = kept;
  expect(restored).toEqual({ ...facts, lost: [{ machine: 'edge', fromSeq: 5, toSeq: 7 }] });
  expect(unaware).toEqual({ ...facts, lost: [] });
  expect(kinds).toEqual(['machine_created', 'contract_created', 'transition', 'transition']);
  await expect(nodeIn(back)).rejects.toMatchObject({ code: 'rows_missing' });
  const accepted = await nodeIn(back, true);
  const noted = accepted.kinds();
  await accepted.node.close();
  expect(noted).toEqual([...kinds, 'rows_lost']);
});

it('a backup that does not hold is not restored, nor is one over what is there', async () => {
  const { at, dir, file, keyFile } = places();
  await (await backedUp(dir, file, true)).node.close();
  const bytes = readFileSync(file);
  writeFileSync(at('cut'), bytes.subarray(0, bytes.length - 8192));
  writeFileSync(at('text'), 'no database');
  copyFileSync(file, at('alone'));
  for (const name of ['cut', 'text']) copyFileSync(manifestFileOf(file), manifestFileOf(at(name)));
  writeFileSync(at('bad.json'), '{}');
  mkdirSync(at('full'));
  writeFileSync(at('full/mine'), 'kept');
  await (await nodeIn(at('other'))).node.close();
  const refusal = (from: string, to: string, key: string) =>
    failureOf(() => restore({ file: at(from), dir: at(to), keyFile: key }, nothing));
  // A backup, a folder, a key, the code, and what or why.
  for (const [from, to, key, code, words] of [
    ['cut', 'a', keyFile, 'record_broken', /The file has \d+ bytes, and its manifest says \d+\./],
    ['text', 'a', keyFile, 'record_broken', /The file has 11 bytes, and its manifest says \d+\./],
    ['alone', 'a', keyFile, 'unreadable_file', /The manifest of the backup cannot be read\./],
    ['backup', 'a', at('other/node.json'), 'record_broken', /was signed by another key, or has changed/],
    ['backup', 'a', at('none.json'), 'unreadable_file', /none\.json cannot be read/],
    ['backup', 'a', at('bad.json'), 'unreadable_file', /bad\.json cannot be read/],
    ['none', 'a', keyFile, 'unreadable_file', /none cannot be read/],
    ['backup', 'full', keyFile, 'wrong_usage', /is not empty/],
    ['backup', 'text', keyFile, 'unwritable_folder', /text cannot be written\. A part of the path is a file/],
  ] as const) {
    const { code: found, what, why, fix } = refusal(from, to, key)!;
    expect([from, to, found, `${what} ${why}`]).toEqual([from, to, code, expect.stringMatching(words)]);
    expect(fix).toMatch(/\w/);
    expect(existsSync(at(to))).toBe(to !== 'a');
  }
  expect(readdirSync(at('full'))).toEqual(['mine']);
  const noHeads = failureOf(() => restore({ file, dir: at('a'), keyFile, heads: at('text') }, nothing));
  expect([noHeads?.code, noHeads?.why]).toEqual(['unreadable_file', 'No node wrote it.']);
  expect(refusal('backup', 'a', keyFile)).toBe(undefined);
});

it.each<[what: string, sql: string]>([
  ['a key that was put in', "INSERT INTO keys VALUES ('k', 'h', 'me', 9e15, 0, '{}')"],
  ['a count', "UPDATE states SET bytes = x'00'"],
  ['a limit', "UPDATE definitions SET text = replace(text, '5', '6')"],
  ['an answer', 'DELETE FROM commits'],
  ['a trigger', 'CREATE TRIGGER t AFTER INSERT ON keys BEGIN DELETE FROM keys; END'],
  ['nothing but the order of its pages', 'VACUUM'],
])('a backup is not restored where somebody changed %s', async (_, sql) => {
  const { at, dir, file, keyFile } = places();
  const { node, stored } = await nodeIn(dir);
  stored.credentials.putKey(KEY);
  keepCopy(await copyInFolder(stored, nothing), dir, file, true, nothing);
  await node.close();
  const whole = readFileSync(file);
  const database = new (sqlite())(file);
  database.pragma('journal_mode = DELETE');
  database.exec(sql);
  database.close();
  expect(codeOf(() => restore({ file, dir: at('a'), keyFile }, nothing))).toBe('record_broken');
  expect(existsSync(at('a'))).toBe(false);
  const flipped = Buffer.from(whole);
  flipped[4096 + Math.floor((whole.length - 4096) / 3)]! ^= 1;
  writeFileSync(file, flipped);
  expect(failureOf(() => restore({ file, dir: at('a'), keyFile }, nothing))?.why).toMatch(/The digest of the file/);
  writeFileSync(file, whole);
  expect(codeOf(() => restore({ file, dir: at('b'), keyFile }, nothing))).toBe('done');
});

it('a backup is not restored where its manifest was changed, or names other heads', async () => {
  const { at, dir, file, keyFile } = places();
  await (await backedUp(dir, file, true)).node.close();
  const path = manifestFileOf(file);
  const whole = readFileSync(path, 'utf8');
  const { signature: _, ...body } = JSON.parse(whole);
  const { signer } = identityIn(dir, true);
  const signed = (changes: object) => {
    const changed = { ...body, ...changes };
    return JSON.stringify({ ...changed, signature: signText(signer, 'backup', canonicalJson(changed)) });
  };
  const edge = { ...body.heads.edge, hash: 'a'.repeat(64) };
  const { edge: _gone, ...others } = body.heads;
  for (const [text, why] of [
    [whole.replace(/"sha256":"./, '"sha256":"x'), /was signed by another key, or has changed/],
    [whole.replace('"seq":4', '"seq":3'), /was signed by another key, or has changed/],
    [whole.replace('"edge"', '"edgy"'), /was signed by another key, or has changed/],
    [whole.slice(0, -20), /is not as a node writes it/],
    ['{}', /is not as a node writes it: .*required/],
    [
      signed({ heads: { ...body.heads, edge } }),
      /The record of edge ends with row 4, .*; in its manifest it ends with row 4, a{64}/,
    ],
    [signed({ heads: others }), /The record of edge ends with row 4, .*; in its manifest it is not there/],
    [
      signed({ heads: { ...body.heads, lost: edge } }),
      /The record of lost is not there; in its manifest it ends with row 4/,
    ],
  ] as const) {
    writeFileSync(path, text);
    const { code, why: found } = failureOf(() => restore({ file, dir: at('a'), keyFile }, nothing))!;
    expect([code, found]).toEqual(['record_broken', expect.stringMatching(why)]);
    expect(existsSync(at('a'))).toBe(false);
  }
  writeFileSync(path, signed({}));
  expect(codeOf(() => restore({ file, dir: at('a'), keyFile }, nothing))).toBe('done');
});

it('a backup follows no link that somebody planted', async () => {
  const { at, dir, file, keyFile } = places();
  const mine = at('mine');
  writeFileSync(mine, 'kept');
  const made = [file, keyFile, manifestFileOf(file)];
  for (const planted of made) symlinkSync(mine, planted);
  await (await backedUp(dir, file, true)).node.close();
  expect([readFileSync(mine, 'utf8'), lstatSync(mine).mode & 0o777]).toEqual(['kept', 0o644]);
  for (const path of made) expect(lstatSync(path).mode & 0o170777).toBe(0o100600);
});
