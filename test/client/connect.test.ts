import type { ServerResponse } from 'node:http';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { generateSigner, signSuccession } from '../../src/record/signing.js';
import type { FailureCode } from '../../src/schema/failure.js';
import { connect, endpoints } from '../../src/weir.js';
import { type Running, startRunning } from '../node/running.js';
import { closeImposters, imposter, replay } from './imposter.js';

let node: Running;
let key: string;
beforeAll(async () => {
  node = await startRunning({ cycleMs: 50 });
  key = node.keyOf('owner');
});
afterAll(() => node.close());

afterAll(closeImposters);

async function codeOf(connecting: Promise<{ close(): Promise<void> }>): Promise<FailureCode | undefined> {
  try {
    await (await connecting).close();
    return undefined;
  } catch (error) {
    return (error as { code: FailureCode }).code;
  }
}

describe('a client in a program', () => {
  it('calls the node with its key, follows a machine, and leaves no file', async () => {
    const client = await connect(node.url, {
      credential: key,
      pin: (await node.ask('GET', '/api/updates/pubkey')).body.fingerprint,
    });
    const slug = 'in-a-program';
    await client.call(endpoints.createMachine, { body: { slug } });
    await client.call(endpoints.deployRateLimiter, { body: { slug, threshold: 1, within: 1_000 } });
    const { contracts } = await client.call(endpoints.countOne, {
      params: { slug },
      body: { type: 'request', count: 5 },
    });
    expect(contracts[0]).toMatchObject({ admitted: 1, limited: 4 });
    const stop = new AbortController();
    const heard: string[] = [];
    for await (const { event } of client.follow(slug, { signal: stop.signal })) {
      if (event !== 'cycle') heard.push(event);
      if (heard.length === 2) break;
    }
    stop.abort();
    expect(heard).toEqual(['transition', 'rate_limited']);
    await client.close();
  });

  it('without a key is answered what anyone is', async () => {
    const client = await connect(node.url);
    expect(await client.call(endpoints.readClock)).toMatchObject({ ok: true, cycle_ms: 50 });
    await expect(client.call(endpoints.createMachine, { body: { slug: 'nobody' } })).rejects.toMatchObject({
      code: 'credential_missing',
    });
    await client.close();
  });

  it('takes the pinned node, and a successor that it has signed; no other', async () => {
    const [first, second, other] = [generateSigner(), generateSigner(), generateSigner()];
    const succeeded = await startRunning({ signer: second, successions: [signSuccession(first, second.publicKey, 1)] });
    const codes = [];
    for (const pin of [
      second.publicKey,
      first.fingerprint,
      first.publicKeyPem,
      other.publicKey,
      other.fingerprint,
      'nonsense',
    ])
      codes.push(await codeOf(connect(succeeded.url, { pin })));
    await succeeded.close();
    expect(codes).toEqual([undefined, undefined, undefined, 'key_changed', 'key_changed', 'invalid_input']);
  });
});

describe('no credential is sent', () => {
  it('to who replays the public key of the pinned node, with a signature of another question or none', async () => {
    const { fingerprint } = (await node.ask('GET', '/api/updates/pubkey')).body;
    const { body: old } = await node.ask('GET', `/api/updates/proof?nonce=${'B'.repeat(43)}`);
    const ways: ((path: string, response: ServerResponse) => void)[] = [
      (_path, response) =>
        response
          .writeHead(404, { 'content-type': 'application/problem+json' })
          .end('{"title":"","detail":"","code":"route_not_found"}'),
      (_path, response) => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(old)),
      (_path, response) =>
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ ...old, signature: generateSigner().sign(`weir-node-proof/1 ${'B'.repeat(43)}`) })),
    ];
    for (const way of ways) {
      const fake = await imposter(({ url = '' }, response) => {
        if (url.startsWith('/api/updates/proof')) way(url, response);
        else void replay(node.url, url, response);
      });
      const code = await codeOf(connect(fake.url, { credential: key, pin: fingerprint }));
      expect([code, fake.seen]).toEqual(['key_unproved', []]);
    }
  });

  it('to who comes after the node at its address, where a stream is followed', async () => {
    let isFake = false;
    const fake = await imposter(({ url = '', headers }, response) => {
      if (isFake && url.startsWith('/api/updates/proof')) {
        response
          .writeHead(200, { 'content-type': 'application/json' })
          .end(JSON.stringify({ ok: true, public_key: '', signature: '' }));
      } else if (url.includes('/stream')) {
        if (isFake) theft.push(headers.authorization);
        isFake = true;
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end('retry: 1\n\n');
      } else void replay(node.url, url, response);
    });
    const theft: unknown[] = [];
    const client = await connect(fake.url, { credential: key });
    const following = (async () => {
      for await (const _ of client.follow('anything')) break;
    })();
    await expect(following).rejects.toMatchObject({ code: 'key_unproved' });
    expect(theft).toEqual([]);
    await client.close();
  });
});
