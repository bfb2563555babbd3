// What who runs a node relies on: figures, logs without secrets, limits.
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Running, startRunning } from './running.js';

const lines: string[] = [];
let node: Running;
let key: string;
beforeAll(async () => {
  node = await startRunning({
    cycleMs: 3_600_000,
    limits: {
      machines: { perOwner: 2, onNode: 100 },
      contracts: { perOwner: 3, onNode: 100 },
      windowCycles: { perOwner: 1_000, onNode: 10_000 },
    },
    log: { level: 'debug', requests: true, destination: { write: (line) => lines.push(line) } },
  });
  key = node.keyOf('owner');
  for (const slug of ['one', 'two']) await node.ask('POST', '/api/chain/state-machines', { key, body: { slug } });
});
afterAll(() => node.close());

const deploy = (slug: string, threshold: number) =>
  node.ask('POST', '/api/contracts/templates/rate-limiter/deploy', { key, body: { slug, threshold } });

describe('limits', () => {
  it('an owner has so many machines and contracts, and another owner has as many again', async () => {
    const answers = [
      await node.ask('POST', '/api/chain/state-machines', { key, body: { slug: 'three' } }),
      await deploy('one', 2),
      await deploy('one', 2),
      await deploy('two', 2),
      await deploy('two', 2),
      await node.ask('POST', '/api/chain/state-machines', { key: node.keyOf('other'), body: { slug: 'three' } }),
    ];
    expect(answers.map(({ status, body: { code } }) => [status, code])).toEqual([
      [422, 'limit_reached'],
      [201, undefined],
      [201, undefined],
      [201, undefined],
      [422, 'limit_reached'],
      [201, undefined],
    ]);
  });

  it('a key that has expired is refused, however recently it was good', async () => {
    const brief = node.keyOf('brief', 1_000);
    const first = await node.ask('POST', '/api/session', { key: brief });
    await node.clock.sleep(1_050);
    const second = await node.ask('POST', '/api/session', { key: brief });
    expect([first.status, second.status, second.body.code]).toEqual([201, 401, 'credential_invalid']);
  });

  it('a session ends with its key', async () => {
    const brief = node.keyOf('brief', 1_000);
    const session = await node.sessionOf(brief);
    await node.clock.sleep(1_050);
    const { status } = await node.ask('GET', '/api/chain/state-machines', { session });
    expect(status).toBe(401);
  });
});

describe('figures', () => {
  it('count answers, decisions and transitions', async () => {
    const [contract] = node.host.machines.get('one')?.contracts ?? [];
    const gate = `/api/chain/one/contracts/${contract?.id}/gate`;
    for (let asked = 0; asked < 4; asked += 1) await node.ask('GET', gate, { key });
    await node.ask('POST', '/api/chain/two/event', { key, body: { type: 'request', count: 5 } });
    await node.ask('GET', '/nowhere');
    const { headers, body } = await node.ask('GET', '/metrics');
    const figures = Object.fromEntries(
      (body as string)
        .split('\n')
        .filter((line) => line !== '' && !line.startsWith('#'))
        .map((line) => [line.slice(0, line.lastIndexOf(' ')), Number(line.slice(line.lastIndexOf(' ') + 1))]),
    );
    const path = '/api/chain/{slug}/contracts/{contract_id}/gate';
    expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
    expect(figures).toMatchObject({
      [`weir_requests_total{method="GET",path="${path}",status="200"}`]: 2,
      [`weir_requests_total{method="GET",path="${path}",status="429"}`]: 2,
      'weir_requests_total{method="",path="none",status="404"}': 1,
      'weir_decisions_total{decision="admitted"}': 4,
      'weir_decisions_total{decision="limited"}': 5,
      'weir_transitions_total{outcome="taken"}': 2,
      weir_machines: 3,
      weir_contracts: 3,
      weir_stream_readers: 0,
      weir_store_ok: 1,
    });
    expect(figures['weir_commit_seconds_count']).toBeGreaterThan(0);
    expect(figures).toHaveProperty(['weir_event_loop_delay_seconds{quantile="0.99"}']);
  });
});

describe('the log', () => {
  it('says what was asked and how it was answered, and no secret', async () => {
    const session = await node.sessionOf(key);
    await node.ask('GET', `/api/chain/state-machines?after=${key}`, { session });
    await node.ask('GET', '/api/clock', { headers: { authorization: `Bearer ${key}` } });
    const minted = await node.ask('POST', '/api/demo-key/mint');
    const text = lines.join('');
    const secrets = [key, session, minted.body.key].filter((secret) => text.includes(secret));
    expect([secrets, text.includes('"path":"/api/clock"'), text.includes('"status":200')]).toEqual([[], true, true]);
  });
});

describe('memory', () => {
  it('the windows of an owner have so many cycles, of which nothing is kept when they are refused', async () => {
    const owner = node.keyOf('of long windows');
    await node.ask('POST', '/api/chain/state-machines', { key: owner, body: { slug: 'long' } });
    const path = '/api/contracts/templates/rate-limiter/deploy';
    const answers = [];
    for (const within of [600, 401, 400, 1]) {
      const { status, body } = await node.ask('POST', path, { key: owner, body: { slug: 'long', within } });
      answers.push([status, body.code]);
    }
    expect(answers).toEqual([
      [201, undefined],
      [422, 'limit_reached'],
      [201, undefined],
      [422, 'limit_reached'],
    ]);
    expect(node.host.machines.get('long')?.contracts).toHaveLength(2);
  });
});

it('a request of a gate is logged by the method that it was asked by', async () => {
  const [{ id }] = (await node.ask('GET', '/api/chain/one/contracts', { key })).body.contracts;
  lines.length = 0;
  for (const method of ['GET', 'POST', 'PROPFIND'])
    await node.ask(method, `/api/chain/one/contracts/${id}/gate/orders`, { key });
  const asked = lines.map((line) => JSON.parse(line)).filter(({ req }) => req?.path.includes('/gate/'));
  expect(asked.map(({ req }) => req.method)).toEqual(['GET', 'POST', 'PROPFIND']);
});
