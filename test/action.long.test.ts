// action.yml as a runner runs it: its steps in bash, with the inputs and the environment of a job.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join, resolve } from 'node:path';
import { beforeAll, expect, it } from 'vitest';
import { parse } from 'yaml';
import { temporaryFolder } from './left-behind.js';

interface Step {
  readonly name?: string;
  readonly uses?: string;
  readonly shell?: string;
  readonly env?: Readonly<Record<string, string>>;
  readonly run?: string;
}

const root = resolve(import.meta.dirname, '..');
const action = parse(readFileSync(join(root, 'action.yml'), 'utf8'));
const steps: readonly Step[] = action.runs.steps;
const home = temporaryFolder('weir action ');
const job = join(home, 'job');
const temp = join(home, 'temp');
const output = join(home, 'output');
const summary = join(home, 'summary.md');
let packed: string;

beforeAll(() => {
  mkdirSync(join(job, 'scenarios'), { recursive: true });
  mkdirSync(temp);
  const burst = readFileSync(join(root, 'scenarios/burst.yaml'), 'utf8');
  writeFileSync(join(job, 'scenarios/burst.yaml'), burst);
  writeFileSync(join(job, 'scenarios/strict.yaml'), burst.replace('admitted <= 100', 'admitted <= 90'));
  writeFileSync(join(job, '--out=broken.yaml'), burst.replace('threshold', 'threshhold'));
  writeFileSync(join(job, 'requests.csv'), 'time\n1000000000\n1000000001\n1000000002\n');
  const written = execFileSync('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', home], {
    cwd: root,
  });
  packed = join(home, JSON.parse(String(written))[0].filename);
  const { status, stderr } = run('Install', {});
  expect([status, stderr]).toEqual([0, expect.not.stringContaining('npm error')]);
});

/** One step, as with the given inputs: those that are not given have their defaults. */
function stepWith(
  name: string,
  given: Readonly<Record<string, string>>,
  places: Readonly<Record<string, string>> = {},
) {
  const step = steps.find((one) => one.name === name)!;
  const defaults = Object.entries<{ default?: string }>(action.inputs).map(([input, { default: value = '' }]) => [
    input,
    value,
  ]);
  const inputs: Record<string, string> = { ...Object.fromEntries(defaults), package: packed, ...given };
  const own = Object.entries(step.env ?? {}).map(([key, value]) => [
    key,
    value.replace(/\$\{\{ inputs\.(\w+) \}\}/g, (_all, input: string) => inputs[input]!),
  ]);
  writeFileSync(output, '');
  writeFileSync(summary, '');
  const env = {
    ...process.env,
    NO_COLOR: '1',
    npm_config_ignore_scripts: 'true',
    GITHUB_ACTIONS: 'true',
    GITHUB_ACTION_PATH: root,
    GITHUB_OUTPUT: output,
    GITHUB_STEP_SUMMARY: summary,
    RUNNER_TEMP: temp,
    ...places,
    ...Object.fromEntries(own),
  };
  return { words: ['--noprofile', '--norc', '-eo', 'pipefail', '-c', step.run!], env };
}

function ran(status: number | null, stdout: string, stderr: string) {
  const annotations = stdout.split('\n').filter((line) => line.startsWith('::'));
  return { status, stdout, stderr, annotations, summary: readFileSync(summary, 'utf8') };
}

function run(name: string, given: Readonly<Record<string, string>>) {
  const { words, env } = stepWith(name, given);
  const { status, stdout, stderr } = spawnSync('bash', words, { cwd: job, env, encoding: 'utf8' });
  return ran(status, stdout, stderr);
}

/** The same, while this process serves. */
async function runBeside(
  name: string,
  given: Readonly<Record<string, string>>,
  places: Readonly<Record<string, string>>,
) {
  const { words, env } = stepWith(name, given, places);
  const child = spawn('bash', words, { cwd: job, env });
  const [stdout, stderr, [status]] = await Promise.all([
    child.stdout.toArray(),
    child.stderr.toArray(),
    once(child, 'close') as Promise<[number]>,
  ]);
  return ran(status, stdout.join(''), stderr.join(''));
}

it('the action is composite: each step is another action or has its shell, and no input is put into a script', () => {
  expect([action.runs.using, steps.map(({ uses, shell }) => uses ?? shell)]).toEqual([
    'composite',
    [expect.stringMatching(/^actions\/setup-node@[0-9a-f]{40}$/), 'bash', 'bash'],
  ]);
  expect(steps.filter((step) => step.run?.includes('${{'))).toEqual([]);
  expect(action.outputs.reports.value).toMatch(/^\$\{\{ steps\.run\.outputs\.reports \}\}$/);
});

it('the action runs every file that a pattern matches, with one summary, and annotates what does not hold', () => {
  const { status, annotations, summary: text, stdout } = run('Run', { files: 'scenarios/*.yaml' });
  expect([status, annotations]).toEqual([
    1,
    [
      '::error file=scenarios/strict.yaml::never more than 100 admitted in any window: admitted <= 90 in any 60 cycles, found 100',
    ],
  ]);
  expect(text).toMatch(/burst[\s\S]*strict/);
  expect(stdout).toContain('All 5 expectations held.');
  expect(readFileSync(output, 'utf8')).toMatch(`reports=${join(temp, 'weir-reports-')}`);
});

it('the action annotates the line and column of what cannot be read, and takes no name of a file for an option', () => {
  const { status, annotations } = run('Run', { files: '*broken.yaml' });
  expect([status, annotations]).toEqual([
    2,
    [
      expect.stringMatching(
        /^::error file=\.\/--out=broken\.yaml,line=5,col=\d+::The scenario \.\/--out=broken\.yaml was refused\. .*threshhold.*"threshold"\? Correct/,
      ),
    ],
  ]);
});

it('the action hands on options as they are, one a line', () => {
  const {
    status,
    annotations,
    summary: text,
  } = run('Run', {
    command: 'replay',
    files: 'requests.csv\n',
    options: '--cycle-ms=1000\n  --top\n1\n',
  });
  expect([status, annotations, text]).toEqual([0, [], expect.stringContaining('requests.csv')]);
});

it.each([
  [{ command: 'serve', files: 'requests.csv' }, /^::error ::The input command is "serve"/],
  [{ files: '\n' }, /^::error ::The input files names none/],
  [{ files: 'nowhere.yaml' }, /^::error file=nowhere\.yaml::.*nowhere\.yaml/],
  [{ files: 'scenarios/burst.yaml', options: '--frobnicate' }, /^::error file=scenarios\/burst\.yaml::.*frobnicate/],
])('the action refuses %o', (given, said) => {
  const { status, annotations } = run('Run', given);
  expect([status, annotations]).toEqual([2, [expect.stringMatching(said)]]);
});

it('the action says what a pull request does to the limits, in one comment that it keeps up to date', async () => {
  const git = (...words: string[]) =>
    execFileSync('git', ['-c', 'user.name=a', '-c', 'user.email=a@a.example', ...words], { cwd: job });
  const limits = (burst: number) =>
    writeFileSync(
      join(job, 'nginx.conf'),
      `limit_req_zone $uri zone=a:1m rate=1r/s;\nserver { limit_req zone=a burst=${burst}; }\n`,
    );
  limits(9);
  git('init', '-q', '-b', 'main');
  git('add', 'nginx.conf');
  git('commit', '-qm', 'limits');
  limits(4);
  const event = join(home, 'event.json');
  writeFileSync(event, JSON.stringify({ pull_request: { number: 7 } }));
  const comments: { id: number; body: string }[] = [{ id: 1, body: 'nice' }];
  const seen: string[] = [];
  const server = createServer(async (request, answer) => {
    seen.push(`${request.method} ${request.url} ${request.headers.authorization}`);
    const text = (await request.toArray()).join('');
    const own = comments.find(({ id }) => request.url === `/repos/a/b/issues/comments/${id}`);
    if (own !== undefined) own.body = JSON.parse(text).body;
    else if (request.method === 'POST') comments.push({ id: 2, body: JSON.parse(text).body });
    if (request.url!.startsWith('/repos/fork/')) answer.statusCode = 403;
    answer.end(JSON.stringify(comments));
  });
  await new Promise<void>((done) => server.listen(0, '127.0.0.1', done));
  const { port } = server.address() as AddressInfo;
  const given = { command: 'diff', files: 'nginx.conf', base: 'main', token: 'secret' };
  const places = { GITHUB_API_URL: `http://127.0.0.1:${port}`, GITHUB_REPOSITORY: 'a/b', GITHUB_EVENT_PATH: event };
  const first = await runBeside('Run', given, places);
  expect([first.status, first.annotations]).toEqual([0, ['::notice file=nginx.conf,line=2::a: burst 9 → 4']]);
  expect(first.summary).toContain('burst 9 → 4');
  limits(5);
  await runBeside('Run', given, places);
  const fork = await runBeside('Run', given, { ...places, GITHUB_REPOSITORY: 'fork/b' });
  expect([fork.status, fork.annotations.at(-1)]).toEqual([0, expect.stringMatching(/^::warning ::.* answered 403\./)]);
  server.close();
  expect(comments.map(({ body }) => body)).toEqual([
    'nice',
    expect.stringMatching(/^<!-- weir diff -->\n(?:.|\n)*burst 9 → 5/),
  ]);
  expect(seen).toEqual([
    'GET /repos/a/b/issues/7/comments?per_page=100&page=1 Bearer secret',
    'POST /repos/a/b/issues/7/comments Bearer secret',
    'GET /repos/a/b/issues/7/comments?per_page=100&page=1 Bearer secret',
    'PATCH /repos/a/b/issues/comments/2 Bearer secret',
    'GET /repos/fork/b/issues/7/comments?per_page=100&page=1 Bearer secret',
  ]);
  expect(run('Run', { command: 'diff', files: 'nginx.conf' })).toMatchObject({ status: 2 });
  const { annotations } = run('Run', { command: 'diff', files: 'nginx.conf', base: 'nowhere' });
  expect(annotations).toEqual([expect.stringMatching(/^::error file=nginx\.conf::.*nowhere.*fetch-depth: 0/)]);
});

const github = (path: string) => parse(readFileSync(join(root, '.github', path), 'utf8'));

it('a release publishes what CI has run, in a job of its own, and the scripts of both are bash', () => {
  const [{ walk: ci }, { holds, publish }] = ['ci', 'release'].map((name) => github(`workflows/${name}.yml`).jobs);
  expect([holds, publish.needs]).toEqual([{ uses: './.github/workflows/ci.yml' }, 'holds']);
  const scripts: string[] = [ci, publish].flatMap(({ steps: all }) => all.flatMap((step: Step) => step.run ?? []));
  expect(scripts.filter((one) => one.endsWith('bash .ci/run'))).toHaveLength(1);
  expect(scripts.filter((script) => spawnSync('bash', ['-n', '-c', script]).status !== 0)).toEqual([]);
});

it('every action is pinned to one commit, and the topic names its version', () => {
  const paths = ['action.yml', '.github/workflows/ci.yml', '.github/workflows/release.yml', 'src/tools/gateway/ci.md'];
  const texts = paths.map((path) => readFileSync(join(root, path), 'utf8')).join('');
  const used = new Set([...texts.matchAll(/uses: (actions\/.+)/g)].map(([, words = '']) => words));
  expect([...used].sort()).toEqual([
    expect.stringMatching(/^actions\/checkout@[0-9a-f]{40} # v7\.\d+\.\d+$/),
    'actions/checkout@v7',
    expect.stringMatching(/^actions\/setup-node@[0-9a-f]{40} # v7\.\d+\.\d+$/),
  ]);
});

it('a release has the section of its version in the changelog', () => {
  const [, notes] = /(awk .+) > notes\.md/.exec(readFileSync(join(root, '.github/workflows/release.yml'), 'utf8'))!;
  const env = { ...process.env, GITHUB_REF_NAME: 'v1.0.0' };
  const section = execFileSync('bash', ['-c', notes!], { cwd: root, env, encoding: 'utf8' });
  expect(readFileSync(join(root, 'CHANGELOG.md'), 'utf8').split(/^## .*\n/m)[1]).toBe(section);
});

it('a report of a fault asks for the scenario, the lines, or what the real limiter does', () => {
  const asked = ['wrong-answer', 'log-line', 'missing'].map((name) =>
    github(`ISSUE_TEMPLATE/${name}.yml`).body.map(({ id }: { id: string }) => id),
  );
  expect(asked).toEqual([
    ['command', 'scenario', 'seen'],
    ['lines', 'writer', 'answer'],
    ['question', 'evidence'],
  ]);
});
