// The commands of a node: the help of each, and one call of each against a served node, as files.
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { commands } from '../../src/cli/commands.js';
import { serve, temporaryFolder, weirHere } from './command-line.js';

const folder = temporaryFolder();
const names = commands.map(({ name }) => name).filter((name) => name.startsWith('node '));

const node = await serve(['--data', join(folder, 'data'), '--cycle-ms', '3600000']);

/** In this order: what one makes, the next ones show. `KEY` is the id of the key that was made last. */
const calls = [
  'node mint',
  'node session',
  'node session end',
  'node machine create edge --name Edge --set is_public=true',
  'node keys make gate --machine edge --for 365d',
  'node keys make gate event --machine edge --for 7d',
  'node keys rotate KEY --keep 0',
  'node keys revoke KEY',
  'node keys list',
  'node deploy edge --name login --threshold 5 --within 10',
  'node event edge login --count 6',
  'node gate edge',
  'node contracts edge',
  'node contracts edge login',
  'node transition edge allowing --for 1',
  'node change edge login --threshold 6',
  'node candidate edge --threshold 3',
  'node candidate edge',
  'node promote edge',
  'node machine list',
  'node machine show edge',
  'node active',
  'node inspect',
  'node follow edge --after 0 --count 1',
  'node record edge --out RECORD',
  'node clock',
  'node endpoints',
  'node operators',
  'node operators KO42',
  'node shift --count 2 --cycle 0 --set S=101',
  'node backup BACKUP --data DATA --with-key',
  'node restore BACKUP --data RESTORED',
  'node delete edge login',
  'node machine delete edge',
  'node evict edge --data DATA',
];

/** What differs from run to run: names of files, keys, hashes, cycles, times. */
function normal(text: string): string {
  return text
    .replaceAll(folder, 'FOLDER')
    .replace(/(bytes|next cycle in ms) +[\d.]+/g, '$1 N')
    .replaceAll(new URL(node.url).host, 'HOST')
    .replaceAll(new URL(node.url).host.replace(':', '_'), 'HOST')
    .replace(/HOST-[0-9a-f]{8}/g, 'HOST')
    .replace(/SHA256:[\w+/]{43}/g, 'SHA256:…')
    .replace(/weir_[\w-]{43}/g, 'weir_…')
    .replace(/weir_session=[\w.-]+/g, 'weir_session=…')
    .replace(/(owner|key)_[\w-]{12,}/g, '$1_…')
    .replace(/\b[0-9a-f]{64}\b/g, 'HASH')
    .replace(/\b[0-9a-f]{16}\b/g, 'ID')
    .replace(/\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME')
    .replace(/\b[4-9]\d{5}\b/g, 'CYCLE')
    .replace(/\b\d+ (ms|bytes)\b/g, 'N $1')
    .replace(/weir-keys-[0-9a-f]+ */g, 'weir-keys-… ')
    .replace(/(KO42|=) [\d.]{6,}/g, '$1 N')
    .replace(/ +$/gm, '');
}

it('every command of a node has a page of help', async () => {
  const pages: string[] = [];
  for (const name of ['node', ...names]) pages.push((await weirHere(`${name} --help`)).out);
  await expect(pages.join('\n\n')).toMatchFileSnapshot('golden/node-help.txt');
});

it('every command of a node says what the node answers', async () => {
  const env = { WEIR_CONFIG: join(folder, 'home'), WEIR_URL: node.url };
  const told: string[] = [];
  let key = '';
  for (const call of calls) {
    const files = { RECORD: 'edge.ndjson', BACKUP: 'weir.backup', DATA: 'data', RESTORED: 'restored' };
    const words = call
      .split(' ')
      .map((word) => (word === 'KEY' ? key : word in files ? join(folder, files[word as keyof typeof files]) : word));
    const { code, out, err } = await weirHere(words, env);
    key = call.startsWith('node mint') ? '' : (/^ *key id +(\S+)$/m.exec(out)?.[1] ?? key);
    const lines = normal(out).split('\n');
    // By id, which is random.
    if (call === 'node keys list') lines.sort();
    if (call === 'node endpoints') lines.length = 5;
    told.push([`$ weir ${call}`, ...lines, `${normal(err)}exit ${code}\n`].join('\n'));
  }
  expect(names.filter((name) => !calls.some((call) => `${call} `.startsWith(`${name} `)))).toEqual([]);
  await expect(told.join('\n')).toMatchFileSnapshot('golden/node-calls.txt');
});
