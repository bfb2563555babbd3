// Contracts with keys over real HTTP: deploy, event, events, gate, the keys that are there, and what is refused.
import { expect, it } from 'vitest';
import { verifyRows } from '../core/record/verifying.js';
import { figureIn } from './asking.js';
import { inTurn, statusAndCode } from './caller.js';
import { nodeOfFile } from './node-of-file.js';

let machines = 0;

// Cycles so long that no test sees the end of one.
const node = await nodeOfFile({ cycleMs: 10_000_000 });
const owner = node.owner('ann');

const KEYED = { max_keys: 100, idle_cycles: 10, overflow: 'refuse', store_keys: 'plain' };

/** A machine with a contract of two requests a window for each key. */
async function deploy(keyed: object | null = {}, more: object = {}) {
  machines += 1;
  const slug = `m-${machines}`;
  const keys = keyed && { keyed: { ...KEYED, ...keyed } };
  const id = await owner.contractOn(slug, { threshold: 2, within: 10, ...keys, ...more });
  const path = `/api/chain/${slug}/contracts/${id}`;
  return {
    ...{ slug, id, path },
    event: (key: unknown, count = 1) => owner.event(slug, { key, count }),
    /** What an event of a key is decided by the contract. */
    decide: async (key: string, count = 1) => (await owner.event(slug, { key, count })).body.contracts[0],
    gate: (query: string) => owner.get(`${path}/gate?${query}`),
    /** What becomes of an event of each key: how many were admitted, or why it was refused. */
    events: async (...keys: unknown[]): Promise<(number | string)[]> => {
      const sent = keys.map((key) => ({ type: 'request', contract_id: id, key }));
      const { outcomes, code } = (await owner.post(`/api/chain/${slug}/events`, sent)).body;
      return outcomes?.map((one: any) => one.code ?? one.contracts[0].admitted) ?? [code];
    },
    contract: async (query = '') => (await owner.get(path + query)).body.contract,
    keys: async (query = '') => (await owner.get(`${path}/keys${query}`)).body,
  };
}

it('each key is a gate of its own, from deploy to a row that names the key', async () => {
  const { id, slug, contract, decide } = await deploy();
  expect((await contract()).keyed).toEqual({ ...KEYED, keys: 0, limited: 0 });
  for (const [key, count, ...expected] of [
    ['a', 2, 'allowing', 2, 0, 0],
    ['b', 1, 'allowing', 1, 0, 1],
    ['a', 2, 'limiting', 0, 2, 0],
    ['b', 1, 'allowing', 1, 0, 0],
  ] as const) {
    const { key: of, state, admitted, limited, remaining } = await decide(key, count);
    expect([of, state, admitted, limited, remaining]).toEqual([key, ...expected]);
  }
  const rows = await owner.rows(slug);
  expect(rows[1].keyed).toEqual(KEYED);
  expect(rows[2]).toMatchObject({ kind: 'transition', contract_id: id, key: 'a', to: 'limiting', inputs: { S: 3 } });
  expect(verifyRows(rows)).toMatchObject({ valid: true, rows: 3 });
  expect((await contract()).keyed).toMatchObject({ keys: 2, limited: 1 });
  const one = { key: 'a', currentState: 'limiting', count: 4, remaining: 0, retry_after_cycles: 10 };
  expect(await contract('?key=a')).toMatchObject(one);
});

it('a gate counts each key by itself, with the fields of the key; peek makes none', async () => {
  const { gate, contract } = await deploy();
  const peeked = await gate('key=x&peek=1');
  expect([peeked.status, peeked.body.remaining]).toEqual([200, 2]);
  const answers = await inTurn(['x', 'x', 'x', 'y'], (name) => gate(`key=${name}`));
  expect(answers.map(({ status, body, headers }) => [status, body.key, headers.get('ratelimit')])).toEqual([
    [200, 'x', '"default";r=1;t=0'],
    [200, 'x', expect.stringMatching(/^"default";r=0;t=\d+$/)],
    [429, 'x', expect.stringMatching(/^"default";r=0;t=\d+$/)],
    [200, 'y', '"default";r=1;t=0'],
  ]);
  expect(Number(answers[2]!.headers.get('retry-after'))).toBeGreaterThan(90_000);
  expect((await contract()).keyed).toMatchObject({ keys: 2, limited: 1 });
});

it('each key is a gate of its own by a rule, and a definition may be keyed', async () => {
  const rule = { like: 'nginx', rate: '1r/m', burst: 1 };
  const { slug, contract, decide } = await deploy({}, { threshold: undefined, within: undefined, rule });
  const admitted = await inTurn(['a', 'a', 'a', 'b'], async (key) => (await decide(key)).admitted);
  expect(admitted).toEqual([1, 1, 0, 1]);
  expect(await contract('?key=a')).toMatchObject({ key: 'a', currentState: 'limiting' });
  const { template } = (await owner.get('/api/contracts/templates/rate-limiter')).body;
  const made = await owner.post(`/api/chain/${slug}/contracts`, { ...template, keyed: KEYED });
  expect([made.status, made.body.contract.keyed.max_keys]).toEqual([201, 100]);
  const shown = await owner.get(`/api/chain/${slug}/contracts/${made.body.contract.id}`);
  expect(shown.body.contract.definition).toEqual(template);
});

it('each key is a gate of its own, whatever it is called', async () => {
  const { decide, keys } = await deploy();
  const odd = ['__proto__', 'constructor', 'toString', '0', '-0', ' ', '\u0000', '\u{1f600}', 'é', 'e\u0301'];
  const names = [...odd, 'x'.repeat(256)];
  for (const key of names) expect(await decide(key, 2)).toMatchObject({ key, count: 2, state: 'allowing' });
  const pages: string[][] = [];
  for (let next = 0; next !== undefined; ) {
    const page = await keys(`?limit=4&after=${next}`);
    pages.push(page.keys.map(({ key }: { key: string }) => key));
    next = page.next;
  }
  expect(pages.map(({ length }) => length)).toEqual([4, 4, 3]);
  expect(pages.flat()).toEqual(names);
});

it('keys are hashed unless asked otherwise, and a public machine shows them only if that is said twice', async () => {
  const { slug, keys: keysOf, event } = await deploy({ store_keys: undefined });
  await event('secret-client');
  const { keys } = await keysOf();
  expect(keys).toMatchObject([{ key: expect.stringMatching(/^[0-9a-f]{32}$/) }]);
  const found = await inTurn(['secret-client', 'another', keys[0].key.slice(0, 9)], (search) =>
    keysOf(`?search=${search}`),
  );
  expect(found.map((one) => one.keys.length)).toEqual([1, 0, 1]);
  await owner.post('/api/chain/state-machines', { slug: `${slug}-public`, is_public: true });
  const asked: [more: object, status: number][] = [
    [{ store_keys: 'plain' }, 400],
    [{ store_keys: 'plain', show_keys: true }, 201],
    [{ store_keys: 'hashed' }, 201],
    [{}, 201],
  ];
  const answers = await inTurn(asked, ([more]) =>
    owner.post('/api/contracts/templates/rate-limiter/deploy', {
      slug: `${slug}-public`,
      threshold: 2,
      keyed: { max_keys: 10, ...more },
    }),
  );
  expect(answers.map(({ status }) => status)).toEqual(asked.map(([, status]) => status));
  expect(answers[0]!.body).toMatchObject({ code: 'invalid_input', errors: [{ path: '/keyed/store_keys' }] });
});

it('without plain keys neither store nor record nor answers have them, and a key stays who it was', async () => {
  const { slug, keys: keysOf, event } = await deploy({ store_keys: 'hashed' });
  for (let sent = 0; sent < 3; sent += 1) await event('secret-client');
  await node.clock.sleep(0);
  const { keys } = await keysOf();
  const hashed = { key: expect.stringMatching(/^[0-9a-f]{32}$/), state: 'limiting', count: 3 };
  expect(keys).toMatchObject([hashed]);
  const rows = await owner.rows(slug);
  expect(rows.at(-1)).toMatchObject({ key: keys[0].key, to: 'limiting' });
  expect(JSON.stringify([keys, rows, node.store.rows(slug)])).not.toContain('secret-client');
  const other = await deploy({ store_keys: 'hashed' });
  expect((await other.decide('secret-client')).key).not.toBe(keys[0].key);
});

it.each<[what: string, key: unknown, status: number, code: string]>([
  ['none', undefined, 422, 'key_missing'],
  ['an empty one', '', 400, 'invalid_input'],
  ['a number', 7, 400, 'invalid_input'],
  ['one of 257 characters', 'x'.repeat(257), 400, 'invalid_input'],
  ['half a character', '\ud83d', 400, 'invalid_input'],
])('a key that is %s is refused, and counts nowhere', async (_what, key, status, code) => {
  const { event, events, contract } = await deploy();
  expect(statusAndCode(await event(key))).toEqual([status, code]);
  expect(await events(key)).toEqual([code]);
  expect((await contract()).keyed.keys).toBe(0);
});

it('a key has up to 256 characters, those beyond U+FFFF too', async () => {
  const { event } = await deploy();
  const answers = [await event('😀'.repeat(256)), await event('😀'.repeat(257))];
  expect(answers.map(({ status }) => status)).toEqual([200, 400]);
});

it('a key for a contract without keys is refused', async () => {
  const { event, gate, path, keys } = await deploy(null);
  const answers = [await event('a'), await gate('key=a'), await owner.get(`${path}?key=a`)];
  expect(answers.map(statusAndCode)).toEqual(Array(3).fill([400, 'invalid_input']));
  expect((await keys()).keys).toEqual([]);
});

it('a key beyond max_keys is refused where all others have counts, and a metric says so', async () => {
  const { event, events, gate, path } = await deploy({ max_keys: 2 });
  for (const name of ['a', 'b']) await event(name);
  const asks = [() => event('c'), () => gate('key=c'), () => gate('key=c&deny=503'), () => owner.get(`${path}?key=c`)];
  const refused = await inTurn(asks, (ask) => ask());
  expect(refused.slice(0, 2).map(statusAndCode)).toEqual(Array(2).fill([429, 'too_many_keys']));
  for (const { headers } of refused) {
    // A window of ten cycles of 10,000 s, of which the first has begun.
    expect(Number(headers.get('retry-after'))).toBeGreaterThan(90_000);
    expect(Number(headers.get('retry-after'))).toBeLessThanOrEqual(100_000);
  }
  expect(await events('a', 'c', 'b')).toEqual([1, 'too_many_keys', 1]);
  const metrics = (await owner.get('/metrics')).body;
  expect(metrics).toMatch(/^weir_keys_without_place_total\{outcome="refused"\} 4$/m);
  expect(figureIn(metrics, 'weir_keys')).toBeGreaterThanOrEqual(2);
});

it('an event for several contracts is counted by none where one has no place for its key', async () => {
  const { slug, event, contract } = await deploy({ max_keys: 1 });
  const other = await owner.deploy(slug);
  await event('a');
  expect(statusAndCode(await event('b'))).toEqual([429, 'too_many_keys']);
  const { body } = await owner.get(`/api/chain/${slug}/contracts/${other}`);
  expect([(await contract('?key=a')).count, body.contract.count]).toEqual([1, 1]);
});

it('more keys than the node sets memory aside for are refused', async () => {
  const slug = `m-${machines}`;
  const answer = await owner.tryDeploy(slug, { within: 100_000, keyed: { ...KEYED, max_keys: 10_000_000 } });
  expect(statusAndCode(answer)).toEqual([422, 'limit_reached']);
  expect(answer.body.detail).toContain('Choose fewer max_keys');
  const wrong = await owner.post(`/api/chain/${slug}/contracts`, { name: 'x', keyed: { max_keys: 0 } });
  expect(statusAndCode(wrong)).toEqual([400, 'invalid_input']);
});
