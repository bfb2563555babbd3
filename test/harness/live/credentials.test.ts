// No credential is sent to a program that only shows the key of a node, nor in clear to another machine.
import { describe, expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { generateSigner } from '../../../src/core/record/signing.js';
import { type LiveOptions, mintKey } from '../../../src/harness/live/load.js';
import { stress } from '../../../src/harness/live/stress.js';
import { imposter, replay } from '../../api/client/imposter.js';
import { temporaryFiles } from '../../left-behind.js';
import { startRunning } from '../../node/running.js';
import { burst, liveReplay, run, scenario, told } from './asking.js';
import { startSmallNode } from './wrong-node.js';

const log = temporaryFiles().file('log.ndjson', '{"time":1700000000000}\n{"time":1700000000040}\n');
const node = await startRunning({ cycleMs: 50 });
const key = node.keyOf('owner');

const replayed = { name: 'log', cycleMs: 50, planAt: () => planContract(rateLimiter()), log: {} };
describe.each<[string, (options: LiveOptions) => Promise<unknown>]>([
  ['load', (options) => run(burst, options)],
  ['the key of several loads', (options) => mintKey(options)],
  ['stress', (options) => stress({ ...options, seconds: 1, rounds: 1, connections: 2 })],
  ['replay', (options) => liveReplay([log], { ...options, ...replayed })],
])('%s', (_name, live) => {
  it('nothing is sent to a program that replays the public key of the node', async () => {
    const posted: unknown[] = [];
    const fake = await imposter(({ method, url = '' }, response) => {
      if (method !== 'GET') posted.push(url);
      const nonce = new URL(url, 'http://fake').searchParams.get('nonce');
      if (nonce === null) {
        void replay(node.url, url, response);
        return;
      }
      const signature = generateSigner().sign(`weir-node-proof/1 ${nonce}`);
      response.writeHead(200, { 'content-type': 'application/json' });
      response.end(JSON.stringify({ ok: true, public_key: '', signature }));
    });
    await expect(live({ url: fake.url, key })).rejects.toMatchObject({ code: 'key_unproved' });
    expect({ seen: fake.seen, posted }).toEqual({ seen: [], posted: [] });
  });

  it('no key is sent in clear to another machine, its own or a minted one', async () => {
    const fake = await imposter((_request, response) => response.writeHead(500).end());
    const asked = { url: `http://0.0.0.0:${fake.port}`, allowRemote: true };
    await expect(live({ ...asked, key })).rejects.toMatchObject({ code: 'insecure_connection' });
    await expect(live(asked)).rejects.toMatchObject({ code: 'insecure_connection' });
    // Permitted, it asks: that this is no node is the next thing it finds.
    await expect(live({ ...asked, key, insecure: true })).rejects.toMatchObject({ code: 'answer_unreadable' });
    expect(fake.seen).toEqual([]);
  });
});

it('a key of the node itself is sent as before', async () => {
  const result = await run(burst, { url: node.url, key });
  expect(told(result).live.answered).toBeGreaterThan(0);
});

it('the stream is not opened again at what comes after the node, and the run ends', async () => {
  const small = await startSmallNode(50, { isReplaced: true });
  const { outcome } = (await run(burst, { url: small.url, key: 'weir_test' })).observed;
  await small.kill();
  expect(small.streamed()).toBe(1);
  expect(outcome).toMatchObject({ partial: true, comparison: { verdict: 'run invalid' } });
  expect(JSON.stringify(outcome.comparison)).toContain('did not prove that it has the key');
});

const target = (headers: string) =>
  scenario(
    `duration: 1\ncycle_ms: 20\nlimiter: { threshold: 9, within: 2 }\ntarget: { headers: ${headers} }\narrivals: [{ model: constant, rate: 1 per cycle }]`,
  );

const secret = ['Authorization', 'Cookie', 'X-Api-Key', 'apikey', 'x-auth-token', 'X-Amz-Security-Token'];

it.each(secret)('a target that is no node is not sent %s in clear on another machine', async (name) => {
  const fake = await imposter((_request, response) => response.end());
  const other = { url: `http://0.0.0.0:${fake.port}`, allowRemote: true };
  await expect(run(target(`{ ${name}: open }`), other)).rejects.toMatchObject({ code: 'insecure_connection' });
});

it('a target that is no node is sent secret headers on this machine, and on another one if permitted', async () => {
  const values: unknown[] = [];
  const fake = await imposter(({ headers }, response) => {
    values.push(secret.map((name) => headers[name.toLowerCase()]));
    response.end();
  });
  const own = target(`{ ${secret.map((name) => `${name}: open`).join(', ')} }`);
  await run(own, { url: `http://0.0.0.0:${fake.port}`, allowRemote: true, insecure: true });
  await run(own, { url: fake.url });
  expect(values).toEqual([secret.map(() => 'open'), secret.map(() => 'open')]);
});

it('other headers are permitted for a target on another machine', async () => {
  const fake = await imposter((_request, response) => response.end());
  await run(target('{ X-Author: me, Accept: text/plain }'), {
    url: `http://0.0.0.0:${fake.port}`,
    allowRemote: true,
  });
});
