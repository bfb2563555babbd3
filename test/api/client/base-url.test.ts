import { networkInterfaces } from 'node:os';
import { expect, it } from 'vitest';
import { isReadable } from '../../../src/api/client/base-url.js';
import { bearer, reach } from '../../../src/api/client/connect.js';
import { readClock } from '../../../src/api/node.js';
import { startRunning } from '../../node/running.js';
import { tablesBeside } from '../../tables-beside.js';

const tables = tablesBeside(import.meta.url);

it.each<[url: string, readable: boolean]>(tables.readable)(
  'what is sent to %s is readable on the way: %s',
  (url, readable) => expect(isReadable(url)).toBe(readable),
);

const [external] = Object.values(networkInterfaces())
  .flatMap((addresses = []) => addresses)
  .filter(({ family, internal }) => family === 'IPv4' && !internal);

it.skipIf(external === undefined)(
  'a key is sent in clear to another address only where that is asked for',
  async () => {
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
    await node.close();
  },
);
