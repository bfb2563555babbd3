// Files of somebody else: pipes that nothing writes into, devices, lines and nesting without end. Each command ends, and says why in words.
import { execFileSync, spawnSync } from 'node:child_process';
import { copyFileSync, existsSync, mkdirSync, openSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { few } from '../draws.js';
import { program, temporaryFolder, weir, weirHere } from './command-line.js';

const folder = temporaryFolder();
const at = (name: string) => join(folder, name);

beforeAll(async () => {
  for (const pipe of ['pipe', 'piped/outcome.json']) {
    mkdirSync(join(at(pipe), '..'), { recursive: true });
    execFileSync('mkfifo', [at(pipe)]);
  }
  writeFileSync(at('deep'), '['.repeat(50_000));
  writeFileSync(at('nested.json'), `${'['.repeat(200_000)}${']'.repeat(200_000)}`);
  writeFileSync(at('long'), 'a'.repeat(3 << 20));
  await weirHere(['simulate', 'scenarios/burst.yaml', '--out', at('report')]);
  writeFileSync(join(at('report'), 'outcome.json'), 'a'.repeat(2 << 20));
});

const pipe = 'It is a named pipe, and not a regular file.';
const limited = ['--threshold', '3', '--out', 'none'];

it.each<[args: string[], why: string | RegExp]>([
  [['verify', at('pipe')], /named pipe/],
  [['verify', '/dev/zero'], 'The line is longer than 262144 bytes.'],
  [['verify', at('long')], 'The line is longer than 262144 bytes.'],
  [['verify', at('deep')], 'The line is not JSON'],
  [['verify', at('deep'), '--checkpoint', at('pipe')], pipe],
  [['verify', at('deep'), '--from', '/dev/zero'], 'It is larger than 16 MiB.'],
  [['verify', at('deep'), '--pin', at('pipe')], pipe],
  [['replay', at('pipe'), ...limited], /named pipe/],
  [['replay', '/dev/zero', ...limited], 'It is not text.'],
  [['replay', at('long'), ...limited], '[unknown_format]'],
  [['replay', at('deep'), ...limited], '[unknown_format]'],
  [['report', at('piped')], pipe],
  [['report', at('piped/outcome.json')], pipe],
  [['report', at('nested.json')], '[invalid_input]'],
  [['report', at('report')], '[invalid_json]'],
  [['simulate', at('pipe'), '--out', 'none'], pipe],
  [['simulate', at('deep'), '--out', 'none'], 'nested too deeply'],
  [['node', 'inspect', at('pipe'), '--as', 'xstate'], pipe],
  [['node', 'inspect', '/dev/zero', '--as', 'xstate'], 'It is larger than 16 MiB.'],
  [['replay', at('long'), '--limit', at('pipe'), '--out', 'none'], pipe],
  [['replay', at('long'), '--limit', at('pipe'), '--limit', at('pipe'), '--out', 'none'], pipe],
  [['limiter', at('pipe')], pipe],
])('weir %j ends, and says why', async (args, why) => {
  const { code, out, err } = await weirHere(args);
  expect([code, out + err]).toEqual([
    expect.toBeOneOf([1, 2]),
    expect.stringMatching(why instanceof RegExp ? why : literal(why)),
  ]);
  expect(out + err).not.toContain('internal error');
});

it('a command that was given a pipe leaves nothing open that keeps its process from ending', async () => {
  const pipes = [
    ['verify', at('pipe')],
    ['replay', at('pipe'), ...limited],
    ['report', at('piped')],
    ['limiter', at('pipe')],
  ];
  for (const args of few(pipes, 2)) expect((await weir(args)).code).toBeOneOf([1, 2]);
});

function literal(text: string): RegExp {
  return new RegExp(text.replace(/[.[\]()]/g, '\\$&'));
}

it.runIf(existsSync('/dev/full'))('weir limiter says that standard output is full, and exits with 74', () => {
  const stdio = ['ignore', openSync('/dev/full', 'w'), 'pipe'] as const;
  const { status, stderr } = spawnSync(process.execPath, [program, 'limiter', 'nginx'], { stdio: [...stdio] });
  const said = 'weir: Standard output cannot be written. [disk_full]\n  why  The disk is full.\n';
  expect([status, `${stderr}`]).toEqual([74, expect.stringContaining(said)]);
});

it.each([
  ['replay', 'scenarios/shop.log', ['--threshold', '3', '--refused']],
  ['simulate', 'scenarios/burst.yaml', ['--log']],
  ['verify', 'scenarios/burst.yaml', ['--out']],
  ['report', 'scenarios/burst.yaml', ['--out']],
])('weir %s overwrites no file that it reads, whatever its path', async (command, source, words) => {
  const read = at(`${command}.json`);
  const link = at(`${command}-link.json`);
  copyFileSync(source, read);
  symlinkSync(read, link);
  for (const path of [read, link]) {
    const { code, err } = await weirHere([command, read, ...words, path]);
    expect([code, err]).toEqual([
      2,
      expect.stringContaining(`${words.at(-1)} would overwrite ${read}, which is read.`),
    ]);
  }
  expect(readFileSync(read)).toEqual(readFileSync(source));
});

it('weir simulate --log overwrites no log that the scenario reads', async () => {
  const [log, scenario] = [at('read.log'), at('reads.yaml')];
  copyFileSync('scenarios/shop.log', log);
  writeFileSync(
    scenario,
    'question: What if?\ncycle_ms: 1000\nlimiter: 3 in 1s\narrivals:\n  - { model: log, file: read.log }\n',
  );
  const { code, err } = await weirHere(['simulate', scenario, '--log', log, '--out', 'none']);
  expect([code, err]).toEqual([2, expect.stringContaining('would overwrite a log that the scenario reads.')]);
  expect(readFileSync(log)).toEqual(readFileSync('scenarios/shop.log'));
});
