// What the commands that compare runs print and write, against files that were looked at:
// `npx vitest run test/cli/answers.long.test.ts -u` writes them anew.
import { cpSync, existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { sha256Hex } from '../../src/core/schema/canonical.js';
import { temporaryFiles } from '../left-behind.js';
import { smallScenario, weirHere } from './command-line.js';

const { folder, file } = temporaryFiles();
cpSync('scenarios/metastable.yaml', join(folder, 'metastable.yaml'));
file('small.yaml', smallScenario);
file('compared.yaml', `${smallScenario}\ncompare: [gcra, fixed]\n`);
/** A busy client, some others, and a burst. */
const rows = Array.from({ length: 600 }, (_, i) => {
  const key = i % 3 === 0 ? 'busy' : i > 400 && i < 460 ? 'burst' : `client-${(i * 7) % 23}`;
  return `${1767600000000 + 137 * i},${key}`;
});
file('log.csv', ['ms,who', ...rows].join('\n'));
const lines = rows.map((row, i) => {
  const [ms, who] = row.split(',');
  const at = new Date(Number(ms)).toISOString();
  const address = `192.0.2.${who === 'busy' ? 1 : 2 + (i % 23)}`;
  return `${address} - - [${at.slice(8, 10)}/Jan/2026:${at.slice(11, 19)} +0000] "GET /p${i % 5} HTTP/1.1" 200 10 "-" "x"`;
});
file('access.log', lines.join('\n'));
const nginx = (rate: string, burst: number) =>
  `limit_req_zone $binary_remote_addr zone=z:10m rate=${rate};\nserver { location / { limit_req zone=z burst=${burst} nodelay; } }\n`;
file('old.conf', nginx('5r/s', 10));
file('new.conf', nginx('1r/s', 3));
const log = 'log.csv --time ms --key who';

// biome-ignore format: one command a line
it.each([
  ['recommend', `recommend ${log} --limited-below 1%,10% --within 10s,60s --compare nginx,gcra --as kong`],
  ['recommend-all', 'recommend log.csv --time ms --within 10s'],
  ['replay-compare', `replay ${log} --threshold 5 --within 10s --compare weir,gcra,fixed`],
  ['replay-limits', ['replay', ...log.split(' '), '--limit', '20 in 60s', '--limit', 'gcra 1/s burst=5']],
  ['diff', 'diff old.conf new.conf --log access.log --newly-refused-below 1% --clients undici'],
  ['sweep', 'sweep small.yaml --set limiter.threshold=2,4 --set limiter.within=5,10 --replications 3 --workers 1'],
  ['sweep-line', 'sweep small.yaml --set limiter.threshold=2..6:1 --workers 1'],
  ['map', 'sweep metastable.yaml --map --set arrivals.0.rate=2/s..8/s:3/s --set arrivals.1.rate=0/s..40/s:20/s --replications 4 --workers 1'],
  ['matrix', ['sweep', 'matrix', '--set', 'limiter=none,gcra 10/s burst=10', '--set', 'clients=[[{like: got}],[{like: undici}]]', '--workers', '1']],
  ['simulate-compare', 'simulate compared.yaml --seed 7'],
])('the answer of %s and its files match their golden file', async (name, words) => {
  const args = typeof words === 'string' ? words.split(' ') : words;
  const text = await weirHere([...args, '--out', name], {}, '', folder);
  const json = await weirHere([...args, '--out', 'none', '--json'], {}, '', folder);
  const shown = [`code ${text.code}`, '', text.out, quiet(text.err), '== --json', json.out, ...filesIn(name)].join('\n');
  await expect(plain(shown)).toMatchFileSnapshot(`golden/answers/${name}.txt`);
});

// biome-ignore format: one command a line
it.each([
  ['find', ['sweep', 'small.yaml', '--find', 'limited < 40%', '--set', 'limiter.threshold=1..20', '--workers', '1']],
  ['client', ['client', 'undici']],
  ['clients', ['client']],
  ['side-by-side', ['report', 'simulate-compare', 'other']],
  ['baseline', ['report', 'simulate-compare', '--baseline', 'other']],
  ['several-runs', ['simulate', 'small.yaml', 'compared.yaml', '--out', 'none']],
])('the answer of %s matches its golden file', async (name, args) => {
  if (args[0] === 'report') await weirHere('simulate small.yaml --seed 9 --out other', {}, '', folder);
  const text = await weirHere(args, {}, '', folder);
  const json = await weirHere([...args, '--json'], {}, '', folder);
  const shown = [`code ${text.code}`, '', text.out, quiet(text.err), '== --json', json.out].join('\n');
  await expect(plain(shown)).toMatchFileSnapshot(`golden/answers/${name}.txt`);
});

/** Long lines, which are JSON or HTML, by their beginning and their digest. */
const plain = (text: string) =>
  text
    .replaceAll(folder, 'FOLDER')
    .replace(/about \d+ s .*\n/gi, '')
    .replace(/.{1000,}/g, (line) => `${line.slice(0, 300)}… ${sha256Hex(line)}`);

/** Without lines of progress, one each ten seconds on a busy machine. */
const quiet = (err: string) => err.replace(/^\S.* {1,3}\d+ (?:% .*|runs)\n/gm, '');

/** Pages without their scripts and styles; pictures by their digest. */
function filesIn(name: string): string[] {
  const path = join(folder, name);
  if (!existsSync(path)) return [];
  const names = (readdirSync(path, { recursive: true }) as string[])
    .filter((one) => statSync(join(path, one)).isFile() && !/^(timeline|outcome|series)/.test(one))
    .sort();
  return names.flatMap((one) => {
    const text = readFileSync(join(path, one), one.endsWith('.png') ? 'latin1' : 'utf8');
    const main = /<main>[\s\S]*<\/main>/.exec(text)?.[0];
    const data = /id="data">(.*)<\/script>/.exec(text)?.[1];
    return [`== ${one}`, one.endsWith('.png') ? sha256Hex(text) : (main ?? text), ...(data ? [sha256Hex(data)] : [])];
  });
}
