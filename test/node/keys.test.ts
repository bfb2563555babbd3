import { request as httpRequest } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyRecord } from '../../src/record/verify-export.js';
import { Listening } from './listening.js';
import { type Ask, type Running, startRunning } from './running.js';

const HOUR_MS = 3_600_000;
let setMs = 0;
let node: Running;
beforeAll(async () => {
  // A machine whose clock is set by hand.
  const source = { wallMs: () => Date.now() + setMs, monotonicMs: () => performance.now() };
  node = await startRunning({ source, trustProxy: ['127.0.0.1'], limits: { keysPerOwner: 20 } });
});
afterAll(() => node.close());

interface Made {
  readonly key: string;
  readonly key_id: string;
  readonly owner: string;
  readonly expires_at: string;
}

let minted = 0;

/** From an address of its own: each mints only so many. */
async function mint(): Promise<Made> {
  minted += 1;
  const headers = { 'x-forwarded-for': `10.0.0.${minted}` };
  return (await node.ask('POST', '/api/demo-key/mint', { headers })).body;
}

async function make(key: string, body: object): Promise<Made> {
  return (await node.ask('POST', '/api/keys', { key, body })).body;
}

async function deploy(key: string, slug: string): Promise<string> {
  await node.ask('POST', '/api/chain/state-machines', { key, body: { slug } });
  const { body } = await node.ask('POST', '/api/contracts/templates/rate-limiter/deploy', { key, body: { slug } });
  return body.contract.id;
}

/** What reading a private machine answers. */
const look = async (slug: string, ask: Ask) => (await node.ask('GET', `/api/chain/state-machines/${slug}`, ask)).status;

describe('the keys of an owner', () => {
  it('a minted key is the first admin key of its owner; what it makes opens the same machines', async () => {
    const first = await mint();
    await deploy(first.key, 'same-owner');
    const reader = await make(first.key, { scopes: ['read'], expires_in_days: 1 });
    const { body } = await node.ask('GET', '/api/keys', { key: first.key });
    expect([first, reader]).toMatchObject([{ scopes: ['admin'] }, { scopes: ['read'], owner: first.owner }]);
    expect(await look('same-owner', { key: reader.key })).toBe(200);
    expect(Date.parse(reader.expires_at) - node.clock.now()).toBeLessThan(24 * HOUR_MS + 1);
    const by = (a: { key_id: string }, b: { key_id: string }) => (a.key_id < b.key_id ? -1 : 1);
    expect(body.keys).toEqual(
      [
        { key_id: first.key_id, scopes: ['admin'], expires_at: first.expires_at, revoked: false, is_own: true },
        { key_id: reader.key_id, scopes: ['read'], expires_at: reader.expires_at, revoked: false, is_own: false },
      ]
        .map((one) => ({ ...one, created_at: expect.any(String) }))
        .sort(by),
    );
    expect(JSON.stringify(body)).not.toContain('weir_');
  });

  it('are listed in pages, and so many an owner', async () => {
    const { key } = await mint();
    const statuses: number[] = [];
    for (let n = 0; n < 20; n += 1)
      statuses.push((await node.ask('POST', '/api/keys', { key, body: { scopes: ['gate'] } })).status);
    const pages: string[][] = [];
    for (let next: string | undefined = ''; next !== undefined; ) {
      const { body }: { body: any } = await node.ask('GET', `/api/keys?limit=8&after=${next}`, { key });
      pages.push(body.keys.map(({ key_id }: Made) => key_id));
      next = body.next;
    }
    expect(statuses).toEqual([...Array.from({ length: 19 }, () => 201), 422]);
    expect(pages.map(({ length }) => length)).toEqual([8, 8, 4]);
    expect(new Set(pages.flat()).size).toBe(20);
    const limits = await node.ask('GET', '/api/limits', { key });
    expect(limits.body.keys).toEqual({ per: 'node', most: 20, used: 20 });
  });

  it.each([
    ['no scope', { scopes: [] }, 400],
    ['a scope twice', { scopes: ['read', 'read'] }, 400],
    ['a scope that there is not', { scopes: ['root'] }, 400],
    ['days beyond a year', { scopes: ['read'], expires_in_days: 366 }, 400],
    ['a machine that is not there', { scopes: ['read'], machine: 'nowhere' }, 404],
    ['a machine that the node keeps', { scopes: ['read'], machine: 'weir-mint' }, 404],
  ])('%s: refused', async (_name, body, status) => {
    expect((await node.ask('POST', '/api/keys', { key: node.keyOf('refused'), body })).status).toBe(status);
  });
});

describe('rotation', () => {
  it('overlaps: both keys hold, then the new one alone, which keeps machines, scopes and lifetime', async () => {
    const owner = await mint();
    const contract = await deploy(owner.key, 'kept');
    const before = await make(owner.key, { scopes: ['read', 'gate'], machine: 'kept', expires_in_days: 90 });
    const gate = async (key: string) =>
      (await node.ask('GET', `/api/chain/kept/contracts/${contract}/gate`, { key })).status;
    const { status, body: after } = await node.ask('POST', `/api/keys/${before.key_id}/rotate`, {
      key: owner.key,
      body: { overlap_seconds: 3_600 },
    });
    expect([status, after]).toMatchObject([
      201,
      { owner: owner.owner, scopes: ['read', 'gate'], machine: 'kept', previous: { key_id: before.key_id } },
    ]);
    expect(Date.parse(after.previous.expires_at) - node.clock.now()).toBeLessThanOrEqual(HOUR_MS);
    expect(Date.parse(after.expires_at) - node.clock.now()).toBeGreaterThan(89 * 24 * HOUR_MS);
    expect([await gate(before.key), await gate(after.key)]).toEqual([200, 200]);
    setMs += HOUR_MS;
    expect([await gate(before.key), await gate(after.key)]).toEqual([401, 200]);
  });

  it('without an overlap ends the old key at once, its sessions too', async () => {
    const owner = await mint();
    await deploy(owner.key, 'at-once');
    const session = await node.sessionOf(owner.key);
    await look('at-once', { session });
    const { body: after } = await node.ask('POST', `/api/keys/${owner.key_id}/rotate`, {
      key: owner.key,
      body: { overlap_seconds: 0 },
    });
    expect([
      await look('at-once', { key: owner.key }),
      await look('at-once', { session }),
      await look('at-once', { key: after.key }),
    ]).toEqual([401, 401, 200]);
  });
});

describe('revocation', () => {
  it('holds at once: for a key that was just used, its session, its stream, and a body that is still being sent', async () => {
    const owner = await mint();
    await deploy(owner.key, 'revoked');
    const { key, key_id } = await make(owner.key, { scopes: ['read', 'event'] });
    const session = await node.sessionOf(key);
    const listening = await Listening.to(node, '/api/chain/revoked/stream', { key });
    const bySession = await Listening.to(node, '/api/chain/revoked/stream', { session });
    const ofOwner = await Listening.to(node, '/api/chain/revoked/stream', { key: owner.key });
    const upload = uploading('/api/chain/revoked/events', key);
    await upload.send('{"type":"request"}\n');
    expect([await look('revoked', { key }), await look('revoked', { session })]).toEqual([200, 200]);
    const { status } = await node.ask('DELETE', `/api/keys/${key_id}`, { key: owner.key });
    expect([status, await look('revoked', { key }), await look('revoked', { session })]).toEqual([204, 401, 401]);
    await Promise.all([listening.ended(), bySession.ended()]);
    await upload.send('{"type":"request"}\n');
    expect([await upload.status, ofOwner.hasEnded]).toEqual([401, false]);
    ofOwner.close();
  });

  it('is for keys of the owner that still hold: any other is one that there is not', async () => {
    const owner = await mint();
    const other = await mint();
    const { key_id } = await make(owner.key, { scopes: ['read'] });
    const end = async (id: string, key: string) => {
      const { status, body } = await node.ask('DELETE', `/api/keys/${id}`, { key });
      return [status, body.code];
    };
    const answers = [
      await end(key_id, other.key),
      await end('nothing', owner.key),
      await end(key_id, owner.key),
      await end(key_id, owner.key),
    ];
    const gone = [404, 'key_not_found'];
    expect(answers).toEqual([gone, gone, [204, undefined], gone]);
    const { body } = await node.ask('GET', '/api/keys', { key: owner.key });
    expect(body.keys.find((one: Made) => one.key_id === key_id)).toMatchObject({ revoked: true });
  });
});

describe('what was done', () => {
  it('leaves rows in a record of the owner: who, what, when, no secret, and they verify', async () => {
    const owner = await mint();
    const made = await make(owner.key, { scopes: ['admin'] });
    const { body: next } = await node.ask('POST', `/api/keys/${made.key_id}/rotate`, { key: made.key, body: {} });
    await node.ask('DELETE', `/api/keys/${owner.key_id}`, { key: next.key });
    const { record } = (await node.ask('GET', '/api/keys', { key: next.key })).body;
    const { body } = await node.ask('GET', `/api/chain/${record}/state`, { key: next.key });
    const common = { machine: record, kind: 'admin_action', cause: 'manual', emitted: [], at: expect.any(String) };
    expect(body.rows.slice(1)).toMatchObject([
      { ...common, by: owner.key_id, action: 'key_made', key_id: made.key_id, scopes: ['admin'] },
      { ...common, by: made.key_id, action: 'key_rotated', key_id: made.key_id, next_key_id: next.key_id },
      { ...common, by: next.key_id, action: 'key_revoked', key_id: owner.key_id },
    ]);
    const text = await (await node.send('GET', `/api/chain/${record}/state?format=ndjson`, { key: next.key })).text();
    expect(text).not.toMatch(/weir_[A-Za-z0-9]/);
    const { public_key } = (await node.ask('GET', '/api/updates/pubkey')).body;
    expect(await verifyRecord(text, public_key)).toMatchObject({ valid: true, rows: 4 });
    const others = await node.ask('GET', `/api/chain/${record}/state`, { key: (await mint()).key });
    const body2 = { slug: record };
    const deployed = await node.ask('POST', '/api/contracts/templates/rate-limiter/deploy', {
      key: next.key,
      body: body2,
    });
    expect([others.status, deployed.status]).toEqual([404, 403]);
  });

  it('to a machine and its contracts says who asked, and counted events do not', async () => {
    const owner = await mint();
    const id = await deploy(owner.key, 'who-asked');
    const transition = `/api/chain/who-asked/contracts/${id}/transition`;
    // Held: an empty window would restore it in the next cycle.
    await node.ask('POST', transition, { key: owner.key, body: { to: 'limiting', hold_cycles: 1_000 } });
    await node.ask('POST', transition, { key: owner.key, body: { to: 'allowing' } });
    await node.ask('POST', '/api/chain/who-asked/event', { key: owner.key, body: { type: 'request', count: 500 } });
    const { rows } = (await node.ask('GET', '/api/chain/who-asked/state', { key: owner.key })).body;
    const by = owner.key_id;
    expect(rows.map((row: { kind: string; cause: string; by?: string }) => [row.kind, row.cause, row.by])).toEqual([
      ['machine_created', 'manual', by],
      ['contract_created', 'manual', by],
      ['transition', 'manual', by],
      ['transition', 'manual', by],
      ['transition', 'trigger', undefined],
    ]);
  });
});

describe('a session', () => {
  it('by HTTPS has a cookie that no other host can set, and by HTTP one of the plain name; neither is taken for the other', async () => {
    const { key } = await mint();
    const https = { 'x-forwarded-proto': 'https' };
    const cookies = await Promise.all(
      [{}, https].map(
        async (headers) => (await node.ask('POST', '/api/session', { key, headers })).headers.get('set-cookie') ?? '',
      ),
    );
    const token = cookies.map((cookie) => /=([^;]+)/.exec(cookie)?.[1] ?? '');
    const names = cookies.map((cookie, index) => cookie.replace(token[index]!, 'T').replace(/Max-Age=\d+; /, ''));
    expect(names).toEqual([
      'weir_session=T; Path=/; HttpOnly; SameSite=Lax',
      '__Host-weir_session=T; Path=/; HttpOnly; Secure; SameSite=Lax',
    ]);
    const end = async (cookie: string, headers: object) =>
      (await node.ask('DELETE', '/api/session', { headers: { cookie, ...headers } })).status;
    expect([
      await end(`weir_session=${token[1]}`, https),
      await end(`__Host-weir_session=${token[1]}`, {}),
      await end(`__Host-weir_session=${token[1]}`, https),
      await end(`weir_session=${token[0]}`, {}),
    ]).toEqual([401, 401, 204, 204]);
  });
});

/** A body that is sent piece by piece. */
function uploading(path: string, key: string) {
  const headers = { authorization: `Bearer ${key}`, 'content-type': 'application/x-ndjson' };
  const request = httpRequest(`${node.url}${path}`, { method: 'POST', headers });
  const status = new Promise<number | undefined>((resolve, reject) => {
    request.on('response', (response) => resolve(response.resume().statusCode)).on('error', reject);
  });
  const send = (text: string) => new Promise<void>((resolve) => request.write(text, () => resolve()));
  return { send, status };
}
