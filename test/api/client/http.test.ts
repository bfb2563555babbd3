import { createServer } from 'node:http';
import { expect, it } from 'vitest';
import { NodeConnection } from '../../../src/api/client/checked-client.js';
import { endSession } from '../../../src/api/keys.js';
import { loopback } from '../../loopback.js';

it.each([
  ['is sent again until it is answered', 'node_overloaded', '0', 2, 204, 3],
  ['is sent three times more, and no more', 'node_overloaded', '0', 100, 503, 4],
  ['is not sent again where it would have to wait for long', 'node_overloaded', '60', 100, 503, 1],
  ['is not sent again where nobody says when', 'node_overloaded', undefined, 100, 503, 1],
  ['is not sent again where something may have happened', 'node_draining', '0', 100, 503, 1],
])('what a node refuses %s', async (_, code, retryAfter, refusals, status, times) => {
  let asked = 0;
  const server = createServer((_request, response) => {
    asked += 1;
    const isRefused = asked <= refusals;
    const headers = isRefused && retryAfter !== undefined ? { 'retry-after': retryAfter } : {};
    response.writeHead(isRefused ? 503 : 204, { 'content-type': 'application/json', ...headers });
    response.end(
      isRefused ? JSON.stringify({ ok: false, title: 'Refused', detail: 'It is refused.', code }) : undefined,
    );
  });
  const connection = new NodeConnection((await loopback(server)).url);
  const asking = connection.client().call(endSession);
  const answered = await asking.then(
    () => 204,
    (error: { answeredStatus: number }) => error.answeredStatus,
  );
  await connection.close();
  expect([answered, asked]).toEqual([status, times]);
});
