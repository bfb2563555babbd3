import { once } from 'node:events';
import { connect } from 'node:net';
import { expect, it } from 'vitest';
import { startLoopbackServer } from '../../../src/harness/live/warm-up.js';

it('the server that the sender is warmed up against closes, whoever still holds a connection to it', async () => {
  const { url, close } = await startLoopbackServer();
  const { hostname, port } = new URL(url);
  const held = connect(Number(port), hostname);
  held.write('GET / HTTP/1.1\r\n\r\n');
  const [answer] = await once(held, 'data');
  expect(String(answer)).toMatch(/^HTTP\/1.1 200 OK/);
  const cut = once(held, 'close');
  await close();
  await cut;
});
