// `npm run marathon`: the tests of faults, attacks and kills in large numbers, one after the other, and a table of what was found in
// reports/marathon.md. Hours at its own numbers; `-- --share 0.01` runs a hundredth of them. `npm run test:long` is its short form: the
// same files, each a few times, with some of their draws.
import { spawnSync } from 'node:child_process';
import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import { foundBy } from './found-by.mjs';

const { values } = parseArgs({ options: { share: { type: 'string', default: '1' } } });
const share = Number(values.share);
if (!(share > 0 && share <= 1)) throw new Error('--share takes a number above 0, up to 1.');

/** The short tests that draw some of what they could. */
const drawing = readdirSync('test', { recursive: true })
  .filter((path) => /^[^.]*\.test\.ts$/.test(path))
  .filter((path) => /fast-check|draws\.js/.test(readFileSync(join('test', path), 'utf8')))
  .map((path) => path.replace('.test.ts', ''));

/** What is done, by the ends of which paths of test/, and the variable that says how often. Where there is none, it is run once. */
const stages = [
  ['nodes killed under load, of each durability', 'node/kill-loop', 'WEIR_KILLS', 1_000],
  ['keys of idempotency and keyed contracts over kills', 'node/idempotency-kill node/keyed-kill'],
  ['hostile requests', 'node/fuzz', 'WEIR_FUZZ', 1_000_000],
  ['attacks beside a victim', 'node/victim', 'WEIR_VICTIM', 1],
  ['clients that are slow, and a thousand readers', 'node/slow-clients node/many-readers'],
  [
    'disks that are full or lose rows, writes that fail',
    'node/faults node/durability store/sqlite-kill store/sqlite-disk',
  ],
  ['every n-th write or sync of the database fails', 'node/failing-writes', 'WEIR_FAULTS', 100],
  ['clocks that step, processes that stop', 'node/clock node/stopped'],
  ['Redis killed, stopped, without memory, failed over', 'node/network-faults'],
  ['scenarios over three nodes, one of them killed', 'node/network-scenarios', 'WEIR_SCENARIOS', 100],
  ['workers killed', 'workers/command'],
  ['memory of a keyed gate, random keys', 'node/keyed-memory', 'WEIR_KEYS', 1_000_000],
  ['minutes of a page with twenty contracts', 'node/machine-frames', 'WEIR_PAGE_MINUTES', 12],
  ['limiters over drawn networks, seeds of each', 'explain/rules', 'WEIR_SEEDS', 20],
  [
    'orders of counting against brute force, costs of rules',
    'explain/search-against-brute-force limiter/rule-costs',
    'WEIR_SEEDS',
    20,
  ],
  ['real limiters, named', 'identify/real', 'WEIR_TIMES', 5],
  ['limiters that seeds draw, named', 'identify/random', 'WEIR_CASES', 100],
  [
    'all draws of the other tests of identify',
    'identify/random-clients identify/wait-fit identify/retry-policy identify/client-limits identify/investigation identify/log-answer identify/real-clients identify/outsiders',
  ],
  ['all draws of explanations and of published results', 'explain/whose-refusals expect/follows published/published'],
  ['all draws and tries of the short tests', drawing.join(' ')],
  [
    'all cells, clients and limiters of live runs, all pages of the site and the playground, each tool and leaf alone',
    'live/matrix live/real-limiters live/stopped-generator clients/libraries test/site web/play test/detach',
  ],
];

const report = 'reports/marathon.md';
const rows = [];
for (const [what, files, variable, most = 1] of stages) {
  // Fewer than three say nothing: a node that is killed once has hardly begun.
  const times = variable === undefined ? 1 : Math.min(most, Math.max(3, Math.round(most * share)));
  const began = performance.now();
  process.stdout.write(`${what}: ${times.toLocaleString('en')} ...\n`);
  const found = foundBy(files, { WEIR_ALL: '1', ...(variable === undefined ? {} : { [variable]: String(times) }) });
  const minutes = ((performance.now() - began) / 60_000).toFixed(1);
  rows.push({ what, times, minutes, ...wordsOf(found) });
  writeFileSync(report, page());
  process.stdout.write(`  ${rows.at(-1).found}, ${minutes} min\n`);
}
if (rows.some(({ failed }) => failed > 0)) process.exitCode = 1;

function wordsOf(found) {
  if (found === undefined) return { failed: 1, found: 'did not end' };
  const tests = found.flatMap(({ assertionResults }) => assertionResults);
  const [held, failed, left] = ['passed', 'failed', 'skipped'].map((is) => tests.filter(({ status }) => status === is));
  const skipped = left.length > 0 ? `, ${left.length} skipped` : '';
  if (failed.length > 0)
    return { failed: failed.length, found: `failed: ${failed.map(({ fullName }) => fullName).join('; ')}${skipped}` };
  return { failed: tests.length === 0 ? 1 : 0, found: `${held.length} held${skipped}` };
}

function page() {
  const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout.trim();
  const table = rows.map(
    ({ what, times, minutes, found }) => `| ${what} | ${times.toLocaleString('en')} | ${minutes} | ${found} |`,
  );
  return [
    '# The marathon',
    '',
    `\`npm run marathon\` of ${commit}, with a share of ${share} of its numbers, on ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}.`,
    '',
    '| what | how often | minutes | found |',
    '| ---- | --------: | ------: | ----- |',
    ...table,
    '',
  ].join('\n');
}
