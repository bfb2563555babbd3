import { expect, it } from 'vitest';
import { verifyRecord } from '../../src/core/record/verify-export.js';
import { gateOf, Holder, inTurn, statusAndCode } from './caller.js';
import { Listening } from './listening.js';
import { nodeOfFile } from './node-of-file.js';
import type { Ask } from './running.js';

const HOUR_MS = 3_600_000;
let setMs = 0;
// A machine whose clock is set by hand.
const source = { wallMs: () => Date.now() + setMs, monotonicMs: () => performance.now() };
const node = await nodeOfFile({ source, trustProxy: ['127.0.0.1'], limits: { keysPerOwner: 20 } });

let minted = 0;

/** From an address of its own: each mints only so many. */
function mint(): Promise<Holder> {
  minted += 1;
  return Holder.minted(node.url, { 'x-forwarded-for': `10.0.0.${minted}` });
}

const rotated = async (by: Holder, { made }: Holder, body: object = {}) =>
  (await by.post(`/api/keys/${made.key_id}/rotate`, body)).body;

/** What reading a private machine answers. */
const look = async (slug: string, ask: Ask) => (await node.ask('GET', `/api/chain/state-machines/${slug}`, ask)).status;

it('a minted key is the first admin key of its owner; what it makes opens the same machines', async () => {
  const first = await mint();
  await first.contractOn('same-owner');
  const reader = await first.make({ scopes: ['read'], expires_in_days: 1 });
  const { body } = await first.get('/api/keys');
  const { owner } = first.made;
  expect([first.made, reader.made]).toMatchObject([{ scopes: ['admin'] }, { scopes: ['read'], owner }]);
  expect(await look('same-owner', reader)).toBe(200);
  expect(Date.parse(reader.made.expires_at) - node.clock.now()).toBeLessThan(24 * HOUR_MS + 1);
  const listed = ({ made: { key_id, expires_at } }: Holder, scope: string) => ({
    ...{ key_id, expires_at, scopes: [scope], revoked: false, is_own: scope === 'admin' },
    created_at: expect.any(String),
  });
  const all = [listed(first, 'admin'), listed(reader, 'read')];
  expect(body.keys).toEqual(all.sort((a, b) => (a.key_id < b.key_id ? -1 : 1)));
  expect(JSON.stringify(body)).not.toContain('weir_');
});

it('the keys of an owner are listed in pages, and there are only so many', async () => {
  const owner = await mint();
  const make = async () => (await owner.post('/api/keys', { scopes: ['gate'] })).status;
  const statuses = await inTurn(Array(20).keys(), make);
  const pages: string[][] = [];
  for (let next: string | undefined = ''; next !== undefined; ) {
    const { body } = await owner.get(`/api/keys?limit=8&after=${next}`);
    pages.push(body.keys.map(({ key_id }: { key_id: string }) => key_id));
    next = body.next;
  }
  expect(statuses).toEqual([...Array.from({ length: 19 }, () => 201), 422]);
  expect(pages.map(({ length }) => length)).toEqual([8, 8, 4]);
  expect(new Set(pages.flat()).size).toBe(20);
  const limits = await owner.get('/api/limits');
  expect(limits.body.keys).toEqual({ per: 'node', most: 20, used: 20 });
});

it.each([
  ['no scope', { scopes: [] }, 400],
  ['a scope twice', { scopes: ['read', 'read'] }, 400],
  ['a scope that there is not', { scopes: ['root'] }, 400],
  ['days beyond a year', { scopes: ['read'], expires_in_days: 366 }, 400],
  ['a machine that is not there', { scopes: ['read'], machine: 'nowhere' }, 404],
  ['a machine that the node keeps', { scopes: ['read'], machine: 'weir-mint' }, 404],
])('a new key is refused for %s', async (_name, body, status) => {
  expect((await node.owner('refused').post('/api/keys', body)).status).toBe(status);
});

it('rotation overlaps: both keys hold, then the new one alone, which keeps machines, scopes and lifetime', async () => {
  const owner = await mint();
  const gate = gateOf('kept', await owner.contractOn('kept'));
  const before = await owner.make({ scopes: ['read', 'gate'], machine: 'kept', expires_in_days: 90 });
  const session = await node.sessionOf(before.key);
  const after = await rotated(owner, before, { overlap_seconds: 600 });
  const rights = { owner: owner.made.owner, scopes: ['read', 'gate'], machine: 'kept' };
  expect(after).toMatchObject({ ...rights, previous: { key_id: before.made.key_id } });
  expect(Date.parse(after.previous.expires_at) - node.clock.now()).toBeLessThanOrEqual(600_000);
  expect(Date.parse(after.expires_at) - node.clock.now()).toBeGreaterThan(89 * 24 * HOUR_MS);
  const ways: Ask[] = [{ key: before.key }, { session }, { key: after.key }];
  const statuses = () => inTurn(ways, async (way) => (await node.ask('GET', gate, way)).status);
  expect(await statuses()).toEqual([200, 200, 200]);
  // Rotated again while it holds, it takes no key away, and passes on what it had: not the rest of the overlap.
  const again = await rotated(owner, before, { overlap_seconds: 3_600 });
  expect(again.previous).toEqual(after.previous);
  expect(Date.parse(again.expires_at) - node.clock.now()).toBeGreaterThan(89 * 24 * HOUR_MS);
  ways.push({ key: again.key });
  expect(await statuses()).toEqual([200, 200, 200, 200]);
  // What was let in a moment ago, and its session, end with the key.
  setMs += 600_000;
  expect(await statuses()).toEqual([401, 401, 200, 200]);
});

it('rotation without an overlap ends the old key at once, its sessions too', async () => {
  const owner = await mint();
  await owner.contractOn('at-once');
  const session = await node.sessionOf(owner.key);
  await look('at-once', { session });
  const after = await rotated(owner, owner, { overlap_seconds: 0 });
  expect(await inTurn([owner, { session }, after], (who) => look('at-once', who))).toEqual([401, 401, 200]);
});

it('revocation holds at once: for a key that was just used, its session, and its stream', async () => {
  const owner = await mint();
  await owner.contractOn('revoked');
  const holder = await owner.make({ scopes: ['read', 'event'] });
  const session = await node.sessionOf(holder.key);
  const [byKey, bySession, ofOwner] = await Promise.all(
    [holder, { session }, owner].map((who) => Listening.to(node, '/api/chain/revoked/stream', who)),
  );
  const looks = () => inTurn([holder, { session }], (who) => look('revoked', who));
  expect(await looks()).toEqual([200, 200]);
  const { status } = await owner.delete(`/api/keys/${holder.made.key_id}`);
  expect([status, ...(await looks())]).toEqual([204, 401, 401]);
  await Promise.all([byKey!.ended(), bySession!.ended()]);
  expect(ofOwner!.hasEnded).toBe(false);
  ofOwner!.close();
});

it('revocation is for keys of the owner that still hold: any other is not found', async () => {
  const owner = await mint();
  const other = await mint();
  const { key_id } = (await owner.make({ scopes: ['read'] })).made;
  const path = `/api/keys/${key_id}`;
  const answers = [await other.delete(path), await owner.delete('/api/keys/nothing')];
  answers.push(await owner.delete(path), await owner.delete(path));
  const gone = [404, 'key_not_found'];
  expect(answers.map(statusAndCode)).toEqual([gone, gone, [204, undefined], gone]);
  const { keys } = (await owner.get('/api/keys')).body;
  expect(keys.find((one: { key_id: string }) => one.key_id === key_id)).toMatchObject({ revoked: true });
});

it('what is done to keys leaves rows in a record of the owner: who, what, when, no secret, and they verify', async () => {
  const owner = await mint();
  const made = await owner.make({ scopes: ['admin'] });
  const next = new Holder(node.url, await rotated(made, made));
  const [first, second, third] = [owner, made, next].map((one) => one.made.key_id);
  await next.delete(`/api/keys/${first}`);
  const { record } = (await next.get('/api/keys')).body;
  const common = { machine: record, kind: 'admin_action', cause: 'manual', emitted: [], at: expect.any(String) };
  expect((await next.rows(record)).slice(1)).toMatchObject([
    { ...common, by: first, action: 'key_made', key_id: second, scopes: ['admin'] },
    { ...common, by: second, action: 'key_rotated', key_id: second, next_key_id: third },
    { ...common, by: third, action: 'key_revoked', key_id: first },
  ]);
  const text = await next.exported(record);
  expect(text).not.toMatch(/weir_[A-Za-z0-9]/);
  const { public_key } = (await node.ask('GET', '/api/updates/pubkey')).body;
  expect(await verifyRecord(text, public_key)).toMatchObject({ valid: true, rows: 4 });
  const others = await (await mint()).get(`/api/chain/${record}/state`);
  expect([others.status, (await next.tryDeploy(record)).status]).toEqual([404, 403]);
});

it('rows of a machine and its contracts say who asked, and those of counted events do not', async () => {
  const owner = await mint();
  const transition = `/api/chain/who-asked/contracts/${await owner.contractOn('who-asked')}/transition`;
  // Held: an empty window would restore it in the next cycle.
  await owner.post(transition, { to: 'limiting', hold_cycles: 1_000 });
  await owner.post(transition, { to: 'allowing' });
  await owner.event('who-asked', { count: 500 });
  const by = owner.made.key_id;
  expect((await owner.rows('who-asked')).map((row) => [row.kind, row.cause, row.by])).toEqual([
    ['machine_created', 'manual', by],
    ['contract_created', 'manual', by],
    ['transition', 'manual', by],
    ['transition', 'manual', by],
    ['transition', 'trigger', undefined],
  ]);
});

it('the cookie of a session is bound to its host by HTTPS and plain by HTTP; neither is taken for the other', async () => {
  const owner = await mint();
  const https = { 'x-forwarded-proto': 'https' };
  const open = async (fields: Record<string, string>) => (await owner.post('/api/session', undefined, fields)).headers;
  const cookies = [await open({}), await open(https)].map((headers) => headers.get('set-cookie') ?? '');
  const token = cookies.map((cookie) => /=([^;]+)/.exec(cookie)?.[1] ?? '');
  const names = cookies.map((cookie, index) => cookie.replace(token[index]!, 'T').replace(/Max-Age=\d+; /, ''));
  expect(names).toEqual([
    'weir_session=T; Path=/; HttpOnly; SameSite=Lax',
    '__Host-weir_session=T; Path=/; HttpOnly; Secure; SameSite=Lax',
  ]);
  for (const [cookie, headers, status] of [
    [`weir_session=${token[1]}`, https, 401],
    [`__Host-weir_session=${token[1]}`, {}, 401],
    [`__Host-weir_session=${token[1]}`, https, 204],
    [`weir_session=${token[0]}`, {}, 204],
  ] as const)
    expect((await node.ask('DELETE', '/api/session', { headers: { cookie, ...headers } })).status).toBe(status);
});
