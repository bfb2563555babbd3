// A backup of a real node that is written to meanwhile, and what a folder restored from it does.
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ask } from '../node/asking.js';
import { type Serving, serve, temporaryFolder, weir, weirHere } from './command-line.js';

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

describe('weir node backup and weir node restore', () => {
  it('copy a node that is written to, and bring it back with its key; a newer signed head shows the rollback', async () => {
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
    await again.stop();
    const modes = [file, `${file}.node.json`, join(restored, 'weir.db'), join(restored, 'node.json')].map(
      (path) => statSync(path).mode & 0o777,
    );
    expect({ made, modes, left, fresh: [exported.code, fresh.code] }).toMatchObject({
      made: { ok: true, machines: 2, live: true, fingerprint: node.fingerprint },
      modes: [0o600, 0o600, 0o600, 0o600],
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
});
