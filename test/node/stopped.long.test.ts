// A real process that is stopped for longer than a connection may be idle, and goes on: what waited is answered.
import { expect, it } from 'vitest';
import { serve } from '../cli/command-line.js';
import { ask } from './asking.js';
import { Holder } from './caller.js';
import { Raw } from './raw.js';

/** Longer than a connection may be idle, and than a request may take to arrive, by the defaults of the node. */
const STOP_MS = 17_000;

it('every request that waited while the node was stopped is answered', async () => {
  const node = await serve(['--store', 'memory']);
  const { key } = await Holder.minted(node.url);
  const get = 'GET /api/clock HTTP/1.1\r\nHost: localhost\r\n\r\n';
  const body = '{"slug":"waited"}';
  const post = `POST /api/chain/state-machines HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer ${key}\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`;
  const idle = await new Raw(node.url).send(get).answered();
  const silent = await Raw.on(node.url);
  const inHead = new Raw(node.url).send(get.slice(0, 20));
  const inBody = new Raw(node.url).send(post.slice(0, -4));
  // Answered after what the others had sent was read.
  await ask(node.url, 'GET', '/api/clock');
  node.child.kill('SIGSTOP');
  idle.send(get);
  silent.send(get);
  inHead.send(get.slice(20));
  inBody.send(post.slice(-4));
  const fresh = new Raw(node.url).send(get);
  await new Promise((resolve) => setTimeout(resolve, STOP_MS));
  node.child.kill('SIGCONT');
  await idle.answered(2);
  const all = await Promise.all([idle, silent, inHead, inBody, fresh].map((raw) => raw.answered()));
  expect(all.map(({ statuses }) => statuses)).toEqual([[200, 200], [200], [200], [201], [200]]);
});
