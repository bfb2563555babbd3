import { expect, it } from 'vitest';
import { follows, recorded, type SeenAnswer, toFollowLimit } from '../../../src/tools/expect/expect.js';

expect.extend({ toFollowLimit });

const LIMIT_WORDS = '5 in 250ms';

const late = (one: SeenAnswer) => ({ ...one, answeredMs: one.sentMs + 1000 });
const silent = (one: SeenAnswer) => ({ ...one, answeredMs: Number.POSITIVE_INFINITY });

const atOnce = (limited: readonly boolean[]) =>
  limited.map((one, k): SeenAnswer => ({ sentMs: 3 * k, answeredMs: 3 * k + 2, limited: one }));
const first = (n: number, of: number) => atOnce(Array.from({ length: of }, (_, k) => k >= n));

it.each([
  ['nothing', [], LIMIT_WORDS, /: 0 requests within 0 s do not test 5 in 250ms\. Send 11 at once\./],
  ['what a window that ends meanwhile admits', first(5, 6), LIMIT_WORDS, /: 6 requests .* Send 11 at once\./],
  [
    'a burst whose answers came late',
    first(5, 11).map(late),
    LIMIT_WORDS,
    /An answer took 1 s, in which a window may end/,
  ],
  ['what was not answered', first(0, 25).map(silent), LIMIT_WORDS, /25 requests .* answers are not known\./],
  ['a burst within the limit', first(6, 6), 'nginx 10r/s burst=5 nodelay', /Send 7 at once\./],
])('an assertion says of %s that it tests nothing, and what would', (_, answers, limit, why) => {
  expect(follows(answers, limit)).toMatchObject({ verdict: 'not tested', why: expect.stringMatching(why) });
  for (const one of [expect(answers), expect(answers).not])
    expect(() => one.toFollowLimit(limit)).toThrow(/A server without any limit would pass, too/);
});

it('an assertion names the limits near its own that the answers fit as well', () => {
  const { verdict, fits, why } = follows(first(5, 11), LIMIT_WORDS);
  expect([verdict, fits]).toEqual(['follows', ['4 in 0.25 s', '5 in 0.2375 s', '5 in 0.2625 s']]);
  expect(why).toBe('11 answers follow 5 in 250ms. They fit 4 in 0.25 s, 5 in 0.2375 s and 5 in 0.2625 s, too.');
});

it('an assertion draws the smallest set that no order explains', () => {
  const { verdict, why, drawing } = follows(first(2, 11), '5 in 1s');
  expect(verdict).toBe('differs');
  expect(why).toBe(
    'A request was limited, with 2 others sent by 0.006 s. 5 in 1s admits it, wherever its window begins.',
  );
  expect(drawing.split('\n').length).toBeLessThan(11);
  expect(() => expect(first(2, 11)).toFollowLimit('5 in 1s')).toThrow(drawing);
  expect(first(2, 11)).not.toFollowLimit('5 in 1s');
});

it('an assertion says of requests that are limited too early how many others came by then', () => {
  const answers = Array.from({ length: 11 }, (_, k) => ({ sentMs: k, answeredMs: k + 20, limited: k >= 2 }));
  expect(follows(answers, '5 in 1s').why).toBe(
    '7 requests were limited, with 4 others sent by 0.008 s. 5 in 1s admits at least one of them, wherever its window begins.',
  );
});

it.each([
  ['a product', 'express-rate-limit 5 in 1s', first(5, 6)],
  ['several windows', '5 in 1s and 9 in 2s', first(5, 11)],
  ['a bucket', 'token bucket 5/s capacity=5', first(5, 7)],
])('an assertion takes %s in the words of --limit', (_, limit, answers) => {
  expect(answers).toFollowLimit(limit);
});

it.each([
  ['a limit that admits everything', first(1, 2), 'none', 'invalid_definition', /admits everything/],
  ['a window of no time', first(1, 2), '5 in 0s', 'invalid_input', /comes to 0 ms, and at least 0.001 ms/],
  ['a share of the limit', first(1, 2), '5 in 1s near_limit=0.5', 'invalid_definition', /near_limit has no effect/],
  ['words that are none', first(1, 2), '5 inn 1s', 'invalid_definition', /inn/],
  ['no time', [{ sentMs: Number.NaN, answeredMs: 1, limited: true }], LIMIT_WORDS, 'invalid_input', /\/0\/sentMs/],
  ['an answer before', [{ sentMs: 2, answeredMs: 1, limited: true }], LIMIT_WORDS, 'invalid_input', /0.answeredMs/],
  ['a status', [{ sentMs: 1, answeredMs: 2, limited: 429 }], LIMIT_WORDS, 'invalid_input', /\/0\/limited/],
  ['no list', 7, LIMIT_WORDS, 'invalid_input', /must be an array/],
])('an assertion refuses %s', (_, answers, limit, code, words) => {
  expect(() => follows(answers as SeenAnswer[], limit)).toThrow(
    expect.objectContaining({ code, message: expect.stringMatching(words) }),
  );
});

it.each([
  ['a response', async () => ({ status: 429 }), true],
  ['a message of node:http', () => ({ statusCode: 200 }), false],
  ['an error of axios', () => Promise.reject({ response: { status: 429 } }), true],
])('a recorder takes the status of %s', async (_, send, limited) => {
  const sending = recorded(send as () => unknown);
  await Promise.resolve(sending()).catch(() => {});
  const [{ sentMs, answeredMs, ...answer } = {} as SeenAnswer] = sending.answers;
  expect([answer, answeredMs >= sentMs]).toEqual([{ limited }, true]);
});

it('a recorder hands on arguments, results and what is thrown', async () => {
  const limited = (_: unknown, thrown: unknown) => thrown !== undefined;
  const take = recorded((n: number) => (n > 1 ? Promise.reject(new Error('enough')) : Promise.resolve(n)), {
    limited,
  });
  await expect(take(1)).resolves.toBe(1);
  await expect(take(2)).rejects.toThrow('enough');
  const now = recorded((n: number) => n < 2, { limited: (taken) => !taken });
  expect([now(1), now(2)]).toEqual([true, false]);
  expect([take, now].map(({ answers }) => answers.map((one) => one.limited))).toEqual([
    [false, true],
    [false, true],
  ]);
});

it('a recorder does not know whether a request that failed was counted', async () => {
  const send = recorded(() => Promise.reject(new Error('connection reset')));
  await expect(send()).rejects.toThrow('reset');
  expect(send.answers[0]).toMatchObject({ limited: undefined });
});

it('a recorder refuses a result that says nothing', () => {
  expect(() => recorded(() => 'ok')()).toThrow(/It has no status/);
});
