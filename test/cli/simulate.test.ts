import { readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Compile } from 'typebox/compile';
import { expect, it } from 'vitest';
import { families } from '../../src/core/limiter/products/families.js';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import type { Outcome } from '../../src/harness/outcome/outcome-schema.js';
import { ReportedOutcome } from '../../src/report/read-report.js';
import { temporaryFiles } from '../left-behind.js';
import { refuses, weirHere } from './command-line.js';

const schema = Compile(ReportedOutcome);
const { folder, file } = temporaryFiles();
const body =
  'question: Q?\nduration: 20\nlimiter: { threshold: 2, within: 10 }\narrivals: [{ model: constant, rate: 1 }]\n';
const good = file('good.yaml', `${body}expect: [{ name: it trips, that: entries == 1 }]\n`);
const wrong = file('wrong.yaml', `${body}expect: [{ name: nobody is limited, that: limited == 0 }]\n`);

it('weir simulate --json prints an outcome, and nothing beside it', async () => {
  const { code, out, err } = await weirHere(['simulate', good, '--json', '--out', 'none']);
  const outcome: unknown = JSON.parse(out);
  expect([code, err, schema.Errors(outcome)]).toEqual([0, '', []]);
  expect(outcome).toMatchObject({
    kind: 'simulate',
    arm: 'predicted',
    scenario: 'good',
    requests: 20,
    verdict: 'held',
  });
});

it('weir simulate exits 1 when an expectation does not hold, and says which, with expected and actual', async () => {
  const one = await weirHere(['simulate', wrong, '--out', 'none']);
  const many = await weirHere(['simulate', good, wrong, '--out', 'none']);
  expect([one.code, many.code]).toEqual([1, 1]);
  for (const { out } of [one, many]) {
    expect(out).toContain('nobody is limited');
    expect(out).toContain('limited == 0');
    expect(out).toMatch(/\b18\b/);
  }
});

refuses('simulate --out none', [
  [[join(folder, 'no.yaml')], 'cannot be read', 'There is no such file.', '[unreadable_file]'],
  [[folder], 'It is a folder.'],
  [[file('typo.yaml', `${body}limitter: {}\n`)], 'line 5, column 1', 'did you mean "limiter"?'],
  [[], 'weir simulate --help'],
  [[good, '--replications', '2', '--workers', '0'], '--workers takes a number'],
  [[good, '--for', '-1'], '--for takes a duration'],
  [[good, '--for', '0s'], '--for takes a duration', 'at least 1 is needed'],
  [[good, '--inspect', join(folder, 'no', 'trace.ndjson')], 'cannot be written'],
  [[good, `--inspect=${good}`], '--inspect takes a file whose name ends with .ndjson'],
  [[good, '--inspect'], 'Say --inspect trace.ndjson.'],
  [[good, good, '--inspect', 'trace.ndjson'], 'one scenario at a time'],
]);

it('weir simulate runs a scenario with every rule that it compares', async () => {
  const names = Object.keys(families);
  const compared = `question: Q?\nduration: 60\nlimiter: { threshold: 5, within: 10 }\narrivals: [{ model: constant, rate: 1 }]\n`;
  const path = file('compared.yaml', `${compared}compare: [${names.join(', ')}]\n`);
  const { code, out } = await weirHere(['simulate', path, '--out', 'none']);
  expect(code).toBe(0);
  for (const name of names) expect(out).toMatch(new RegExp(`^${name} +\\d+ `, 'm'));
  // Refused requests count: it closes once; a bucket admits half of them.
  expect(out).toMatch(/^weir +55 +91\.7 % +1 +2 /m);
  expect(out).toMatch(/^gcra +26 +43\.3 % /m);
  const rule = file('rule.yaml', compared.replace('{ threshold: 5, within: 10 }', '{ like: nginx, rate: 1r/s }'));
  writeFileSync(rule, `${readFileSync(rule, 'utf8')}compare: [gcra]\n`);
  expect((await weirHere(['simulate', rule, '--out', 'none'])).err).toContain(
    'needs a limiter with threshold and within',
  );
});

it('weir simulate writes a report where it is told to, and names the page', async () => {
  const out = join(folder, 'report');
  const ran = await weirHere(['simulate', good, '--out', out]);
  expect(ran.out).toContain(`open it here: ${join(out, 'index.html')}`);
  expect(readdirSync(out)).toEqual(
    expect.arrayContaining(['index.html', 'junit.xml', 'outcome.json', 'timeline.csv', 'timeline.ndjson']),
  );
});

it('each report of weir simulate says how to run that one scenario again', async () => {
  const out = join(folder, 'again');
  const other = file("it's another.yaml", body);
  await weirHere(['simulate', good, other, '--seed', '9', '--out', out]);
  const again = (name: string) => /^weir .*$/m.exec(readFileSync(join(out, name, 'summary.md'), 'utf8'))?.[0];
  expect([again('good'), again('it-s-another')]).toEqual([
    `weir simulate ${good} --seed 9`,
    `weir simulate '${other.replace("'", `'\\''`)}' --seed 9`,
  ]);
});

it('weir simulate writes no report over another of the same name', async () => {
  const out = join(folder, 'both');
  await weirHere(['simulate', good, good, '--out', out]);
  expect(readdirSync(out).sort()).toEqual(['good', 'good-2']);
});

it('weir simulate judges every replication: one failure is a failure, unless a share is asked for', async () => {
  const rare = file(
    'rare.yaml',
    'question: Q?\nduration: 600\nlimiter: { threshold: 100, within: 60 }\narrivals: [{ model: poisson, rate: 1.3 }]\n' +
      'expect:\n  - limited == 0\n  - { that: limited <= 0, share: 0.8 }\n',
  );
  const ten = `simulate ${rare} --replications 10 --workers 1 --out none`;
  const { code, out } = await weirHere(`${ten} --json`);
  const outcome = JSON.parse(out) as Outcome;
  const { n, held, failed_seeds, figures } = outcome.replications!;
  expect(schema.Errors(outcome)).toEqual([]);
  expect([code, outcome.verdict, n - held, figures['limited']!.interval]).toEqual([
    1,
    'not held',
    failed_seeds.length,
    'bootstrap',
  ]);
  expect(held).toBeLessThan(10);
  expect(outcome.expectations.map(({ held_in, held: isHeld }) => [held_in, isHeld])).toEqual([
    [held, false],
    [held, held >= 8],
  ]);
  const text = await weirHere(ten);
  expect([text.code, text.out.includes(`Held in ${held} of 10 runs`)]).toEqual([1, true]);
});

it('weir simulate --for stops after that many cycles, and shows every actor; --inspect FILE has every message', async () => {
  const trace = join(folder, 'trace.ndjson');
  const scenario = file('short.yaml', `${body}clients: [{ kind: obedient, name: phone }]\n`);
  const { code, out } = await weirHere(['simulate', scenario, '--for', '5', '--inspect', trace, '--out', 'none']);
  expect(code).toBe(0);
  const { out: printed } = await weirHere(['simulate', scenario, '--for', '5', '--out', 'none', '--json']);
  expect(JSON.parse(printed)).toMatchObject({ first_cycle: 0, last_cycle: 4, partial: true });
  expect(out).toMatch(/contract all\s+limiting, count 5/);
  expect(out).toMatch(/phone\/0\s+pausing\s+job/);
  const messages = readFileSync(trace, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as object);
  expect(messages[0]).toEqual({
    cycle: 0,
    ms: 388.5,
    from: 'arrivals',
    to: 'phone/0',
    event: 'job',
    before: 'idle',
    after: 'asking',
  });
  expect(readFileSync(join(folder, 'trace.mmd'), 'utf8')).toMatch(/^sequenceDiagram\n/);
});

it('weir simulate --inspect shows a state of a definition of its own; the next report has no trace left over', async () => {
  const template = (await weirHere(['node', 'inspect', '--as', 'definition'])).out;
  expect(JSON.parse(template)).toEqual(rateLimiter());
  const definition = rateLimiter({ threshold: 2, within: 10 });
  const [trip, restore] = definition.transitions;
  const lifted = { ...restore!.trigger, condition: 'count == 0' };
  file(
    'probation.json',
    JSON.stringify({
      ...definition,
      states: { ...definition.states, probation: { admits: true } },
      transitions: [
        trip,
        { ...restore, to: 'probation' },
        { ...trip, from: 'probation' },
        { ...restore, from: 'probation', trigger: lifted, post_actions: [{ emit: 'lifted' }] },
      ],
    }),
  );
  const own = body.replace(/limiter: .*/, 'limiter: { definition: probation.json }').replace('20', '3');
  const out = join(folder, 'inspected');
  const simulated = ['simulate', file('probation.yaml', own), '--out', out];
  expect(await weirHere([...simulated, '--inspect'])).toMatchObject({ code: 0, err: '' });
  const drawn = readFileSync(join(out, 'trace.mmd'), 'utf8');
  expect(drawn.match(/aggregate: \w+/g)).toEqual([
    'aggregate: limiting',
    'aggregate: probation',
    'aggregate: allowing',
  ]);
  expect(readFileSync(join(out, 'trace.ndjson'), 'utf8')).toContain('"before":"limiting","after":"probation"');
  expect(readFileSync(join(out, 'index.html'), 'utf8')).toContain('href="trace.mmd"');
  expect(readFileSync(join(out, 'trace.stately.ndjson'), 'utf8')).toContain('"sessionId":"contract all"');
  await weirHere(simulated);
  expect(readdirSync(out).filter((name) => name.startsWith('trace'))).toEqual([]);
});

const scenario = (seed: string) =>
  file(
    `few-${seed.replaceAll('/', '-')}.yaml`,
    `question: Are there few?\nname: few\nseed: ${seed}\nduration: 40\nlimiter: { threshold: 5, within: 5 }\narrivals: [{ model: poisson, rate: 1 }]\nexpect: [{ name: few, that: requests <= 40 }]\n`,
  );
const ran = async (...args: string[]) => {
  const { code, out } = await weirHere(['simulate', ...args, '--out', 'none', '--json']);
  return { code, outcome: JSON.parse(out) };
};

it('a seed that a run has named fails again by --seed and in a scenario, with the same digest', async () => {
  const { outcome } = await ran(scenario('77'), '--replications', '12', '--workers', '1');
  const failed: (string | number)[] = outcome.replications.failed_seeds;
  const following = failed.filter((seed) => typeof seed === 'string');
  expect(following.length).toBeGreaterThan(0);
  for (const seed of following) {
    const asked = await ran(scenario('77'), '--seed', seed);
    const written = await ran(scenario(seed));
    expect([asked.code, asked.outcome.seed, asked.outcome.verdict]).toEqual([1, seed, 'not held']);
    expect(written.outcome.digest).toBe(asked.outcome.digest);
  }
});

it('a seed that a run has named is in what the run prints, and in the line that repeats it', async () => {
  const { out } = await weirHere(['simulate', scenario('77'), '--seed', '77/2', '--out', join(folder, 'named-seed')]);
  expect(out).toContain('seed 77/2');
  const { command } = JSON.parse(readFileSync(join(folder, 'named-seed/outcome.json'), 'utf8'));
  expect(command).toMatch(/^weir simulate \S+few-77\.yaml --seed 77\/2$/);
});

const none = ['77/', '/2', '77/02', '77/0', '-1', '1.5', '77/2/', 'x', '1e3', '99999999999999999999'];
refuses(
  ['simulate', scenario('77'), '--out', 'none'],
  none.map((seed) => [`--seed=${seed}`, 'a seed that a run has named']),
);
