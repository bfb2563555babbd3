import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { rateLimiter } from '../../src/limiter/rate-limiter.js';
import { inTurn, NDJSON } from './caller.js';
import { nodeOfFile } from './node-of-file.js';
import { startRunning } from './running.js';

const JSON_TYPE = { 'content-type': 'application/json' };
const EVENT = '{"type":"request"}';

const node = await nodeOfFile({ cycleMs: 3_600_000, limits: { longBodyBytes: 4_000, eventsBytes: 400_000 } });
const owner = node.owner();

/** A machine with one contract for each threshold. */
async function newMachine(slug: string, ...thresholds: number[]): Promise<string[]> {
  await owner.createMachine(slug);
  return inTurn(thresholds, (threshold) => owner.deploy(slug, { threshold, within: 10 }));
}

const send = (slug: string, body: string, headers = NDJSON) => owner.post(`/api/chain/${slug}/events`, body, headers);

const of = (outcome: string, from_line: number, to_line: number, admitted: number, limited: number) => ({
  ...{ outcome, from_line, to_line, admitted, limited },
});

describe('many events at once', () => {
  it('to very many contracts keep nobody else waiting', async () => {
    const wide = await startRunning({ cycleMs: 3_600_000 });
    const owner = wide.owner();
    await owner.createMachine('wide');
    for (let n = 0; n < 400; n += 1) wide.host.createContract('wide', rateLimiter({ threshold: 10, within: 10 }));
    const turns: string[] = [];
    const events = Array.from({ length: 25 }, () => ({ type: 'request' }));
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
    await wide.close();
    expect(turns.slice(0, 2)).toEqual(['another', 'another']);
    expect(body).toMatchObject({ counted: 25, admitted: 10, limited: 15 });
    expect(body.outcomes.map((one: { contracts: object[] }) => one.contracts.length)).toEqual(Array(25).fill(400));
    expect(tooMany).toMatchObject({ status: 400, body: { code: 'invalid_input' } });
    expect(tooMany.body.detail).toContain('The events take 10400 decisions of 400 contracts');
  });

  it('have an outcome a line: neighbours with the same are one, bad lines are named, good ones counted', async () => {
    const [id] = await newMachine('lines', 5);
    const late = node.clock.cycle() - 2;
    const body = [
      EVENT,
      EVENT,
      'no event',
      '',
      '{"type":"request","count":2}',
      '{"type":"requst"}',
      '{"type":"request","cycle":1}',
      `{"type":"request","count":3,"cycle":${late}}`,
      EVENT,
      `{"type":"request","contract_id":"${id}"}`,
    ].join('\r\n');
    const { body: told } = await send('lines', body);
    expect(told).toEqual({
      ...{ ok: true, cycle: node.clock.cycle(), complete: true },
      ...{ lines: 9, counted: 6, refused: 3, admitted: 5, limited: 4 },
      outcomes: [
        of('admitted', 1, 2, 2, 0),
        { ...of('refused', 3, 3, 0, 0), code: 'invalid_json', detail: expect.stringContaining('not JSON') },
        of('admitted', 5, 5, 2, 0),
        { ...of('refused', 6, 6, 0, 0), code: 'unknown_event_type', detail: expect.stringContaining('"request"') },
        { ...of('refused', 7, 7, 0, 0), code: 'event_too_old', detail: expect.any(String) },
        of('mixed', 8, 8, 1, 2),
        of('limited', 9, 10, 0, 2),
      ],
      contracts: [
        {
          ...{ id, state: 'limiting', count: 9, threshold: 5, remaining: 0, admitted: 5, limited: 4 },
          retry_after_cycles: expect.any(Number),
        },
      ],
    });
  });

  it('are read up to 4 KiB a line: a longer one is refused, wherever its text begins, and blank ones are not', async () => {
    await newMachine('long', 1_000);
    const blanks = ' '.repeat(70_000);
    const { body } = await send('long', [EVENT, blanks + EVENT, blanks, `${EVENT}${blanks}x`, EVENT].join('\n'));
    expect(body).toMatchObject({
      ...{ lines: 4, counted: 2, refused: 2 },
      outcomes: [
        of('admitted', 1, 1, 1, 0),
        { ...of('refused', 2, 4, 0, 0), code: 'body_too_large' },
        of('admitted', 5, 5, 1, 0),
      ],
    });
  });

  it('may be more than the answer could hold: reading stops, and the answer says where', async () => {
    await newMachine('refused', 1_000_000);
    const { body } = await send('refused', `${EVENT}\nx\n`.repeat(12_000));
    expect(body).toMatchObject({ complete: false, next_line: 20_001, counted: 10_000, refused: 10_000 });
  });

  it.each([
    ['no array', '{"type":"request"}', JSON_TYPE, 400, 'invalid_input'],
    ['bad JSON', '[{"type":"request"}', JSON_TYPE, 400, 'invalid_json'],
    ['an array too large', `[${'1,'.repeat(2_000)}1]`, JSON_TYPE, 413, 'body_too_large'],
    ['no event', '[]', JSON_TYPE, 400, 'invalid_input'],
    ['an event too many', `[${'1,'.repeat(1_000)}1]`, JSON_TYPE, 400, 'invalid_input'],
    ['lines too many', `${EVENT}\n`.repeat(30_000), NDJSON, 413, 'body_too_large'],
    ['a type unknown', EVENT, { 'content-type': 'text/csv' }, 415, 'unsupported_media_type'],
  ])('%s counts nothing', async (what, body, headers, status, code) => {
    const slug = what.replaceAll(' ', '-').toLowerCase();
    const [id] = await newMachine(slug, 5);
    const told = await send(slug, body, headers);
    expect([told.status, told.body.code, node.host.contracts.get(id ?? '')?.gate.count]).toEqual([status, code, 0]);
  });

  it('of a length that nobody announced are counted up to where they become too many', async () => {
    const [id] = await newMachine('unannounced', 1_000_000);
    const lines = Buffer.from(`${EVENT}\n`.repeat(1_000));
    async function* endless() {
      for (let sent = 0; sent < 30; sent += 1) yield lines;
    }
    const response = await fetch(`${node.url}/api/chain/unannounced/events`, {
      method: 'POST',
      headers: { authorization: `Bearer ${owner.key}`, ...NDJSON },
      body: ReadableStream.from(endless()),
      duplex: 'half',
    } as RequestInit);
    const body = (await response.json()) as { counted: number; next_line: number; complete: boolean };
    expect(body.complete).toBe(false);
    expect(body.next_line).toBe(body.counted + 1);
    expect(node.host.contracts.get(id ?? '')?.gate.count).toBe(body.counted);
  });

  it('of nothing are counted as nothing', async () => {
    await newMachine('empty', 1);
    const { status, body } = await send('empty', '\n\n');
    expect([status, body]).toEqual([200, expect.objectContaining({ lines: 0, outcomes: [], contracts: [] })]);
  });
});

describe('an array of events', () => {
  const LIMITS = [
    { name: 'narrow', threshold: 4, within: 10 },
    { name: 'wide', threshold: 9, within: 3 },
    { name: 'keyed', threshold: 2, within: 10, keyed: { max_keys: 2, overflow: 'refuse' } },
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

  it('counts as they do one by one, each with the same outcome', async () => {
    const property = fc.asyncProperty(fc.array(sent, { minLength: 1, maxLength: 20 }), async (events) => {
      const [single, joined] = [await twin(), await twin()];
      const answers = await inTurn(events, (event) => owner.post(`/api/chain/${single}/event`, JSON.stringify(event)));
      const { status, body } = await send(joined, JSON.stringify(events), JSON_TYPE);
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
    await fc.assert(property, { numRuns: 12 });
  });
});
