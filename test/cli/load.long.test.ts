// `weir load` as a person runs it: a node of its own, a report, one key for many scenarios.
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { valueFaults } from '../../src/core/schema/value-faults.js';
import type { Outcome } from '../../src/harness/outcome/outcome-schema.js';
import { ReportedOutcome } from '../../src/report/read-report.js';
import { temporaryFiles } from '../left-behind.js';
import { serve, weir, weirHere } from './command-line.js';

/** As where the optional package was not installed: also in the threads of a process. */
const withoutSqlite = `--import=data:text/javascript,${encodeURIComponent(`
  import Module from 'node:module';
  const load = Module._load;
  Module._load = (name, ...rest) => {
    if (name.startsWith('better-sqlite3')) throw new Error('Cannot find module ' + name);
    return load(name, ...rest);
  };`)}`;

const { folder, file } = temporaryFiles();

function scenario(name: string, cycles: number): string {
  const traffic = 'limiter: { threshold: 9, within: 2 }\narrivals: [{ model: constant, rate: 1 }]\n';
  return file(`${name}.yaml`, `question: Q?\nduration: ${cycles}\n${traffic}`);
}

it('weir load starts a node of its own, compares, and leaves the whole report', async () => {
  const out = join(folder, 'own');
  const { code, out: told, err } = await weirHere(['load', scenario('own', 20), '--cycle-ms', '100', '--out', out]);
  expect(existsSync(out), err).toBe(true);
  const outcome: Outcome = JSON.parse(readFileSync(join(out, 'outcome.json'), 'utf8'));
  // A machine too busy to send in time makes the run invalid; then it says so.
  const agrees = outcome.comparison?.verdict === 'agrees';
  expect([code, valueFaults(ReportedOutcome, outcome), outcome.live?.sent]).toEqual([agrees ? 0 : 4, [], 20]);
  expect(told).toContain(`open it here: ${join(out, 'index.html')}`);
  for (const name of ['index.html', 'timeline.csv', 'predicted.ndjson', 'series.json', 'junit.xml', 'summary.md'])
    expect([name, existsSync(join(out, name))]).toEqual([name, true]);
});

it('weir load mints one key for all scenarios, however many there are', async () => {
  const node = await serve(['--store', 'memory']);
  const short = Array.from({ length: 12 }, (_, k) => scenario(`short-${k}`, 2));
  const { code, out, err } = await weirHere(['load', ...short, '--url', node.url, '--out', 'none', '--json']);
  // More than a node mints for one address.
  expect([JSON.parse(out).length, [0, 4].includes(code ?? -1), err.includes('too_many_requests')]).toEqual([
    12,
    true,
    false,
  ]);
});

it.each([
  ['nothing temporary can be stored', { TMPDIR: '/nowhere' }, 'unwritable_folder', 2],
  ['the library of SQLite is missing', { NODE_OPTIONS: withoutSqlite }, 'store_failed', 74],
])('the embedded node says why it does not start: %s', async (_why, given, told, exit) => {
  const { code, out } = await weir(['load', 'scenarios/burst.yaml', '--json'], given);
  expect([code, JSON.parse(out).code]).toEqual([exit, told]);
});
