// The way of a person with nothing but an HTTP client, from nothing to a record that anyone can verify.
import { afterAll, beforeAll, expect, it } from 'vitest';
import { publicKeyFrom } from '../../src/record/signing.js';
import { verifyExport } from '../record/verifying.js';
import { Listening } from './listening.js';
import { type Running, startRunning } from './running.js';

let node: Running;
beforeAll(async () => {
  node = await startRunning({ cycleMs: 20 });
});
afterAll(() => node.close());

it('mint, session, create, deploy, 101 requests, rate_limited, rate_restored, export, verify', async () => {
  const minted = await node.ask('POST', '/api/demo-key/mint');
  expect(minted).toMatchObject({ status: 201, body: { ok: true, key: expect.stringMatching(/^weir_[\w-]{43}$/) } });
  const { key } = minted.body;
  const session = await node.sessionOf(key);

  const created = await node.ask('POST', '/api/chain/state-machines', { session, body: { slug: 'my-gateway' } });
  expect(created).toMatchObject({ status: 201, body: { ok: true, machine: { slug: 'my-gateway', is_public: false } } });

  const body = { slug: 'my-gateway', threshold: 100, within: 25 };
  const deployed = await node.ask('POST', '/api/contracts/templates/rate-limiter/deploy', { session, body });
  const { contract } = deployed.body;
  expect(deployed).toMatchObject({
    status: 201,
    body: {
      ok: true,
      template_id: 'rate-limiter',
      contract: {
        currentState: 'allowing',
        machine: 'my-gateway',
        name: 'rate_limiter',
        version: '1.0',
        threshold: 100,
        within: 25,
        first_fire_cycle: contract.created_cycle + 1,
      },
    },
  });

  const listening = await Listening.to(node, '/api/chain/my-gateway/stream', { session });
  const event = { type: 'request', count: 100 };
  const first = await node.ask('POST', '/api/chain/my-gateway/event', { key, body: event });
  const last = await node.ask('POST', '/api/chain/my-gateway/event', { key, body: { type: 'request' } });
  expect([first, last].map((told) => told.body.contracts[0])).toMatchObject([
    { state: 'allowing', count: 100, threshold: 100, remaining: 0, admitted: 100, limited: 0 },
    { state: 'limiting', count: 101, threshold: 100, remaining: 0, admitted: 0, limited: 1 },
  ]);

  const limited = await listening.next('rate_limited');
  const restored = await listening.next('rate_restored');
  expect([limited, restored]).toMatchObject([
    {
      id: '3',
      data: { type: 'weir.rate_limited', data: { machine: 'my-gateway', count: 101, state: 'limiting', seq: 3 } },
    },
    { id: '4', data: { type: 'weir.rate_restored', data: { machine: 'my-gateway', state: 'allowing', seq: 4 } } },
  ]);
  // The window is 25 cycles long, so both the hundred and the one have left 25 cycles after the last of them.
  const waited = restored.data.data.cycle - limited.data.data.cycle;
  expect(waited).toBeGreaterThan(0);
  expect(waited).toBeLessThanOrEqual(25);
  listening.close();

  const verified = await node.ask('GET', '/api/chain/my-gateway/state/verify', { key });
  expect(verified.body).toMatchObject({ ok: true, valid: true, rows: 4, first_broken: null });

  const exported = await node.send('GET', '/api/chain/my-gateway/state?format=ndjson', { key });
  const text = await exported.text();
  const pinned = publicKeyFrom((await node.ask('GET', '/api/updates/pubkey')).body.public_key);
  expect(verifyExport(text, { pinned })).toMatchObject({
    valid: true,
    machine: 'my-gateway',
    rows: 4,
    checkpoint: { seq: 4, pinned: true },
  });
  expect(verifyExport(text.replace('"rate_restored"', '"rate_restorEd"'), { pinned })).toMatchObject({
    valid: false,
    first_broken: { seq: 4, check: 'hash' },
  });
  expect(node.errors).toEqual([]);
});

it('the record is read in pages, by kind and by cycle', async () => {
  const key = node.keyOf('reader');
  await node.ask('POST', '/api/chain/state-machines', { key, body: { slug: 'paged' } });
  const body = { slug: 'paged' };
  const { body: told } = await node.ask('POST', '/api/contracts/templates/rate-limiter/deploy', { key, body });
  const path = `/api/chain/paged/contracts/${told.contract.id}/transition`;
  for (const to of ['limiting', 'allowing', 'limiting']) {
    await node.ask('POST', path, { key, body: { to, hold_cycles: 1_000 } });
  }
  const read = async (query: string) => {
    const { body: page } = await node.ask('GET', `/api/chain/paged/state?${query}`, { key });
    return [page.rows.map(({ seq }: { seq: number }) => seq), page.next_after_seq];
  };
  const cycle = node.host.machines.get('paged')?.image.createdCycle ?? 0;
  expect([
    await read(''),
    await read('limit=2'),
    await read('limit=2&after_seq=2'),
    await read('limit=2&after_seq=4'),
    await read('kind=transition&limit=3'),
    await read(`contract_id=${told.contract.id}`),
    await read('contract_id=none'),
    await read(`to_cycle=${cycle - 1}`),
    await read(`from_cycle=${cycle}&kind=machine_created`),
  ]).toEqual([
    [[1, 2, 3, 4, 5], undefined],
    [[1, 2], 2],
    [[3, 4], 4],
    [[5], undefined],
    [[3, 4, 5], undefined],
    [[2, 3, 4, 5], undefined],
    [[], undefined],
    [[], undefined],
    [[1], undefined],
  ]);
});
