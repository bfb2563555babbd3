// What an owner may have holds over all nodes of a network: asked at once they admit exactly as much as one.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openNetworkStorage } from '../../src/node/network/network-storage.js';
import { DIRECTORY } from '../../src/node/network/redis/buckets.js';
import { Caller, gateOf, statusAndCode, type Told } from './caller.js';
import { hasRedis, RedisServer, until } from './network/redis/server.js';
import { type NetworkNode, startNetworkNode } from './network-nodes.js';

const CYCLE_MS = 200;
const limits = {
  machines: { perOwner: 5, onNode: 16 },
  contracts: { perOwner: 7, onNode: 100 },
  windowCycles: { perOwner: 1_000, onNode: 10_000 },
  rows: { perOwner: 40, onNode: 1_000 },
  mint: { threshold: 3, within: 10_000, onNode: 1_000 },
};

describe.skipIf(!hasRedis)('bounds over three nodes (needs redis-server)', () => {
  let redis: RedisServer;
  let nodes: NetworkNode[];
  /** Owners, the first of whom has all that it may have. */
  let owners: Caller[];

  const start = () => startNetworkNode(redis.url, CYCLE_MS, undefined, limits);

  /** What a caller is answered who asks all nodes in turn, without a wait. */
  const atOnce = (times: number, caller: Caller, ask: (caller: Caller, index: number) => Promise<Told>) =>
    Promise.all(Array.from({ length: times }, (_, index) => ask(caller.at(nodes[index % nodes.length]!), index)));
  const deploy = (caller: Caller, slug: string, more: object = {}) =>
    caller.tryDeploy(slug, { threshold: 5, within: 10, ...more });
  const limitsOf = async (node: number, caller: Caller) => (await caller.at(nodes[node]!).get('/api/limits')).body;

  /** So many were admitted, and all others refused by this code. */
  function expectAdmitted(answers: readonly Told[], admitted: number, code: string, status: number): void {
    const refused = answers.filter(({ status: said }) => said !== 201);
    expect(refused.map(statusAndCode)).toEqual(Array(answers.length - admitted).fill([status, code]));
  }

  beforeAll(async () => {
    redis = await RedisServer.start();
    nodes = await Promise.all([start(), start(), start()]);
  });

  afterAll(() => Promise.all((nodes ?? []).map((node) => node.close())));

  it('an address mints as many keys on each node', async () => {
    const answers = await atOnce(30, new Caller(''), (caller) => caller.post('/api/demo-key/mint'));
    expectAdmitted(answers, 3 * limits.mint.threshold, 'too_many_requests', 429);
    const made = answers.filter(({ status }) => status === 201);
    owners = made.map(({ body }) => new Caller(nodes[0]!.url, body.key));
  });

  it('an owner has as many machines as allowed, whichever nodes are asked', async () => {
    const owner = owners[0]!;
    const answers = await atOnce(21, owner, (caller, index) => caller.createMachine(`machine-${index}`));
    expectAdmitted(answers, 5, 'limit_reached', 422);
    expect(answers.find(({ body }) => body.code)!.body.detail).toMatch(/up to 5 machines on this network/);
    for (const node of [0, 1, 2])
      expect((await limitsOf(node, owner)).machines).toMatchObject({ per: 'network', most: 5, used: 5, left: 0 });
    expectAdmitted([await owner.at(nodes[1]!).createMachine('machine-0')], 0, 'limit_reached', 422);
  });

  it('a slug that another has takes no room', async () => {
    const [, owner, other] = owners;
    await other!.createMachine('taken');
    expectAdmitted(await atOnce(6, owner!, (caller) => caller.createMachine('taken')), 0, 'slug_taken', 409);
    expectAdmitted(await atOnce(6, owner!, (caller) => caller.createMachine('own')), 1, 'slug_taken', 409);
    expect((await limitsOf(2, owner!)).machines).toMatchObject({ used: 1, left: 4 });
  });

  it('an owner has as many contracts and cycles of windows as allowed, whichever nodes are asked', async () => {
    const [, , , first, second] = owners;
    for (const slug of ['one', 'two', 'three']) await first!.createMachine(slug);
    const slugs = ['one', 'two', 'three', 'one'];
    const long = await atOnce(8, first!, (caller, index) => deploy(caller, slugs[index % 4]!, { within: 250 }));
    expectAdmitted(long, 4, 'limit_reached', 422);
    expect((await limitsOf(1, first!)).window_cycles).toMatchObject({ used: 1_000, left: 0 });

    for (const slug of ['four', 'five', 'six']) await second!.createMachine(slug);
    const many = ['four', 'five', 'six', 'four'];
    const answers = await atOnce(24, second!, (caller, index) => deploy(caller, many[index % 4]!));
    expectAdmitted(answers, 7, 'limit_reached', 422);
    const { contracts, definition_bytes } = await limitsOf(0, second!);
    expect(contracts).toMatchObject({ per: 'network', used: 7, left: 0 });
    expect(definition_bytes.used).toBeLessThan(2_000);
  });

  it('all nodes refuse an owner whose records are full, whichever made the rows', async () => {
    const owner = owners[1]!;
    const gate = gateOf('own', await owner.deploy('own', { threshold: 1, within: 1 }));
    let isFull = false;
    const isSame = async (some: readonly number[], of: 'rows' | 'record_kib') =>
      new Set(await Promise.all(some.map(async (node) => (await limitsOf(node, owner))[of].used))).size === 1;
    while (!isFull) {
      // A contract that is asked without a pause stays limiting, and makes no rows.
      await new Promise((resolve) => setTimeout(resolve, 2 * CYCLE_MS));
      // What is refused is by rows that a node has heard of.
      await until(() => isSame([0, 1, 2], 'rows'));
      const answers = await atOnce(3, owner, (caller) => caller.post(gate));
      isFull = answers.some(({ body }) => body.code === 'limit_reached');
    }
    await until(async () =>
      (await atOnce(3, owner, (caller) => caller.post(gate))).every(({ body }) => body.code === 'limit_reached'),
    );
    await until(() => isSame([0, 1, 2], 'rows'));
    const { used } = (await limitsOf(0, owner)).rows;
    expect(used).toBeGreaterThanOrEqual(40);
    expect(used).toBeLessThan(46);
    nodes.push(await start());
    // The last transition may still be linked, and heard.
    await until(() => isSame([0, 1, 2, 3], 'record_kib'));
    expect((await owner.at(nodes[3]!).post(gate)).body.code).toBe('limit_reached');
  });

  it('nothing is made in the turn of a node that has ended, and then what it made is known', async () => {
    const owner = owners[2]!;
    const { directory, errors } = nodes[0]!;
    const announce = directory.announce.bind(directory);
    directory.announce = () => Promise.reject(new Error('it has ended'));
    expect((await owner.createMachine('unannounced')).status).toBe(500);
    directory.announce = announce;
    errors.length = 0;
    expect((await limitsOf(1, owner)).machines).toMatchObject({ used: 1 });
    let isOver = false;
    const next = owners[6]!.at(nodes[1]!).createMachine('taken');
    void next.finally(() => {
      isOver = true;
    });
    await new Promise((resolve) => setTimeout(resolve, 2 * CYCLE_MS));
    expect(isOver).toBe(false);
    const turn = await redis.ask<string>('GET', `${DIRECTORY}turn`);
    await redis.ask('SET', `${DIRECTORY}turn`, turn.replace(/ \d+ /, ' 1 '));
    expectAdmitted([await next], 0, 'slug_taken', 409);
    expect((await limitsOf(1, owner)).machines).toMatchObject({ used: 2, free_on_node: 2 });
  });

  it('all owners together have as many machines as allowed, whichever nodes are asked', async () => {
    const last = owners.slice(6);
    expect((await limitsOf(0, last[0]!)).machines).toMatchObject({ on_node: 16, free_on_node: 2, left: 2 });
    // Who has one may have no second: as many are not free any more.
    const make = (owner: Caller, place: number) =>
      atOnce(4, owner, (caller, index) => caller.createMachine(`last-${place}-${index}`));
    const answers = (await Promise.all(last.map(make))).flat();
    expectAdmitted(answers, 2, 'limit_reached', 422);
    expect((await limitsOf(1, last[0]!)).machines).toMatchObject({ free_on_node: 0, left: 0 });
  });

  it('keys that have expired are forgotten by Redis, too', async () => {
    const { directory, connection } = await openNetworkStorage({ url: redis.url, onError: () => {} });
    const rights = { owner: 'o', scopes: ['read'], machine: undefined, isRevoked: false } as const;
    for (const [id, expiresAtMs] of Object.entries({ past: 1_000, future: 1e13 }))
      await directory.credentials.writeKey({ id, hash: id, ...rights, createdAtMs: 0, expiresAtMs });
    await directory.credentials.purgeEverywhere(1_000);
    const kept = await redis.ask<(string | null)[]>('HMGET', `${DIRECTORY}keys`, 'past', 'future');
    expect(kept.map((text) => text === null)).toEqual([true, false]);
    expect(directory.credentials.keysOf('o', '', 9).map(({ id }) => id)).toEqual(['future']);
    connection.close();
  });

  it('nothing went wrong inside', () => {
    expect(nodes.flatMap(({ errors }) => errors)).toEqual([]);
  });
});
