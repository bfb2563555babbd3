// The client on `fetch`, against a real node; where a node cannot be made to fail on request, against a `fetch` that does.
import { expect, it } from 'vitest';
import { WeirClient, type WeirClientOptions, WeirError } from '../../../src/api/client/weir-client.js';
import { nodeOfFile } from '../../node/node-of-file.js';

const node = await nodeOfFile({ cycleMs: 50 });
const key = node.keyOf('owner');
const weir = new WeirClient({ url: `${node.url}/`, key });

/** A machine with one contract. */
async function contractOn(slug: string, threshold: number, within = 2_000): Promise<string> {
  await weir.call('createMachine', { body: { slug } });
  const { contract } = await weir.call('deployRateLimiter', { body: { slug, threshold, within } });
  return contract.id;
}

it('the client goes through the pages of a list, each contract once, and stops where it is stopped', async () => {
  await weir.call('createMachine', { body: { slug: 'paged' } });
  const made: string[] = [];
  for (let n = 0; n < 5; n += 1)
    made.push((await weir.call('deployRateLimiter', { body: { slug: 'paged', threshold: 1 } })).contract.id);
  const list = async (query: { limit: number; after?: string }, most = Number.POSITIVE_INFINITY) => {
    const pages: string[][] = [];
    for await (const { contracts } of weir.pages('listContracts', { params: { slug: 'paged' }, query })) {
      pages.push(contracts.map(({ id }) => id));
      if (pages.length === most) break;
    }
    return pages;
  };
  const [a, b, c, d, e] = made;
  expect(await list({ limit: 2 })).toEqual([[a, b], [c, d], [e]]);
  expect(await list({ limit: 2 }, 2)).toEqual([
    [a, b],
    [c, d],
  ]);
  expect(await list({ limit: 250, after: c! })).toEqual([[d, e]]);
  const templates: string[][] = [];
  for await (const page of weir.pages('listTemplates', { query: { limit: 7 } }))
    templates.push(page.templates.map(({ id }) => id));
  const whole = await weir.call('listTemplates');
  expect([templates.length > 1, templates.flat()]).toEqual([true, whole.templates.map(({ id }) => id)]);
  expect(await caught(weir.call('listTemplates', { query: { after: 'gcr' } }))).toEqual(['template_not_found', 404]);
});

type Turn = number | 'breaks' | { readonly status: number; readonly after: string };

/** A client whose requests are answered by `turns`, one after the other, with what it sent. */
function scripted(turns: readonly Turn[], options: Partial<WeirClientOptions> = {}) {
  const sent: { readonly method: string; readonly path: string; readonly key: string | null }[] = [];
  const client = new WeirClient({
    url: 'http://127.0.0.1:9',
    longestWaitMs: 20,
    ...options,
    fetch: async (input, { method = '', headers }) => {
      const turn = turns[sent.length];
      const { pathname: path } = new URL(input);
      sent.push({ method, path, key: new Headers(headers).get('idempotency-key') });
      if (turn === 'breaks' || turn === undefined) throw new TypeError('fetch failed');
      const { status, after } = typeof turn === 'number' ? { status: turn, after: undefined } : turn;
      const words = { type: 'urn:x', title: 'Refused', detail: 'It is refused.', code: 'node_overloaded' };
      const problem = { ok: false, status, ...words };
      const body = status === 200 ? { ok: true, cycle: 1, cycle_ms: 50, contracts: [] } : problem;
      return Response.json(body, { status, ...(after === undefined ? {} : { headers: { 'retry-after': after } }) });
    },
  });
  return { client, sent };
}

const caught = async (call: Promise<unknown>) => {
  const error = await call.then(
    () => undefined,
    (thrown: unknown) => thrown,
  );
  return error instanceof WeirError ? [error.code, error.status] : error;
};

it('the client asks a gate: what is limited is an answer, with the wait until the next is admitted', async () => {
  const contract = await contractOn('gate', 2);
  const peeked = await weir.gate('gate', contract, { peek: true });
  const decisions = [];
  for (let asked = 0; asked < 3; asked += 1) decisions.push(await weir.gate('gate', contract));
  expect([peeked, ...decisions].map(({ isAdmitted, decision, count }) => [isAdmitted, decision, count])).toEqual([
    [true, 'admitted', 0],
    [true, 'admitted', 1],
    [true, 'admitted', 2],
    [false, 'limited', 3],
  ]);
  expect(decisions.map(({ retryAfterMs }) => retryAfterMs).slice(0, 1)).toEqual([0]);
  expect(decisions[2]?.retryAfterMs).toBeGreaterThan(90_000);
});

it('the client counts one event and many', async () => {
  await contractOn('counts', 3);
  const one = await weir.event('counts', { type: 'request', count: 2 });
  const many = await weir.events.send('counts', [{ type: 'request' }, { type: 'request' }, { type: 'requets' }]);
  const outcomes = many.outcomes.map((each) => (each.ok ? each.contracts[0]?.admitted : each.code));
  expect([one.contracts[0]?.count, outcomes]).toEqual([2, [1, 0, 'unknown_event_type']]);
});

it('the client calls a route by its name', async () => {
  const { clock } = { clock: await weir.call('readClock') };
  expect(clock).toMatchObject({ ok: true, cycle_ms: 50 });
  const { contracts } = await weir.call('listContracts', { params: { slug: 'counts' }, query: { limit: 5 } });
  expect(contracts.map(({ threshold }) => threshold)).toEqual([3]);
});

it('the client throws what the node refuses, with its code, its status and its faults', async () => {
  const refused = await weir.call('deployRateLimiter', { body: { slug: 'x', threshold: 0 } }).catch((error) => error);
  const problem = { code: 'invalid_input', status: 400, errors: [{ path: '/threshold' }] };
  expect(refused).toMatchObject({ name: 'WeirError', ...problem });
  expect(await caught(weir.gate('nowhere', 'x'))).toEqual(['machine_not_found', 404]);
  expect(await caught(weir.gate('..', 'x'))).toEqual(['wrong_usage', 0]);
  expect(await caught(new WeirClient({ url: node.url }).event('gate', { type: 'request' }))).toEqual([
    'credential_missing',
    401,
  ]);
});

it('the client sends no key by plain http to another host, unless that is asked for', async () => {
  const asked: string[] = [];
  const answer = async (_: string, { headers }: RequestInit) => {
    asked.push(new Headers(headers).get('authorization') ?? 'none');
    return Response.json({ ok: true });
  };
  const url = 'http://weir.example';
  expect(await caught(new WeirClient({ url, key, fetch: answer }).call('readClock'))).toEqual([
    'insecure_connection',
    0,
  ]);
  await new WeirClient({ url, key, insecure: true, fetch: answer }).call('readClock');
  await new WeirClient({ url, fetch: answer }).call('readClock');
  expect(asked).toEqual([`Bearer ${key}`, 'none']);
});

it.each(['', 'ftp://x', 'node:7770'])('the client refuses the address "%s"', (url) => {
  expect(() => new WeirClient({ url })).toThrow(/is not the address of a node/);
});

it('the client says that something else answers in the place of a node', async () => {
  const html = async () => new Response('<html>', { headers: { 'content-type': 'text/html' } });
  const problem = async () => Response.json({ error: 'gone' }, { status: 410 });
  const of = (fetch: WeirClientOptions['fetch']) => caught(new WeirClient({ url: node.url, fetch }).call('readClock'));
  for (const answer of [html, problem]) expect(await of(answer)).toEqual(['answer_unreadable', 0]);
});

it('the client follows a machine until its signal', async () => {
  await contractOn('heard', 1);
  const stop = new AbortController();
  const heard: string[] = [];
  void weir.event('heard', { type: 'request', count: 2 });
  for await (const { event } of weir.follow('heard', { signal: stop.signal })) {
    if (event !== 'cycle') heard.push(event);
    if (heard.length === 2) stop.abort();
  }
  expect(heard).toEqual(['transition', 'rate_limited']);
});

const event = { type: 'request' };
// biome-ignore format: one case a line
it.each<readonly [string, readonly Turn[], (client: WeirClient) => Promise<unknown>, number, unknown]>([
    ['a GET whose connection breaks', ['breaks', 200], (client) => client.call('readClock'), 2, undefined],
    ['a GET that is refused for a while', [503, 502, 200], (client) => client.call('readClock'), 3, undefined],
    ['an event, by its key', ['breaks', 503, 200], (client) => client.event('m', event), 3, undefined],
    ['many events', ['breaks', 200], (client) => client.events.send('m', [event]), 2, undefined],
    ['nothing more often than asked', [503, 503, 503, 503, 200], (client) => client.call('readClock'), 4, ['node_overloaded', 503]],
    ['no gate: it counts', ['breaks', 200], (client) => client.gate('m', 'c'), 1, ['node_unreachable', 0]],
    ['a gate that only peeks', ['breaks', 200], (client) => client.gate('m', 'c', { peek: true }), 2, undefined],
    [
      'no route that makes something',
      [503, 200],
      (client) => client.call('createMachine', { body: { slug: 'm' } }),
      1,
      ['node_overloaded', 503],
    ],
    ['nothing that is refused', [404, 200], (client) => client.call('readClock'), 1, ['node_overloaded', 404]],
    ['after the wait that the node asks for', [{ status: 503, after: '0' }, 200], (client) => client.call('readClock'), 2, undefined],
    [
      'not after a longer wait than allowed',
      [{ status: 503, after: '60' }, 200],
      (client) => client.call('readClock'),
      1,
      ['node_overloaded', 503],
    ],
  ])('the client sends again %s', async (_, turns, call, requests, failure) => {
    const { client, sent } = scripted(turns);
    expect([await caught(call(client)), sent.length]).toEqual([failure, requests]);
    expect(new Set(sent.map((request) => request.key)).size).toBe(1);
  });

it('two calls have two idempotency keys, and a given one is kept', async () => {
  const { client, sent } = scripted([200, 200, 200]);
  await client.event('m', event);
  await client.event('m', event);
  await client.event('m', event, { idempotencyKey: 'order-17' });
  expect(new Set(sent.map((request) => request.key)).size).toBe(3);
  expect(sent[2]?.key).toBe('"order-17"');
  expect(await caught(client.event('m', event, { idempotencyKey: 'a"b' }))).toEqual(['wrong_usage', 0]);
});

it('the error of a refusal has the wait that the node asks for', async () => {
  const { client } = scripted([{ status: 503, after: '60' }]);
  const error = await client.call('readClock').catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ retryAfterMs: 60_000 });
});

const never = (_: string, { signal }: RequestInit) =>
  new Promise<Response>((_resolve, reject) => {
    signal?.addEventListener('abort', () => reject(signal.reason));
  });

it('a call that is ended by its signal rejects with the reason of it', async () => {
  const reason = new Error('enough');
  const stop = new AbortController();
  const stopped = { signal: stop.signal };
  const client = new WeirClient({ url: node.url, fetch: never });
  const calls = [
    client.call('readClock', undefined, stopped),
    client.gate('m', 'c', stopped),
    client.event('m', { type: 'x' }, stopped),
  ];
  stop.abort(reason);
  expect(await Promise.all(calls.map(caught))).toEqual([reason, reason, reason]);
});

it('a call that is ended by time fails as node_unreachable', async () => {
  const client = new WeirClient({ url: node.url, fetch: never, timeoutMs: 10, retries: 0 });
  expect(await caught(client.call('readClock'))).toEqual(['node_unreachable', 0]);
  expect(await caught(client.gate('m', 'c', { timeoutMs: 5 }))).toEqual(['node_unreachable', 0]);
});

it('a call that is ended while it waits to be sent again rejects at once', async () => {
  const { client, sent } = scripted([{ status: 503, after: '1' }], { longestWaitMs: 60_000 });
  const stop = new AbortController();
  const call = caught(client.call('readClock', undefined, { signal: stop.signal }));
  await expect.poll(() => sent.length).toBe(1);
  stop.abort('enough');
  expect(await call).toBe('enough');
});
