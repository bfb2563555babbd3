// What who runs a node relies on: figures, logs without secrets, limits.
import { expect, it } from 'vitest';
import { seriesIn } from './asking.js';
import { gateOf, inTurn } from './caller.js';
import { nodeOfFile } from './node-of-file.js';

const lines: string[] = [];
/** Of the contract of the first of two machines. */
const node = await nodeOfFile({
  cycleMs: 3_600_000,
  log: { level: 'debug', requests: true, destination: { write: (line) => lines.push(line) } },
});
const owner = node.owner();
const [gate] = await inTurn(['one', 'two'], async (slug) =>
  gateOf(slug, await owner.contractOn(slug, { threshold: 2 })),
);

it('figures count answers, decisions and transitions', async () => {
  for (let asked = 0; asked < 4; asked += 1) await owner.get(gate!);
  await owner.event('two', { count: 5 });
  await node.ask('GET', '/nowhere');
  const { headers, body } = await node.ask('GET', '/metrics');
  const figures = Object.fromEntries(seriesIn(body));
  const path = '/api/chain/{slug}/contracts/{contract_id}/gate';
  expect(headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  expect(figures).toMatchObject({
    [`weir_requests_total{method="GET",path="${path}",status="200"}`]: 2,
    [`weir_requests_total{method="GET",path="${path}",status="429"}`]: 2,
    'weir_requests_total{method="",path="none",status="404"}': 1,
    'weir_decisions_total{decision="admitted"}': 4,
    'weir_decisions_total{decision="limited"}': 5,
    'weir_transitions_total{outcome="taken"}': 2,
    weir_machines: 2,
    weir_contracts: 2,
    weir_stream_readers: 0,
    weir_store_ok: 1,
  });
  expect(figures['weir_commit_seconds_count']).toBeGreaterThan(0);
  expect(figures).toHaveProperty(['weir_event_loop_delay_seconds{quantile="0.99"}']);
});

it('the log says what was asked and how it was answered, and no secret', async () => {
  const session = await node.sessionOf(owner.key);
  await node.ask('GET', `/api/chain/state-machines?after=${owner.key}`, { session });
  await node.ask('GET', '/api/clock', { headers: { authorization: `Bearer ${owner.key}` } });
  const minted = await node.ask('POST', '/api/demo-key/mint');
  const text = lines.join('');
  const secrets = [owner.key, session, minted.body.key].filter((secret) => text.includes(secret));
  expect([secrets, text.includes('"path":"/api/clock"'), text.includes('"status":200')]).toEqual([[], true, true]);
});

it('a request of a gate is logged by the method that it was asked by', async () => {
  lines.length = 0;
  for (const method of ['GET', 'POST', 'PROPFIND']) await owner.ask(method, `${gate}/orders`);
  const asked = lines.map((line) => JSON.parse(line)).filter(({ req }) => req?.path.includes('/gate/'));
  expect(asked.map(({ req }) => req.method)).toEqual(['GET', 'POST', 'PROPFIND']);
});

it('a contract that stops after an error of its own is logged with that error', async () => {
  const own = node.owner();
  const { plan } = node.host.contract(await own.contractOn('broken', { threshold: 77 }));
  Object.defineProperty(plan, 'transitions', {
    get: () => {
      throw new Error('broken guard');
    },
  });
  const { status, body } = await own.event('broken', { count: 78 });
  expect([status, body.code]).toEqual([503, 'contract_failed']);
  expect(lines.filter((line) => line.includes('"level":50')).join('')).toContain('broken guard');
});
