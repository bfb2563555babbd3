// Contracts with keys over real HTTP: deploy, event, events, gate, gates, the keys that are there, and what is refused.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { verifyRows } from '../record/verifying.js';
import { figureIn } from './asking.js';
import { type Running, startRunning } from './running.js';

let node: Running;
let key: string;
let machines = 0;

beforeAll(async () => {
  // Cycles so long that no test sees the end of one.
  node = await startRunning({ cycleMs: 10_000_000 });
  key = node.keyOf('ann');
});
afterAll(async () => {
  await node.close();
  expect(node.errors).toEqual([]);
});

const KEYED = { max_keys: 100, idle_cycles: 10, overflow: 'refuse', store_keys: 'plain' };

const told = async (method: string, path: string, body?: unknown) => {
  const { status, body: answer } = await node.ask(method, path, { key, ...(body === undefined ? {} : { body }) });
  return { status, ...answer };
};

/** A machine with a contract of two requests a window for each key. */
async function deploy(keyed: object = {}, more: object = {}) {
  machines += 1;
  const slug = `m-${machines}`;
  await told('POST', '/api/chain/state-machines', { slug });
  const body = { slug, threshold: 2, within: 10, keyed: { ...KEYED, ...keyed }, ...more };
  const { contract } = await told('POST', '/api/contracts/templates/rate-limiter/deploy', body);
  return { slug, id: contract.id as string, contract, path: `/api/chain/${slug}` };
}

describe('each key is a gate of its own', () => {
  it('from deploy to a row that names the key', async () => {
    const { id, contract, path } = await deploy();
    expect(contract.keyed).toEqual({ ...KEYED, keys: 0, limited: 0 });
    const event = (name: string, count: number) => told('POST', `${path}/event`, { type: 'request', key: name, count });
    const seen = [];
    for (const [name, count] of [
      ['a', 2],
      ['b', 1],
      ['a', 2],
      ['b', 1],
    ] as const) {
      const { status, contracts } = await event(name, count);
      const [{ key: of, state, admitted, limited, remaining }] = contracts;
      seen.push([status, of, state, admitted, limited, remaining]);
    }
    expect(seen).toEqual([
      [200, 'a', 'allowing', 2, 0, 0],
      [200, 'b', 'allowing', 1, 0, 1],
      [200, 'a', 'limiting', 0, 2, 0],
      [200, 'b', 'allowing', 1, 0, 0],
    ]);
    const { rows } = await told('GET', `${path}/state`);
    expect(rows.at(1).keyed).toEqual(KEYED);
    expect(rows.at(2)).toMatchObject({
      kind: 'transition',
      contract_id: id,
      key: 'a',
      to: 'limiting',
      inputs: { S: 3 },
    });
    expect(verifyRows(rows)).toMatchObject({ valid: true, rows: 3 });
    const { contract: whole } = await told('GET', `${path}/contracts/${id}`);
    expect(whole.keyed).toMatchObject({ keys: 2, limited: 1 });
    const { contract: one } = await told('GET', `${path}/contracts/${id}?key=a`);
    expect(one).toMatchObject({ key: 'a', currentState: 'limiting', count: 4, remaining: 0, retry_after_cycles: 10 });
  });

  it('by the gate, with the fields of the key; peek makes none', async () => {
    const { id, path } = await deploy();
    const gate = (query: string) => node.ask('GET', `${path}/contracts/${id}/gate?${query}`, { key });
    const peeked = await gate('key=x&peek=1');
    expect([peeked.status, peeked.body.remaining]).toEqual([200, 2]);
    const answers = [];
    for (const name of ['x', 'x', 'x', 'y']) answers.push(await gate(`key=${name}`));
    expect(answers.map(({ status, body, headers }) => [status, body.key, headers.get('ratelimit')])).toEqual([
      [200, 'x', '"default";r=1;t=0'],
      [200, 'x', expect.stringMatching(/^"default";r=0;t=\d+$/)],
      [429, 'x', expect.stringMatching(/^"default";r=0;t=\d+$/)],
      [200, 'y', '"default";r=1;t=0'],
    ]);
    expect(Number(answers[2]!.headers.get('retry-after'))).toBeGreaterThan(90_000);
    const { contract } = await told('GET', `${path}/contracts/${id}`);
    expect(contract.keyed).toMatchObject({ keys: 2, limited: 1 });
  });

  it('in events, line by line, and many gates at once in their order', async () => {
    const { id, path } = await deploy();
    const lines = ['a', 'b', 'a', 'a', 'ü'].map((name) => JSON.stringify({ type: 'request', key: name })).join('\n');
    const { body: bulk } = await node.ask('POST', `${path}/events`, {
      key,
      body: `${lines}\n{"type":"request"}\n`,
      type: 'application/x-ndjson',
    });
    expect(bulk).toMatchObject({
      counted: 5,
      refused: 1,
      admitted: 4,
      limited: 1,
      outcomes: [
        { from_line: 1, to_line: 3, outcome: 'admitted' },
        { from_line: 4, to_line: 4, outcome: 'limited' },
        { from_line: 5, to_line: 5, outcome: 'admitted' },
        { from_line: 6, to_line: 6, outcome: 'refused', code: 'key_missing' },
      ],
      contracts: [{ id, keys: 3, admitted: 4, limited: 1 }],
    });
    const requests = ['b', 'b', 'new'].map((name) => ({ contract_id: id, key: name }));
    const { decisions } = await told('POST', `${path}/gates`, { requests });
    expect(decisions).toEqual([
      { admitted: 1, limited: 0, state: 'allowing', remaining: 0, retry_after_cycles: 10 },
      { admitted: 0, limited: 1, state: 'limiting', remaining: 0, retry_after_cycles: 10 },
      { admitted: 1, limited: 0, state: 'allowing', remaining: 1, retry_after_cycles: 0 },
    ]);
  });

  it('with any definition and any rule', async () => {
    const { id, path } = await deploy(
      {},
      { threshold: undefined, within: undefined, rule: { like: 'nginx', rate: '1r/m', burst: 1 } },
    );
    const admitted = [];
    for (const name of ['a', 'a', 'a', 'b']) {
      const { contracts } = await told('POST', `${path}/event`, { type: 'request', key: name });
      admitted.push(contracts[0].admitted);
    }
    expect(admitted).toEqual([1, 1, 0, 1]);
    const { template } = await told('GET', '/api/contracts/templates/rate-limiter');
    const made = await told('POST', `${path}/contracts`, { ...template, keyed: KEYED });
    expect([made.status, made.contract.keyed.max_keys]).toEqual([201, 100]);
    const { contract } = await told('GET', `${path}/contracts/${made.contract.id}`);
    expect(contract.definition).toEqual(template);
    const { contract: one } = await told('GET', `${path}/contracts/${id}?key=a`);
    expect(one).toMatchObject({ key: 'a', currentState: 'limiting' });
  });

  it('whatever it is called', async () => {
    const { id, path } = await deploy();
    const names = [
      '__proto__',
      'constructor',
      'toString',
      '0',
      '-0',
      ' ',
      '\u0000',
      '\u{1f600}',
      'é',
      'e\u0301',
      'x'.repeat(256),
    ];
    for (const name of names) {
      const { contracts } = await told('POST', `${path}/event`, { type: 'request', key: name, count: 2 });
      expect(contracts[0]).toMatchObject({ key: name, count: 2, state: 'allowing' });
    }
    const pages = [];
    for (let next: number | undefined = 0; next !== undefined; ) {
      const page: any = await told('GET', `${path}/contracts/${id}/keys?limit=4&after=${next}`);
      pages.push(page.keys.map(({ key: name }: { key: string }) => name));
      next = page.next;
    }
    expect(pages.map(({ length }) => length)).toEqual([4, 4, 3]);
    expect(pages.flat()).toEqual(names);
  });

  it('moves by hand, one alone', async () => {
    const { id, path } = await deploy();
    const moved = await told('POST', `${path}/contracts/${id}/transition`, {
      to: 'limiting',
      key: 'a',
      hold_cycles: 5,
    });
    expect([moved.status, moved.new_state]).toEqual([200, 'limiting']);
    const { decisions } = await told('POST', `${path}/gates`, {
      requests: ['a', 'b'].map((name) => ({ contract_id: id, key: name })),
    });
    expect(decisions.map(({ admitted }: { admitted: number }) => admitted)).toEqual([0, 1]);
  });
});

describe('without plain keys', () => {
  it('neither store nor record nor answers have them, and a key stays who it was', async () => {
    const { slug, id, path } = await deploy({ store_keys: 'hashed' });
    for (let sent = 0; sent < 3; sent += 1)
      await told('POST', `${path}/event`, { type: 'request', key: 'secret-client' });
    await node.clock.sleep(0);
    const { keys } = await told('GET', `${path}/contracts/${id}/keys`);
    expect(keys).toEqual([
      {
        key: expect.stringMatching(/^[0-9a-f]{32}$/),
        state: 'limiting',
        count: 3,
        remaining: 0,
        retry_after_cycles: 10,
      },
    ]);
    const { rows } = await told('GET', `${path}/state`);
    expect(rows.at(-1)).toMatchObject({ key: keys[0].key, to: 'limiting' });
    expect(JSON.stringify([keys, rows, node.store.rows(slug)])).not.toContain('secret-client');
    const other = await deploy({ store_keys: 'hashed' });
    const { contracts } = await told('POST', `${other.path}/event`, { type: 'request', key: 'secret-client' });
    expect(contracts[0].key).not.toBe(keys[0].key);
  });
});

describe('what is refused counts nowhere', () => {
  const wrong: [what: string, key: unknown, status: number, code: string][] = [
    ['none', undefined, 422, 'key_missing'],
    ['an empty one', '', 400, 'invalid_input'],
    ['a number', 7, 400, 'invalid_input'],
    ['one of 257 characters', 'x'.repeat(257), 400, 'invalid_input'],
    ['half a character', '\ud83d', 400, 'invalid_input'],
  ];
  it.each(wrong)('a key that is %s', async (_what, name, status, code) => {
    const { id, path } = await deploy();
    const body = { type: 'request', ...(name === undefined ? {} : { key: name }) };
    expect(await told('POST', `${path}/event`, body)).toMatchObject({ status, code });
    const requests = [
      { contract_id: id, key: 'a' },
      { contract_id: id, ...(name === undefined ? {} : { key: name }) },
    ];
    expect(await told('POST', `${path}/gates`, { requests })).toMatchObject({ status, code });
    const { contract } = await told('GET', `${path}/contracts/${id}`);
    expect(contract.keyed.keys).toBe(0);
  });

  it('a key for a contract without keys', async () => {
    machines += 1;
    const slug = `m-${machines}`;
    await told('POST', '/api/chain/state-machines', { slug });
    const { contract } = await told('POST', '/api/contracts/templates/rate-limiter/deploy', { slug });
    const refused = { status: 400, code: 'invalid_input' };
    expect(await told('POST', `/api/chain/${slug}/event`, { type: 'request', key: 'a' })).toMatchObject(refused);
    const path = `/api/chain/${slug}/contracts/${contract.id}`;
    expect(await told('GET', `${path}/gate?key=a`)).toMatchObject(refused);
    expect(await told('GET', `${path}?key=a`)).toMatchObject(refused);
    expect(await told('GET', `${path}/keys`)).toMatchObject({ status: 200, keys: [] });
  });

  it('a key beyond max_keys, where all others have counts; a metric says so', async () => {
    const { id, path } = await deploy({ max_keys: 2 });
    for (const name of ['a', 'b']) await told('POST', `${path}/event`, { type: 'request', key: name });
    const refused = { status: 429, code: 'too_many_keys' };
    expect(await told('POST', `${path}/event`, { type: 'request', key: 'c' })).toMatchObject(refused);
    expect(await told('GET', `${path}/contracts/${id}/gate?key=c`)).toMatchObject(refused);
    const waits = [];
    for (const [method, where, body] of [
      ['POST', 'event', { type: 'request', key: 'c' }],
      ['GET', `contracts/${id}/gate?key=c`],
      ['GET', `contracts/${id}/gate?key=c&deny=503`],
      ['GET', `contracts/${id}?key=c`],
    ] as const) {
      const { headers } = await node.ask(method, `${path}/${where}`, { key, ...(body === undefined ? {} : { body }) });
      waits.push(Number(headers.get('retry-after')));
    }
    // A window of ten cycles of 10,000 s, of which the first has begun.
    expect(waits.every((seconds) => seconds > 90_000 && seconds <= 100_000)).toBe(true);
    const requests = ['a', 'c', 'b'].map((name) => ({ contract_id: id, key: name }));
    const { decisions } = await told('POST', `${path}/gates`, { requests });
    expect(decisions.map(({ admitted, code }: any) => [admitted, code])).toEqual([
      [1, undefined],
      [0, 'too_many_keys'],
      [1, undefined],
    ]);
    expect(decisions[1].retry_after_cycles).toBe(10);
    const { body: metrics } = await node.ask('GET', '/metrics');
    expect(metrics).toMatch(/^weir_keys_without_place_total\{outcome="refused"\} 6$/m);
    expect(figureIn(metrics, 'weir_keys')).toBeGreaterThanOrEqual(2);
  });

  it('but where keys without a place share one gate, they are counted together', async () => {
    const { path } = await deploy({ max_keys: 1, overflow: 'share' });
    const seen = [];
    for (const name of ['a', 'b', 'c', 'd', 'a']) {
      const { contracts } = await told('POST', `${path}/event`, { type: 'request', key: name });
      seen.push([contracts[0].key, contracts[0].count, contracts[0].admitted]);
    }
    expect(seen).toEqual([
      ['a', 1, 1],
      ['b', 1, 1],
      ['c', 2, 1],
      ['d', 3, 0],
      ['a', 2, 1],
    ]);
    const { rows } = await told('GET', `${path}/state`);
    expect([rows.at(-1).to, rows.at(-1).key]).toEqual(['limiting', undefined]);
  });

  it('where several contracts count an event, and one has no place, none counts it', async () => {
    const { slug, id, path } = await deploy({ max_keys: 1 });
    const { contract } = await told('POST', '/api/contracts/templates/rate-limiter/deploy', { slug });
    await told('POST', `${path}/event`, { type: 'request', key: 'a' });
    expect(await told('POST', `${path}/event`, { type: 'request', key: 'b' })).toMatchObject({ code: 'too_many_keys' });
    const counts = [];
    for (const of of [`${id}?key=a`, contract.id])
      counts.push((await told('GET', `${path}/contracts/${of}`)).contract.count);
    expect(counts).toEqual([1, 1]);
  });

  it('more keys than the node sets memory aside for', async () => {
    const slug = `m-${machines}`;
    const body = { slug, within: 100_000, keyed: { ...KEYED, max_keys: 10_000_000 } };
    const answer = await told('POST', '/api/contracts/templates/rate-limiter/deploy', body);
    expect(answer).toMatchObject({ status: 422, code: 'limit_reached' });
    expect(answer.detail).toContain('Choose fewer max_keys');
    const wrong = await told('POST', `/api/chain/${slug}/contracts`, { name: 'x', keyed: { max_keys: 0 } });
    expect(wrong).toMatchObject({ status: 400, code: 'invalid_input' });
  });
});
