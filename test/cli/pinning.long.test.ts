import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { contractCreated, created, exported, first, recordOf } from '../core/record/sample-record.js';
import { ask } from '../node/asking.js';
import { personAt, serve, temporaryFolder, weir, weirHere } from './command-line.js';

it('a changed key of a node is refused, with both fingerprints and with words that tell what to do', async () => {
  const env = { WEIR_CONFIG: temporaryFolder() };
  const first = await serve(['--store', 'memory']);
  const { port } = new URL(first.url);
  const pinned = await weirHere(['node', 'clock', '--url', first.url], env);
  await first.stop();
  const other = await serve(['--store', 'memory', '--port', port]);
  const refused = await weir(['node', 'mint', '--url', other.url, '--json'], env);
  const { code, why, fix } = JSON.parse(refused.out);
  expect([pinned.code, pinned.err.includes(first.fingerprint), refused.code, code]).toEqual([
    0,
    true,
    1,
    'key_changed',
  ]);
  expect(why).toContain(other.fingerprint);
  expect(why).toContain(first.fingerprint);
  expect(fix).toMatch(/remove \S+pin\.json/);
});

it('a new key that the pinned one has named is followed, and a record of before holds by the old key alone', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serve(['--data', data]);
  const { port } = new URL(first.url);
  const env = await personAt(first.url, 'edge');
  const [older, later] = ['older.ndjson', 'later.ndjson'].map((name) => join(env.WEIR_CONFIG, name));
  await weirHere(['node', 'record', 'edge', '--out', older!], env);
  await first.stop();
  const second = await serve(['--data', data, '--rotate-key', '--port', port]);
  const followed = await weir(['node', 'record', 'edge', '--out', later!], env);
  expect([followed.code, followed.err.includes('has a new key')]).toEqual([0, true]);
  for (const [words, valid] of [
    [`verify ${older} --json`, true],
    [`verify ${later} --json`, true],
    [`verify ${later} --pin ${first.fingerprint} --json`, true],
    [`verify ${later} --pin ${second.fingerprint} --json`, true],
    [`verify ${older} --pin ${second.fingerprint} --json`, false],
  ] as const)
    expect([words, JSON.parse((await weirHere(words, env)).out).valid]).toEqual([words, valid]);
});

it('weir verify names the first row that does not hold where a row was changed or the tail was cut off', async () => {
  const node = await serve(['--store', 'memory']);
  const env = await personAt(node.url, 'edge');
  await weirHere(['node', 'deploy', 'edge'], env);
  const { out: record, code } = await weir(['node', 'record', 'edge'], env);
  const lines = record.split('\n');
  const verify = async (text: string) => {
    const told = await weirHere(['verify', '-', '--json'], env, text);
    const { valid, first_broken } = JSON.parse(told.out);
    return [told.code, valid, first_broken?.line ?? null, first_broken?.check ?? null];
  };
  const changed = lines.map((line, index) => (index === 1 ? line.replace('allowing', 'limiting') : line)).join('\n');
  expect([
    code,
    await verify(record),
    await verify(changed),
    await verify(lines.slice(0, 2).join('\n')),
    await verify(''),
  ]).toEqual([0, [0, true, null, null], [1, false, 2, 'hash'], [1, false, 3, 'tail'], [1, false, 1, 'tail']]);
});

it('weir verify takes a key as PEM, in base64 or as a fingerprint, and says when it trusts nobody', async () => {
  const node = await serve(['--store', 'memory']);
  const env = await personAt(node.url, 'edge');
  const file = join(env.WEIR_CONFIG, 'edge.ndjson');
  await weirHere(['node', 'record', 'edge', '--out', file], env);
  const { public_key, public_key_pem } = await ask(node.url, 'GET', '/api/updates/pubkey');
  const unpinned = { WEIR_CONFIG: temporaryFolder(), WEIR_URL: node.url };
  const keys = [public_key, public_key_pem, node.fingerprint, `SHA256:${'A'.repeat(43)}`, 'nonsense'];
  const told = await Promise.all(keys.map((key) => weirHere(['verify', file, `--pin=${key}`, '--json'], unpinned)));
  const alone = await weirHere(['verify', file], unpinned);
  const allowed = await weirHere(['verify', file, '--pin', 'none'], unpinned);
  expect(told.map(({ code }) => code)).toEqual([0, 0, 0, 1, 2]);
  expect([alone.code, alone.out.includes('nothing says who signed it'), alone.out.includes('--pin')]).toEqual([
    1,
    true,
    true,
  ]);
  expect([allowed.code, allowed.out.includes('no forgery')]).toEqual([0, true]);
  expect(readFileSync(file, 'utf8').split('\n').length).toBe(3);
});

it('weir verify saves the signed head of a record that holds, and finds by it what was rolled back or rewritten', async () => {
  const config = temporaryFolder();
  const env = { WEIR_CONFIG: config };
  const [long, short, forked, head] = ['long', 'short', 'forked', 'head'].map((name) => join(config, name));
  const drafts = [created, contractCreated('a', 'allowing'), contractCreated('b', 'allowing')];
  writeFileSync(long!, exported(recordOf(drafts)).join(''));
  writeFileSync(short!, exported(recordOf(drafts.slice(0, 2))).join(''));
  writeFileSync(forked!, exported(recordOf([created, contractCreated('x', 'allowing'), drafts[2]!])).join(''));
  const pin = ['--pin', first.publicKey, '--json'];
  const saved = await weirHere(['verify', long!, ...pin, '--out', head!], env);
  const checks: unknown[] = [];
  for (const record of [long!, short!, forked!]) {
    const { code, out } = await weirHere(['verify', record, ...pin, '--checkpoint', head!], env);
    checks.push([code, JSON.parse(out).first_broken?.check]);
  }
  expect([saved.code, checks]).toEqual([
    0,
    [
      [0, undefined],
      [1, 'tail'],
      [1, 'checkpoint'],
    ],
  ]);
});

it('weir verify --from goes on from a saved head, says which rows it skips, and takes no --checkpoint beside it', async () => {
  const config = temporaryFolder();
  const env = { WEIR_CONFIG: config };
  const [early, late, head] = ['early', 'late', 'head'].map((name) => join(config, name)) as [string, string, string];
  const drafts = [created, contractCreated('a', 'allowing'), contractCreated('b', 'allowing')];
  writeFileSync(early, exported(recordOf(drafts.slice(0, 2))).join(''));
  writeFileSync(late, exported(recordOf(drafts)).join(''));
  const pin = ['--pin', first.publicKey];
  await weirHere(['verify', early, ...pin, '--out', head], env);
  const told = await weirHere(['verify', late, ...pin, '--from', head, '--out', head], env);
  const asData = JSON.parse((await weirHere(['verify', late, ...pin, '--from', head, '--json'], env)).out);
  const rolledBack = await weirHere(['verify', early, ...pin, '--from', head], env);
  const both = await weirHere(['verify', late, ...pin, '--from', head, '--checkpoint', head], env);
  expect([told.code, told.out.includes('rows 1 to 2 were verified then, and not again'), asData.earlier]).toEqual([
    0,
    true,
    3,
  ]);
  expect([rolledBack.code, both.code]).toEqual([1, 2]);
});
