// From nothing to a verified record, by curl.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { isInstalled } from '../harness/live/real-servers.js';
import { beginOther, run, serve, temporaryFolder, weirHere } from './command-line.js';

const node = await serve(['--data', join(temporaryFolder(), 'data')]);

it.skipIf(!isInstalled('curl'))('a limiter is made, asked, followed and verified by curl alone', async () => {
  const folder = temporaryFolder();
  const curl = (...args: string[]) => run('curl', ['--silent', '--show-error', '--max-time', '20', ...args]);
  const post = async (path: string, body: object, key: string) => {
    const json = ['-H', 'Content-Type: application/json', '-d', JSON.stringify(body)];
    return JSON.parse(
      (await curl('-X', 'POST', `${node.url}${path}`, '-H', `Authorization: Bearer ${key}`, ...json)).out,
    );
  };
  const { key } = JSON.parse((await curl('-X', 'POST', `${node.url}/api/demo-key/mint`)).out);
  await post('/api/chain/state-machines', { slug: 'curled' }, key);
  await post('/api/contracts/templates/rate-limiter/deploy', { slug: 'curled', threshold: 100, within: 20 }, key);
  const authorized = ['-H', `Authorization: Bearer ${key}`];
  const streamed = beginOther('curl', [
    ...['--silent', '--no-buffer', ...authorized],
    `${node.url}/api/chain/curled/stream?last_event_id=0`,
  ]);
  const answers = await curl(
    ...authorized,
    '-X',
    'POST',
    `${node.url}/api/chain/curled/events`,
    '-H',
    'Content-Type: application/json',
    '--data',
    `[${Array(101).fill('{"type":"request"}').join()}]`,
  );
  await streamed.line((line) => line === 'event: rate_restored');
  streamed.child.kill();
  const events = streamed.lines.flatMap((line) => /^event: (rate_\w+)$/.exec(line)?.[1] ?? []);
  const file = join(folder, 'curled.ndjson');
  await curl(...authorized, '-o', file, `${node.url}/api/chain/curled/state?format=ndjson`);
  const key64 = JSON.parse((await curl(`${node.url}/api/updates/pubkey`)).out).public_key;
  const verified = await weirHere(['verify', file, '--pin', key64, '--json'], { WEIR_CONFIG: folder });

  const { admitted, limited } = JSON.parse(answers.out);
  const { valid, rows, checkpoint } = JSON.parse(verified.out);
  expect({ admitted, limited, events, valid, rows, pinned: checkpoint.pinned, code: verified.code }).toEqual({
    admitted: 100,
    limited: 1,
    events: ['rate_limited', 'rate_restored'],
    valid: true,
    rows: 4,
    pinned: true,
    code: 0,
  });
});
