// A limit in Express: two requests per user in any minute.
import { once } from 'node:events';
import { limit } from '@weir/cli/limit';
import express from 'express';

const limiter = limit({ limit: '2 in 60s', keyGenerator: (request) => request.get('x-user') });
const app = express().use(limiter.express);
app.get('/', (_, response) => response.send('hello'));

const server = app.listen(0, '127.0.0.1');
await once(server, 'listening');
for (const user of ['ann', 'ann', 'ann', 'bob']) {
  const { status } = await fetch(`http://127.0.0.1:${server.address().port}/`, { headers: { 'x-user': user } });
  console.log(user, status);
}
server.close();

// ann 200
// ann 200
// ann 429
// bob 200
