// A name from outside is taken as an ordinary name or refused in words, also one that every object has without being given it.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { contractMachine } from '../../../src/core/limiter/contract-machine.js';
import { decidersOf } from '../../../src/core/limiter/products/deciders.js';
import { checkLimiter, limiterDefinition } from '../../../src/core/limiter/products/limiter-spec.js';
import { definitionOf } from '../../../src/core/limiter/products/products.js';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { Failure } from '../../../src/core/schema/failure.js';
import { replay } from '../../../src/harness/simulate/replay.js';
import { simulate } from '../../../src/harness/simulate/simulate.js';
import { weirHere } from '../../cli/command-line.js';
import { anyCharacter, forAllAsync } from '../../draws.js';
import { failureIn } from '../../failures.js';
import { read } from '../../harness/scenario/reading.js';
import { readText } from '../../harness/traffic/log/reading.js';
import { temporaryFiles } from '../../left-behind.js';

const inherited = Object.getOwnPropertyNames(Object.prototype);
const hostile = [...inherited, 'prototype', 'length', 'caller', 'then', 'toJSON', 'at', 'map'];
const names = fc.oneof(fc.constantFrom(...hostile), fc.string(), fc.string({ unit: anyCharacter }));

const { folder, file } = temporaryFiles();

/** The value of JSON with the name at each `NAME`. A key `__proto__` is a property of its own, as for JSON.parse. */
const withName = (json: string, name: string) => json.replaceAll('"NAME"', () => JSON.stringify(name));

/** The failure, or undefined where the name was taken. Anything else that is thrown goes on. */
async function refusalOf(body: () => unknown): Promise<Failure | undefined> {
  const failure = await failureIn((async () => body())());
  expect(failure?.exit ?? 2).toBe(2);
  expect(failure?.what ?? '').not.toMatch(/\[native code\]|\[object |undefined/);
  return failure;
}

/** A closed set of names: none that every object has is in it. Other names do not crash, either. */
async function refuses(take: (name: string) => unknown): Promise<void> {
  for (const name of inherited) expect([name, await refusalOf(() => take(name))]).toEqual([name, expect.any(Failure)]);
  await forAllAsync([names], 50, async (name) => void (await refusalOf(() => take(name))));
}

/** A gate whose second state has the name, as JSON. */
const namedState = JSON.stringify(rateLimiter({ threshold: 2, within: 4 })).replaceAll('"limiting"', '"NAME"');

const scenario = (fields: string) =>
  `{"question":"Q?","duration":8,"arrivals":[{"model":"constant","rate":1}],${fields}}`;
it.each([
  '"NAME":1',
  '"limiter":{"NAME":1}',
  '"limiter":{"template":"NAME"}',
  '"limiter":{"like":"NAME"}',
  '"limiter":{"like":"nginx","rate":"1r/s","NAME":1}',
  '"limiter":{"primitive":"NAME","params":{}}',
  '"limiter":{"primitive":"gcra","params":{"T_ms":100,"tau_ms":900,"NAME":1}}',
  '"clients":[{"kind":"NAME"}]',
  '"clients":[{"kind":"obedient","NAME":1}]',
  '"arrivals":[{"model":"NAME","rate":1}]',
  '"arrivals":[{"model":"constant","rate":1,"NAME":1}]',
  '"service":{"time":{"law":"NAME","mean":1}}',
  '"service":{"time":1,"NAME":1}',
  '"contracts":{"count":2,"NAME":1}',
  '"contracts":{"count":2,"popularity":{"law":"NAME"}}',
  '"faults":[{"kind":"NAME","from":1,"to":2}]',
  '"phases":{"a":{"from":1,"to":2,"NAME":1}}',
  '"expect":["NAME == 0"]',
  '"expect":["clients.NAME == 0"]',
  '"expect":[{"that":"limited == 0","phase":"NAME"}]',
  '"expect":[{"that":"limited == 0","contract":"NAME"}]',
  '"expect":[{"that":"limited == 0","NAME":1}]',
  '"target":{"preset":"NAME"}',
])('a scenario has no %s under a name that every object has', (fields) =>
  refuses((name) => read(withName(scenario(fields), name))),
);

it('a scenario may have a phase of any name that the schema allows, and judges that phase', async () => {
  const fields = '"phases":{"NAME":{"from":2,"to":5}},"expect":[{"that":"requests == 3","phase":"NAME"}]';
  const run = async (name: string) => simulate(read(withName(scenario(fields), name)));
  expect((await run('constructor')).outcome.expectations).toMatchObject([{ held: true, actual: 3 }]);
  for (const name of hostile) await refusalOf(() => run(name));
});

it('a scenario may have states of any name that the schema allows, each with a machine and rows of its own', async () => {
  const limiter = `"limiter":{"definition":${namedState}}`;
  for (const name of hostile) {
    const failure = await refusalOf(async () => {
      const { outcome } = await simulate(read(withName(scenario(limiter), name)));
      expect(outcome.by_contract[0]!.transitions[0]).toMatchObject({ to: name, count: 3 });
      const { states } = contractMachine(JSON.parse(withName(namedState, name)));
      expect(Object.keys(states)).toEqual(['allowing', name]);
    });
    expect([name, failure?.code]).toEqual([name, /^[A-Za-z]/.test(name) ? undefined : 'invalid_input']);
  }
});

const whole = (from: string, to: string) => JSON.stringify(rateLimiter()).replace(from, to);
it.each([
  ['an operator', '"operator":"KO42"', '"operator":"NAME"'],
  ['a field', '{', '{"NAME":1,'],
  ['a state that it moves to', '"to":"limiting"', '"to":"NAME"'],
  ['a state that it moves from', '"from":"limiting"', '"from":"NAME"'],
  ['an input', '"operator":"KO42"', '"operator":"KO42","inputs":{"NAME":1}'],
])('a definition has no %s under a name that every object has', (_what, from, to) => {
  expect(whole(from, to)).toContain('"NAME"');
  return refuses((name) => planContract(JSON.parse(withName(whole(from, to), name))));
});

it.each(['{"like":"NAME"}', '{"like":"nginx","rate":"1r/s","NAME":1}', '{"primitive":"NAME"}', '{"NAME":1}'])(
  'a limiter that follows a rule has no %s under a name that every object has',
  (limiter) => refuses((name) => limiterDefinition(checkLimiter(JSON.parse(withName(limiter, name))), 1_000)),
);

it('a limiter that follows a rule keeps a state of its own for each key', () => {
  const decide = decidersOf(definitionOf({ like: 'nginx', rate: '1r/s', burst: 0 }, 1_000));
  const decided = hostile.map((key) => decide(JSON.stringify({ t_ms: 1e12, key })));
  expect(decided.map((one) => 'admitted' in one && one.admitted)).toEqual(hostile.map(() => true));
  expect(decide(withName('{"t_ms":1e12,"NAME":1}', '__proto__'))).toMatchObject({
    code: 'invalid_input',
  });
});

const at = (n: number) => 1_700_000_000_000 + n;
const keys = hostile.flatMap((name) => [name, name]);

it.each([
  ['ndjson', keys.map((client, n) => `${JSON.stringify({ time: at(n), client })}\n`).join('')],
  ['csv', `time,client\n${keys.map((client, n) => `${at(n)},${client}\n`).join('')}`],
  ['logfmt', keys.map((client, n) => `time=${at(n)} client=${client}\n`).join('')],
])('each key of a log in %s is counted as its own', async (format, text) => {
  const { outcome } = await replay([file(`log.${format}`, text)], {
    name: 'log',
    cycleMs: 1_000,
    plan: planContract(rateLimiter({ threshold: 1, within: 60 })),
    log: { format, keyColumn: 'client' },
  });
  const seen = outcome.by_contract.map(({ id, requests }) => [id, requests]);
  expect(seen.sort()).toEqual(hostile.map((name) => [name, 2]).sort());
});

it.each(['ndjson', 'csv', 'logfmt'])('a column of any name is found in %s, and no other for it', async (format) => {
  const line = (column: string, value: string) =>
    format === 'csv'
      ? `time,${column}\n${at(0)},${value}\n${at(1)},${value}\n`
      : format === 'logfmt'
        ? `time=${at(0)} ${column}=${value}\ntime=${at(1)} ${column}=${value}\n`
        : `{"time":${at(0)},"${column}":"${value}"}\n{"time":${at(1)},"${column}":"${value}"}\n`;
  for (const name of hostile) {
    const { heard } = await readText(line(name, 'mine'), { format, keyColumn: name });
    expect([name, heard.map(([, , key]) => key)]).toEqual([name, ['mine', 'mine']]);
    const missing = await refusalOf(async () => {
      const { heard: others } = await readText(line('other', 'mine'), { format, keyColumn: name });
      expect([name, others.map(([, , key]) => key).filter((key) => key !== '' && key !== '-')]).toEqual([name, []]);
    });
    if (missing !== undefined) expect(missing.message).toContain(name);
  }
});

it('a log has no format under a name that every object has', () =>
  refuses((format) => readText('{"time":1}\n', { format })));

it('a log has fields of any name in a format that is described', async () => {
  for (const name of hostile) {
    const nginx = await readText('mine 1700000000.000\n', { format: `$${name} $msec`, keyColumn: name });
    expect([name, nginx.heard]).toEqual([name, [[1_700_000_000_000, 1, 'mine']]]);
    const apache = await readText('mine [14/Nov/2023:22:13:20 +0000]\n', { format: `%{${name}}i %t` });
    expect([name, apache.heard.length]).toEqual([name, 1]);
    await refusalOf(() => readText('a b 1700000000.000\n', { format: `$${name} $${name} $msec` }));
  }
});

const path = file('a.yaml', 'question: Q?\nduration: 2\narrivals: [{ model: constant, rate: 1 }]\n');
const log = file('a.log', '{"time":1700000000000}\n');
it.each([
  'NAME',
  'node NAME',
  `replay ${log} --limit NAME`,
  'limiter NAME',
  'limiter nginx NAME=1',
  'limiter gcra NAME=1',
  'limiter NAME -',
  `replay ${log} --log-format NAME`,
  'report --NAME',
  `simulate ${path} --NAME 1`,
  `sweep ${path} --set NAME=1`,
  `sweep ${path} --set limiter.NAME=1`,
  `sweep ${path} --set limiter.threshold=1,2 --find NAME<1`,
  'completion NAME',
])('the command line refuses `weir %s` with a name that every object has', async (line) => {
  for (const name of ['__proto__', 'constructor', 'toString']) {
    const args = line.split(' ').map((word) => word.replace('NAME', name));
    const { code, err } = await weirHere(args, { WEIR_CONFIG: folder }, '', folder);
    expect([name, code, err]).toEqual([name, 2, expect.stringMatching(/^weir: .*\[[a-z_]+\]/)]);
  }
});
