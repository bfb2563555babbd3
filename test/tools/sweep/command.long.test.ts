import { spawn } from 'node:child_process';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { refuses, smallScenario, weir, weirHere } from '../../cli/command-line.js';
import { temporaryFiles } from '../../left-behind.js';

const { folder, file } = temporaryFiles();
const scenario = file('small.yaml', smallScenario);
const lines = (text: string) => text.trim().split('\n');
const read = (...path: string[]) => readFileSync(join(folder, ...path), 'utf8');
const grid = '--set limiter.threshold=2..6:2 --set limiter.within=5,10 --replications 4'.split(' ');

it('weir sweep writes a row for each cell and a line for each run, the same on one thread and on two', async () => {
  const one = await weir(['sweep', scenario, ...grid, '--workers', '1', '--out', join(folder, 'one')]);
  const two = await weir(['sweep', scenario, ...grid, '--workers', '2', '--out', join(folder, 'two')]);
  expect([one.code, two.code, two.out.includes('sha256:')]).toEqual([0, 0, true]);
  for (const name of ['sweep.ndjson', 'sweep.csv', 'runs.ndjson', 'runs.csv'])
    expect(read('two', name)).toBe(read('one', name));
  const rows = lines(read('one', 'sweep.ndjson')).map((line) => JSON.parse(line));
  expect(rows.map(({ cell, set, n }) => [cell, set, n])).toEqual(
    [2, 4, 6].flatMap((threshold, index) =>
      [5, 10].map((within, place) => [
        2 * index + place,
        { 'limiter.threshold': threshold, 'limiter.within': within },
        4,
      ]),
    ),
  );
  for (const { limited } of rows) {
    expect(limited.low).toBeLessThanOrEqual(limited.mean);
    expect(limited.mean).toBeLessThanOrEqual(limited.high);
  }
  expect(lines(read('one', 'runs.csv'))).toHaveLength(1 + 24);
  expect(read('one', 'runs.csv')).toMatch(/^cell,limiter\.threshold,limiter\.within,replication,seed,held,requests,/);
  expect(read('one', 'index.html')).toContain('weir sweep');
  expect(existsSync(join(folder, 'one', 'charts', 'limited.png'))).toBe(true);
});

it('weir sweep goes on after a kill: nothing runs twice, and the files are the same', async () => {
  const out = join(folder, 'killed');
  const many = ['--set', 'limiter.threshold=2..21:1', '--replications', '20'];
  const command = ['sweep', scenario, ...many, '--workers', '1', '--out', out];
  const child = spawn(process.execPath, ['dist/cli/main.js', ...command]);
  const runsIn = () =>
    existsSync(join(out, 'runs.ndjson')) ? read('killed', 'runs.ndjson').split('\n').length - 1 : 0;
  const ended = new Promise<void>((resolve) => child.once('exit', () => resolve()));
  while (runsIn() < 20 && child.exitCode === null) await new Promise((resolve) => setTimeout(resolve, 5));
  child.kill('SIGKILL');
  await ended;
  const before = read('killed', 'runs.ndjson');
  const whole = before.slice(0, before.lastIndexOf('\n') + 1);
  expect(lines(whole).length).toBeLessThan(400);
  writeFileSync(join(out, 'runs.ndjson'), `${whole}{"cell":19,"replica`);
  const again = await weirHere(['sweep', scenario, ...many, '--out', out]);
  expect([again.code, again.err]).toEqual([0, expect.stringContaining(`${lines(whole).length} of 400 runs are known`)]);
  const after = lines(read('killed', 'runs.ndjson'));
  expect([after.length, new Set(after).size]).toEqual([400, 400]);
  expect(lines(whole).every((line) => after.includes(line))).toBe(true);
  const fresh = await weirHere(['sweep', scenario, ...many, '--out', join(folder, 'fresh')]);
  expect([fresh.code, read('fresh', 'runs.ndjson')]).toEqual([0, read('killed', 'runs.ndjson')]);
});

it('weir sweep --map goes on, too: no run that was made is made again, and the files are the same', async () => {
  const map = ['sweep', scenario, '--map', '--set', 'arrivals.0.rate=1..3:1', '--set', 'limiter.threshold=2..4:1'];
  const more = ['--find', 'limited > 100', '--replications', '4', '--workers', '1'];
  const whole = await weirHere([...map, ...more, '--out', join(folder, 'map')]);
  const names = ['map.ndjson', 'map.csv', 'map.json', 'runs.ndjson', 'runs.csv'];
  const before = names.map((name) => read('map', name));
  const runs = before[3]!.split('\n');
  writeFileSync(join(folder, 'map', 'runs.ndjson'), `${runs.slice(0, 7).join('\n')}\n{"cell":`);
  const again = await weirHere([...map, ...more, '--out', join(folder, 'map')]);
  expect([whole.code, again.code, again.err.includes('7 runs are known')]).toEqual([0, 0, true]);
  expect(names.map((name) => read('map', name))).toEqual(before);
  const other = await weirHere([...map, '--find', 'limited > 99', ...more.slice(2), '--out', join(folder, 'map')]);
  expect([other.code, other.err.includes('holds another map')]).toEqual([2, true]);
});

it('weir sweep refuses the folder of another sweep, and leaves it as it is', async () => {
  const out = join(folder, 'other');
  await weirHere(['sweep', scenario, '--set', 'limiter.threshold=2,3', '--out', out]);
  const before = read('other', 'sweep.json');
  const { code, err } = await weirHere(['sweep', scenario, '--set', 'limiter.threshold=2,4', '--out', out]);
  expect([code, err.includes('holds another sweep'), read('other', 'sweep.json')]).toEqual([2, true, before]);
  const same = await weirHere(['sweep', scenario, '--set', 'limiter.threshold=2,3', '--out', out]);
  expect([same.code, same.err]).toEqual([0, expect.stringContaining('2 of 2 runs are known')]);
});

it('weir sweep prints a line of JSON for each cell', async () => {
  const json = await weirHere(['sweep', scenario, '--set', 'limiter.threshold=2,3', '--out', 'none', '--json']);
  expect(lines(json.out).map((line) => JSON.parse(line).set)).toEqual([
    { 'limiter.threshold': 2 },
    { 'limiter.threshold': 3 },
  ]);
});

it('weir sweep says what a pasted limiter leaves out, on the terminal, on the page and in sweep.json', async () => {
  const pasted = join(folder, 'pasted.yaml');
  const paste = '"include other.conf;\\nlimit_req_zone $a zone=a:1m rate=1r/s;\\nlimit_req zone=a;"';
  writeFileSync(
    pasted,
    `question: Q?\nduration: 30\nlimiter: { paste: ${paste} }\narrivals: [{ model: poisson, rate: 1 }]\n`,
  );
  const out = join(folder, 'pasted');
  const note = 'Line 1: other.conf is included, and was not read.';
  const found = await weirHere(['sweep', pasted, '--set', 'duration=30,40', '--out', out]);
  expect([found.code, found.out.includes(note)]).toEqual([0, true]);
  expect(read('pasted', 'index.html')).toContain(note);
  expect(JSON.parse(read('pasted', 'sweep.json')).notes).toEqual([note]);
  const one = await weirHere(['simulate', pasted, '--out', join(folder, 'pasted-one')]);
  expect(one.out).toContain(note);
  expect(read('pasted-one', 'index.html')).toContain(note);
  expect(JSON.parse(read('pasted-one', 'outcome.json')).notes).toEqual([note]);
});

it('weir sweep finds the value at which a condition begins to hold', async () => {
  const search = ['sweep', scenario, '--find', 'limited < 1%', '--set', 'limiter.threshold=1..40'];
  const { code, out } = await weirHere(search);
  const [, value] =
    /threshold = (\d+) is the smallest value at which limited < 1%, with a resolution of 1: at/.exec(out) ?? [];
  const limitedAt = async (threshold: number) => {
    const one = await weirHere([
      'sweep',
      scenario,
      '--set',
      `limiter.threshold=${threshold}`,
      '--out',
      'none',
      '--json',
    ]);
    const { limited, requests } = JSON.parse(one.out);
    return limited.mean / requests.mean;
  };
  expect(code).toBe(0);
  const stepped = await weirHere([...search.slice(0, -1), 'limiter.threshold=1..41:20']);
  expect(stepped.out).toMatch(/threshold = (?:21|41) is the smallest .* with a resolution of 20: at (?:1|21) it/);
  expect(await limitedAt(Number(value))).toBeLessThan(0.01);
  expect(await limitedAt(Number(value) - 1)).toBeGreaterThanOrEqual(0.01);
  const none = await weirHere([...search.slice(0, 3), 'limited > 100%', ...search.slice(4)]);
  expect([none.code, none.out.includes('neither')]).toEqual([1, true]);
});

refuses(
  ['sweep', scenario],
  [
    [[], 'Nothing is varied'],
    [['--set', 'limiter.threshold'], 'is no axis'],
    [['--set', 'limiter.threshold=1..9'], 'without a step'],
    [['--set', 'limiter.treshold=1'], 'did you mean "threshold"'],
    [['--set', 'limiter.threshold=1', '--replications', '0'], 'from 1'],
    [['--find', 'limited < 1'], '--set'],
    [['--find', 'limited < 1', '--set', 'limiter.threshold=1..9:0'], '"0" is no step'],
  ],
);
