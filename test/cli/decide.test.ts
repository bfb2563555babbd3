// `weir decide`, `weir limiters` and `weir explain`, as a person runs them.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { temporaryFolder, weir, weirHere } from './command-line.js';

const START_MS = 1_699_999_200_000;
const asked = (...requests: readonly object[]) => requests.map((one) => `${JSON.stringify(one)}\n`).join('');
const answers = (out: string) =>
  out
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line));

const allowed = (remaining: number | null, delay = 0) => ({
  admitted: true,
  delay_ms: delay,
  retry_after_ms: 0,
  remaining,
  state: 'allowing',
});

function ruleFile(text: string): string {
  const path = join(temporaryFolder(), 'rule.yaml');
  writeFileSync(path, text);
  return path;
}

describe('weir decide', () => {
  it('answers every request in order, by a product', async () => {
    const burst = Array.from({ length: 4 }, () => ({ t_ms: START_MS }));
    const { code, out } = await weir(
      ['decide', '--like', 'nginx', '--rate', '10r/s', '--burst', '2'],
      {},
      asked(...burst, { t_ms: START_MS + 100.5 }),
    );
    expect(code).toBe(0);
    expect(answers(out)).toEqual([
      allowed(2),
      allowed(1, 100),
      allowed(0, 200),
      { admitted: false, delay_ms: 0, retry_after_ms: 100, remaining: 0, state: 'limiting' },
      allowed(0, 200),
    ]);
  });

  it('says what a product announces where it is not the true wait', async () => {
    const args = ['decide', '--like', 'express-rate-limit', '--windowMs', '1500', '--limit', '1'];
    const { out } = await weirHere(args, {}, asked({ t_ms: START_MS }, { t_ms: START_MS + 1 }));
    expect(answers(out)[1]).toEqual({
      admitted: false,
      delay_ms: 0,
      retry_after_ms: 1499,
      told_retry_after_ms: 2000,
      remaining: 0,
      state: 'limiting',
    });
  });

  it.each([
    ['a primitive', 'primitive: gcra\nparams: { T_ms: 100, tau_ms: 0 }\n'],
    ['JSON', '{"primitive": "gcra", "params": {"T_ms": 100, "tau_ms": 0}, "clock_resolution_ms": 1}'],
    ['a product', 'like: nginx\nrate: 10r/s\n'],
    ['a stanza', 'paste: |\n  limit_req_zone $host zone=a:1m rate=10r/s;\n  limit_req zone=a;\n'],
    ["Weir's own", 'threshold: 1\nwithin: 1\n'],
  ])('reads a rule from a file: %s', async (_, text) => {
    const { code, out } = await weirHere(
      ['decide', '--rule', ruleFile(text)],
      {},
      asked({ t_ms: START_MS }, { t_ms: START_MS }),
    );
    expect(code).toBe(0);
    expect(answers(out).map(({ admitted }) => admitted)).toEqual([true, false]);
  });

  it('keeps keys apart, charges costs and holds what is in flight', async () => {
    const rule = ruleFile('primitive: concurrency\nparams: { limit: 2 }\n');
    const { out } = await weirHere(
      ['decide', '--rule', rule],
      {},
      asked(
        { t_ms: 0, n: 2, key: 'a', hold_ms: 50 },
        { t_ms: 1, key: 'b', hold_ms: 50 },
        { t_ms: 2, key: 'a' },
        { t_ms: 3, n: 3, key: 'c' },
        { t_ms: 50, key: 'a' },
      ),
    );
    expect(answers(out).map(({ admitted, retry_after_ms }) => [admitted, retry_after_ms])).toEqual([
      [true, 0],
      [true, 0],
      [false, 48],
      [false, null],
      [true, 0],
    ]);
  });

  it('answers a line that is no request with its number and a code, goes on, and ends with 2', async () => {
    const input = `${asked({ t_ms: 0 })}nonsense\n\n${asked({ t_ms: -1 }, { t_ms: 0, cost: 2 }, { t_ms: 0, n: 0 })}{"t_ms": 1000}`;
    const { code, out } = await weirHere(['decide', '--like', 'nginx', '--rate', '10r/s'], {}, input);
    expect(code).toBe(2);
    expect(answers(out)).toEqual([
      allowed(0),
      { line: 2, code: 'invalid_json', what: expect.any(String) },
      { line: 4, code: 'invalid_input', what: '/t_ms must be >= 0.' },
      { line: 5, code: 'invalid_input', what: expect.stringContaining('/cost') },
      { line: 6, code: 'invalid_input', what: '/n must be >= 1.' },
      allowed(0),
    ]);
  });

  it.each([
    ['no limiter', [], 'wrong_usage'],
    ['an unknown product', ['--like', 'ngin'], 'invalid_definition'],
    ['a parameter of another product', ['--like', 'nginx', '--rate', '10r/s', '--windowMs', '3'], 'invalid_definition'],
    ['no such file', ['--rule', 'nowhere.yaml'], 'unreadable_file'],
  ])('refuses %s', async (_, args, expected) => {
    const { code, err } = await weirHere(['decide', ...args]);
    expect(code).toBe(2);
    expect(err).toContain(`[${expected}]`);
  });
});

it('weir limiters lists every product with what it does with a burst', async () => {
  const { code, out } = await weirHere(['limiters']);
  expect(code).toBe(0);
  expect(out).toMatch(/^nginx +rate=10r\/s burst=5 +nginx_limit_req +1 \(\+ 5\) /m);
  expect(out).toMatch(/^express-rate-limit +windowMs=1000 limit=10 +fixed_window +10 +19 /m);
});

describe('weir explain', () => {
  it('says in a few lines and a chart what a limiter lets through', async () => {
    const { code, out } = await weirHere(['explain', 'nginx', '10r/s', 'burst=5', 'nodelay']);
    expect(code).toBe(0);
    expect(out).toMatch(/first burst +of 25 at once, 6 pass at once\n/);
    expect(out).toMatch(/most in a second +15 starts/);
    expect(out).toMatch(/at exactly the rate +40 of 40 pass at 10\/s; at twice that 35 of 60/);
    expect(out).toMatch(/sent +\|█.*\|\n +starts +\|█.*\|/);
  });

  it('reads a stanza', async () => {
    const stanza = 'limit_req_zone $host zone=a:1m rate=10r/s; limit_req zone=a burst=5;';
    const { out } = await weirHere(['explain', stanza, '--json']);
    expect(JSON.parse(out).rule.params).toEqual({ rate_1000: 10_000, burst: 5 });
  });

  it('refuses a parameter that the limiter does not have', async () => {
    const { code, err } = await weirHere(['explain', 'nginx', 'brust=5']);
    expect(code).toBe(2);
    expect(err).toContain('did you mean "burst"');
  });
});
