// A real process that is stopped for longer than a connection may be idle, and goes on: whoever waited gets an answer, what was due
// meanwhile is in the record before what comes next.
import { expect, it } from 'vitest';
import { type Serving, serve } from '../cli/command-line.js';
import { ask } from './asking.js';
import { Holder } from './caller.js';
import { Raw } from './raw.js';

const CYCLE_MS = 50;
/** Longer than a connection may be idle, and than a request may take to arrive, by the defaults of the node. */
const STOP_MS = 17_000;

let node: Serving;

async function stopFor(ms: number, meanwhile: () => void): Promise<void> {
  node.child.kill('SIGSTOP');
  meanwhile();
  await new Promise((resolve) => setTimeout(resolve, ms));
  node.child.kill('SIGCONT');
}

it('every request that waited while the node was stopped is answered', async () => {
  node = await serve(['--store', 'memory']);
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
  let fresh: Raw | undefined;
  await stopFor(STOP_MS, () => {
    idle.send(get);
    silent.send(get);
    inHead.send(get.slice(20));
    inBody.send(post.slice(-4));
    fresh = new Raw(node.url).send(get);
  });
  await idle.answered(2);
  const all = await Promise.all([idle, silent, inHead, inBody, fresh].map((raw) => raw!.answered()));
  expect(all.map(({ statuses }) => statuses)).toEqual([[200, 200], [200], [200], [201], [200]]);
});

it('a machine that is deployed to after a stop has what was due meanwhile in its record before', async () => {
  const within = 5;
  node = await serve(['--store', 'memory']);
  const owner = await Holder.minted(node.url);
  await owner.contractOn('edge', { threshold: 1, within }, true);
  const burst = (await owner.event('edge', { count: 3 })).body;
  let deployed: Promise<unknown> | undefined;
  await stopFor((within + 20) * CYCLE_MS, () => {
    deployed = owner.deploy('edge', { threshold: 1, within });
  });
  await deployed;
  const { valid } = await owner.verified('edge');
  const rows = await owner.rows('edge');
  const kinds = rows.map(({ kind, to }) => [kind, to]);
  expect([valid, kinds, rows[3].cycle - burst.cycle]).toEqual([
    true,
    [
      ['machine_created', undefined],
      ['contract_created', 'allowing'],
      ['transition', 'limiting'],
      ['transition', 'allowing'],
      ['contract_created', 'allowing'],
    ],
    within,
  ]);
});
