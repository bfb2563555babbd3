// The README's lines of set-up in a clone, twice in their order: each of them builds anew, and the program still runs after it.
import { execFileSync, spawnSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';

const root = resolve(import.meta.dirname, '..');
const folder = mkdtempSync(join(tmpdir(), 'weir clone '));
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** What a clone of the files as they are now would hold, with the packages that `npm ci` installs. */
beforeAll(() => {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], { cwd: root });
  for (const file of files.toString().split('\0').filter(Boolean)) {
    mkdirSync(dirname(join(folder, file)), { recursive: true });
    cpSync(join(root, file), join(folder, file), { force: true });
  }
  symlinkSync(join(root, 'node_modules'), join(folder, 'node_modules'));
});

function run(line: string) {
  const env = { ...process.env, HOME: folder, npm_config_cache: join(folder, 'npm cache'), npm_config_offline: 'true' };
  const { status, stdout, stderr } = spawnSync('bash', ['-c', line], { cwd: folder, env, encoding: 'utf8' });
  return { status, out: stdout, err: status === 0 ? '' : stderr };
}

describe('the README, in a clone', () => {
  const readme = readFileSync(join(root, 'README.md'), 'utf8');
  const said = ['npm start', 'npm test', 'npx weir --help'].filter((line) => readme.includes(line));
  // The tests themselves are not run within a test; `npm test` and `npm start` begin with the same build.
  const lines = [...new Set(said.map((line) => (line === 'npx weir --help' ? line : 'npm run build')))];

  it('names the two lines of set-up and the one that lists the commands', () => {
    expect(said).toEqual(['npm start', 'npm test', 'npx weir --help']);
  });

  it.each([...lines, ...lines].map((line, index) => [index + 1, line]))('runs line %i: %s', (_, line) => {
    const { status, out, err } = run(String(line));
    expect({ status, err }).toEqual({ status: 0, err: '' });
    if (line === 'npx weir --help') expect(out).toMatch(/^weir <command>/);
  });
});
