import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../src/core/limiter/validate.js';
import { forAllAsync } from '../draws.js';
import { inTurn } from './caller.js';
import { nodeOfFile } from './node-of-file.js';
import { startRunning } from './running.js';

const node = await nodeOfFile({ cycleMs: 3_600_000, limits: { longBodyBytes: 4_000 } });
const owner = node.owner();

const send = (slug: string, body: unknown, headers = {}) => owner.post(`/api/chain/${slug}/events`, body, headers);

/** Planned once for all. */
const FOUR = planContract(rateLimiter({ threshold: 4, within: 10 }));

it('many events to very many contracts keep nobody else waiting', async () => {
  const wide = await startRunning({ cycleMs: 3_600_000 });
  const owner = wide.owner();
  await owner.createMachine('wide');
  for (let n = 0; n < 400; n += 1) wide.host.createPlanned('wide', FOUR);
  const turns: string[] = [];
  const events = Array.from({ length: 6 }, () => ({ type: 'request' }));
  const counting = owner.post('/api/chain/wide/events', events).then((told) => {
    turns.push('events');
    return told;
  });
  // Each of these is answered between two turns of counting.
  for (let other = 0; other < 3; other += 1) {
    await owner.get('/api/clock');
    turns.push('another');
  }
  const { body } = await counting;
  const tooMany = await owner.post('/api/chain/wide/events', [...events, { type: 'request' }]);
  expect(turns.slice(0, 2)).toEqual(['another', 'another']);
  expect(body).toMatchObject({ counted: 6, admitted: 4, limited: 2 });
  expect(body.outcomes.map((one: { contracts: object[] }) => one.contracts.length)).toEqual(Array(6).fill(400));
  expect(tooMany).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
  expect(tooMany.body.detail).toContain('The events take 2800 decisions of 400 contracts');
});

it('one event takes no more decisions than an array of them', async () => {
  await owner.createMachine('wider');
  const make = () => node.host.createPlanned('wider', FOUR);
  const [{ id: contract_id }] = [make(), ...Array.from({ length: 2_500 }, make)];
  const event = { type: 'request' };
  const ofAll = await owner.post('/api/chain/wider/event', event);
  const ofOne = await owner.post('/api/chain/wider/event', { ...event, contract_id });
  expect([ofAll.status, ofAll.body.detail]).toEqual([400, expect.stringContaining('2501 decisions of 2501 contracts')]);
  expect([ofOne.status, ofOne.body.contracts.length]).toEqual([200, 1]);
});

it.each([
  ['none', undefined, 400, 'invalid_input'],
  ['no array', '{"type":"request"}', 400, 'invalid_input'],
  ['bad JSON', '[{"type":"request"}', 400, 'invalid_json'],
  ['an array too large', `[${'1,'.repeat(2_000)}1]`, 413, 'body_too_large'],
  ['no event', '[]', 400, 'invalid_input'],
  ['an event too many', `[${'1,'.repeat(1_000)}1]`, 400, 'invalid_input'],
  ['lines', '{"type":"request"}\n{"type":"request"}', 415, 'unsupported_media_type', 'application/x-ndjson'],
] as const)('events in a body that is refused count nothing: %s', async (what, body, status, code, type?: string) => {
  const slug = what.replaceAll(' ', '-').toLowerCase();
  const id = await owner.contractOn(slug, { threshold: 5 });
  const told = await send(slug, body, type && { 'content-type': type });
  const { count } = node.host.contracts.get(id)!.gate;
  expect([told.status, told.body.code, count]).toEqual([status, code, 0]);
});

const LIMITS = [
  { name: 'narrow', threshold: 4, within: 10 },
  { name: 'wide', threshold: 9, within: 3 },
  { name: 'keyed', threshold: 2, within: 10, keyed: { max_keys: 2, overflow: 'refuse', store_keys: 'plain' } },
];
const now = node.clock.cycle();
const sent = fc.oneof(
  {
    arbitrary: fc.constantFrom(7, null, {}, { type: 'request', count: 0 }, { type: 'request', extra: 1 }),
    weight: 1,
  },
  {
    arbitrary: fc.record(
      {
        type: fc.constantFrom('request', 'request', 'request', 'other'),
        count: fc.integer({ min: 1, max: 3 }),
        cycle: fc.integer({ min: now - 11, max: now + 1 }),
        contract_id: fc.constantFrom('narrow', 'wide', 'keyed', 'none'),
        key: fc.constantFrom('a', 'b', 'c'),
      },
      { requiredKeys: ['type'] },
    ),
    weight: 9,
  },
);
let machines = 0;

const idsOf = new Map<string, string[]>();

async function twin(): Promise<string> {
  const slug = `twin-${machines++}`;
  await owner.createMachine(slug);
  idsOf.set(slug, await inTurn(LIMITS, (limit) => owner.deploy(slug, limit)));
  return slug;
}

/** An answer with the names of contracts in place of their ids, and of an event in place of a body. */
function named(answer: object, slug: string): object {
  const names = LIMITS.map(({ name }) => name);
  const text = idsOf.get(slug)!.reduce((text, id, n) => text.replaceAll(id, names[n]!), JSON.stringify(answer));
  const detail = /The (?:body|event) was refused\.[^"]*/g;
  return JSON.parse(text.replaceAll(slug, 'twin').replace(detail, 'It was refused.'));
}

const statesOf = (slug: string) =>
  inTurn(['narrow', 'wide', 'keyed?key=a', 'keyed?key=b'], async (id) => {
    const { contract = {}, code } = (await owner.get(`/api/chain/${slug}/contracts/${id}`)).body;
    return [id, code, contract.currentState, contract.count];
  });

it('an array of events counts as its events do one by one, each with the same outcome', async () => {
  await forAllAsync([fc.array(sent, { minLength: 1, maxLength: 20 })], 30, async (events) => {
    const [single, joined] = [await twin(), await twin()];
    const answers = await inTurn(events, (event) => owner.post(`/api/chain/${single}/event`, JSON.stringify(event)));
    const { status, body } = await send(joined, events);
    const counted = answers.filter((one) => one.status === 200);
    const sums = counted.map(({ body: { contracts } }) => {
      const admitted = Math.min(...contracts.map((one: { admitted: number }) => one.admitted));
      return [admitted, contracts[0].admitted + contracts[0].limited - admitted] as const;
    });
    expect([status, named(body, joined)]).toEqual([
      200,
      {
        ok: true,
        counted: counted.length,
        refused: events.length - counted.length,
        admitted: sums.reduce((sum, [admitted]) => sum + admitted, 0),
        limited: sums.reduce((sum, [, limited]) => sum + limited, 0),
        outcomes: answers.map((one) => named(one.body, single)),
      },
    ]);
    expect(await statesOf(joined)).toEqual(await statesOf(single));
  });
});
