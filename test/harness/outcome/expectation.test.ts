import fc from 'fast-check';
import { expect, it } from 'vitest';
import {
  type ExpectationSpec,
  type FigureSource,
  judge,
  parseExpectation,
  type Reading,
} from '../../../src/harness/outcome/expectation.js';
import { stretchFigures, wholeFigures } from '../../../src/harness/outcome/figure-names.js';
import { forAll } from '../../draws.js';
import { read, refusalOf } from '../scenario/reading.js';

const body =
  'question: Q?\nduration: 100\narrivals:\n  - { model: constant, rate: 1 }\nphases: { before: { from: 0, to: 90 }, after: { from: 90, to: 100 } }\n';
const expecting = (spec: string) => `${body}expect:\n  - ${spec}\n`;

it.each<[spec: string, read: object]>([
  ['limited == 0', { name: 'limited == 0', at: undefined, inAny: undefined, contract: undefined }],
  ['{ name: calm, that: limited == 0 }', { name: 'calm', text: 'limited == 0' }],
  ['{ that: limited == 0, phase: before }', { text: 'limited == 0 in phase before', at: { from: 0, to: 90 } }],
  ['{ that: limited == 0, from: 777ms }', { text: 'limited == 0 from 777ms', at: { from: 1, to: Infinity } }],
  ['{ that: limited == 0, to: 5 }', { text: 'limited == 0 to 5', at: { from: 0, to: 5 } }],
  ['{ that: limited == 0, in_any: 60 }', { text: 'limited == 0 in any 60 cycles', inAny: 60 }],
  ['{ that: limited == 0, in_any: 7770ms }', { text: 'limited == 0 in any 7770ms', inAny: 10 }],
  ['{ that: limited == 0, contract: all }', { text: 'limited == 0 for contract all', contract: 'all' }],
])('an expectation is read as its condition, its stretch and its contract: %s', (spec, found) => {
  expect(read(expecting(spec)).expectations[0]).toMatchObject(found);
});

it.each([...wholeFigures(['obedient']).names])('an expectation may name %s of the whole run', (figure) => {
  const parts = 'clients: [{ kind: obedient }]\nservice: { time: 1s }\ncosts: { unit: tokens, each: 3 }\n';
  const text = expecting(`${figure} >= 0`).replace('expect:', `${parts}expect:`);
  expect(refusalOf(text)).toEqual([]);
});

it.each([...stretchFigures])('an expectation may name %s over a part, for a contract, and in any stretch', (figure) => {
  expect(refusalOf(expecting(`{ that: ${figure} >= 0, from: 3, in_any: 5, contract: all }`))).toEqual([]);
});

it('figures of a kind of client with a hyphen are written with an underscore', () => {
  const text = expecting('clients.my_phones.retries == 0');
  expect(refusalOf(text.replace('expect:', 'clients: [{ kind: open, name: my-phones }]\nexpect:'))).toEqual([]);
});

// biome-ignore format: one case a line
it.each<[spec: string, fault: string]>([
  ['limitted == 0', '(/expect/0): cannot be read: column 1: the name "limitted" is not known (did you mean "limited"?)'],
  ['limited < 5%', '(/expect/0): cannot be read: column 12: "%" has no meaning here; 5 % of the requests is written 0.05 * requests'],
  ['limited = 0', '(/expect/0): cannot be read: column 9: "=" has no meaning here (equality is written ==)'],
  ['limited', '(/expect/0): cannot be read: column 1: a condition was expected here'],
  ['1 == 1', '(/expect/0): names no figure of the outcome'],
  ['""', '(/expect/0): must not be empty'],
  ['7', '(/expect/0): must be a string or an object'],
  ['{ name: x }', '(/expect/0/that): is required'],
  ['clients.retires == 0', '(did you mean "clients.retries"?)'],
  ['service.quue_max == 0', '(did you mean "service.queue_max"?)'],
  ['{ that: contracts_limited == 0, from: 3 }', '(/expect/0/that): cannot be read: column 1: the name "contracts_limited" is not known'],
  ['{ that: limited < requests, in_any: 3 }', '(/expect/0/that): may name one figure only beside in_any'],
  ['{ that: limited == 0, in_any: 0 }', '(/expect/0/in_any): "0" is no time'],
  ['{ that: limited == 0, phase: befor }', '(/expect/0/phase): is no phase of the scenario; did you mean "before"?'],
  ['{ that: limited == 0, phase: toString }', '(/expect/0/phase): is no phase of the scenario: there are before, after'],
  ['{ that: limited == 0, phase: after, to: 3 }', '(/expect/0/phase): cannot be combined with from or to'],
  ['{ that: limited == 0, from: 3, to: 3 }', '(/expect/0/to): must lie after from, which is cycle 3'],
  ['clients.retries == 0', '(/expect/0): names clients.retries, and the scenario has no clients'],
  ['{ that: limited == 0 && service.served > 1 }', '(/expect/0/that): names service.served, and the scenario has no service'],
  ['costs.requested < 3', '(/expect/0): names costs.requested, and the scenario has no costs'],
  ['limited < control.limited', '(/expect/0): names control.limited, and the scenario has no control'],
  ['{ that: limited == 0, from: soon }', '(/expect/0/from): "soon" is no time'],
  ['{ that: limited == 0, contract: "2" }', '(/expect/0/contract): is no contract of the scenario: there is one, "all"'],
])('an expectation that cannot be understood is refused at its place: %s', (spec, fault) => {
  const found = refusalOf(expecting(spec));
  expect(found).toHaveLength(1);
  expect(found[0]).toMatch(/^line 7, column \d+ /);
  expect(found[0]).toContain(fault);
});

it('a contract of several goes by its number, and that of a log by any key', () => {
  const several = `${body}contracts: 3\nexpect: [{ that: limited == 0, contract: "4" }]\n`;
  const keyed =
    'question: Q?\narrivals: [{ model: log, file: a.log, key_column: client }]\nexpect: [{ that: limited == 0, contract: 10.0.0.1 }]\n';
  expect([refusalOf(several)[0], refusalOf(keyed)]).toEqual([
    expect.stringContaining('they are called "1" to "3"'),
    [],
  ]);
});

const ofNothing = { phases: {}, contracts: ['all'], clients: [], absent: [], control: undefined };
const reading: Reading = { ...ofNothing, time: (value) => Number(value) };
const parse = (spec: ExpectationSpec) => parseExpectation(spec, '/expect/0', reading);

/** A source that knows these figures of the run, and these values in any stretch. */
const source = (whole: Record<string, number>, values: number[] = []): FigureSource => ({
  whole: (name) => whole[name],
  values: (name, length) => {
    const found = length === Number.POSITIVE_INFINITY ? [whole[name]].filter((one) => one !== undefined) : values;
    return found.length === 0 ? undefined : new Set(found);
  },
});

it.each<[that: string, whole: Record<string, number>, actual: number | string | null, held: boolean]>([
  ['limited == 0', { limited: 0 }, 0, true],
  ['limited == 0', { limited: 3 }, 3, false],
  ['recovery_cycles <= 61', {}, null, false],
  ['not (recovery_cycles > 61)', {}, null, false],
  ['not (limited > 3)', { limited: 3 }, 3, true],
  ['entries == 1 && restores == 1', { entries: 1, restores: 0 }, 'entries 1, restores 0', false],
  ['entries == 0 || first_entry > 5', { entries: 0 }, 'entries 0, first_entry none', true],
  ['limited / requests < 0.5', { limited: 1, requests: 3 }, 'limited 1, requests 3', true],
  ['limited / requests < 0.5', { limited: 0, requests: 0 }, 'limited 0, requests 0', false],
])('an expectation says whether it holds, and the value found: %s of %o', (that, whole, actual, held) => {
  expect(judge(parse(that), source(whole))).toEqual({ name: that, expected: that, actual, held });
});

it.each<[that: string, values: number[], actual: number | null, held: boolean]>([
  ['admitted <= 100', [0, 100, 7], 100, true],
  ['admitted <= 100', [0, 101, 103], 103, false],
  ['admitted >= 5', [4, 9, 3], 3, false],
  ['admitted >= 5', [4, 2, 3], 2, false],
  ['admitted >= 5', [9, 6, 7], 6, true],
  ['admitted != 7', [0, 7, 20], 7, false],
  ['admitted < 10 || admitted > 90', [0, 50, 100], 50, false],
  ['admitted <= 100', [], null, false],
])('an expectation in any stretch says if it holds, and the value found: %s of %j', (that, values, actual, held) => {
  const { actual: found, held: isHeld } = judge(parse({ that, in_any: 10 }), source({}, values));
  expect([found, isHeld]).toEqual([actual, held]);
});

it('an expectation in any stretch holds exactly when it holds of every value', () => {
  const operators = ['<', '<=', '>', '>=', '==', '!='] as const;
  const compare = {
    '<': (a: number, b: number) => a < b,
    '<=': (a: number, b: number) => a <= b,
    '>': (a: number, b: number) => a > b,
    '>=': (a: number, b: number) => a >= b,
    '==': (a: number, b: number) => a === b,
    '!=': (a: number, b: number) => a !== b,
  };
  const clause = fc.tuple(fc.constantFrom(...operators), fc.integer({ min: 0, max: 9 }));
  forAll(
    [clause, fc.constantFrom('&&', '||'), clause, fc.array(fc.integer({ min: 0, max: 9 }), { minLength: 1 })],
    ([a, x], join, [b, y], values) => {
      const holds = (v: number) =>
        join === '&&' ? compare[a](v, x) && compare[b](v, y) : compare[a](v, x) || compare[b](v, y);
      const judged = judge(
        parse({ that: `limited ${a} ${x} ${join} limited ${b} ${y}`, in_any: 3 }),
        source({}, values),
      );
      expect(judged.held).toBe(values.every(holds));
      expect(holds(judged.actual as number)).toBe(judged.held);
    },
  );
});
