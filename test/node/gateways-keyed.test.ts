// A contract with keys behind a gateway: whose request it is, by a header that the deploy names.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { type Edge, startEdge } from './edge.js';
import type { Running } from './running.js';

let node: Running;
let key: string;
let deploy: Edge['deploy'];
beforeAll(async () => {
  ({ node, key, deploy } = await startEdge());
});
afterAll(() => node.close());

const keyed = { max_keys: 3, idle_cycles: 0, overflow: 'refuse', store_keys: 'plain' };

async function deployed(parameters: object) {
  const { status, body: said } = await deploy({ threshold: 1, keyed, ...parameters });
  return { status, said, gate: `/api/chain/edge/contracts/${said.contract?.id}/gate` };
}

/** Status, code or key of requests that are made one after the other. */
async function told(asks: readonly (readonly [path: string, headers?: Record<string, string>])[]) {
  const all: string[] = [];
  for (const [path, headers = {}] of asks) {
    const { status, body } = await node.ask('GET', path, { key, headers });
    all.push(`${status} ${body.key ?? body.code}`);
  }
  return all;
}

it('each client is limited by itself, here and below, and its query chooses no other', async () => {
  const { gate } = await deployed({ gate: { key: { forwarded: { hops: 1 } } } });
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

it('those without a header share the key that the deploy names', async () => {
  const { gate } = await deployed({ gate: { key: { header: 'X-Api-Key', absent: 'anyone' } } });
  expect(await told([[gate], [gate], [gate, { 'x-api-key': 'a' }], [gate, { 'x-api-key': '' }]])).toEqual([
    '200 anyone',
    '429 anyone',
    '200 a',
    '403 gate_header_unusable',
  ]);
});

it('a key without a place is refused with the status that the gateway knows', async () => {
  const { gate } = await deployed({ gate: { key: { header: 'X-Api-Key' } } });
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
  const { gate, said } = await deployed({ shadow: true, keyed: { ...keyed, overflow: 'share' } });
  expect(said.ok).toBe(true);
  const answers: unknown[] = [];
  for (const name of ['a', 'a', 'a', 'b', 'c', 'd', 'e']) {
    const { status, headers } = await node.ask('GET', `${gate}?key=${name}`, { key });
    answers.push([name, status, headers.get('weir-shadow')]);
  }
  expect(answers).toEqual([
    ['a', 200, 'admitted'],
    ['a', 200, 'limited'],
    ['a', 200, 'limited'],
    ['b', 200, 'admitted'],
    ['c', 200, 'admitted'],
    ['d', 200, 'admitted'],
    ['e', 200, 'limited'],
  ]);
});

it('near_limit is emitted for each key', async () => {
  await node.ask('POST', '/api/chain/state-machines', { key, body: { slug: 'near' } });
  const { said } = await deployed({ slug: 'near', threshold: 2, near_limit: 0.9 });
  const gate = `/api/chain/near/contracts/${said.contract.id}/gate`;
  await told(['a', 'a', 'b', 'a', 'b'].map((name) => [`${gate}?key=${name}`]));
  const { body } = await node.ask('GET', '/api/chain/near/state?kind=transition', { key });
  expect(body.rows.map((row: { key: string; emitted: string[] }) => [row.key, ...row.emitted])).toEqual([
    ['a', 'near_limit'],
    ['a', 'rate_limited'],
    ['b', 'near_limit'],
  ]);
});

it.each([
  [{ keyed: undefined, gate: { key: { header: 'X-Api-Key' } } }, '/gate/key'],
  [{ shadow: true }, '/keyed/overflow'],
])('%j is refused: what it says does not fit together', async (parameters, path) => {
  const { status, said } = await deployed(parameters);
  expect([status, said.code, said.errors.map((fault: { path: string }) => fault.path)]).toEqual([
    400,
    'invalid_input',
    [path],
  ]);
});
