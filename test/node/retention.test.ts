// Old rows of records are removed where the operator wants so: a signed cut is what readers find in their place.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { generateSigner, publicKeyFrom, signCheckpoint } from '../../src/core/record/signing.js';
import { pause } from '../../src/core/time/wall.js';
import { copyInFolder, keepCopy, keyFileOf, restore } from '../../src/node/backup.js';
import { boundsOf } from '../../src/node/bounds.js';
import { CallerQueue } from '../../src/node/caller-queue.js';
import { defaultLimits } from '../../src/node/limits.js';
import { startNode } from '../../src/node/node.js';
import { openStorage } from '../../src/node/node-storage.js';
import { Retention } from '../../src/node/retention.js';
import { MemoryCredentials } from '../../src/node/store/credential-store.js';
import { openSqliteStore } from '../../src/node/store/sqlite.js';
import { Usage } from '../../src/node/usage.js';
import { verifyExport } from '../core/record/verifying.js';
import { temporaryFolder } from '../left-behind.js';
import { virtualHost } from './host/virtual-host.js';
import { Listening } from './listening.js';
import { type Running, startRunning } from './running.js';

const KEEP = 20;

async function running() {
  const node = await startRunning({ cycleMs: 10, keepRows: KEEP });
  const owner = node.owner();
  const id = await owner.contractOn('m', {}, true);
  const move = async (times: number) => {
    for (let time = 0; time < times; time += 1) {
      const to = node.host.contract(id).state === 'limiting' ? 'allowing' : 'limiting';
      await owner.post(`/api/chain/m/contracts/${id}/transition`, { to, hold_cycles: 100_000 });
    }
  };
  return { node, move };
}

/** Waits until the record has no more rows than are kept, and a tenth. */
async function cutOf(node: Pick<Running, 'store' | 'host'>, slug = 'm') {
  const isLong = () => node.host.machine(slug).head.seq - (node.store.cut(slug)?.removed_to_seq ?? 0) > KEEP * 1.1;
  while (isLong()) await pause(5);
  return node.store.cut(slug)!;
}

it('a record of which so many rows are kept begins with a signed cut for every reader, and is bounded', async () => {
  const { node, move } = await running();
  await move(60);
  const cut = await cutOf(node);
  const { removed_to_seq: removed } = cut;
  const seqs = Array.from({ length: 62 - removed }, (_, index) => removed + 1 + index);
  expect(seqs.length).toBeGreaterThanOrEqual(KEEP);
  for (const query of ['', '?after_seq=3', `?after_seq=${removed}`, '?kind=transition']) {
    const { status, body } = await node.ask('GET', `/api/chain/m/state${query}`);
    expect([status, body.cut, body.head.seq, body.rows.map(({ seq }: any) => seq)]).toEqual([200, cut, 62, seqs]);
  }
  const paged = await node.ask('GET', '/api/chain/m/state?limit=5');
  expect([paged.body.rows.length, paged.body.next_after_seq]).toEqual([5, removed + 5]);
  const pinned = publicKeyFrom((await node.ask('GET', '/api/updates/pubkey')).body.public_key);
  const { body: exported } = await node.ask('GET', '/api/chain/m/state?format=ndjson');
  const { removed_to_seq: to_seq, at, cycle } = cut;
  expect(verifyExport(exported, { pinned })).toMatchObject({
    valid: true,
    rows: seqs.length,
    removed: { to_seq, at, cycle },
  });
  const { body: walked } = await node.ask('GET', '/api/chain/m/state/verify');
  expect([walked.valid, walked.rows, walked.removed.to_seq]).toEqual([true, seqs.length, removed]);
  await node.close();
  expect(node.errors).toEqual([]);
});

it('a stream that resumes before the cut says what is missing, and goes on behind it', async () => {
  const { node, move } = await running();
  await move(60);
  const cut = await cutOf(node);
  const { machine, removed_to_seq: removed, at } = cut;
  for (const last of ['0', '3', `${removed - 1}`]) {
    const listening = await Listening.to(node, '/api/chain/m/stream', { headers: { 'last-event-id': last } });
    const first = await listening.next('transition');
    const envelope = { specversion: '1.0', source: '/api/chain/m', time: at, datacontenttype: 'application/json' };
    expect(listening.heard[0]).toEqual({
      ...{ id: String(removed), event: 'rows_removed' },
      data: { ...envelope, id: `removed/${removed}`, type: 'weir.rows_removed', data: { ...cut, machine } },
    });
    expect(first.id).toBe(String(removed + 1));
  }
  const behind = await Listening.to(node, '/api/chain/m/stream', { headers: { 'last-event-id': String(removed) } });
  expect((await behind.next('transition')).id).toBe(String(removed + 1));
  expect(behind.of('rows_removed')).toEqual([]);
});

it('a record that is cut leaves room again to an owner whose records were full', async () => {
  const node = await startRunning({ cycleMs: 10, keepRows: 5, limits: { rows: { perOwner: 12, onNode: 1_000 } } });
  const owner = node.owner();
  await owner.createMachine('m');
  for (let made = 0; made < 40; made += 1) {
    while ((await owner.tryDeploy('m')).status !== 201) {
      expect(node.host.machine('m').head.seq).toBeGreaterThanOrEqual(12);
      await pause(5);
    }
  }
  expect(node.host.machine('m').head.seq).toBe(41);
});

it('a record is cut as far as it is signed, and to its length once it is signed further, without a new row', () => {
  const { clock, store, host, machine } = virtualHost(1_000, undefined, 10);
  const signer = generateSigner();
  const usage = new Usage(host, store, new MemoryCredentials(), boundsOf(clock, defaultLimits));
  const sources = { host, store, signer, clock, usage, limits: defaultLimits };
  const retention = new Retention({ ...sources, queue: new CallerQueue(clock), keepRows: KEEP });
  const contract = host.createContract('m', rateLimiter());
  host.durableRows.subscribe((row) => retention.take(row));
  const move = (times: number) => {
    for (let time = 0; time < times; time += 1)
      host.transition(contract, { to: contract.state === 'limiting' ? 'allowing' : 'limiting', holdCycles: 1e6 });
    host.commit();
  };
  const sign = () => store.putCheckpoint(signCheckpoint(signer, { machine: 'm', ...machine.head, cycle: 1_000 }));
  move(28);
  sign();
  move(30);
  retention.cut(1_001);
  expect([machine.head.seq, store.cut('m')?.removed_to_seq]).toEqual([60, 30]);
  retention.cut(1_002);
  expect(store.cut('m')?.removed_to_seq).toBe(30);
  sign();
  retention.cut(1_003);
  expect(store.cut('m')?.removed_to_seq).toBe(60 - KEEP);
});

const nothing = () => {};

async function nodeIn(dir: string, keepRows: number | undefined, rotateKey = false) {
  const ground = openStorage({ dir, cycleMs: 10, rotateKey, onError: nothing });
  const node = await startNode({ ...ground, ...ground.identity, keepRows });
  return { node, host: node.host, store: ground.stored!, signer: ground.identity.signer };
}

it('a data folder is backed up and restored with the cut of its record, and a new key signs that again', async () => {
  const folder = temporaryFolder();
  const [dir, file, back] = [join(folder, 'data'), join(folder, 'backup'), join(folder, 'back')];
  const { node, host, store } = await nodeIn(dir, KEEP);
  host.createMachine({ slug: 'm', isPublic: true });
  const contract = host.createContract('m', rateLimiter({ threshold: 5, within: 60 }));
  for (let time = 0; time < 50; time += 1)
    host.transition(contract, { to: contract.state === 'limiting' ? 'allowing' : 'limiting', holdCycles: 1e6 });
  host.commit();
  const cut = await cutOf({ host, store: store as never });
  const copy = keepCopy(await copyInFolder(store, nothing), dir, file, true, nothing);
  await node.close();
  expect(restore({ file, dir: back, keyFile: keyFileOf(file) }, nothing).rows).toBe(copy.rows);
  const found = openSqliteStore({ dir: back });
  expect([found.cut('m'), found.rows('m')[0]?.seq]).toEqual([cut, cut.removed_to_seq + 1]);
  found.close();

  const anew = await nodeIn(back, undefined, true);
  while (anew.store.cut('m')!.signature === cut.signature) await pause(5);
  const text = await (await fetch(`${anew.node.url}/api/chain/m/state?format=ndjson`)).text();
  await anew.node.close();
  expect(verifyExport(text, { pinned: publicKeyFrom(anew.signer.publicKey) })).toMatchObject({
    valid: true,
    removed: { to_seq: cut.removed_to_seq, at: cut.at, signed_by: anew.signer.fingerprint },
  });
});
