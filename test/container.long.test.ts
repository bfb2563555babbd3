// Containerfile without a builder: its lines are walked in a folder, its entry point is run, its health is checked.
import { type ChildProcess, execFileSync, spawn, spawnSync } from 'node:child_process';
import { cpSync, existsSync, mkdirSync, readdirSync, readFileSync, statSync, symlinkSync } from 'node:fs';
import { basename, join, resolve } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { temporaryFolder } from './left-behind.js';
import { freePort } from './loopback.js';
import { said } from './node/network/redis/server.js';

const root = resolve(import.meta.dirname, '..');
const home = temporaryFolder();
const lines = readFileSync(join(root, 'Containerfile'), 'utf8')
  .split('\n')
  .filter((line) => line !== '' && !line.startsWith('#'))
  .map((line) => [line.slice(0, line.indexOf(' ')), line.slice(line.indexOf(' ') + 1)] as const);
const comesBuilt = Number(process.versions['napi']) >= 10;
let folder = '/';
let stage = '';
let node: ChildProcess | undefined;

/** A place of the stage that is being made. */
const at = (path: string, of = stage) => join(home, of, path.startsWith('/') ? path : join(folder, path));
const valuesOf = (keyword: string) => lines.filter(([word]) => word === keyword).map(([, value]) => value);

const walk: Readonly<Record<string, (value: string) => void>> = {
  FROM(value) {
    stage = / AS (\w+)$/.exec(value)?.[1] ?? 'last';
    folder = '/';
    mkdirSync(join(home, stage), { recursive: true });
  },
  WORKDIR(value) {
    folder = value;
    mkdirSync(at('.'), { recursive: true });
  },
  COPY(value) {
    const from = /^--from=(\w+) /.exec(value);
    const [into, ...sources] = value
      .replace(from?.[0] ?? '', '')
      .split(' ')
      .reverse();
    for (const source of sources) {
      const path = from === null ? join(root, source) : at(source, from[1]);
      const all = basename(path).startsWith('*.')
        ? readdirSync(join(path, '..')).filter((name) => name.endsWith(basename(path).slice(1)))
        : [basename(path)];
      expect(all, value).not.toEqual([]);
      for (const name of all) {
        const target = into!.endsWith('/') ? join(at(into!), name) : at(into!);
        cpSync(join(path, '..', name), target, { recursive: true });
      }
    }
  },
  RUN(command) {
    // The packages of the lock file are here: they are not fetched once more. And there may be no user `node`.
    if (command.startsWith('npm ci ')) {
      // Nor are sources checked once more that `npm run typecheck` has checked.
      if (existsSync(join(root, 'build/types')))
        cpSync(join(root, 'build/types'), at('build/types'), { recursive: true });
      return symlinkSync(join(root, 'node_modules'), at('node_modules'));
    }
    const script = command.replace(/chown node:node/g, 'stat').replaceAll(' /data', ` ${at('/data')}`);
    const env = { ...process.env, WITH: '', npm_config_ignore_scripts: command === 'npm pack' ? 'false' : 'true' };
    execFileSync('sh', ['-ec', script], { cwd: at('.'), env, stdio: 'pipe' });
  },
};

beforeAll(() => {
  for (const [keyword, value] of lines) walk[keyword]?.(value);
});
afterAll(() => node?.kill('SIGKILL'));

it('the Containerfile has known steps, and its last stage runs without rights in its one volume', () => {
  const declared = ['ARG', 'ENV', 'USER', 'VOLUME', 'EXPOSE', 'HEALTHCHECK', 'ENTRYPOINT', 'CMD'];
  expect(lines.filter(([keyword]) => walk[keyword] === undefined && !declared.includes(keyword))).toEqual([]);
  expect([valuesOf('USER'), valuesOf('VOLUME'), valuesOf('WORKDIR').at(-1)]).toEqual([['node'], ['/data'], '/data']);
  // From this Node on better-sqlite3 comes built.
  expect(new Set(valuesOf('FROM').map((value) => value.split(' ')[0]))).toEqual(new Set(['node:22-slim']));
});

it('the container holds the package and what it needs, and no sources and tools', () => {
  const app = join(home, 'last/app');
  expect(readdirSync(app).sort()).toEqual(['node_modules', 'package-lock.json', 'package.json']);
  expect(existsSync(join(app, 'node_modules/esbuild'))).toBe(false);
  expect(existsSync(join(app, 'node_modules/@weir/cli/src'))).toBe(false);
});

it('the container serves by its entry point, is found healthy, and leaves its root as it was', async () => {
  // Installed without scripts: what comes built for Node 22 and later fits them alone.
  const ofThisNode = join(root, 'node_modules/better-sqlite3');
  if (!comesBuilt) cpSync(ofThisNode, join(home, 'last/app/node_modules/better-sqlite3'), { recursive: true });
  const before = written(join(home, 'last/app'));
  const [program, ...entry]: string[] = JSON.parse(valuesOf('ENTRYPOINT')[0]!);
  const port = await freePort();
  const words = [...entry, ...JSON.parse(valuesOf('CMD')[0]!)].map((word: string) =>
    /^\/(app|data)/.test(word) ? join(home, 'last', word) : word.replace('0.0.0.0', '127.0.0.1'),
  );
  expect(program).toBe('node');
  node = spawn(process.execPath, [...words, '--port', String(port)], { cwd: join(home, 'last/data') });
  await said(node, `127.0.0.1:${port}`);
  const [, check] = /CMD (\[.*\])$/.exec(valuesOf('HEALTHCHECK')[0]!)!;
  const [, ...asks]: string[] = JSON.parse(check!.replace('7770', String(port)));
  const healthy = spawnSync(process.execPath, asks).status;
  const ended = new Promise((settle) => node!.once('exit', settle));
  node.kill('SIGTERM');
  expect([healthy, await ended, spawnSync(process.execPath, asks).status]).toEqual([0, 0, 1]);
  expect(valuesOf('EXPOSE')).toEqual(['7770']);
  expect(written(join(home, 'last/app'))).toEqual(before);
  expect(readdirSync(join(home, 'last/data'))).toContain('weir.db');
});

/** Every file of a folder with its size and when it was written. */
function written(path: string): string[] {
  return (readdirSync(path, { recursive: true }) as string[]).sort().map((name) => {
    const { size, mtimeMs } = statSync(join(path, name));
    return `${name} ${size} ${mtimeMs}`;
  });
}
