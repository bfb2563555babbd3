// The way of a person with nothing but an HTTP client, from nothing to a record that anyone can verify.
import { expect, it } from 'vitest';
import { publicKeyFrom } from '../../src/core/record/signing.js';
import { verifyExport } from '../core/record/verifying.js';
import { Holder } from './caller.js';
import { Listening } from './listening.js';
import { nodeOfFile } from './node-of-file.js';

const CYCLE_MS = 777;
/** Moved by hand: on a busy machine two requests may be further apart than a window. */
let nowMs = Date.now();
const source = { wallMs: () => nowMs, monotonicMs: () => nowMs };

const node = await nodeOfFile({ cycleMs: CYCLE_MS, source });

it('the whole way works: mint, session, create, deploy, 101 requests, limited, restored, export, verify', async () => {
  const owner = await Holder.minted(node.url);
  expect(owner.key).toMatch(/^weir_[\w-]{43}$/);
  const session = await node.sessionOf(owner.key);

  const created = await node.ask('POST', '/api/chain/state-machines', { session, body: { slug: 'my-gateway' } });
  expect(created).toMatchObject({ status: 201, body: { ok: true, machine: { slug: 'my-gateway', is_public: false } } });

  const body = { slug: 'my-gateway', threshold: 100, within: 25 };
  const deployed = await node.ask('POST', '/api/contracts/templates/rate-limiter/deploy', { session, body });
  const { contract } = deployed.body;
  expect(deployed).toMatchObject({ status: 201, body: { ok: true, template_id: 'rate-limiter' } });
  expect(contract).toMatchObject({
    ...{ currentState: 'allowing', machine: 'my-gateway', name: 'rate_limiter', version: '1.0' },
    ...{ threshold: 100, within: 25, first_fire_cycle: contract.created_cycle + 1 },
  });

  const listening = await Listening.to(node, '/api/chain/my-gateway/stream', { session });
  const first = await owner.event('my-gateway', { count: 100 });
  const last = await owner.event('my-gateway');
  expect([first, last].map((told) => told.body.contracts[0])).toMatchObject([
    { state: 'allowing', count: 100, threshold: 100, remaining: 0, admitted: 100, limited: 0 },
    { state: 'limiting', count: 101, threshold: 100, remaining: 0, admitted: 0, limited: 1 },
  ]);

  const limited = await listening.next('rate_limited');
  nowMs += 26 * CYCLE_MS;
  const restored = await listening.next('rate_restored');
  expect([limited, restored]).toMatchObject([
    {
      id: '3',
      data: { type: 'weir.rate_limited', data: { machine: 'my-gateway', count: 101, state: 'limiting', seq: 3 } },
    },
    { id: '4', data: { type: 'weir.rate_restored', data: { machine: 'my-gateway', state: 'allowing', seq: 4 } } },
  ]);
  // The window is 25 cycles long, and all came in one cycle.
  expect(restored.data.data.cycle - limited.data.data.cycle).toBe(25);

  const verified = await owner.get('/api/chain/my-gateway/state/verify');
  expect(verified.body).toMatchObject({ ok: true, valid: true, rows: 4, first_broken: null });

  const text = await owner.exported('my-gateway');
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
  const owner = node.owner('reader');
  const id = await owner.contractOn('paged');
  for (const to of ['limiting', 'allowing', 'limiting'])
    await owner.post(`/api/chain/paged/contracts/${id}/transition`, { to, hold_cycles: 1_000 });
  const read = async (query: string) => {
    const { rows, next_after_seq } = (await owner.get(`/api/chain/paged/state?${query}`)).body;
    return [rows.map(({ seq }: { seq: number }) => seq), next_after_seq];
  };
  const cycle = node.host.machines.get('paged')?.image.createdCycle ?? 0;
  for (const [query, seqs, next] of [
    ['', [1, 2, 3, 4, 5]],
    ['limit=2', [1, 2], 2],
    ['limit=2&after_seq=2', [3, 4], 4],
    ['limit=2&after_seq=4', [5]],
    ['kind=transition&limit=3', [3, 4, 5]],
    [`contract_id=${id}`, [2, 3, 4, 5]],
    ['contract_id=none', []],
    [`to_cycle=${cycle - 1}`, []],
    [`from_cycle=${cycle}&kind=machine_created`, [1]],
  ] as const)
    expect(await read(query), query).toEqual([seqs, next]);
});
