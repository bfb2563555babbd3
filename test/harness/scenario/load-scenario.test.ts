import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { loadScenario } from '../../../src/harness/scenario/load-scenario.js';
import { failureIn } from '../../failures.js';
import { temporaryFiles } from '../../left-behind.js';
import { read, refusalOf, saidBy } from './reading.js';

const head = 'question: Q?\nduration: 100\n';
const steady = 'arrivals:\n  - { model: constant, rate: 1 }\n';

// biome-ignore format: one case a line
it.each<[given: string, place: string, message: RegExp | string]>([
  // unknown names, at each level
  ['limitter: {}', '(/limitter)', 'is not known; did you mean "limiter"?'],
  ['xyzzy: 3', '(/xyzzy)', /^is not known; allowed here: question, name, seed, cycle_ms,/],
  ['limiter: { treshold: 3 }', '(/limiter/treshold)', 'is not known; did you mean "threshold"?'],
  ['contracts: { count: 2, populariti: even }', '(/contracts/populariti)', 'is not known; did you mean "popularity"?'],
  ['service: { time: 1, sevrers: 2 }', '(/service/sevrers)', 'is not known; did you mean "servers"?'],
  ['clients: [{ kind: retrying, backof: 1 }]', '(/clients/0/backof)', 'is not known; did you mean "backoff"?'],
  ['faults: [{ kind: pause, from: 1, too: 2, to: 3 }]', '(/faults/0/too)', 'is not known; did you mean "to"?'],
  ['phases: { a: { from: 1, to: 2, at: 3 } }', '(/phases/a/at)', 'is not known; allowed here: from, to'],
  ['phases: { "A b": { from: 1, to: 2 } }', '(/phases/A b)', 'is not a name that is allowed here'],
  ['expect: [{ that: limited == 0, form: 3 }]', '(/expect/0/form)', 'is not known; did you mean "from"?'],
  ['target: { methud: GET }', '(/target/methud)', 'is not known; did you mean "method"?'],
  ['__proto__: { a: 1 }', '(/__proto__)', /^is not known/],
  // types and ranges
  ['seed: abc', '(/seed)', 'must match ^(0|[1-9]\\d{0,15})(/[1-9]\\d{0,8}){1,8}$'],
  ['seed: -1', '(/seed)', 'must be >= 0'],
  ['cycle_ms: 0.5', '(/cycle_ms)', 'must be an integer'],
  ['limiter: { threshold: 0 }', '(/limiter/threshold)', 'must be >= 1'],
  ['limiter: { threshold: "100" }', '(/limiter/threshold)', 'must be an integer'],
  ['limiter: { within: [60] }', '(/limiter/within)', 'must be a number or a string'],
  ['limiter: { within: 0 }', '(/limiter/within)', /at least 1 is needed$/],
  ['limiter: { within: 100001 }', '(/limiter/within)', 'must be an integer from 1 to 100000 (cycles)'],
  ['limiter: { within: 47 parsec }', '(/limiter/within)', /"parsec" is no unit of time/],
  ['limiter: { threshold: 3, definition: { name: x, version: "1", states: { a: { initial: true } }, transitions: [] } }',
    '(/limiter/definition)', 'cannot be combined with threshold'],
  ['limiter: { definition: { name: x, version: "1", states: { a: { initial: true } } } }',
    '(/limiter/definition/transitions)', 'is required'],
  ['limiter: { definition: none.json }', '(/limiter/definition)', /^none\.json cannot be read: There is no such file/],
  ['limiter: 100 in 60x', '(/limiter)', /at character 1: "60x" is no time/],
  ['limiter: nginx 10r/s brust=5', '(/limiter)', /"brust=5" at character 13: nginx has no such parameter; did you mean "burst"/],
  ['limiter: 0 in 60s', '(/limiter)', /at character 1: a limit admits one request or more/],
  ['limiter: gcra 10/s', '(/limiter)', 'gcra needs a burst: gcra 10/s burst=10'],
  ['limiter: 10 in 1s and gcra 10/s burst=1', '(/limiter)', /A window counts requests that others refuse/],
  ['limiter: none.json', '(/limiter)', /^none\.json cannot be read: There is no such file/],
  ['limiter: { definition: 3 }', '(/limiter/definition)', 'must be an object or a string'],
  ['name: A B', '(/name)', /^must match/],
  ['contracts: 0', '(/contracts)', 'must be >= 1'],
  ['contracts: many', '(/contracts)', 'must be a number or an object'],
  ['start_cycle: 1000000000000\ncycle_ms: 86400000', '(/start_cycle)', /more than 4,000 years$/],
  // members of unions
  ['contracts: { count: 3, popularity: { law: zpif } }',
    '(/contracts/popularity/law)', 'must be one of "even", "uniform", "zipf", "weights"; did you mean "zipf"?'],
  ['contracts: { count: 3, popularity: { law: zipf } }', '(/contracts/popularity/exponent)', 'is required'],
  ['contracts: { count: 3, popularity: { law: weights, weights: [1, 2] } }',
    '(/contracts/popularity/weights)', 'must be one a contract: there are 2 weights and 3 contracts'],
  ['clients: [{ kind: obediant }]', '(/clients/0/kind)', /did you mean "obedient"\?$/],
  ['clients: [{ kind: retrying, timeout: soon }]', '(/clients/0/timeout)', /^"soon" is no time/],
  ['clients: [{ kind: closed, count: 1, think: { law: exponental, mean: 1s } }]',
    '(/clients/0/think/law)', /did you mean "exponential"\?$/],
  ['service: { time: soon }', '(/service/time)', /^"soon" is no time/],
  ['service: { servers: 2 }', '(/service/time)', 'is required'],
  ['faults: [{ kind: pauze, from: 1, to: 2 }]', '(/faults/0/kind)', 'must be one of "pause", "lost_answers", "slow"; did you mean "pause"?'],
  ['faults: [{ kind: pause, from: 3 }]', '(/faults/0/to)', 'is required'],
  ['faults: [{ kind: slow, share: 0.5, from: 1, to: 2 }]', '(/faults/0/kind)', 'slow needs a service'],
  ['faults: [{ kind: pause, from: 3, to: 3 }]', '(/faults/0/to)', 'must lie after from, which is cycle 3'],
  ['faults: [{ kind: lost_answers, share: 2 }]', '(/faults/0/share)', 'must be <= 1'],
  ['phases: { a: { from: 5, to: 5 } }', '(/phases/a/to)', 'must lie after from, which is cycle 5'],
  // parts that do not fit together
  ['clients: [{ kind: closed, count: 3, think: 1s }]', '(/clients)', 'take no arrivals: add a kind that does, for example open'],
  ['limiter: { near_limit: 1 }', '(/limiter/near_limit)', 'must be <= 0.99'],
  ['limiter: { shadow: often }', '(/limiter/shadow)', 'must be a boolean'],
  ['keyed: { max_keys: 0 }', '(/keyed/max_keys)', 'must be >= 1'],
  ['contracts: 5\nkeyed: { max_keys: 4 }\nservice: { time: 1 }\nlimiter: { primitive: concurrency, params: { limit: 3 } }',
    '(/keyed/max_keys)', 'is 4, and there are 5 keys: with a rule that counts what is in flight, each needs a place'],
  ['contracts: 5\nclients: [{ kind: holding, count: 3 }]',
    '(/clients/0/count)', 'is 3, and there are 5 contracts: each needs a device of its own'],
  ['clients: [{ kind: open, name: a }, { kind: obedient, name: a }]', '(/clients/1/name)', '"a" is taken by another kind of client'],
  ['contracts: { count: 2, independent: true }\nservice: { time: 1 }', '(/contracts/independent)', 'cannot be combined with a service'],
  ['contracts: { count: 2, independent: true }\nfaults: [{ kind: pause, from: 1, to: 2 }]',
    '(/contracts/independent)', 'cannot be combined with faults'],
])('what does not fit is refused with its place, what is allowed, and the nearest name: %s', (given, place, message) => {
  const found = refusalOf(`${head}${steady}${given}\n`);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(/^line \d+, column \d+ /);
  const [where, words] = [found[0]!.slice(0, found[0]!.indexOf(': ')), found[0]!.slice(found[0]!.indexOf(': ') + 2)];
  expect(where.endsWith(place), where).toBe(true);
  expect(words).toEqual(typeof message === 'string' ? message : expect.stringMatching(message));
});

// biome-ignore format: one case a line
it.each<[given: string, fault: string]>([
  ['', 'line 1, column 1 (/question): is required'],
  [`question: Q?\n${steady}`, 'line 1, column 1 (/duration): is required: requests would come for ever'],
  [head, 'line 1, column 1 (/arrivals): is required: nothing sends requests'],
  [`${head}arrivals: []\n`, 'line 3, column 1 (/arrivals): must not be empty'],
  [`${head}arrivals: 3\n`, 'line 3, column 1 (/arrivals): must be an array'],
  [`${head}arrivals:\n  - 3\n`, 'line 4, column 5 (/arrivals/0): must be an object with a field model'],
  [`${head}arrivals:\n  - model: constant\n    rate: 5/parsec\n`,
    'line 5, column 5 (/arrivals/0/rate): "5/parsec" is no rate: "parsec" is no unit of time (there are ms, s, m, h, d, w and cycles)'],
  [`${head}arrivals:\n  - { model: constant, rate: 1, from: 50, to: 20 }\n`,
    'line 4, column 43 (/arrivals/0/to): must lie after from, which is cycle 50'],
  [`${head}arrivals:\n  - { model: sine, rate: 1, amplitude: 2, period: 5 }\n`,
    'line 4, column 29 (/arrivals/0/amplitude): must not be above the mean rate, 1 per cycle: no rate is negative'],
  [`question: 3\nduration: true\n${steady}`, 'line 1, column 1 (/question): must be a string'],
  ['question: Q?\nduration: .inf\narrivals: [{ model: constant, rate: 1 }]', 'line 2, column 1 (/duration): must be a number'],
  [`${head}arrivals:\n  - { model: log, file: a.log, key_column: client }\n  - { model: constant, rate: 1 }\n`,
    'line 4, column 32 (/arrivals/0/key_column): gives each key a contract of its own, and cannot be combined with other arrivals'],
  [`${head}arrivals:\n  - { model: log, file: a.log, key_column: client }\nfaults:\n  - { kind: pause, from: 1, to: 2 }\n`,
    'line 4, column 32 (/arrivals/0/key_column): gives each key a contract of its own, and cannot be combined with faults'],
])('a scenario with missing parts, or with parts that do not fit, is refused with line and column: %j', (text, fault) => {
  expect(refusalOf(text === '' ? 'duration: 3\narrivals: [{ model: constant, rate: 1 }]\n' : text)[0]).toEqual(fault);
});

it('all faults are told at once', () => {
  expect(
    refusalOf('question: 3\nseed: x\narrivals:\n  - { model: constnat }\n  - { model: poisson, rate: no }\n'),
  ).toHaveLength(3);
});

it('defaults of a scenario are those of the schema', () => {
  expect(saidBy(read(head + steady, 'some/Where/Burst.YAML'))).toEqual({
    name: 'burst',
    question: 'Q?',
    path: 'some/Where/Burst.YAML',
    seed: 1,
    cycleMs: 777,
    startCycle: 0,
    duration: 100,
    drain: 60,
    warmUp: 0,
    within: 60,
    contracts: 1,
    names: ['all'],
    popularity: 'even',
    independent: false,
    counts: [Array(20).fill(1)],
    clients: [],
    senders: [],
    compared: [],
    service: undefined,
    faults: [],
    phases: {},
    target: undefined,
    notes: [],
    expectations: [],
    thresholds: [100],
  });
});

it('a scenario takes times in seconds to the cycles of another node', () => {
  const scenario = read(`question: Q?\nduration: 777s\nlimiter: { within: 10 }\ndrain: 7770ms\n${steady}`);
  const times = ({ duration, within, drain, cycleMs }: typeof scenario) => ({ duration, within, drain, cycleMs });
  expect([times(scenario), times(scenario.at(100))]).toEqual([
    { duration: 1000, within: 10, drain: 10, cycleMs: 777 },
    { duration: 7770, within: 10, drain: 78, cycleMs: 100 },
  ]);
});

it.each([
  ['100 in 60s', '{ threshold: 100, within: 60s }'],
  ['nginx 10r/s burst=5', '{ like: nginx, rate: 10r/s, burst: 5 }'],
  ['10 in 1s and 100 in 60s', '{ and: [{ threshold: 10, within: 1s }, { threshold: 100, within: 60s }] }'],
  ['none', '{ primitive: none, params: {} }'],
])('the text %s is the limiter %s, and says what was understood', (text, fields) => {
  const { notes, ...said } = saidBy(read(`${head}limiter: ${text}\n${steady}`)) as { notes: string[] };
  const { notes: none, ...meant } = saidBy(read(`${head}limiter: ${fields}\n${steady}`)) as { notes: string[] };
  expect([said, none]).toEqual([meant, []]);
  expect(notes).toEqual([expect.stringMatching(/^Limiter /)]);
});

it('the note on a limiter written as text says its window at any length of a cycle', () => {
  const scenario = read(`${head}limiter: 100 in 10s\n${steady}`);
  expect(scenario.at(500)).toBe(scenario);
  expect([scenario.notes[0], scenario.at(1000).notes[0]]).toEqual([
    expect.stringContaining('20 cycles of 500 ms'),
    expect.stringContaining('10 cycles of 1000 ms'),
  ]);
});

// biome-ignore format: one case a line
it.each<[limiter: string, cycleMs: number, within: number, note: string | undefined]>([
  ['limiter: 100 in 10s',
    500, 20, 'Limiter 100 in 10s: 100 requests in a rolling window of 10 s, 20 cycles of 500 ms; refused requests count.'],
  ['limiter: 10 in 1s and 100 in 700ms',
    100, 10, 'Limiter 10 in 1s and 100 in 700ms: a new client gets 10 at once, 10/s in the long run.'],
  ['limiter: { within: 10s }', 500, 20, undefined],
  ['limiter: { within: 1m }', 500, 120, undefined],
  ['limiter: { within: 60 }', 777, 60, undefined],
  ['limiter: { within: 60 cycles }', 777, 60, undefined],
  ['limiter: { threshold: 5 }', 777, 60, undefined],
  ['limiter: { like: nginx, rate: 10r/s }', 777, 1, undefined],
  ['cycle_ms: 500\nlimiter: { within: 10s }', 500, 20, undefined],
  ['cycle_ms: 777\nlimiter: { within: 10s }',
    777, 13, 'A window of 10s is no whole number of cycles of 777 ms. The nearest is used: 10.101 s, 13 cycles.'],
])('%j has cycles of %i ms', (limiter, cycleMs, within, note) => {
  const scenario = read(`${head}${limiter}\n${steady}`);
  expect([scenario.cycleMs, scenario.within, ...scenario.notes]).toEqual(
    note === undefined ? [cycleMs, within] : [cycleMs, within, note],
  );
});

it('a window written in time is that time, or said, at the cycles of any node', () => {
  const scenario = read(`${head}limiter: { within: 10s }\n${steady}`);
  const at = (cycleMs: number) => [scenario.at(cycleMs).within, ...scenario.at(cycleMs).notes];
  expect([at(50), at(777)]).toEqual([
    [200],
    [13, 'A window of 10s is no whole number of cycles of 777 ms. The nearest is used: 10.101 s, 13 cycles.'],
  ]);
});

it('a duration is not asked for where arrivals end by themselves', () => {
  expect(
    refusalOf('question: Q?\narrivals: [{ model: constant, rate: 1, to: 10 }, { model: log, file: a.log }]'),
  ).toEqual([]);
});

const { folder, file } = temporaryFiles();
const subfolder = join(folder, 'folder');
mkdirSync(subfolder);
const pipe = (name: string) => {
  execFileSync('mkfifo', [join(folder, name)]);
  return join(folder, name);
};

// biome-ignore format: one case a line
it.each<[what: string, path: string, why: string, fix?: string]>([
  ['the sign of standard input', '-', 'There is no such file.', 'Standard input is read as /dev/stdin.'],
  ['a missing file', join(folder, 'nowhere.yaml'), 'There is no such file.'],
  ['a folder', subfolder, 'It is a folder.'],
  ['a path through a file', join(file('file', 'x'), 'y.yaml'), 'A part of its path is a file, not a folder.'],
  ['a binary file', file('binary.yaml', Buffer.from([0x1f, 0x8b, 0, 1, 2])), 'It is no text: there are zero bytes in it.'],
  ['a text in Latin-1', file('latin.yaml', Buffer.from('question: F\xfcr?\n', 'latin1')), 'It is no text in UTF-8.'],
  ['a huge file', file('huge.yaml', Buffer.alloc(16 * 1024 * 1024 + 1, '#')), 'It is larger than 16 MiB.'],
  ['a device without end', '/dev/zero', 'It is larger than 16 MiB.'],
  ['a named pipe', pipe('pipe.yaml'), 'It is a named pipe, and not a regular file.'],
])('%s is refused as a scenario, in words', async (_, path, why, fix = expect.any(String)) => {
  const what = `The scenario ${path} cannot be read.`;
  expect(await failureIn(loadScenario(path))).toMatchObject({ code: 'unreadable_file', what, why, fix });
});

it.each([
  ['a device', '/dev/zero', 'it is a device or a socket, and not a regular file'],
  ['a named pipe', pipe('pipe.json'), 'it is a named pipe, and not a regular file'],
  ['standard input', '/dev/stdin', 'not a regular file'],
  ['a huge file', file('huge.json', Buffer.alloc(16 * 1024 * 1024 + 1, ' ')), 'it is larger than 16 MiB'],
])('%s is refused as a definition or a log that a scenario names', async (_, path, why) => {
  const named = `${head}arrivals: [{ model: constant, rate: 1 }]\nlimiter: { definition: ${path} }\n`;
  const failure = await failureIn(loadScenario(file('names.yaml', named)));
  expect(failure!.faults[0]!.message).toMatch(new RegExp(why, 'i'));
  if (path.includes('huge')) return;
  const logged = `${head}arrivals: [{ model: log, file: ${path}, time_column: time }]\n`;
  const log = await loadScenario(file('logs.yaml', logged));
  await expect(log.source.recording({ model: 'log', file: path }, 777)).rejects.toMatchObject({
    code: 'unreadable_file',
    why: expect.stringContaining('A scenario reads regular files'),
  });
});

it('a file that can be read is the scenario of its text', async () => {
  const loaded = await loadScenario(file('good.yaml', head + steady));
  expect(saidBy(loaded)).toEqual(saidBy(read(head + steady, join(folder, 'good.yaml'))));
});
