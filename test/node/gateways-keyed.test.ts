// A contract with keys behind a gateway: whose request it is, by a header that the deploy names.
import { expect, it } from 'vitest';
import { gateOf, inTurn } from './caller.js';
import { startEdge } from './edge.js';
import { Raw } from './raw.js';

const { node, owner } = await startEdge();

const keyed = { max_keys: 3, idle_cycles: 0, overflow: 'refuse', store_keys: 'plain' };

const gateWith = async (parameters: object, slug = 'edge') =>
  gateOf(slug, await owner.deploy(slug, { within: 1, threshold: 1, keyed, ...parameters }));

/** Status, code or key of requests that are made one after the other. */
const told = (asks: readonly (readonly [path: string, headers?: Record<string, string>])[]) =>
  inTurn(asks, async ([path, headers]) => {
    const { status, body } = await owner.get(path, headers);
    return `${status} ${body.key ?? body.code}`;
  });

it('each client is limited by itself, here and below, and its query chooses no other', async () => {
  const gate = await gateWith({ gate: { key: { forwarded: { hops: 1 } } } });
  const from = (address: string) => ({ 'x-forwarded-for': address });
  expect(
    await told([
      [gate, from('198.51.100.1')],
      [gate, from('198.51.100.1')],
      [`${gate}/?key=198.51.100.9&peek=1`, from('198.51.100.1')],
      [gate, from('198.51.100.9, 198.51.100.2')],
      [`${gate}/a`, from('198.51.100.9, 198.51.100.2')],
      [`${gate}?key=chosen`, from('198.51.100.1')],
      [gate],
      [gate, from('unknown')],
    ]),
  ).toEqual([
    '200 198.51.100.1',
    '429 198.51.100.1',
    '429 198.51.100.1',
    '200 198.51.100.2',
    '429 198.51.100.2',
    '200 chosen',
    '403 gate_header_unusable',
    '403 gate_header_unusable',
  ]);
});

it('clients without a header share the key that the deploy names', async () => {
  const gate = await gateWith({ gate: { key: { header: 'X-Api-Key', absent: 'anyone' } } });
  expect(await told([[gate], [gate], [gate, { 'x-api-key': 'a' }], [gate, { 'x-api-key': '' }]])).toEqual([
    '200 anyone',
    '429 anyone',
    '200 a',
    '403 gate_header_unusable',
  ]);
});

it('a client hides no header of its gateway behind more than are usually kept', async () => {
  const gate = await gateWith({ gate: { key: { header: 'X-Api-Key', absent: 'anyone' } } });
  const head = `GET ${gate} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${owner.key}\r\nConnection: close\r\n`;
  const { text } = await new Raw(node.url).send(`${head}${'a:\r\n'.repeat(2_000)}X-Api-Key: b\r\n\r\n`).ended();
  expect(/"key":"(\w+)"/.exec(text)?.[1]).toBe('b');
});

it('a key without a place is refused with the status that the gateway knows', async () => {
  const gate = await gateWith({ gate: { key: { header: 'X-Api-Key' } } });
  const of = (name: string) => [`${gate}?deny=403`, { 'x-api-key': name }] as const;
  expect(await told([of('a'), of('b'), of('c'), of('d'), of('a')])).toEqual([
    '200 a',
    '200 b',
    '200 c',
    '403 too_many_keys',
    '403 a',
  ]);
});

it('a shadow admits every key, those that share a gate too, and says what it would have limited', async () => {
  const gate = await gateWith({ shadow: true, keyed: { ...keyed, overflow: 'share' } });
  const answers = await inTurn(['a', 'a', 'a', 'b', 'c', 'd', 'e'], async (name) => {
    const { status, headers } = await owner.get(`${gate}?key=${name}`);
    return `${name} ${status} ${headers.get('weir-shadow')}`;
  });
  expect(answers).toEqual([
    ...['a 200 admitted', 'a 200 limited', 'a 200 limited', 'b 200 admitted'],
    ...['c 200 admitted', 'd 200 admitted', 'e 200 limited'],
  ]);
});

it('near_limit is emitted for each key', async () => {
  await owner.createMachine('near');
  const gate = await gateWith({ threshold: 2, near_limit: 0.9 }, 'near');
  await told(['a', 'a', 'b', 'a', 'b'].map((name) => [`${gate}?key=${name}`]));
  const rows = await owner.rows('near', 'kind=transition');
  expect(rows.map(({ key, emitted }) => [key, ...emitted])).toEqual([
    ['a', 'near_limit'],
    ['a', 'rate_limited'],
    ['b', 'near_limit'],
  ]);
});

it.each([
  [{ keyed: undefined, gate: { key: { header: 'X-Api-Key' } } }, '/gate/key'],
  [{ shadow: true }, '/keyed/overflow'],
  [{ within: undefined, threshold: undefined, near_limit: 0.8, rule: { like: 'nginx', rate: '10r/s' } }, '/near_limit'],
])('%j is refused: what it says does not fit together', async (parameters, path) => {
  const refused = await owner.tryDeploy('edge', { within: 1, threshold: 1, keyed, ...parameters });
  const problem = { code: 'invalid_input', errors: [{ path }] };
  expect(refused).toMatchObject({ status: 400, body: problem });
});
