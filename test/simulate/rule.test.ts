// Scenarios whose limiter follows a rule: the figures are those of the real products (OTHER-LIMITERS.md sections 6 and 8).
import { describe, expect, it } from 'vitest';
import { parseScenario, type ScenarioObject } from '../../src/scenario/load-scenario.js';
import { Failure } from '../../src/schema/failure.js';
import { simulate } from '../../src/simulate/simulate.js';

/** A request every `everyMs`: cycles are that long, and each has one request at its beginning. */
const every = (everyMs: number, n: number, limiter: unknown): ScenarioObject => ({
  question: 'How many pass?',
  cycle_ms: everyMs,
  limiter: limiter as NonNullable<ScenarioObject['limiter']>,
  arrivals: [{ model: 'constant', rate: 1 }],
  duration: n,
});
const admittedOf = async (scenario: ScenarioObject) => (await simulate(parseScenario(scenario))).outcome.admitted;

describe('a limiter in a scenario', () => {
  it.each([
    ['nginx without burst, 1 % too fast', 99, 110, { like: 'nginx', rate: '10r/s' }, 55],
    ['nginx with burst=5, 1 % too fast', 99, 110, { like: 'nginx', rate: '10r/s', burst: 5, nodelay: true }, 110],
    ['vsthrottle, 1 % too fast', 99, 110, { like: 'varnish', limit: 10, period: '1s' }, 60],
    ['HAProxy that counts what it denies, at twice', 50, 60, { like: 'haproxy', period: '1s', limit: 10 }, 10],
    ['a bucket, at twice', 50, 60, { like: 'x-time', limit: 10, burst: 10 }, 39],
    ['a fixed window, at twice', 50, 60, { like: 'express', windowMs: 1000, limit: 10 }, 30],
    ['a pasted stanza', 99, 110, { paste: 'limit_req_zone $a zone=a:1m rate=10r/s; limit_req zone=a;' }, 55],
    ['a primitive', 50, 60, { primitive: 'gcra', params: { T_ms: 100, tau_ms: 0 } }, 30],
  ])('%s', async (_, everyMs, n, limiter, admitted) => {
    expect(await admittedOf(every(everyMs, n, limiter))).toBe(admitted);
  });

  it('holds requests: clients wait as long, and the figures say so', async () => {
    const scenario = every(1000, 1, { like: 'nginx', rate: '10r/s', burst: 10 });
    const burst = { ...scenario, arrivals: [{ model: 'spikes' as const, requests: 11 }] };
    const { outcome } = await simulate(parseScenario({ ...burst, clients: [{ kind: 'open' }] }));
    expect(outcome).toMatchObject({ admitted: 11, limited: 0, delayed: 10, delay_ms: { n: 10 } });
    expect(outcome.delay_ms!.max).toBeCloseTo(1000, -1);
    expect(outcome.clients![0]!.job_latency_ms!.max).toBeCloseTo(outcome.delay_ms!.max, 0);
  });

  it('gives the same with clients that only send, and without', async () => {
    const scenario: ScenarioObject = {
      question: 'Is it the same?',
      limiter: { like: 'nginx', rate: '10r/s', burst: 3 },
      arrivals: [{ model: 'poisson', rate: '12 per second' }],
      duration: '60s',
    };
    const { outcome: alone } = await simulate(parseScenario(scenario));
    const { outcome: sent } = await simulate(parseScenario({ ...scenario, clients: [{ kind: 'open' }] }));
    const figures = ({ admitted, limited, delayed, entries, restores, peak_count }: typeof alone) => ({
      admitted,
      limited,
      delayed,
      entries,
      restores,
      peak_count,
    });
    expect(figures(sent)).toEqual(figures(alone));
    expect(alone.limited).toBeGreaterThan(0);
  });

  it('is in flight as long as the service takes', async () => {
    const { outcome } = await simulate(
      parseScenario({
        question: 'How many get in?',
        cycle_ms: 1000,
        limiter: { like: 'nginx-limit-conn', connections: 3 },
        arrivals: [{ model: 'spikes', requests: 10 }],
        duration: 4,
        clients: [{ kind: 'retrying', max_attempts: 2, backoff: { policy: 'fixed', base: '2s' } }],
        service: { servers: 10, time: { law: 'constant', time: '1500ms' } },
      }),
    );
    expect(outcome).toMatchObject({ requests: 17, admitted: 6, limited: 11 });
    expect(outcome.restores).toBe(outcome.entries);
  });
});

describe('a limiter that does not fit is refused in words', () => {
  const faultOf = (limiter: string) => {
    try {
      parseScenario(`question: What?\nduration: 1\narrivals: [{ model: constant, rate: 1 }]\nlimiter: ${limiter}\n`);
      return 'fits';
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return `${error.faults[0]!.path} ${error.faults[0]!.message}`;
    }
  };
  it.each([
    ['{ like: ngingx, rate: 10r/s }', /\(\/limiter\/like\) "ngingx" is no limiter/],
    ['{ like: nginx, rate: 10 }', /\(\/limiter\/rate\) must be a string/],
    ['{ like: nginx, rate: 10r/s, bust: 3 }', /\(\/limiter\/bust\)/],
    ['{ primitive: gcra, params: { T_ms: 100 } }', /\(\/limiter\/params\/tau_ms\) is required/],
    ['{ primitive: gcar, params: {} }', /did you mean "gcra"/],
    ['{ paste: "server { listen 80; }" }', /\(\/limiter\) cannot be read: There is no limit_req/],
    ['{ threshold: 0 }', /\(\/limiter\/threshold\)/],
    ['{ treshold: 10 }', /\(\/limiter\/treshold\)/],
    ['{ like: nginx-limit-conn, connections: 3, hold_ms: -1 }', /\(\/limiter\/hold_ms\)/],
  ])('%s', (limiter, words) => {
    expect(faultOf(limiter)).toMatch(words);
  });
});
