// Runs tests of the suite with settings of their own, and reads what each has found: for the marathon, and for the tables in reports/.
import { spawnSync } from 'node:child_process';
import { existsSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * @param {string} files ends of paths of test/, without what follows the first dot; between blanks
 * @param {Record<string, string>} settings of the environment
 * @returns {{ name: string, assertionResults: object[] }[] | undefined} by file, as Vitest writes them; undefined if the run did not end
 */
export function foundBy(files, settings) {
  const out = join(tmpdir(), `weir-found-${process.pid}.json`);
  const tests = files.split(' ').map((file) => `/${file}.`);
  // Each test is printed as it ends: what is stopped has shown what it found.
  const reporters = ['--reporter', 'verbose', '--reporter', 'json', `--outputFile.json=${out}`];
  spawnSync('npx', ['vitest', 'run', '--testTimeout', '36000000', ...reporters, ...tests], {
    env: { ...process.env, ...settings },
    stdio: ['ignore', 'inherit', 'inherit'],
  });
  if (!existsSync(out)) return undefined;
  const { testResults } = JSON.parse(readFileSync(out, 'utf8'));
  rmSync(out);
  return testResults;
}
