import { createHash } from 'node:crypto';
import { expect, it } from 'vitest';
import type { Auth } from '../../src/node/permission.js';
import type { Route } from '../../src/node/route.js';
import { routes } from '../../src/node/route-list.js';
import { inTurn, statusAndCode } from './caller.js';
import { nodeOfFile } from './node-of-file.js';
import { type About, bodyOf, endsMachine, pathOf, statusOf } from './route-request.js';
import type { Ask } from './running.js';

/** What a route is about: nothing of an owner's, a private machine, a public one, a key. */
type Place = 'none' | 'private' | 'public' | 'key';

const ok = 'ok';
/** Those who ask, and the credential that each brings. */
const visitors: Readonly<Record<string, () => Ask | Promise<Ask>>> = {
  nothing: () => ({}),
  'bad key': () => ({ key: `weir_${'x'.repeat(43)}` }),
  'expired key': () => ({ key: node.keyOf('owner', 0) }),
  'other owner': () => ({ key: node.keyOf('other') }),
  'owner, key': () => owner,
  'owner, session': async () => ({ session: await node.sessionOf(owner.key) }),
  'ended session': () => ({ session: ended }),
};

const missing = '401 credential_missing';
const invalid = '401 credential_invalid';
const unknown = '404 machine_not_found';
const foreign = '403 not_owner';
const noKey = '404 key_not_found';

/** Every cell, in the order of the visitors. */
const expected: Record<Auth, Partial<Record<Place, readonly string[]>>> = {
  public: {
    none: [ok, ok, ok, ok, ok, ok, ok],
    // The page of a machine is the same for every slug, and knows of none.
    private: [ok, ok, ok, ok, ok, ok, ok],
    public: [ok, ok, ok, ok, ok, ok, ok],
  },
  public_or_owner: {
    none: [ok, invalid, invalid, ok, ok, ok, invalid],
    private: [unknown, invalid, invalid, unknown, ok, ok, invalid],
    public: [ok, invalid, invalid, ok, ok, ok, invalid],
  },
  key_or_session: {
    none: [missing, invalid, invalid, ok, ok, ok, invalid],
    private: [missing, invalid, invalid, unknown, ok, ok, invalid],
    public: [missing, invalid, invalid, foreign, ok, ok, invalid],
  },
  key: {
    none: [missing, invalid, invalid, ok, ok, missing, missing],
    private: [missing, invalid, invalid, unknown, ok, missing, missing],
    public: [missing, invalid, invalid, foreign, ok, missing, missing],
    key: [missing, invalid, invalid, noKey, ok, missing, missing],
  },
  session: {
    none: [missing, missing, missing, missing, missing, ok, invalid],
  },
  key_and_session: {
    none: [missing, invalid, invalid, ok, ok, missing, missing],
  },
};

const node = await nodeOfFile({
  limits: {
    mint: { threshold: 1_000, within: 60, onNode: 10_000 },
    // The matrix opens one for each of its cells.
    sessions: { threshold: 10_000, within: 60, onNode: 100_000 },
    newMachines: { threshold: 10_000, within: 60, onNode: 100_000 },
  },
});
const owner = node.owner();
const ended = await node.sessionOf(owner.key);
await node.ask('DELETE', '/api/session', { session: ended });
const machines = {
  private: await newMachine('private-gateway', false),
  public: await newMachine('public-gateway', true),
};

/** What is answered by every method is asked by one that no route declares, too. */
const anyMethod = routes.flatMap((route) =>
  route.isGate === true && route.method === 'GET' ? [{ ...route, method: 'PUT' as 'POST' }] : [],
);

const rows = [...routes, ...anyMethod].flatMap((route) =>
  placesOf(route).map((place) => [`${route.method} ${route.path}, machine: ${place}`, route, place] as const),
);

it.each(rows)('%s is answered to those who may ask, and refused to others', async (_name, route, place) => {
  const cells = await inTurn(Object.values(visitors), async (bring) => outcome(route, place, await bring()));
  expect(cells).toEqual(expected[route.auth][place]);
});

const scopes = ['read', 'event', 'gate', 'admin'] as const;
const beyond = '403 scope_missing';
/** What anyone may see, any valid key may. */
const isOpen = ({ auth }: Route, place: Place) => auth === 'public_or_owner' && place !== 'private';
const guarded = rows.filter(([, route]) => route.scope !== undefined && route.auth !== 'session');

it.each(guarded)('%s is decided by the scopes of the key', async (_name, route, place) => {
  const cells = await inTurn(scopes, (scope) =>
    outcome(route, place, { key: node.keyOf('owner', 60_000, { scopes: [scope] }) }),
  );
  expect(cells).toEqual(
    scopes.map((scope) =>
      isOpen(route, place) || ['any', scope].includes(route.scope!) || scope === 'admin' ? ok : beyond,
    ),
  );
});

it.each(guarded)('%s is decided by the machine of the key', async (_name, route, place) => {
  const keyFor = (machine: string) => ({ key: node.keyOf('owner', 60_000, { machine }) });
  const own = await outcome(route, place, keyFor(aboutOf(place).slug));
  const other = await outcome(route, place, keyFor('another-machine'));
  const anyone = place === 'none' || isOpen(route, place);
  expect([own, other]).toEqual(route.ofOwner ? [beyond, beyond] : [ok, anyone ? ok : beyond]);
});

it.each(guarded)('%s is allowed to a session as to its key', async (_name, route, place) => {
  if (route.auth === 'key' || route.auth === 'key_and_session') return;
  const session = await node.sessionOf(node.keyOf('owner', 60_000, { scopes: ['gate'] }));
  const isAllowed = isOpen(route, place) || ['any', 'gate'].includes(route.scope!);
  expect(await outcome(route, place, { session })).toBe(isAllowed ? ok : beyond);
});

it('a key of one machine learns nothing of others: one that is there and one that is not look the same', async () => {
  const key = node.keyOf('owner', 60_000, { machine: 'public-gateway' });
  const slugs = [machines.private.slug, 'never-created'];
  const answers = await Promise.all(slugs.map((slug) => node.ask('GET', `/api/chain/${slug}/state`, { key })));
  const listed = await node.ask('GET', '/api/chain/state-machines', { key });
  expect(statusAndCode(answers[0]!)).toEqual([403, 'scope_missing']);
  expect(answers[1]).toMatchObject({ status: 403, body: answers[0]!.body });
  expect(listed.body.machines.map(({ slug }: { slug: string }) => slug)).not.toContain(machines.private.slug);
});

it('a key that may not read sees public machines alone, as anyone', async () => {
  const key = node.keyOf('owner', 60_000, { scopes: ['gate'] });
  const slugsFor = async (ask: Ask) => {
    const { body } = await node.ask('GET', '/api/chain/state-machines', ask);
    return body.machines.map(({ slug }: { slug: string }) => slug);
  };
  expect(await slugsFor({ key })).toEqual(await slugsFor({}));
});

it('another owner sees no difference between a private machine and none', async () => {
  const key = node.keyOf('other');
  const slugs = [machines.private.slug, 'never-created'];
  const answers = await Promise.all(slugs.map((slug) => node.ask('GET', `/api/chain/${slug}/state`, { key })));
  const [hidden, absent] = answers.map(({ status, headers, body }, index) => ({
    status,
    type: headers.get('content-type'),
    text: JSON.stringify(body).replaceAll(slugs[index]!, 'SLUG'),
  }));
  expect(hidden).toEqual(absent);
});

it('a session that comes with a key of another owner is refused where both are asked for', async () => {
  const session = await node.sessionOf(owner.key);
  const body = { steps: 1 };
  const answers = [
    await node.ask('POST', '/api/core/shift', { key: owner.key, session, body }),
    await node.ask('POST', '/api/core/shift', { key: node.keyOf('other'), session, body }),
    await node.ask('POST', '/api/core/shift', { key: owner.key, session: ended, body }),
  ];
  expect(answers.map(statusAndCode)).toEqual([
    [200, undefined],
    [403, 'not_owner'],
    [401, 'credential_invalid'],
  ]);
});

it.each([
  ['a scheme that is not Bearer', 'Basic d2Vpcjp3ZWly'],
  ['no token', 'Bearer'],
  ['a key without its prefix', `Bearer ${'x'.repeat(43)}`],
  ['the key with something behind it', 'KEY x'],
])('%s is no credential', async (_name, header) => {
  const authorization = header.replace('KEY', `Bearer ${owner.key}`);
  const { status, headers, body } = await node.ask('POST', '/api/session', { headers: { authorization } });
  expect([status, body.code, headers.get('www-authenticate')]).toEqual([
    401,
    'credential_invalid',
    'Bearer realm="weir"',
  ]);
});

it.each([
  ['a page of this node', { origin: 'SELF', 'sec-fetch-site': 'same-origin' }, 200],
  ['a program that knows no origin', {}, 200],
  ['a link that was typed in', { 'sec-fetch-site': 'none' }, 200],
  ['a page of another site', { origin: 'https://elsewhere.example', 'sec-fetch-site': 'cross-site' }, 403],
  ['a page of another port of the same host', { origin: 'http://127.0.0.1:1', 'sec-fetch-site': 'same-site' }, 403],
  ['a link on another site', { 'sec-fetch-site': 'cross-site' }, 403],
  ['a page without an origin', { origin: 'null' }, 403],
])('a session changes something unless another site asks for it: %s', async (_name, headers, status) => {
  const { slug, contractId } = machines.private;
  const session = await node.sessionOf(owner.key);
  const sent = Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name, value.replace('SELF', node.url)]),
  );
  const gate = await node.ask('GET', `/api/chain/${slug}/contracts/${contractId}/gate`, { session, headers: sent });
  const look = await node.ask('GET', `/api/chain/${slug}/state`, { session, headers: sent });
  // Without a session, too: a browser must not be made to use up what its address may mint.
  const minted = await node.ask('POST', '/api/demo-key/mint', { headers: sent });
  expect([gate.status, look.status, minted.status]).toEqual([status, 200, status === 200 ? 201 : status]);
});

it('the hash of a session token is no credential, the token itself is no key, and a key is no token', async () => {
  const session = await node.sessionOf(owner.key);
  const hash = createHash('sha256').update(session).digest('hex');
  await node.ask('GET', '/api/chain/state-machines', { session });
  expect((await node.ask('GET', '/api/chain/state-machines', { session: owner.key })).status).toBe(401);
  const statuses = await Promise.all(
    [hash, `Bearer ${hash}`, `Bearer ${session}`].map(async (authorization) => {
      const body = { slug: 'stolen' };
      return (await node.ask('POST', '/api/chain/state-machines', { headers: { authorization }, body })).status;
    }),
  );
  expect(statuses).toEqual([401, 401, 401]);
});

it('a session cookie is for this site and for HTTP alone, and goes with its session', async () => {
  const opened = await owner.post('/api/session');
  const session = /weir_session=([^;]+)/.exec(opened.headers.get('set-cookie') ?? '')?.[1] ?? '';
  const closed = await node.ask('DELETE', '/api/session', { session });
  expect([opened, closed].map(({ headers }) => headers.get('set-cookie')?.replace(session, 'TOKEN'))).toEqual([
    expect.stringMatching(/^weir_session=TOKEN; Max-Age=3\d{3}; Path=\/; HttpOnly; SameSite=Lax$/),
    'weir_session=; Max-Age=0; Path=/; HttpOnly; SameSite=Lax',
  ]);
});

function placesOf({ path, example = {} }: Route): Place[] {
  if (path.includes('{key_id}')) return ['key'];
  const isAboutOne = path.includes('{slug}') || 'slug' in Object(example.body) || 'machine' in Object(example.body);
  return isAboutOne && path !== '/api/chain/state-machines' ? ['private', 'public'] : ['none'];
}

function aboutOf(place: Place): About {
  switch (place) {
    case 'none':
      return { slug: 'none', contractId: '' };
    case 'key':
      return { slug: 'none', contractId: '', keyId: node.idOf(node.keyOf('owner')) };
    default:
      return machines[place];
  }
}

async function outcome(route: Route, place: Place, credential: Ask): Promise<string> {
  const about = aboutOf(place);
  const response = await node.send(route.method, pathOf(route, about), {
    ...credential,
    body: bodyOf(route, about),
  });
  if (response.status === statusOf(route)) {
    await response.body?.cancel();
    if (endsMachine(route) && place !== 'none' && place !== 'key') {
      renewed += 1;
      machines[place] = await newMachine(`${place}-gateway-${renewed}`, place === 'public');
    }
    // The next one finds the contract allowing again.
    const { slug, contractId } = about;
    if (route.path.endsWith('/transition'))
      await owner.post(`/api/chain/${slug}/contracts/${contractId}/transition`, { to: 'allowing' });
    return ok;
  }
  const { code } = (await response.json()) as { code: string };
  return `${response.status} ${code}`;
}

let renewed = 0;

async function newMachine(slug: string, is_public: boolean): Promise<About> {
  const contractId = await owner.contractOn(slug, { threshold: 1_000 }, is_public);
  await owner.patch(`/api/chain/${slug}/contracts/${contractId}`, { candidate: { threshold: 50 } });
  return { slug, contractId };
}
