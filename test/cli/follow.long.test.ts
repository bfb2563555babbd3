import { join } from 'node:path';
import { expect, it } from 'vitest';
import { begin, personAt, serve, temporaryFolder, weirHere } from './command-line.js';

it('weir node follow goes on after the node was killed and came back: nothing comes twice or is left out', async () => {
  const data = join(temporaryFolder(), 'data');
  const first = await serve(['--data', data]);
  const env = await personAt(first.url, 'edge');
  await weirHere(['node', 'deploy', 'edge', '--threshold', '1', '--within', '1'], env);
  const follow = begin(['node', 'follow', 'edge', '--after', '0', '--count', '12', '--json'], env);
  // Each of these closes the gate, and it opens again by itself: four messages.
  await weirHere(['node', 'event', 'edge', '--count', '2'], env);
  await follow.line((line) => line.includes('weir.rate_restored'));
  await first.stop('SIGKILL');
  await serve(['--data', data, '--port', new URL(first.url).port]);
  await weirHere(['node', 'event', 'edge', '--count', '2'], env);
  // What comes while it is closed closes it no second time.
  await follow.line((line) => line.includes('"id":"6/0","type":"weir.rate_restored"'));
  await weirHere(['node', 'event', 'edge', '--count', '2'], env);
  const ended = await follow.ended;
  const told = follow.lines.map((line) => JSON.parse(line)).map(({ type, data: { seq } }) => [type, seq]);
  const row = (seq: number, event: string) => [
    ['weir.transition', seq],
    [event, seq],
  ];
  expect([ended, told]).toEqual([
    0,
    [3, 5, 7].flatMap((seq) => [...row(seq, 'weir.rate_limited'), ...row(seq + 1, 'weir.rate_restored')]),
  ]);
});

it('weir node follow --client prints what happens to one key of a contract', async () => {
  const node = await serve(['--store', 'memory']);
  const env = await personAt(node.url, 'edge');
  await weirHere(['node', 'deploy', 'edge', '--threshold', '1', '--within', '1000', '--keyed', '10'], env);
  for (const key of ['a', 'b']) await weirHere(['node', 'event', 'edge', '--client', key, '--count', '2'], env);
  const { out } = await weirHere(['node', 'follow', 'edge', '--after', '0', '--count', '2', '--client', 'b'], env);
  const lines = out.trimEnd().split('\n');
  const plain = (line: string) => line.replace(/^.*cycle \d+ {2}/, '').replace(/ [0-9a-f]{16} /, ' ID ');
  expect(lines.map((line) => plain(line).replace(/[0-9a-f]{32}/, 'HASH'))).toEqual([
    'transition  ID  HASH  allowing -> limiting',
    'rate_limited  ID  HASH  limiting  count 2',
  ]);
});

it('weir node follow ends by itself when it is interrupted, and follows no machine that its user may not see', async () => {
  const node = await serve(['--store', 'memory']);
  const env = await personAt(node.url, 'edge');
  const follow = begin(['node', 'follow', 'edge', '--type', 'cycle'], env);
  await follow.line((line) => /cycle \d+ {2}cycle$/.test(line));
  follow.child.kill('SIGINT');
  const stranger = await weirHere(['node', 'follow', 'edge', '--json'], { ...env, WEIR_CONFIG: temporaryFolder() });
  expect([await follow.ended, stranger.code, JSON.parse(stranger.out).code]).toEqual([0, 2, 'machine_not_found']);
});
