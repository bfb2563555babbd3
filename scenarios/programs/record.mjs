// A record of a node, verified with its key; then one byte of it changes.
import { startNode, verifyRecord } from '@weir/cli';

const node = await startNode();
const post = (path, body, headers) =>
  fetch(`${node.url}/api${path}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: JSON.stringify(body),
  });
const { key } = await (await post('/demo-key/mint', {})).json();
const headers = { authorization: `Bearer ${key}` };
await post('/chain/state-machines', { slug: 'edge' }, headers);
await post('/contracts/templates/rate-limiter/deploy', { slug: 'edge', threshold: 2 }, headers);
await post('/chain/edge/event', { type: 'request', count: 3 }, headers);

const record = await (await fetch(`${node.url}/api/chain/edge/state?format=ndjson`, { headers })).text();
for (const text of [record, record.replace('rate_limited', 'rate_limitEd')]) {
  const { valid, first_broken } = await verifyRecord(text, node.fingerprint);
  console.log(valid, first_broken?.check);
}
await node.close();

// true undefined
// false hash
