// A backup of a real node that is written to meanwhile, and what a folder restored from it does.
import { readdirSync, rmSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { ask } from '../node/asking.js';
import { begin, type Serving, serve, temporaryFolder, weir, weirHere } from './command-line.js';

/** A node with a machine `edge` whose contract moves whenever it is asked to. */
async function nodeOn(data: string) {
  const node = await serve(['--data', data]);
  const { key } = await ask(node.url, 'POST', '/api/demo-key/mint');
  await ask(node.url, 'POST', '/api/chain/state-machines', key, { slug: 'edge', is_public: true });
  const made = await ask(node.url, 'POST', '/api/contracts/templates/rate-limiter/deploy', key, {
    slug: 'edge',
    threshold: 5,
  });
  return { node, key, contract: made.contract.id as string };
}

/** Writes two rows. */
async function flip(node: Serving, key: string, contract: string): Promise<void> {
  for (const to of ['limiting', 'allowing']) {
    const path = `/api/chain/edge/contracts/${contract}/transition`;
    const { ok } = await ask(node.url, 'POST', path, key, { to, hold_cycles: 1_000 });
    expect(ok).toBe(true);
  }
}

it('a backup of a node that is written to is restored with its key; a newer signed head shows the rollback', async () => {
  const folder = temporaryFolder();
  const [data, file, restored] = ['data', 'weir.backup', 'restored'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  const { node, key, contract } = await nodeOn(data);
  let isWriting = true;
  let acknowledged = 0;
  const writing = (async () => {
    while (isWriting) {
      await flip(node, key, contract);
      acknowledged += 1;
    }
  })();
  while (acknowledged < 3) await new Promise(setImmediate);
  const made = JSON.parse((await weir(['node', 'backup', file, '--data', data, '--with-key', '--json'])).out);
  isWriting = false;
  await writing;
  await flip(node, key, contract);
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
  const { rows } = await ask(again.url, 'GET', '/api/chain/edge/state?limit=250');
  const verified = await ask(again.url, 'GET', '/api/chain/edge/state/verify');
  const own = (await ask(again.url, 'GET', '/api/chain/state-machines/edge', key)).machine.is_own;
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
  const { node, key, contract } = await nodeOn(data);
  for (let n = 0; n < 30; n += 1) await flip(node, key, contract);
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
