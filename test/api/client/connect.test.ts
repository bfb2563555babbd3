import type { ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { reach } from '../../../src/api/client/connect.js';
import { follow } from '../../../src/api/client/event-stream.js';
import { generateSigner } from '../../../src/core/record/signing.js';
import { nodeOfFile } from '../../node/node-of-file.js';
import { imposter, replay } from './imposter.js';

const node = await nodeOfFile({ cycleMs: 50 });

it('no credential is sent to who replays the public key of a node, with a signature of another question or none', async () => {
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
    const reached = await reach(fake.url);
    await expect(reached.prove()).rejects.toMatchObject({ code: 'key_unproved' });
    await reached.close();
    expect(fake.seen).toEqual([]);
  }
});

it('no credential is sent to who comes after the node at its address, where a stream is followed', async () => {
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
  const { as, prove, close } = await reach(fake.url);
  const api = as({ authorization: 'Bearer of the node' });
  const { signal } = new AbortController();
  const following = (async () => {
    for await (const _ of follow(api, 'anything', { signal, prove })) break;
  })();
  await expect(following).rejects.toMatchObject({ code: 'key_unproved' });
  expect(theft).toEqual([]);
  await close();
});
