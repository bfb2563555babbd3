// What nodes over one Redis promise, whatever kind of Redis it is: any of them answers any request, and all decide and record as one.
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { pause } from '../../src/core/time/wall.js';
import { prefixOf } from '../../src/node/network/redis/buckets.js';
import { verifyExport } from '../core/record/verifying.js';
import { type Caller, gateOf, Holder, inTurn, statusAndCode, type Told } from '../node/caller.js';
import { Listening } from '../node/listening.js';
import { hasRedis } from '../node/network/redis/server.js';
import { type NetworkNode, startNetworkNode } from '../node/network-nodes.js';

const CYCLE_MS = 200;

/** What a request may find that something was deleted before. */
const EXPECTED: ReadonlySet<string> = new Set([
  'contract_not_found',
  'machine_deleted',
  'unknown_event_type',
  'no_transition',
  // The contracts that are left have no keys.
  'invalid_input',
]);

/** Keys that are read as they were written. */
const shown = { store_keys: 'plain', show_keys: true };

/** A Redis of some kind, for one test file. */
interface Redis {
  readonly url: string;
  stop(): Promise<void>;
}

export function describeNetwork(name: string, start: () => Promise<Redis>): void {
  let redis: Redis;
  let nodes: NetworkNode[];
  let owner: Caller;

  /** The owner, as it asks one of the nodes. */
  const at = (node: number) => owner.at(nodes[node]!);
  const machine = async (slug: string) => expect((await owner.createMachine(slug, true)).status).toBe(201);
  const deploy = (node: number, slug: string, limit: object) => at(node).deploy(slug, limit);

  /** All nodes find the record whole. */
  async function holds(slug: string): Promise<void> {
    for (const node of [0, 1, 2]) {
      expect(await at(node).verified(slug)).toMatchObject({ valid: true });
    }
  }

  beforeAll(async () => {
    if (!hasRedis) return;
    redis = await start();
    nodes = [];
    for (let index = 0; index < 3; index += 1) nodes.push(await startNetworkNode(redis.url, CYCLE_MS));
    owner = await Holder.minted(nodes[0]!.url);
  });

  afterAll(() => Promise.all((nodes ?? []).map((node) => node.close())));

  describe.skipIf(!hasRedis)(`three nodes over ${name} (needs redis-server)`, () => {
    it('what one node makes, the others have at once', async () => {
      await machine('made');
      const id = await deploy(1, 'made', { threshold: 2, within: 50 });
      const { body } = await at(2).get(`/api/chain/made/contracts/${id}`);
      expect(body.contract).toMatchObject({ id, currentState: 'allowing', threshold: 2, within: 50, count: 0 });
      expect((await at(1).createMachine('made')).body.code).toBe('slug_taken');
    });

    it('a contract has a past before anybody looks at it, on each of them', async () => {
      await machine('past');
      for (const node of [0, 2]) {
        // A node that a busy machine keeps from a cycle begins its history anew after it: then another contract has the past.
        for (;;) {
          const id = await deploy(0, 'past', { threshold: 1, within: 3 });
          const { cycle } = (await at(1).event('past', { contract_id: id, count: 2 })).body;
          // Over once it is restored.
          while ((await at(1).get(`/api/chain/past/contracts/${id}`)).body.contract.currentState !== 'allowing')
            await pause(20);
          const stream = await Listening.to(nodes[node]!, `/api/chain/past/stream?counts=${id}`, owner);
          const { data } = await stream.next('counts');
          const [{ from_cycle, state, limiting }] = data.data.contracts;
          if (from_cycle > cycle) continue;
          expect(state.length).toBeGreaterThan(2);
          expect([state.includes('limiting'), limiting.includes(1), state.at(-1)]).toEqual([true, true, 'allowing']);
          break;
        }
      }
    });

    it('an event finds a contract of which its node has not heard yet', async () => {
      await machine('heard');
      expect((await at(1).get('/api/chain/state-machines/heard')).status).toBe(200);
      const { directory } = nodes[1]!;
      const follow = directory.follow.bind(directory);
      directory.follow = () => new Promise((done) => setTimeout(done, 300)).then(follow);
      try {
        const id = await deploy(0, 'heard', { threshold: 10, within: 100 });
        const send = (type: string, more = {}) => at(1).post('/api/chain/heard/event', { type }, more);
        const told = await send('request', { 'idempotency-key': 'k' });
        expect(told).toMatchObject({ status: 200, body: { contracts: [{ id, count: 1 }] } });
        expect(await send('requests')).toMatchObject({ status: 422, body: { code: 'unknown_event_type' } });
        // Also where it knows others: the event is for all of them.
        const second = await deploy(0, 'heard', { threshold: 20, within: 100 });
        const both = await send('request');
        expect(both.body.contracts.map(({ id, count }: any) => [id, count])).toEqual([
          [id, 2],
          [second, 1],
        ]);
        const third = await deploy(0, 'heard', { threshold: 30, within: 100 });
        const events = [{ type: 'request' }, { type: 'request', contract_id: third }];
        const { body: many } = await at(1).post('/api/chain/heard/events', events);
        expect(many).toMatchObject({ counted: 2, refused: 0 });
        expect(many.outcomes.map((one: any) => one.contracts.map(({ id, count }: any) => [id, count]))).toEqual([
          [
            [id, 3],
            [second, 2],
            [third, 1],
          ],
          [[third, 2]],
        ]);
      } finally {
        directory.follow = follow;
      }
    });

    it('a node that is reading what is new reads once more for those who ask meanwhile', async () => {
      const { directory, connection } = nodes[1]!;
      const command = connection.command.bind(connection);
      let isRead!: () => void;
      const read = new Promise<void>((resolve) => (isRead = resolve));
      connection.command = async <T>(...args: Parameters<typeof command>): Promise<T> => {
        const reply = await command<T>(...args);
        if (args[0] === 'XRANGE') {
          isRead();
          await pause(500);
        }
        return reply;
      };
      try {
        void directory.follow();
        await read;
        // What it reads has passed this one.
        await machine('late');
        expect((await at(1).get('/api/chain/state-machines/late')).status).toBe(200);
      } finally {
        connection.command = command;
      }
    });

    it('a session that ends on one node has ended on all, also where it was used', async () => {
      const opened = await owner.post('/api/session');
      const cookie = opened.headers.get('set-cookie')!.split(';')[0]!;
      const own = async (node: number) => {
        const response = await fetch(`${nodes[node]!.url}/api/chain/state-machines?own=true`, { headers: { cookie } });
        return response.status;
      };
      expect([await own(1), await own(2)]).toEqual([200, 200]);
      const ended = await fetch(`${nodes[0]!.url}/api/session`, { method: 'DELETE', headers: { cookie } });
      expect(ended.status).toBe(204);
      for (const node of [0, 1, 2]) await expect.poll(() => own(node)).toBe(401);
    });

    it('each acknowledged manual transition is in the record, on whichever node and in whichever cycle it was made', async () => {
      await machine('moved');
      const plain = await deploy(0, 'moved', { threshold: 2, within: 3 });
      const keyed = await deploy(1, 'moved', {
        ...{ threshold: 2, within: 3 },
        keyed: { max_keys: 3, idle_cycles: 3, overflow: 'refuse', ...shown },
      });
      const shared = await deploy(1, 'moved', {
        ...{ threshold: 2, within: 3 },
        keyed: { max_keys: 1, idle_cycles: 3, overflow: 'share', ...shown },
      });
      // Its gate is moved in the process of a node.
      const nearing = await deploy(2, 'moved', { threshold: 4, within: 3, near_limit: 0.5 });
      const chosen = fc.record({
        contract: fc.constantFrom(plain, keyed, shared, nearing),
        node: fc.constantFrom(0, 1, 2),
        to: fc.constantFrom('limiting', 'allowing', 'limiting', 'allowing', 'elsewhere'),
        hold_cycles: fc.constantFrom(0, 0, 0, 1, 2),
        key: fc.constantFrom('a', 'b', 'c', 'd'),
        waitMs: fc.constantFrom(0, 0, 30, 90),
      });
      const asked = fc.sample(chosen, { numRuns: 240, seed: 29 });
      const answers: { contract: string; to: string; key: string; answer: Told }[] = [];
      const ask1 = async (mover: number) => {
        for (const { contract, node, waitMs, key, ...body } of asked.filter((_, index) => index % 4 === mover)) {
          await pause(waitMs);
          const ofKey = contract === keyed || contract === shared ? { key } : {};
          const path = `/api/chain/moved/contracts/${contract}/transition`;
          answers.push({ contract, to: body.to, key, answer: await at(node).post(path, { ...body, ...ofKey }) });
        }
      };
      await Promise.all([0, 1, 2, 3].map(ask1));
      const { body } = await owner.get('/api/chain/moved/state?limit=250');
      const rows = new Map<number, any>(body.rows.map((row: any) => [row.seq, row]));
      const acknowledged = answers.filter(({ answer }) => answer.status === 200);
      for (const { contract, to, key, answer } of acknowledged) {
        const { previous_state, new_state, cycle, seq, hash } = answer.body;
        expect(new_state).toBe(to);
        const row = rows.get(seq);
        const found = row && { contract_id: row.contract_id, from: row.from, to: row.to, cycle: row.cycle };
        expect(found).toEqual({ contract_id: contract, from: previous_state, to: new_state, cycle });
        expect([row.hash, row.cause]).toEqual([hash, 'manual']);
        if (contract === keyed) expect(row.key).toBe(key);
      }
      const refused = answers.filter(({ answer }) => answer.status !== 200).map(({ answer }) => answer.body.code);
      expect(refused.filter((code) => code !== 'no_transition' && code !== 'too_many_keys')).toEqual([]);
      // Each answer has a row of its own, and each row an answer.
      const manual = body.rows.filter((row: any) => row.kind === 'transition' && row.cause === 'manual');
      expect(manual.length).toBe(acknowledged.length);
    });

    it('a deleted contract counts on no node, Redis keeps nothing of it, and the record holds', async () => {
      await machine('less');
      const one = { threshold: 1, within: 7 };
      const keyed = await deploy(0, 'less', { ...one, keyed: { max_keys: 2_000, ...shown } });
      const near = await deploy(1, 'less', { ...one, near_limit: 0.5, keyed: { max_keys: 9, ...shown } });
      const plain = await deploy(2, 'less', one);
      const other = await deploy(0, 'less', { threshold: 100, within: 7 });
      const of = { type: 'request', contract_id: keyed, count: 3 };
      await owner.post(
        '/api/chain/less/events',
        Array.from({ length: 1_000 }, (_, n) => ({ ...of, key: `key-${n}` })),
      );
      const gates = [`${plain}/gate`, `${near}/gate?key=a`, `${keyed}/gate?key=key-1`];
      const gate = (node: number, path: string) => at(node).post(`/api/chain/less/contracts/${path}`);
      for (const path of gates) await Promise.all([0, 1, 2].map((node) => gate(node, path)));
      const answers = await inTurn([plain, near, keyed].entries(), ([node, id]) =>
        at(node).delete(`/api/chain/less/contracts/${id}`),
      );
      expect(answers.map(({ status, body }) => [status, body.freed?.contracts])).toEqual(answers.map(() => [200, 1]));
      const asked = [0, 1, 2].flatMap((node) => [
        ...gates.map((path) => gate(node, path)),
        ...[plain, near, keyed].flatMap((id) => [
          at(node).delete(`/api/chain/less/contracts/${id}`),
          at(node).get(`/api/chain/less/contracts/${id}`),
          at(node).post(`/api/chain/less/contracts/${id}/transition`, {
            to: 'limiting',
            ...(id !== plain && { key: 'a' }),
          }),
        ]),
      ]);
      const gone = await Promise.all(asked);
      expect(gone.map(statusAndCode)).toEqual(gone.map(() => [404, 'contract_not_found']));
      const told = await Promise.all([0, 1, 2].map((node) => at(node).event('less')));
      expect(told.map(({ body }) => body.contracts.map(({ id }: any) => id))).toEqual(told.map(() => [other]));
      const { connection } = nodes[0]!;
      const prefix = prefixOf('less');
      const left = [];
      for (const id of [plain, near, keyed])
        for (const kind of ['g:', 'k:']) left.push(await connection.command('EXISTS', `${prefix}${kind}less/${id}`));
      left.push(await connection.command('EXISTS', `${prefix}g:less/${keyed}/key-7`));
      left.push(await connection.command('EXISTS', `${prefix}gone`));
      left.push(await connection.command('ZCARD', `${prefix}d:less`));
      const fields = (await connection.command('HKEYS', `${prefix}m:less`)) as string[];
      expect([left, fields.filter((name) => /^[cx]:/.test(name)).length]).toEqual([left.map(() => 0), 1]);
      await holds('less');
    });

    it('what a node has acknowledged is in the lists of the others at once', async () => {
      await machine('listed');
      const made: string[] = [];
      for (let n = 0; n < 30; n += 1) {
        made.push(await deploy(n % 3, 'listed', { threshold: 2, within: 2 }));
        const lists = await Promise.all([0, 1, 2].map((node) => at(node).get('/api/chain/listed/contracts')));
        expect(lists.map(({ body }) => body.contracts.map(({ id }: any) => id))).toEqual([made, made, made]);
      }
    });

    it('deletions go beside events and moves: what was acknowledged is in the record, and nothing comes back', async () => {
      const slugs = ['mixed-1', 'mixed-2', 'mixed-3'];
      const contracts: { slug: string; id: string; keyed: boolean }[] = [];
      for (const slug of slugs) {
        await machine(slug);
        for (const [node, more] of [{}, { keyed: { max_keys: 5 } }, { near_limit: 0.5 }, {}].entries()) {
          const id = await deploy(node % 3, slug, { threshold: 2, within: 2, ...more });
          contracts.push({ slug, id, keyed: 'keyed' in more });
        }
      }
      const chosen = fc.record({
        what: fc.constantFrom('event', 'gate', 'gate', 'move', 'move', 'deploy', 'delete', 'end'),
        contract: fc.nat(1_000),
        node: fc.constantFrom(0, 1, 2),
        key: fc.constantFrom('a', 'b', 'c'),
        to: fc.constantFrom('limiting', 'allowing'),
        waitMs: fc.constantFrom(0, 0, 20, 60),
        rarely: fc.nat(7),
      });
      const asked = fc.sample(chosen, { numRuns: 500, seed: 31 });
      const told: { what: string; slug: string; id: string; answer: Told }[] = [];
      const goOn = async (worker: number) => {
        for (const { what, contract, node, key, to, waitMs, rarely } of asked.filter((_, at) => at % 5 === worker)) {
          await pause(waitMs);
          const { slug, id, keyed } = contracts[contract % contracts.length]!;
          const path = `/api/chain/${slug}/contracts/${id}`;
          const query = keyed ? `?key=${key}` : '';
          const done = async () => {
            if (what === 'event') return at(node).post(`/api/chain/${slug}/event`, { type: 'request', key });
            if (what === 'move') return at(node).post(`${path}/transition`, { to, ...(keyed && { key }) });
            if (what === 'delete') return at(node).delete(path);
            if (what === 'end' && rarely === 0 && slug !== 'mixed-1') return at(node).delete(`/api/chain/${slug}`);
            if (what === 'deploy') {
              const body = { slug, threshold: 2, within: 2 };
              const made = await at(node).post('/api/contracts/templates/rate-limiter/deploy', body);
              if (made.status === 201) contracts.push({ slug, id: made.body.contract.id, keyed: false });
              return made;
            }
            return at(node).post(`${path}/gate${query}`);
          };
          told.push({ what, slug, id, answer: await done() });
        }
      };
      await Promise.all([0, 1, 2, 3, 4].map(goOn));
      const strange = told.filter(({ answer: { status, body } }) => {
        return status >= 500 || (status >= 400 && status !== 429 && !EXPECTED.has(body.code));
      });
      expect(strange.map(({ what, answer: { status, body } }) => [what, status, body])).toEqual([]);
      for (const slug of slugs) {
        const { body } = await at(1).get(`/api/chain/${slug}/state?limit=250`);
        const done = told.filter((one) => one.slug === slug && one.answer.status < 300);
        const rows = new Map<number, any>(body.rows.map((row: any) => [row.seq, row]));
        for (const { answer } of done.filter(({ what }) => what === 'move'))
          expect(rows.get(answer.body.seq)).toMatchObject({ hash: answer.body.hash, cause: 'manual' });
        const of = (kind: string) => body.rows.filter((row: any) => row.kind === kind);
        const deleted = done.filter(({ what, answer }) => what === 'delete' && answer.status === 200);
        expect(
          of('contract_deleted')
            .map((row: any) => row.contract_id)
            .sort(),
        ).toEqual(deleted.map(({ id }) => id).sort());
        const made = of('contract_created').map((row: any) => row.contract_id);
        const ended = of('machine_deleted').length;
        expect(ended).toBe(done.filter(({ answer }) => answer.body.freed?.machines === 1).length);
        const there = ended > 0 ? [] : made.filter((id: string) => !deleted.some((one) => one.id === id));
        for (const node of [0, 1, 2]) {
          const listed = await at(node).get(`/api/chain/${slug}/contracts`);
          expect(listed.body.contracts.map(({ id }: any) => id)).toEqual(there);
        }
        await holds(slug);
      }
      expect(told.filter(({ answer }) => answer.body.freed?.machines === 1).length).toBeGreaterThan(0);
    });

    it('the record is one chain, signed by nodes that a reader can name', async () => {
      await machine('chain');
      const id = await deploy(1, 'chain', { threshold: 1, within: 2 });
      const path = gateOf('chain', id);
      for (let round = 0; round < 3; round += 1) {
        await Promise.all([0, 1, 2].map((node) => at(node).post(path)));
        for (;;) {
          const { body } = await at(round).get('/api/chain/chain/state?kind=transition');
          if (body.rows.length === 2 * round + 2) break;
          await pause(CYCLE_MS / 4);
        }
      }
      const verified = await at(2).get('/api/chain/chain/state/verify');
      expect(verified.body).toMatchObject({ valid: true, rows: 8, proofs: 6 });
      const { body } = await at(1).get('/api/chain/chain/state?format=ndjson');
      const all = nodes.map(({ fingerprint }) => fingerprint);
      expect(verifyExport(body, { nodes: all })).toMatchObject({ valid: true, rows: 8 });
      const signers = new Set([...body.matchAll(/"signed_by":"([^"]+)"/g)].map(([, raw]) => raw));
      expect(signers.size).toBeGreaterThan(0);
      expect(verifyExport(body, { nodes: [`SHA256:${'A'.repeat(43)}`] }).first_broken?.check).toBe('key');
      const forged = body.replace(/"signature":"[^"]{4}/, '"signature":"AAAA');
      expect(verifyExport(forged, { nodes: all }).first_broken?.check).toBe('key');
    });

    it('a stream on one node goes on with another', async () => {
      await machine('stream');
      const id = await deploy(0, 'stream', { threshold: 1, within: 2 });
      const path = gateOf('stream', id);
      const first = await Listening.to(nodes[2]!, '/api/chain/stream/stream', owner);
      await Promise.all([owner.post(path), at(1).post(path)]);
      const { id: seen, data } = await first.next('rate_limited');
      expect(data.data).toMatchObject({ machine: 'stream', contract_id: id, state: 'limiting', count: 2 });
      const second = await Listening.to(nodes[1]!, '/api/chain/stream/stream', {
        key: owner.key,
        headers: { 'last-event-id': seen },
      });
      const restored = await second.next('rate_restored');
      expect(Number(restored.id)).toBe(Number(seen) + 1);
    });

    it('looking at a machine takes no row from the streams of a node', async () => {
      await machine('looked');
      const id = await deploy(0, 'looked', { threshold: 1, within: 1 });
      const stream = await Listening.to(nodes[1]!, '/api/chain/looked/stream', owner);
      const seqs: number[] = [];
      const looking = async () => {
        while (seqs.length < 8) await at(1).get('/api/chain/state-machines/looked');
      };
      const counting = async () => {
        while (seqs.length < 8) await owner.post(`/api/chain/looked/contracts/${id}/gate`);
      };
      const reading = async () => {
        while (seqs.length < 8) seqs.push(Number((await stream.next('transition', seqs.length)).id));
      };
      await Promise.all([looking(), looking(), counting(), reading()]);
      expect(seqs).toEqual(Array.from({ length: 8 }, (_, index) => 3 + index));
    });

    it('a key that is made or revoked on one node holds or ends on the others', async () => {
      const made = await owner.post('/api/keys', { scopes: ['read'] });
      const own = { authorization: `Bearer ${made.body.key}` };
      const list = (node: number) => fetch(`${nodes[node]!.url}/api/chain/state-machines`, { headers: own });
      expect((await list(1)).status).toBe(200);
      expect((await at(2).delete(`/api/keys/${made.body.key_id}`)).status).toBe(204);
      while ((await list(1)).status !== 401) await pause(10);
      const { record } = (await at(1).get('/api/keys')).body;
      const { body } = await owner.get(`/api/chain/${record}/state`);
      expect(body.rows.map(({ action }: any) => action)).toEqual([undefined, 'key_made', 'key_revoked']);
    });

    it('nothing went wrong inside', () => {
      expect(nodes.flatMap(({ errors }) => errors)).toEqual([]);
    });
  });
}
