// `weir replay --compare` and several `--limit`: rules side by side, and who a new policy would newly refuse.
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { temporaryFiles } from '../left-behind.js';
import { refuses, weirHere as weir } from './command-line.js';

const { folder, file } = temporaryFiles();
/** One key with 12 requests at once, another with 3. */
const rows = [...Array(12).fill('1767600000000,many'), ...Array(3).fill('1767600000000,few'), '1767600900000,few'];
const log = file('two.csv', ['ms,who', ...rows].join('\n'));
const keyed = ['replay', log, '--time', 'ms', '--key', 'who', '--out', 'none'];

it('weir replay --compare prints rules side by side', async () => {
  const { code, out } = await weir([...keyed, '--threshold', '5', '--compare', 'weir,gcra', '--compare', 'fixed']);
  expect(code).toBe(0);
  expect(out).toMatch(/^weir +7 +43.8 % +1 +5 /m);
  expect(out).toMatch(/^fixed +7 +43.8 % +1 +5 /m);
  const json = await weir([...keyed, '--threshold', '5', '--compare', 'gcra', '--json']);
  const { rules, ...answer } = JSON.parse(json.out);
  expect(answer).toMatchObject({ kind: 'compare', requests: 16, keys: 2, partial: false });
  expect(rules).toMatchObject([{ name: 'gcra', admitted: 9, limited: 7, rule: { primitive: 'gcra' } }]);
});

it('weir replay --compare leaves a page, charts and the answer where --out says', async () => {
  const out = join(folder, 'compared');
  const args = keyed.slice(0, -2);
  const { code } = await weir([...args, '--threshold', '5', '--compare', 'weir,gcra', '--out', out]);
  const { rules, timeline } = JSON.parse(readFileSync(join(out, 'compare.json'), 'utf8'));
  expect([code, readdirSync(out).sort()]).toEqual([
    0,
    ['charts', 'compare.csv', 'compare.json', 'index.html', 'summary.md'],
  ]);
  expect(rules.map(({ limited, wasted }: { limited: number; wasted: number }) => [limited, wasted])).toEqual([
    [7, 6],
    [7, 6],
  ]);
  expect(timeline).toMatchObject({ startMs: 1767600000000, partMs: 32_000 });
  expect(timeline.refused).toEqual([0, 1].map(() => [7, ...Array(28).fill(0)]));
  expect(readFileSync(join(out, 'index.html'), 'utf8')).toContain('Requests refused, in %');
});

it('weir replay ends with 1 if a new policy refuses somebody who is admitted today, else with 0', async () => {
  const loose = file('loose.yaml', 'limiter: { threshold: 10, within: 60 }\n');
  const tight = file('tight.yaml', '{ like: nginx, rate: 1r/s, burst: 1, nodelay: true }\n');
  const worse = await weir([...keyed, '--limit', loose, '--limit', tight, '--json']);
  expect([worse.code, JSON.parse(worse.out).changes]).toEqual([
    1,
    {
      ...{ newly_refused: 9, newly_admitted: 0, keys_newly_refused: 2, keys_newly_admitted: 0 },
      by_key: [
        { key: 'many', requests: 12, newly_refused: 8, newly_admitted: 0 },
        { key: 'few', requests: 4, newly_refused: 1, newly_admitted: 0 },
      ],
    },
  ]);
  const better = await weir([...keyed, '--limit', tight, '--limit', loose]);
  expect(better.code).toBe(0);
  expect(better.out).toContain('Newly refused: none. Newly admitted: 9 requests of 2 keys.');
});

it('weir replay puts several limiters side by side, and says of each what it understood', async () => {
  const limits = ['none', '3 in 60s', 'nginx 1r/s burst=1 nodelay'];
  const { code, out, err } = await weir([...keyed, ...limits.flatMap((one) => ['--limit', one]), '--json']);
  const { rules, changes } = JSON.parse(out);
  expect([code, changes, rules.map(({ name }: { name: string }) => name)]).toEqual([0, undefined, limits]);
  expect(rules[0]).toMatchObject({ limited: 0, rule: { primitive: 'none' } });
  expect(err).toContain('Limiter nginx rate=1r/s burst=1 nodelay: a new client gets 2 at once, 1/s in the long run.');
});

refuses(keyed, [
  [['--compare', 'gcar'], 'Did you mean gcra?'],
  [['--limit', 'none', '--limit', '100 in 60s', '--live'], '--live has no effect with several --limit.'],
  [['--limit', 'none', '--limit', 'ngnix 10r/s'], 'Did you mean nginx?'],
  [['--limit', 'no.yaml', '--limit', 'no.yaml'], 'no.yaml cannot be read.'],
]);
