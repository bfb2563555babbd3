// What a backup holds, what a folder restored from it lacks, and what is refused; the commands are in test/cli/backup.test.ts.
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
import { describe, expect, it } from 'vitest';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { copyInFolder, keepCopy, keyFileOf, restore } from '../../src/node/backup.js';
import { startNode } from '../../src/node/node.js';
import { openStorage } from '../../src/node/node-storage.js';
import { openOperatorSocket } from '../../src/node/operator-socket.js';
import type { Key } from '../../src/node/store/credential-store.js';
import { sqlite } from '../../src/node/store/sqlite-library.js';
import { codeOf } from '../failures.js';
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

describe('a backup', () => {
  it('is that of one commit while others follow, and leaves nothing in the folder of the node', async () => {
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

  it('that nobody took is gone after the next start, and nothing else is', async () => {
    const dir = join(temporaryFolder(), 'data');
    const { node, stored } = await nodeIn(dir);
    await copyInFolder(stored, nothing);
    for (const mine of ['weir.copy-of-mine', 'backup']) mkdirSync(join(dir, mine));
    const door = await openOperatorSocket(dir, stored, pino({ level: 'silent' }), node.evict);
    door?.close();
    await node.close();
    expect(readdirSync(dir).sort()).toEqual(['backup', 'node.json', 'weir.copy-of-mine', 'weir.db', 'weir.heads']);
  });

  it('is made of a node whose transaction waits for somebody to commit it', async () => {
    const { dir, file } = places();
    const { node, stored } = await nodeIn(dir);
    stored.putMachine({ slug: 'waits', owner: '', isPublic: false, displayName: '', createdCycle: 0 });
    const { machines } = keepCopy(await copyInFolder(stored, nothing), dir, file, false, nothing);
    await node.close();
    expect(machines).toBe(2);
  });
});

describe('a restored folder', () => {
  it('goes on as the same node; rows after the backup are missing, and the heads of the lost folder say which', async () => {
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

  it('is not made from what does not hold, nor over what is there', async () => {
    const { at, dir, file, keyFile } = places();
    await (await backedUp(dir, file, true)).node.close();
    const bytes = readFileSync(file);
    const changed = Buffer.from(bytes);
    changed.write('3', changed.indexOf('"S":') + 4);
    writeFileSync(at('changed'), changed);
    writeFileSync(at('cut'), bytes.subarray(0, bytes.length - 8192));
    writeFileSync(at('text'), 'no database');
    mkdirSync(at('full'));
    writeFileSync(at('full/mine'), 'kept');
    await (await nodeIn(at('other'))).node.close();
    for (const [from, to, key, code, isThere] of [
      ['changed', 'a', keyFile, 'record_broken', false],
      ['cut', 'a', keyFile, 'store_damaged', false],
      ['text', 'a', keyFile, 'store_damaged', false],
      ['backup', 'a', at('other/node.json'), 'record_broken', false],
      ['backup', 'a', at('none.json'), 'unreadable_file', false],
      ['backup', 'full', keyFile, 'wrong_usage', true],
      ['backup', 'a', keyFile, 'done', true],
    ] as const) {
      expect([from, to, codeOf(() => restore({ file: at(from), dir: at(to), keyFile: key }, nothing))]).toEqual([
        from,
        to,
        code,
      ]);
      expect(existsSync(at(to))).toBe(isThere);
    }
    expect(readdirSync(at('full'))).toEqual(['mine']);
    // The copies are gone: what is said is of the files that were given.
    writeFileSync(at('bad.json'), '{}');
    for (const [from, key, named] of [
      ['cut', keyFile, at('cut')],
      ['text', keyFile, at('text')],
      ['backup', at('bad.json'), at('bad.json')],
      ['backup', at('none.json'), at('none.json')],
      ['none', keyFile, at('none')],
    ] as const)
      expect(() => restore({ file: at(from), dir: at('b'), keyFile: key }, nothing)).toThrow(
        `${named} cannot be read.`,
      );
  });

  it.each<[what: string, sql: string]>([
    ['a key that was put in', "INSERT INTO keys VALUES ('k', 'h', 'me', 'admin', NULL, 0, 9e15, 0, NULL)"],
    ['the hash of a key', "UPDATE keys SET hash = 'mine'"],
    ['a count', "UPDATE states SET windows = x'00'"],
    ['a limit', "UPDATE definitions SET text = replace(text, '5', '6')"],
    ['an owner', "UPDATE machines SET owner = 'me'"],
    ['an answer', 'DELETE FROM commits'],
    ['a trigger', 'CREATE TRIGGER t AFTER INSERT ON keys BEGIN DELETE FROM keys; END'],
    ['a table', 'CREATE TABLE mine (x)'],
    ['what was signed', "UPDATE seal SET contents = replace(contents, '1', '2')"],
    ['the seal', 'DELETE FROM seal'],
    ['the table of the seal', 'DROP TABLE seal'],
    [
      'an index alone',
      "PRAGMA writable_schema = ON; UPDATE sqlite_schema SET sql = 'CREATE INDEX keys_by_expiry ON keys (owner)' WHERE name = 'keys_by_expiry'",
    ],
  ])('is not made where somebody changed %s', async (_, sql) => {
    const { at, dir, file, keyFile } = places();
    const swapped = at('swapped');
    const { node, stored } = await nodeIn(dir);
    stored.credentials.putKey(KEY);
    keepCopy(await copyInFolder(stored, nothing), dir, file, true, nothing);
    await node.close();
    copyFileSync(file, swapped);
    const database = new (sqlite())(swapped);
    database.unsafeMode(true);
    database.exec(sql);
    database.close();
    expect(codeOf(() => restore({ file: swapped, dir: at('a'), keyFile }, nothing))).toBe('record_broken');
    expect(existsSync(at('a'))).toBe(false);
    expect(codeOf(() => restore({ file, dir: at('b'), keyFile }, nothing))).toBe('done');
    const restored = new (sqlite())(at('b/weir.db'), { readonly: true });
    expect(restored.prepare("SELECT name FROM sqlite_schema WHERE name = 'seal'").all()).toEqual([]);
    expect(restored.pragma('integrity_check', { simple: true })).toBe('ok');
    restored.close();
  });

  it('an index that finds another row than the table holds is made anew', async () => {
    const { at, dir, file, keyFile } = places();
    const { node, stored } = await nodeIn(dir);
    const { hash } = KEY;
    stored.credentials.putKey(KEY);
    keepCopy(await copyInFolder(stored, nothing), dir, file, true, nothing);
    await node.close();
    const bytes = readFileSync(file);
    const offsets: number[] = [];
    for (let byte = bytes.indexOf(hash); byte >= 0; byte = bytes.indexOf(hash, byte + 1)) offsets.push(byte);
    // The table, and the index by the hash.
    expect(offsets).toHaveLength(2);
    const found = offsets.map((byte, n) => {
      const forged = Buffer.from(bytes);
      forged.write('b'.repeat(64), byte);
      writeFileSync(at(`forged-${n}`), forged);
      const code = codeOf(() => restore({ file: at(`forged-${n}`), dir: at(`back-${n}`), keyFile }, nothing));
      if (code !== 'done') return code;
      const database = new (sqlite())(at(`back-${n}/weir.db`), { readonly: true });
      const byHash = database.prepare('SELECT id FROM keys WHERE hash = ?');
      const ids = ['a', 'b'].map((of) => byHash.all(of.repeat(64)).length);
      database.close();
      return ids;
    });
    expect(found).toContainEqual([1, 0]);
    expect(found).toContainEqual('record_broken');
  });

  it('follows no link that somebody planted', async () => {
    const { at, dir, file, keyFile } = places();
    const mine = at('mine');
    writeFileSync(mine, 'kept');
    for (const planted of [`${file}.part`, `${keyFile}.part`, keyFile, file]) symlinkSync(mine, planted);
    await (await backedUp(dir, file, true)).node.close();
    expect([readFileSync(mine, 'utf8'), lstatSync(mine).mode & 0o777]).toEqual(['kept', 0o644]);
    for (const made of [file, keyFile]) expect(lstatSync(made).mode & 0o170777).toBe(0o100600);
  });
});
