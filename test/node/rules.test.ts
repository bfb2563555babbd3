// Contracts that follow a rule, on a node whose clock the test moves.
import { expect, it } from 'vitest';
import { verifyRows } from '../core/record/verifying.js';
import { nodeOfFile } from './node-of-file.js';

const START_MS = 1_699_999_200_000;
let nowMs = START_MS;
const source = { wallMs: () => nowMs, monotonicMs: () => nowMs };

const node = await nodeOfFile({ cycleMs: 777, source });
const owner = node.owner();
await owner.createMachine('m', true);

const templates = '/api/contracts/templates';
const deploy = (rule: unknown) => owner.post(`${templates}/rate-limiter/deploy`, { slug: 'm', rule });

it('templates are listed, one for each family, and each is shown', async () => {
  const { body } = await node.ask('GET', templates);
  expect(body.templates.map(({ id }: { id: string }) => id)).toEqual(
    expect.arrayContaining(['rate-limiter', 'gcra', 'token-bucket', 'sliding-log', 'concurrency', 'or']),
  );
  for (const { id } of body.templates) {
    const { status, body: told } = await node.ask('GET', `${templates}/${id}`);
    expect([status, told.template.id]).toEqual([200, id]);
  }
});

it('each template is deployed, and its gate decides, is peeked at, and shows what remains', async () => {
  const { body } = await node.ask('GET', templates);
  for (const { id } of body.templates) {
    const { status, body: told } = await owner.post(`${templates}/${id}/deploy`, { slug: 'm' });
    expect([id, status, told.template_id]).toEqual([id, 201, id]);
    const path = `/api/chain/m/contracts/${told.contract.id}`;
    const peeked = await owner.get(`${path}/gate?peek=1`);
    const asked = await owner.get(`${path}/gate`);
    expect([id, asked.status, asked.body.decision]).toEqual([id, peeked.status, peeked.body.decision]);
    const shown = await node.ask('GET', path);
    expect(shown.body.contract.remaining).toBe(asked.body.remaining);
  }
});

it.each([
  ['/token-buckets', 'GET', undefined, 404, /Did you mean \\"token-bucket/],
  ['/gcra/deploy', 'POST', { params: { T_ms: 100 } }, 400, /\/rule\/params\/tau_ms is required/],
  ['/concurrency/deploy', 'POST', { hold_ms: 0 }, 400, /hold_ms/],
  ['/rate-limiter/deploy', 'POST', { rule: { like: 'ngin', rate: '10r/s' } }, 400, /\/rule\/like/],
  ['/rate-limiter/deploy', 'POST', { rule: { like: 'nginx-limit-conn', connections: 3 } }, 400, /hold_ms/],
  ['/rate-limiter/deploy', 'POST', { threshold: 5, rule: { like: 'nginx', rate: '10r/s' } }, 400, /threshold/],
  ['/rate-limiter/deploy', 'POST', { limit: 'nginx 10r/s', rule: { like: 'nginx', rate: '10r/s' } }, 400, /limit/],
  ['/rate-limiter/deploy', 'POST', { limit: 'ngin 10r/s' }, 400, /no limiter is called so.*[Dd]id you mean nginx/],
  ['/rate-limiter/deploy', 'POST', { limit: 'none' }, 400, /limits nothing/],
  ['/rate-limiter/deploy', 'POST', { limit: '/etc/passwd' }, 400, /no limiter is called so/],
  ['/rate-limiter/deploy', 'POST', { limit: 'rule.yaml' }, 400, /no limiter is called so/],
])('%s by %s is refused in words: %o', async (path, method, body, status, words) => {
  const told = await owner.ask(method, `${templates}${path}`, body && { slug: 'm', ...body });
  expect(told.status).toBe(status);
  expect(JSON.stringify(told.body)).toMatch(words);
});

it('a limit as a text is the limiter of a deploy, of a change and of a candidate', async () => {
  const deployed = await owner.post(`${templates}/rate-limiter/deploy`, { slug: 'm', limit: 'nginx 10r/s burst=1' });
  expect(deployed.body.contract).toMatchObject({ name: 'nginx', rule: 'nginx_limit_req', threshold: 2 });
  const path = `/api/chain/m/contracts/${deployed.body.contract.id}`;
  const changed = await owner.patch(path, { limit: '5 in 10 cycles' });
  expect(changed.body.contract).toMatchObject({ name: 'rate_limiter', threshold: 5, within: 10 });
  const compared = await owner.patch(path, { candidate: 'gcra 1/s burst=4' });
  expect(compared.status).toBe(200);
  const both = await owner.patch(path, { limit: '5 in 10 cycles', threshold: 3 });
  expect([both.status, JSON.stringify(both.body)]).toEqual([400, expect.stringContaining('threshold and limit')]);
});

it('a gate that follows nginx says how long a request is held, and the exact wait of one that is refused', async () => {
  const { body } = await deploy({ like: 'nginx', rate: '10r/s', burst: 1 });
  expect(body.contract).toMatchObject({ name: 'nginx', rule: 'nginx_limit_req', threshold: 2 });
  const gate = `/api/chain/m/contracts/${body.contract.id}/gate`;
  const ask = async () => {
    const { status, headers, body: told } = await owner.get(gate);
    const { decision, state, remaining, delay_ms, retry_after_ms } = told;
    const said = [headers.get('weir-delay-ms'), headers.get('retry-after'), headers.get('ratelimit-policy')];
    return [status, decision, state, remaining, delay_ms, retry_after_ms, ...said];
  };
  const policy = '"default";q=2;w=1';
  expect(await ask()).toEqual([200, 'admitted', 'allowing', 1, 0, 0, null, null, policy]);
  expect(await ask()).toEqual([200, 'admitted', 'allowing', 0, 100, 100, '100', null, policy]);
  expect(await ask()).toEqual([429, 'limited', 'limiting', 0, undefined, 100, null, '1', policy]);
  nowMs += 99;
  expect((await ask()).slice(0, 3)).toEqual([429, 'limited', 'limiting']);
  nowMs += 1;
  expect((await ask()).slice(0, 5)).toEqual([200, 'admitted', 'allowing', 0, 100]);
  const rows = node.store.rows('m', { contractId: body.contract.id, kind: 'transition', limit: 10 });
  expect(rows.map(({ from, to }) => `${from} ${to}`)).toEqual(['allowing limiting', 'limiting allowing']);
  const never = 'The contract is limiting: its rule refuses. None of this cost will be admitted by waiting.';
  expect((await owner.get(`${gate}?n=3`)).body.detail).toBe(never);
});

it('a rule counts no events of earlier cycles, and not too many at once', async () => {
  const { body } = await deploy({ primitive: 'gcra', params: { T_ms: 1, tau_ms: 10_000 } });
  const contract_id = body.contract.id;
  const event = (more: object) => owner.post('/api/chain/m/event', { type: 'request', contract_id, ...more });
  expect((await event({ count: 1_000 })).body.contracts[0]).toMatchObject({ admitted: 1_000, count: 1_000 });
  expect((await event({ count: 1_001 })).body.detail).toMatch(/up to 1000 at once/);
  const cycle = Math.floor(nowMs / 777) - 1;
  expect((await event({ cycle })).body).toMatchObject({ code: 'event_too_old' });
  const many = await owner.post('/api/chain/m/events', [{ type: 'request', contract_id, count: 2_000 }]);
  expect(many.body).toMatchObject({ counted: 0, refused: 1 });
});

it('the record of a machine with rules holds', () => {
  expect(verifyRows(node.store.rows('m', { limit: 10_000 })).valid).toBe(true);
  expect(node.errors).toEqual([]);
});
