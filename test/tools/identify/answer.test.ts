// What is said of explanations: a number that is not held to every answer is not said as if it were.
import { Compile } from 'typebox/compile';
import { expect, it } from 'vitest';
import { documentText } from '../../../src/report/terminal-blocks.js';
import { answerOf } from '../../../src/tools/identify/answer.js';
import { answerDocument } from '../../../src/tools/identify/answer-document.js';
import { evidenceOf, type Seen } from '../../../src/tools/identify/evidence.js';
import { Identification, identificationOf } from '../../../src/tools/identify/identification.js';
import { parametersOf } from '../../../src/tools/identify/parameter-steps.js';
import { structures } from '../../../src/tools/identify/structures.js';
import { answersAt, limiterOf, settled } from './virtual.js';

const at = (sentMs: number, decision: Seen['decision'], tookMs = 2): Seen => ({
  key: 'a',
  sentMs,
  answeredMs: sentMs + tookMs,
  decision,
  status: decision === 'admitted' ? 200 : 429,
});
const seen = [
  at(0, 'admitted'),
  at(100, 'admitted'),
  at(200, 'limited'),
  at(990, 'limited'),
  at(1_005, 'admitted'),
  at(1_100, 'admitted'),
  at(1_200, 'limited'),
];
const fixed = structures.find(({ id }) => id === 'fixed')!;
const inFlight = structures.find(({ isInFlight }) => isInFlight === true)!;
const range = (least: number, most = least) => ({ least, most });

function answered(violationMs: number, of = [fixed], isHeld = false, announcedLimit?: number, mostLimit = 2) {
  const evidence = { ...evidenceOf(seen.map((one) => ({ ...one, announcedLimit }))), isHeld };
  const alive = of.map((structure) => ({
    best: { structure, parameters: parametersOf(structure, 2, 1_015) },
    violationMs,
    ranges: {
      limit: range(2, mostLimit),
      part: range(1),
      spanMs: range(1_012, 1_018),
      otherMs: range(0),
      shiftMs: range(0),
    },
    samples: [],
  }));
  const common = { elapsedMs: 1_200, ended: 'settled' } as const;
  return answerOf({ evidence, alive, nearest: alive[0], ...common });
}

it('an answer says that its rule explains everything seen, and what was not looked for', () => {
  const answer = answered(0);
  const unseen = 'Not looked for: a window longer than 1.2 s, or a further limit that allows 4 requests in that time.';
  expect([answer.rules[0]?.offMs, answer.remarks]).toEqual([0, [unseen]]);
  expect(documentText(answerDocument(answer, 'a limiter'))).toContain('One rule was found that explains every answer.');
});

it.each([
  ['identified', answered(0)],
  ['identified', answered(14.2)],
  ['ambiguous', { ...answered(0), verdict: 'ambiguous' as const }],
  ['none', { ...answered(0), verdict: 'none' as const, rules: [] }],
  ['undecided', { ...answered(0), verdict: 'never limited' as const, rules: [] }],
])('an answer as JSON has the fields that are fixed: %s', (verdict, answer) => {
  const url = 'http://127.0.0.1:1/';
  const said = identificationOf(answer, seen, url);
  const fixedFields = ['url', 'requests', 'seconds', 'verdict', 'candidates', 'next_probe', 'remarks', 'headers'];
  expect([Compile(Identification).Errors(said), Object.keys(said), said.verdict]).toEqual([[], fixedFields, verdict]);
  for (const candidate of said.candidates) {
    const { primitive, params } = answer.rules[0]!.limiter;
    expect(candidate).toMatchObject({ primitive, params, explains: 7, of: 7, like: expect.any(Array) });
    expect(candidate.intervals['limit']).toEqual([[2, 2]]);
  }
});

it('an answer says by how much its rule misses what was seen, and widens its figures by that', () => {
  const answer = answered(14.2);
  const [rule] = answer.rules;
  const { least = 0, most = 0 } = rule?.parameters['window_ms'] ?? {};
  expect([rule?.offMs, rule?.isExact, least < 1_000, most > 1_030]).toEqual([14.2, false, true, true]);
  expect(documentText(answerDocument(answer, 'a limiter'))).toContain(
    'One rule was found that comes near the answers.',
  );
  expect(answer.remarks.join(' ')).toContain('missed by up to 15 ms');
});

it.each([
  ['a rule that holds none', [fixed], 'none'],
  ['one of what is in flight beside it', [fixed, inFlight], 'undecided'],
] as const)('an answer names nothing where admitted requests were held, and is left with %s', (_, of, verdict) => {
  expect(answered(0, [...of], true)).toMatchObject({ verdict, rules: [] });
});

it('an answer gives no window to a limit on what is in flight', () => {
  expect(answered(0, [inFlight]).rules.map(({ parameters }) => Object.keys(parameters))).toEqual([['limit']]);
});

it.each([
  ['is the one that the rule has', answered(0, [fixed], false, 2), []],
  ['is another one', answered(0, [fixed], false, 10), [{ name: 'limit', claims: 10, seen: 2 }]],
  ['is one of those that the rule may have', answered(0, [fixed], false, 3, 4), []],
  ['is another one, and no rule is named', answered(0, [fixed], true, 10), []],
])('an answer tells of headers only if they contradict its rule: the limit there %s', (_, answer, headers) => {
  const said = identificationOf(answer, seen, undefined);
  const isSaid = said.remarks.some((one) => one.startsWith('The headers state a limit of 10; the answers show 2'));
  expect([said.headers, isSaid]).toEqual([headers, headers.length > 0]);
});

it('the answers that are the latest are tried late, wherever they stand', () => {
  const late = Array.from({ length: 12 }, (_, n) => at(2_000 + 50 * n, 'admitted', n === 0 ? 90 : 20 + n));
  const { slow } = evidenceOf([at(0, 'admitted', 80), at(10, 'limited'), at(20, 'admitted'), ...late]);
  // Requests of one decision are alike: the first of the first two can be counted when the second was answered, and the other way round.
  expect([slow.length, slow.slice(0, 2)]).toEqual([8, [2_000, 20]]);
});

it.each([
  [20, ['A window cut into segments shorter than 3 ms would give the same answers.']],
  [200, []],
])('an answer on a log of %i ms says which windows in segments would give the same', (window_ms, remarks) => {
  const instants = [0, 0.01, 0.02, 0.5, 0.9, 1.3, 1.31, 1.32, 1.4, 2.2, 2.4].map((share) => share * window_ms);
  const decide = limiterOf({ primitive: 'sliding_log', params: { limit: 3, window_ms } }, 0);
  const log = settled(answersAt(decide, instants), ['log']);
  const answer = answerOf(log);
  const said = answer.remarks.filter((one) => !one.startsWith('Not looked for'));
  expect([answer.rules.map(({ structure }) => structure), said]).toEqual([['log'], remarks]);
});

it.each([
  [120, 137],
  // 1,850 ms, found first, has more digits.
  [40, 307],
])(
  'an answer on a grid, asked %i times, bounds the phase, and has the roundest window that explains it',
  (n, stepMs) => {
    const window = { limit: 5, window_ms: 1_900, align: 'epoch', phase_ms: 400 };
    const instants = Array.from({ length: n }, (_, k) => 1_000_000 + stepMs * k + (k % 7) * 11);
    const decide = limiterOf({ primitive: 'fixed_window', params: window }, 0);
    const { rules, remarks } = answerOf(settled(answersAt(decide, instants), ['fixed-grid']));
    const { phase_ms, window_ms } = rules[0]!.parameters;
    const pieces = phase_ms!.pieces ?? [phase_ms!];
    expect(pieces.some(({ least, most }) => least <= 400 && 400 <= most)).toBe(true);
    expect(window_ms!.value).toBe(1_900);
    expect(remarks.join(' ')).toMatch(/If its window is exactly 1900 ms, its phase is between [\d.]+ and [\d.]+ ms/);
  },
);

it('an answer names nothing that is not tested, and says what it was', () => {
  const log = settled(seen, ['fixed']);
  const answer = answerOf({ ...log, alive: [], untested: log.alive });
  expect([answer.verdict, answer.rules]).toEqual(['undecided', []]);
  expect(answer.remarks.join(' ')).toContain('A fixed window that opens at the first request explains the answers');
});
