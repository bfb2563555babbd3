import { expect, it } from 'vitest';
import { inTurn, statusAndCode } from './caller.js';
import { nodeOfFile } from './node-of-file.js';

const LIST = '/api/chain/many/contracts';

const sessions = { threshold: 2, within: 1_000, onNode: 100 };
const definitionKib = { threshold: 106, within: 1_000, onNode: 1_000 };
const contracts = { perOwner: 1_000, onNode: 205 };
const node = await nodeOfFile({ limits: { sessions, definitionKib, contracts } });
const owner = node.owner();
await owner.createMachine('many', true);
const ids = await inTurn(Array(102).keys(), () => owner.deploy('many'));

it('contracts are listed in pages, 100 when nothing is said', async () => {
  const first = await node.ask('GET', LIST);
  const second = await node.ask('GET', `${LIST}?after=${first.body.next}`);
  const small = await node.ask('GET', `${LIST}?limit=2&after=${ids[0]}`);
  const idsOf = ({ body }: typeof first) => body.contracts.map(({ id }: { id: string }) => id);
  expect([idsOf(first), first.body.next]).toEqual([ids.slice(0, 100), ids[99]]);
  expect([idsOf(second), second.body.next]).toEqual([ids.slice(100), undefined]);
  expect([idsOf(small), small.body.next]).toEqual([ids.slice(1, 3), ids[2]]);
});

it.each([
  ['?limit=1001', 400, 'invalid_input'],
  ['?limit=0', 400, 'invalid_input'],
  ['?after=none', 404, 'contract_not_found'],
])('%s is refused', async (query, status, code) => {
  expect(statusAndCode(await node.ask('GET', `${LIST}${query}`))).toEqual([status, code]);
});

it('a machine shows its first 100 contracts, and how many it has', async () => {
  const { machine } = (await node.ask('GET', '/api/chain/state-machines/many')).body;
  expect([machine.contracts.length, machine.contract_count]).toEqual([100, 102]);
});

it('an owner may not have more contracts than are still free', async () => {
  await owner.deploy('many');
  expect(statusAndCode(await owner.tryDeploy('many'))).toEqual([422, 'limit_reached']);
});

it('sessions, and definitions by their size, are limited for each owner, with Retry-After; what is left is listed', async () => {
  const sessions = [1, 2, 3].map(() => owner.post('/api/session'));
  expect((await Promise.all(sessions)).map(({ status }) => status).sort()).toEqual([201, 201, 429]);
  const refused = await owner.post('/api/session');
  expect(Number(refused.headers.get('retry-after'))).toBeGreaterThan(700);
  const define = (...uses: string[]) => ({
    ...{ name: 'd', version: '1.0', states: { a: { initial: true } }, transitions: [], uses },
  });
  const [small, large] = [define('x'.repeat(200)), define(...Array(16).fill('x'.repeat(199)))];
  const answers = await inTurn([large, small, small], (body) => owner.post(LIST, body));
  expect(answers.map(({ body: { code } }) => code)).toEqual(['too_many_requests', 'limit_reached', 'limit_reached']);
  const { body } = await owner.get('/api/limits');
  expect([body.sessions.left, body.definition_kib]).toEqual([
    0,
    { threshold: 106, within: 1_000, per: 'node', left: 0, on_node: 1_000, left_on_node: 894, refused: 1 },
  ]);
});
