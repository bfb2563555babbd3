// What is deleted on a network of nodes, in time: records are removed after their retention and are not taken for lost ones, what owners leave
// whose keys have ended is deleted by one of the nodes, and the operator ends an owner at any of them.
import { join } from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import type { Limits } from '../../src/node/limits.js';
import { DIRECTORY, prefixOf } from '../../src/node/network/redis/buckets.js';
import { serve, weir } from '../cli/command-line.js';
import { temporaryFolder } from '../left-behind.js';
import { ask } from './asking.js';
import { Caller, gateOf, Holder, inTurn, statusAndCode } from './caller.js';
import { hasRedis, RedisServer, until } from './network/redis/server.js';
import { type NetworkNode, startNetworkNode } from './network-nodes.js';

const CYCLE_MS = 100;

let server: RedisServer | undefined;
let nodes: NetworkNode[] = [];

afterEach(async () => {
  const errors = nodes.flatMap((node) => node.errors);
  await Promise.all(nodes.map((node) => node.close()));
  server = undefined;
  nodes = [];
  expect(errors).toEqual([]);
});

async function begin(count: number, limits: Partial<Limits> = {}): Promise<void> {
  server = await RedisServer.start();
  const mint = { threshold: 100, within: 60, onNode: 1_000 };
  for (let index = 0; index < count; index += 1)
    nodes.push(await startNetworkNode(server.url, CYCLE_MS, undefined, { mint, ...limits }));
}

/** A new owner, who asks the first node. */
const mint = () => Holder.minted(nodes[0]!.url);
const contractOf = (owner: Caller, slug: string) => owner.contractOn(slug, { threshold: 1, within: 3 }, true);
const stranger = new Caller('');

const isReady = async (node: NetworkNode) => (await stranger.at(node).get('/readyz')).status === 200;
const kindOfLast = async (node: NetworkNode, slug: string) =>
  (await stranger.at(node).rows(slug, 'limit=250'))?.at(-1)?.kind;

describe.skipIf(!hasRedis)('deletion on a network (needs redis-server)', () => {
  it('the record of a deleted machine goes after its retention, its slug is free, and no node takes it for lost', async () => {
    await begin(2, { retentionMs: 3_000 });
    const dir = temporaryFolder();
    const start = () => startNetworkNode(server!.url, CYCLE_MS, undefined, { retentionMs: 3_000 }, { dir });
    let third = await start();
    const [owner, another] = [await mint(), await mint()];
    for (const slug of ['gone', 'also', 'stays']) {
      const gate = gateOf(slug, await contractOf(owner, slug));
      for (let times = 0; times < 3; times += 1) await owner.at(third).post(gate);
      expect((await owner.at(third).verified(slug)).valid).toBe(true);
    }
    await until(async () => (await owner.at(third).get('/api/chain/also/state')).body.head.seq >= 4);
    // One is deleted while a node with a folder knows of it, one while that node is down.
    await owner.delete('/api/chain/gone');
    await third.close();
    await owner.at(nodes[1]!).delete('/api/chain/also');
    expect(await kindOfLast(nodes[1]!, 'gone')).toBe('machine_deleted');
    for (const slug of ['gone', 'also'])
      for (const node of nodes)
        await until(async () => (await stranger.at(node).get(`/api/chain/${slug}/state`)).status === 404);
    const { connection } = nodes[0]!;
    const keys = ['gone', 'also'].flatMap((slug) => [...'mrwd'].map((kind) => `${prefixOf(slug)}${kind}:${slug}`));
    const left = await inTurn(keys, (key) => connection.command('EXISTS', key));
    expect(left).toEqual(left.map(() => 0));
    expect(await connection.command('SMEMBERS', `${DIRECTORY}machines`)).not.toContain('gone');
    third = await start();
    nodes.push(third);
    await until(() => isReady(third));
    // Another owner takes the name: the rows of its new record begin at 1.
    expect((await another.createMachine('gone', true)).status).toBe(201);
    for (const node of nodes) {
      const rows = await stranger.at(node).rows('gone');
      expect(rows.map(({ seq, kind }) => [seq, kind])).toEqual([[1, 'machine_created']]);
      expect((await stranger.at(node).verified('gone')).valid).toBe(true);
      expect((await owner.at(node).get('/api/limits')).body.machines.used).toBe(1);
    }
    await until(async () => (await Promise.all(nodes.map(isReady))).every(Boolean));
    expect(nodes.flatMap((node) => node.said())).toEqual([]);
    // What is missing without having been deleted is still noticed.
    await server!.ask('DEL', `${prefixOf('stays')}m:stays`);
    await until(async () => !(await isReady(third)));
  });

  it('a node that did not hear of a deletion learns of it when it looks the machine up', async () => {
    await begin(2);
    const owner = await mint();
    const id = await contractOf(owner, 'm');
    const path = `/api/chain/m/contracts/${id}`;
    const other = owner.at(nodes[1]!);
    expect((await other.get(path)).status).toBe(200);
    const { directory } = nodes[1]!;
    const follow = directory.follow.bind(directory);
    directory.follow = () => Promise.resolve();
    try {
      await owner.delete(path);
      const asks = [
        () => other.post(`${path}/gate`),
        () => other.event('m'),
        () => other.event('m'),
        () => other.delete(path),
      ];
      expect((await inTurn(asks, (ask) => ask())).map(statusAndCode)).toEqual([
        [404, 'contract_not_found'],
        [422, 'unknown_event_type'],
        [422, 'unknown_event_type'],
        [404, 'contract_not_found'],
      ]);
      await owner.delete('/api/chain/m');
      expect(statusAndCode(await other.tryDeploy('m'))).toEqual([410, 'machine_deleted']);
    } finally {
      directory.follow = follow;
    }
  });

  it('a node that ends before it announces a deletion leaves room that others find free when they read all again', async () => {
    await begin(2, { machines: { perOwner: 1, onNode: 100 } });
    const owner = await mint();
    await contractOf(owner, 'machines');
    nodes[0]!.directory.announceGone = () => Promise.reject(new Error('it has ended'));
    expect((await owner.delete('/api/chain/machines')).status).toBe(500);
    nodes[0]!.errors.length = 0;
    const make = () => owner.at(nodes[1]!).createMachine('next');
    expect((await make()).body.code).toBe('limit_reached');
    await nodes[1]!.directory.reloadIfDue(Number.POSITIVE_INFINITY);
    expect((await make()).status).toBe(201);
    const { body } = await owner.at(nodes[1]!).get('/api/limits');
    expect(body).toMatchObject({ machines: { used: 1 }, contracts: { used: 0 } });
  });

  it('an owner makes no further machine while too many records of deleted ones are kept', async () => {
    await begin(2, { deletedMachines: { perOwner: 2, onNode: 100 } });
    const owner = await mint();
    for (const slug of ['a', 'b']) {
      await contractOf(owner, slug);
      expect((await owner.at(nodes[1]!).delete(`/api/chain/${slug}`)).status).toBe(200);
    }
    for (const node of nodes)
      await until(async () => {
        const { machine } = (await stranger.at(node).get('/api/chain/state-machines/b')).body;
        return machine.deleted_at !== undefined;
      });
    expect(statusAndCode(await owner.createMachine('c'))).toEqual([422, 'limit_reached']);
  });

  it.each(['owner', 'key', 'machine'])('the operator evicts an owner at any node, named by %s', async (by) => {
    await begin(2);
    const [bad, good] = [await mint(), await mint()];
    await contractOf(bad, 'spam');
    await contractOf(good, 'shop');
    const further = await bad.make({ scopes: ['gate'] });
    const { owner } = bad.made;
    const named = by === 'owner' ? owner : by === 'key' ? further.made.key_id : 'spam';
    expect(await nodes[1]!.evict(named)).toEqual({ owner, keys: 2, machines: 1, contracts: 1 });
    for (const node of nodes) {
      await until(async () => (await bad.at(node).get('/api/limits')).status === 401);
      expect((await good.at(node).get('/api/limits')).body.machines.used).toBe(1);
      expect(await kindOfLast(node, 'spam')).toBe('machine_deleted');
    }
    await expect(nodes[0]!.evict('nobody')).rejects.toMatchObject({ code: 'owner_not_found' });
  });
});

it.skipIf(!hasRedis)('`weir node evict` asks a node of a network by its data folder (needs redis-server)', async () => {
  server = await RedisServer.start();
  const data = join(temporaryFolder(), 'data');
  const node = await serve(['--store', `${server.url}?deadline_ms=10000`, '--data', data]);
  const { owner } = await ask(node.url, 'POST', '/api/demo-key/mint');
  const evicted = JSON.parse((await weir(['node', 'evict', owner, '--data', data, '--json'])).out);
  expect(evicted).toEqual({ ok: true, owner, keys: 1, machines: 0, contracts: 0 });
});
