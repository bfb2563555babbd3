// A backup of a real node that is written to meanwhile, and what a folder restored from it does.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { Holder } from '../node/caller.js';
import { begin, serve, temporaryFolder, weir, weirHere } from './command-line.js';

/** A node with a machine `edge`, and what moves its contract to and fro: two rows. */
async function nodeOn(data: string) {
  const node = await serve(['--data', data]);
  const owner = await Holder.minted(node.url);
  const path = `/api/chain/edge/contracts/${await owner.contractOn('edge', { threshold: 5 }, true)}/transition`;
  const flip = async () => {
    for (const to of ['limiting', 'allowing'])
      expect((await owner.post(path, { to, hold_cycles: 1_000 })).status).toBe(200);
  };
  return { node, owner, flip };
}

it('a backup of a node that is written to is restored with its key; a newer signed head shows the rollback', async () => {
  const folder = temporaryFolder();
  const [data, file, restored] = ['data', 'weir.backup', 'restored'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const { node, owner, flip } = await nodeOn(data);
  let isWriting = true;
  let acknowledged = 0;
  const writing = (async () => {
    while (isWriting) {
      await flip();
      acknowledged += 1;
    }
  })();
  while (acknowledged < 3) await new Promise(setImmediate);
  const made = JSON.parse((await weir(['node', 'backup', file, '--data', data, '--with-key', '--json'])).out);
  isWriting = false;
  await writing;
  await flip();
  const env = { WEIR_CONFIG: join(folder, 'home'), WEIR_URL: node.url };
  const [record, head] = [join(folder, 'edge.ndjson'), join(folder, 'edge.head')];
  const exported = await weirHere(['node', 'record', 'edge', '--out', record], env);
  const mistaken = await weirHere(['verify', file, '--pin', node.fingerprint]);
  expect([mistaken.code, mistaken.err]).toEqual([2, expect.stringContaining('is a database, and no exported record')]);
  const fresh = await weirHere(['verify', record, '--pin', node.fingerprint, '--out', head]);
  const left = readdirSync(data).sort();
  await node.stop();

  const back = JSON.parse((await weirHere(['node', 'restore', file, '--data', restored, '--json'])).out);
  const again = await serve(['--data', restored]);
  const after = owner.at(again);
  const [rows, verified] = [await after.rows('edge', 'limit=250'), await after.verified('edge')];
  const own = (await after.get('/api/chain/state-machines/edge')).body.machine.is_own;
  await weirHere(['node', 'record', 'edge', '--out', join(folder, 'back.ndjson')], { ...env, WEIR_URL: again.url });
  const rollback = await weirHere(
    `verify ${join(folder, 'back.ndjson')} --pin ${node.fingerprint} --checkpoint ${head} --json`,
  );
  const kept = [file, `${file}.manifest.json`, `${file}.node.json`];
  const modes = [...kept, join(restored, 'weir.db'), join(restored, 'node.json')].map(
    (path) => statSync(path).mode & 0o777,
  );
  expect({ made, modes, left, fresh: [exported.code, fresh.code] }).toMatchObject({
    made: { ok: true, machines: 1, fingerprint: node.fingerprint, manifest: `${file}.manifest.json` },
    modes: [0o600, 0o600, 0o600, 0o600, 0o600],
    left: ['node.json', 'weir.db', 'weir.db-wal', 'weir.heads', 'weir.pid', 'weir.sock'],
    fresh: [0, 0],
  });
  expect([back.rows, back.newest_at, back.lost, again.fingerprint, own, verified.valid]).toEqual([
    made.rows,
    made.newest_at,
    null,
    node.fingerprint,
    true,
    true,
  ]);
  // What was acknowledged before the backup began is there.
  expect(rows.length).toBeGreaterThanOrEqual(2 + 3);
  const { first_broken } = JSON.parse(rollback.out);
  expect([rollback.code, ['tail', 'checkpoint'].includes(first_broken.check)]).toEqual([1, true]);
});

it('a backup that is killed leaves nothing half, and none is made where no node runs', async () => {
  const folder = temporaryFolder();
  const [data, file] = [join(folder, 'data'), join(folder, 'weir.backup')] as const;
  const { node, flip } = await nodeOn(data);
  for (let n = 0; n < 30; n += 1) await flip();
  const line = ['node', 'backup', file, '--data', data, '--with-key', '--json'];
  const parts = () => readdirSync(folder).filter((name) => name.startsWith('weir.backup'));
  const ends: string[] = [];
  for (const ms of [250, 350, 450, 550, 700]) {
    const backup = begin(line);
    await new Promise((resolve) => setTimeout(resolve, ms));
    backup.child.kill('SIGKILL');
    await backup.ended;
    // The manifest is the last: with it the backup is whole.
    if (parts().includes('weir.backup.manifest.json'))
      ends.push((await weirHere(['node', 'restore', file, '--data', join(folder, `restored-${ms}`)])).err);
    for (const name of parts()) rmSync(join(folder, name));
  }
  const copies = () => readdirSync(data).filter((name) => name.startsWith('weir.copy-'));
  while (copies().length > 0) await new Promise((resolve) => setTimeout(resolve, 20));
  await node.stop('SIGKILL');
  const { code, out } = await weirHere(line);
  expect([ends.filter((err) => err !== ''), code, JSON.parse(out).code, parts()]).toEqual([
    [],
    5,
    'node_unreachable',
    [],
  ]);
});
