// The stream as a server that breaks off leaves it: what is asked for again, and that every message comes once.
import { createServer, type ServerResponse } from 'node:http';
import { expect, it } from 'vitest';
import { NodeConnection } from '../../../src/api/client/checked-client.js';
import { follow } from '../../../src/api/client/event-stream.js';
import { afterTest } from '../../left-behind.js';
import { loopback } from '../../loopback.js';

type Turn = (response: ServerResponse) => void;

/** A message of row `seq` as the node sends it. */
const message = (seq: number, event: string, text = '') =>
  `id: ${seq}\nevent: ${event}\ndata: ${JSON.stringify({ id: `${seq}/${event}`, time: 't', data: { from: text } })}\n\n`;

const opened = (response: ServerResponse) => response.writeHead(200, { 'content-type': 'text/event-stream' });
/** Sends a text and ends the stream in order. */
const sends =
  (text: string): Turn =>
  (response) =>
    opened(response).end(text);
/** Sends a text and breaks the connection once it was sent. */
const breaksAfter =
  (text: string): Turn =>
  (response) =>
    opened(response).write(text, () => setImmediate(() => response.destroy()));
const refuses =
  (status: number, code: string): Turn =>
  (response) =>
    response
      .writeHead(status, { 'content-type': 'application/json' })
      .end(JSON.stringify({ title: 'Refused', detail: 'It is refused.', code }));

/** Follows a server that answers one connection after the other, until `most` messages came or it failed. */
async function followed(turns: readonly Turn[], afterSeq: number, most: number) {
  const asked: (string | null)[] = [];
  const server = createServer((request, response) => {
    asked.push(new URL(request.url ?? '', 'http://x').searchParams.get('last_event_id'));
    turns[asked.length - 1]!(response);
  });
  const { url } = await loopback(server);
  const connection = new NodeConnection(url);
  afterTest(() => connection.close());
  const controller = new AbortController();
  const pauses: (readonly [waitMs: number, afterSeq: number | undefined])[] = [];
  const came: string[] = [];
  let proved = 0;
  const stream = follow(connection.client(), 'edge', {
    afterSeq,
    signal: controller.signal,
    sleep: async () => {},
    prove: async () => {
      proved += 1;
    },
    onPause: (waitMs, seq) => pauses.push([waitMs, seq]),
  });
  try {
    for await (const { event, envelope } of stream) {
      came.push(`${envelope?.id ?? event}${envelope?.data.from ?? ''}`);
      if (came.length === most) controller.abort();
    }
  } catch (error) {
    return { asked, pauses, came, proved, failure: (error as { code?: string }).code };
  }
  return { asked, pauses, came, proved, failure: undefined };
}

it('a stream that breaks is resumed one row earlier; what came of a row that was cut in two is dropped', async () => {
  const cut = message(12, 'rate_limited').slice(0, 20);
  const turns = [
    breaksAfter(message(11, 'transition') + message(12, 'transition') + cut),
    sends(message(12, 'transition') + message(12, 'rate_limited') + message(13, 'transition')),
  ];
  expect(await followed(turns, 10, 4)).toEqual({
    asked: ['10', '11'],
    pauses: [[2_000, 11]],
    came: ['11/transition', '12/transition', '12/rate_limited', '13/transition'],
    // The node shows its key again before it gets the credential again.
    proved: 1,
    failure: undefined,
  });
});

it('a stream of which nothing came is asked for from the same row, each time after twice the wait, up to 30 s', async () => {
  const turns = [...Array<Turn>(6).fill(sends('')), sends(message(8, 'transition')), sends(message(9, 'transition'))];
  const { asked, pauses } = await followed(turns, 7, 2);
  expect([asked, pauses.map(([waitMs]) => waitMs)]).toEqual([
    ['7', '7', '7', '7', '7', '7', '7', '7'],
    [2_000, 4_000, 8_000, 16_000, 30_000, 30_000, 2_000],
  ]);
});

it('a stream that breaks waits as long as the server asks for', async () => {
  const { pauses } = await followed([sends('retry: 70\n\n'), sends(message(1, 'transition'))], 0, 1);
  expect(pauses).toEqual([[70, 0]]);
});

it('a stream that breaks is tried again while the node restarts, and not when it refuses', async () => {
  const turns = [sends(message(1, 'transition')), refuses(503, 'node_draining'), refuses(404, 'machine_not_found')];
  const { asked, came, failure } = await followed(turns, 0, 9);
  expect([asked, came, failure]).toEqual([['0', '0', '0'], ['1/transition'], 'machine_not_found']);
});

it('a stream that never began is not tried again', async () => {
  const { asked, pauses, failure } = await followed([refuses(503, 'node_draining')], 0, 1);
  expect([asked, pauses, failure]).toEqual([['0'], [], 'node_draining']);
});

it('a character that comes in two pieces is one', async () => {
  const bytes = Buffer.from(message(1, 'transition', 'é'));
  const at = bytes.indexOf(0xc3) + 1;
  const turn: Turn = (response) => {
    opened(response).write(bytes.subarray(0, at), () => setImmediate(() => response.end(bytes.subarray(at))));
  };
  expect((await followed([turn], 0, 1)).came).toEqual(['1/transitioné']);
});
