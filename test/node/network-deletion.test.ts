// What is deleted on a network of nodes, in time: records are removed after their retention and are not taken for lost ones, what owners leave
// whose keys have ended is deleted by one of the nodes, and the operator ends an owner at any of them.
import { afterEach, describe, expect, it } from 'vitest';
import type { Limits } from '../../src/node/limits.js';
import { DIRECTORY, prefixOf } from '../../src/store/redis/buckets.js';
import { temporaryFolder } from '../left-behind.js';
import { hasRedis, RedisServer, until } from '../store/redis/server.js';
import { type NetworkNode, startNetworkNode } from './network-nodes.js';

const CYCLE_MS = 100;

let server: RedisServer | undefined;
let nodes: NetworkNode[] = [];

afterEach(async () => {
  const errors = nodes.flatMap((node) => node.errors);
  await Promise.all(nodes.map((node) => node.close()));
  await server?.stop();
  server = undefined;
  nodes = [];
  expect(errors).toEqual([]);
});

type Answer = { readonly status: number; readonly body: any };

async function ask(node: NetworkNode, method: string, path: string, key?: string, body?: object): Promise<Answer> {
  const headers = {
    ...(key && { authorization: `Bearer ${key}` }),
    ...(body && { 'content-type': 'application/json' }),
  };
  const response = await fetch(`${node.url}${path}`, { method, headers, ...(body && { body: JSON.stringify(body) }) });
  const text = await response.text();
  return { status: response.status, body: text === '' ? undefined : JSON.parse(text) };
}

async function begin(count: number, limits: Partial<Limits> = {}): Promise<void> {
  server = await RedisServer.start();
  const mint = { threshold: 100, within: 60, addresses: 10 };
  for (let index = 0; index < count; index += 1)
    nodes.push(await startNetworkNode(server.url, CYCLE_MS, undefined, { mint, ...limits }));
}

const owner = async () => (await ask(nodes[0]!, 'POST', '/api/demo-key/mint')).body;

async function machine(key: string, slug: string): Promise<string> {
  const made = await ask(nodes[0]!, 'POST', '/api/chain/state-machines', key, { slug, is_public: true });
  expect({ slug, status: made.status }).toEqual({ slug, status: 201 });
  const path = '/api/contracts/templates/rate-limiter/deploy';
  return (await ask(nodes[0]!, 'POST', path, key, { slug, threshold: 1, within: 3 })).body.contract.id;
}

const isReady = async (node: NetworkNode) => (await ask(node, 'GET', '/readyz')).status === 200;
const kindOfLast = async (node: NetworkNode, slug: string) =>
  (await ask(node, 'GET', `/api/chain/${slug}/state?limit=250`)).body.rows?.at(-1)?.kind;

describe.skipIf(!hasRedis)('on a network (needs redis-server)', () => {
  it('the record of a deleted machine is removed after its retention, its slug is free, and no node takes it for lost', async () => {
    await begin(2, { retentionMs: 3_000 });
    const dir = temporaryFolder();
    const start = () => startNetworkNode(server!.url, CYCLE_MS, undefined, { retentionMs: 3_000 }, { dir });
    let third = await start();
    const [{ key }, { key: stranger }] = [await owner(), await owner()];
    for (const slug of ['gone', 'also', 'stays']) {
      const id = await machine(key, slug);
      for (let times = 0; times < 3; times += 1)
        await ask(third, 'POST', `/api/chain/${slug}/contracts/${id}/gate`, key);
      expect((await ask(third, 'GET', `/api/chain/${slug}/state/verify`, key)).body.valid).toBe(true);
    }
    await until(async () => (await ask(third, 'GET', '/api/chain/also/state', key)).body.head.seq >= 4);
    // One is deleted while a node with a folder knows of it, one while that node is down.
    await ask(nodes[0]!, 'DELETE', '/api/chain/gone', key);
    await third.close();
    await ask(nodes[1]!, 'DELETE', '/api/chain/also', key);
    expect(await kindOfLast(nodes[1]!, 'gone')).toBe('machine_deleted');
    for (const slug of ['gone', 'also'])
      for (const node of nodes)
        await until(async () => (await ask(node, 'GET', `/api/chain/${slug}/state`)).status === 404);
    const { connection } = nodes[0]!;
    const left = await Promise.all(
      ['gone', 'also'].flatMap((slug) =>
        ['m:', 'r:', 'w:', 'd:'].map((kind) => connection.command('EXISTS', `${prefixOf(slug)}${kind}${slug}`)),
      ),
    );
    expect(left).toEqual(left.map(() => 0));
    expect(((await connection.command('SMEMBERS', `${DIRECTORY}machines`)) as string[]).includes('gone')).toBe(false);
    third = await start();
    nodes.push(third);
    await until(() => isReady(third));
    // Another owner takes the name: the rows of its new record begin at 1.
    expect(
      (await ask(nodes[0]!, 'POST', '/api/chain/state-machines', stranger, { slug: 'gone', is_public: true })).status,
    ).toBe(201);
    for (const node of nodes) {
      const { rows } = (await ask(node, 'GET', '/api/chain/gone/state')).body;
      expect(rows.map(({ seq, kind }: any) => [seq, kind])).toEqual([[1, 'machine_created']]);
      expect((await ask(node, 'GET', '/api/chain/gone/state/verify')).body.valid).toBe(true);
      expect((await ask(node, 'GET', '/api/limits', key)).body.machines.used).toBe(1);
    }
    await until(async () => (await Promise.all(nodes.map(isReady))).every(Boolean));
    expect(nodes.flatMap((node) => node.said())).toEqual([]);
    // What is missing without having been deleted is still noticed.
    await server!.ask('DEL', `${prefixOf('stays')}m:stays`);
    await until(async () => !(await isReady(third)));
  }, 60_000);

  it('a node that did not hear of it learns it when it looks the machine up', async () => {
    await begin(2);
    const { key } = await owner();
    const id = await machine(key, 'm');
    const [first, second] = nodes as [NetworkNode, NetworkNode];
    expect((await ask(second, 'GET', `/api/chain/m/contracts/${id}`, key)).status).toBe(200);
    const { directory } = second;
    const follow = directory.follow.bind(directory);
    directory.follow = () => Promise.resolve();
    try {
      await ask(first, 'DELETE', `/api/chain/m/contracts/${id}`, key);
      const told = [
        await ask(second, 'POST', `/api/chain/m/contracts/${id}/gate`, key),
        await ask(second, 'POST', '/api/chain/m/event', key, { type: 'request' }),
        await ask(second, 'POST', '/api/chain/m/event', key, { type: 'request' }),
        await ask(second, 'DELETE', `/api/chain/m/contracts/${id}`, key),
      ];
      expect(told.map(({ status, body }) => [status, body.code])).toEqual([
        [404, 'contract_not_found'],
        [422, 'unknown_event_type'],
        [422, 'unknown_event_type'],
        [404, 'contract_not_found'],
      ]);
      await ask(first, 'DELETE', '/api/chain/m', key);
      const path = '/api/contracts/templates/rate-limiter/deploy';
      const late = await ask(second, 'POST', path, key, { slug: 'm', threshold: 1, within: 3 });
      expect([late.status, late.body.code]).toEqual([410, 'machine_deleted']);
    } finally {
      directory.follow = follow;
    }
  });

  it('a node that ends between deleting and freeing leaves room that the next one frees', async () => {
    await begin(2, { machines: { perOwner: 1, onNode: 100 } });
    const { key, owner: name } = await owner();
    await machine(key, 'machines');
    const { connection } = nodes[0]!;
    const call = connection.call.bind(connection);
    connection.call = (called, ...rest) =>
      called === 'release' ? Promise.reject(new Error('it has ended')) : call(called, ...rest);
    expect((await ask(nodes[0]!, 'DELETE', '/api/chain/machines', key)).status).toBe(500);
    connection.call = call;
    nodes[0]!.errors.length = 0;
    const make = () => ask(nodes[1]!, 'POST', '/api/chain/state-machines', key, { slug: 'next' });
    expect((await make()).body.code).toBe('limit_reached');
    const [member] = await server!.ask<string[]>('ZRANGE', `${DIRECTORY}claims`, '0', '-1');
    expect(member).toContain(name);
    await server!.ask('ZADD', `${DIRECTORY}claims`, '1', member!);
    expect((await make()).status).toBe(201);
    const { machines, contracts } = (await ask(nodes[0]!, 'GET', '/api/limits', key)).body;
    expect([machines.used, contracts.used]).toEqual([1, 0]);
  });

  it('an owner makes no further machine while too many records of deleted ones are kept', async () => {
    await begin(2, { deletedMachines: { perOwner: 2, onNode: 100 } });
    const { key } = await owner();
    for (const slug of ['a', 'b']) {
      await machine(key, slug);
      expect((await ask(nodes[1]!, 'DELETE', `/api/chain/${slug}`, key)).status).toBe(200);
    }
    for (const node of nodes)
      await until(
        async () => (await ask(node, 'GET', '/api/chain/state-machines/b')).body.machine.deleted_at !== undefined,
      );
    const told = await ask(nodes[0]!, 'POST', '/api/chain/state-machines', key, { slug: 'c' });
    expect([told.status, told.body.code]).toEqual([422, 'limit_reached']);
  });

  it('what the owner of an ended key has left is deleted by one of the nodes', async () => {
    await begin(3);
    const [gone, stays] = [await owner(), await owner()];
    await machine(gone.key, 'left');
    await machine(stays.key, 'kept');
    expect((await ask(nodes[1]!, 'DELETE', `/api/keys/${gone.key_id}`, gone.key)).status).toBe(204);
    for (const node of nodes) await until(async () => (await kindOfLast(node, 'left')) === 'machine_deleted');
    const { rows } = (await ask(nodes[2]!, 'GET', '/api/chain/left/state')).body;
    expect(rows.filter(({ kind }: any) => kind === 'machine_deleted').map(({ cause }: any) => cause)).toEqual([
      'system',
    ]);
    expect(await kindOfLast(nodes[0]!, 'kept')).toBe('contract_created');
  });

  it.each(['owner', 'key', 'machine'])('the operator evicts an owner at any node, named by %s', async (by) => {
    await begin(2);
    const [bad, good] = [await owner(), await owner()];
    await machine(bad.key, 'spam');
    await machine(good.key, 'shop');
    const further = (await ask(nodes[0]!, 'POST', '/api/keys', bad.key, { scopes: ['gate'] })).body;
    const named = by === 'owner' ? bad.owner : by === 'key' ? further.key_id : 'spam';
    expect(await nodes[1]!.evict(named)).toEqual({ owner: bad.owner, keys: 2, machines: 1, contracts: 1 });
    for (const node of nodes) {
      await until(async () => (await ask(node, 'GET', '/api/limits', bad.key)).status === 401);
      expect((await ask(node, 'GET', '/api/limits', good.key)).body.machines.used).toBe(1);
      expect(await kindOfLast(node, 'spam')).toBe('machine_deleted');
    }
    await expect(nodes[0]!.evict('nobody')).rejects.toMatchObject({ code: 'owner_not_found' });
  });
});
