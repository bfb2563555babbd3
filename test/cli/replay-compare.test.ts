// `weir replay` with several `--limit`: who a new policy would newly refuse. What `--compare` prints and writes is in answers.long.test.ts.
import { expect, it } from 'vitest';
import { temporaryFiles } from '../left-behind.js';
import { refuses, weirHere as weir } from './command-line.js';

const { file } = temporaryFiles();
/** One key with 12 requests at once, another with 3. */
const rows = [...Array(12).fill('1767600000000,many'), ...Array(3).fill('1767600000000,few'), '1767600900000,few'];
const log = file('two.csv', ['ms,who', ...rows].join('\n'));
const keyed = ['replay', log, '--time', 'ms', '--key', 'who', '--out', 'none'];

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
