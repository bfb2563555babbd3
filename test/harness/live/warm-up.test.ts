import { expect, it } from 'vitest';
import { startLoopbackServer } from '../../../src/harness/live/warm-up.js';
import { Raw } from '../../node/raw.js';

it('the server that the sender is warmed up against closes, whoever still holds a connection to it', async () => {
  const { url, close } = await startLoopbackServer();
  const held = await new Raw(url).send('GET / HTTP/1.1\r\n\r\n').answered();
  expect(held.statuses).toEqual([200]);
  await close();
  await held.ended();
});
