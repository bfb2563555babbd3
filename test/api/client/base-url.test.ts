import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { isReadable } from '../../../src/api/client/base-url.js';
import { bearer, reach } from '../../../src/api/client/connect.js';
import { readClock } from '../../../src/api/node.js';
import { startRunning } from '../../node/running.js';

it.each([
  ['http://127.0.0.1:7770', false],
  ['http://127.1.2.3', false],
  ['http://[::1]:7770', false],
  ['http://localhost:7770', false],
  ['http://weir.localhost', false],
  ['https://example.org', false],
  ['http://example.org', true],
  ['http://10.0.0.1:7770', true],
  ['http://127.0.0.1.example.org', true],
  ['http://localhost.example.org', true],
  ['http://[2001:db8::1]', true],
])('what is sent to %s is readable on the way: %s', (url, readable) => expect(isReadable(url)).toBe(readable));

const [external] = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .filter(({ family, internal }) => family === 'IPv4' && !internal);

it.skipIf(external === undefined)('a key is sent in clear to another address only where asked for', async () => {
  const node = await startRunning({ host: '0.0.0.0' });
  const url = `http://${external?.address}:${new URL(node.url).port}`;
  const credential = bearer(node.keyOf('owner'));
  for (const isInsecure of [false, true]) {
    const reached = await reach(url, isInsecure);
    const asking = reached.as(credential).call(readClock);
    if (isInsecure) await asking;
    else await expect(asking).rejects.toMatchObject({ code: 'insecure_connection' });
    await reached.close();
  }
});
