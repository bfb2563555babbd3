// The gates on the side of a client, each against its formula or its source.
import { expect, it } from 'vitest';
import type { ClientSpec } from '../../../src/harness/clients/client-schema.js';
import { against, failed, limited, type Script, served, words } from './scripted.js';

type Gate = NonNullable<Extract<ClientSpec, { kind: 'retrying' }>['gate']>;

const once = (gate: Gate): ClientSpec => ({ kind: 'retrying', max_attempts: 1, gate });

const every = (ms: number, jobs: number) => Array.from({ length: jobs }, (_, n) => n * ms);

const limiter = 'token-bucket 5/s burst=3';

it('a limiter lets the attempts of a client wait for their token', () => {
  const { sent } = against(() => served, once({ kind: 'limiter', limiter }), { jobsMs: every(0, 6) });
  expect(words(sent)).toBe('0 j1#1 0 j2#1 0 j3#1 200 j4#1 400 j5#1 600 j6#1');
});

it('a limiter that fails when it is full refuses attempts without a token', () => {
  const gate: Gate = { kind: 'limiter', limiter, full: 'fail' };
  const { sent, counts } = against(() => served, once(gate), { jobsMs: every(0, 6) });
  expect([words(sent), counts.given_up]).toEqual(['0 j1#1 0 j2#1 0 j3#1', 3]);
});

it('a limiter of what is in flight gives a place back when an attempt ends', () => {
  const gate: Gate = { kind: 'limiter', limiter: 'concurrency limit=2', full: 'fail' };
  const { counts } = against(() => served, once(gate), { jobsMs: [0, 0, 0, 50, 150], latencyMs: 100 });
  expect(counts).toMatchObject({ succeeded: 3, given_up: 2 });
});

const gate: Gate = { kind: 'breaker', share: 0.5, least: 4, over: '10s', open: '5s', trials: 2 };

it('a breaker opens at its share, tries after its time, and closes once the trials were served', () => {
  const down: Script = (_, nowMs) => (nowMs < 8000 ? failed : served);
  const { sent } = against(down, once(gate), { jobsMs: every(500, 40) });
  // Four fail by 1.5 s; open until 6.5 s, a trial fails; open until 11.5 s, both trials are served.
  const expected = [0, 500, 1000, 1500, 6500, ...every(500, 40).filter((ms) => ms >= 11_500)];
  expect(sent.map(({ ms }) => ms)).toEqual(expected);
});

it('a breaker of retries lets first attempts pass while it is open', () => {
  const spec: ClientSpec = { kind: 'retrying', max_attempts: 2, gate: { ...gate, on: 'retries' } };
  const { counts } = against(() => failed, spec, { jobsMs: every(100, 20) });
  expect([counts.jobs, counts.attempts]).toEqual([20, 22]);
});

const script: Script = ({ job }) => (job.number === 1 ? limited(1000) : served);

it('a pause of the account holds all requests until Retry-After is over', () => {
  const { sent } = against(script, once({ kind: 'pause' }), { jobsMs: [0, 100, 900, 1500] });
  expect(words(sent)).toBe('0 j1#1 1000 j2#1 1000 j3#1 1500 j4#1');
});

it('a pause of the account with a ramp spreads the requests that it held over the ramp', () => {
  const jobsMs = [0, ...every(0, 1000).map(() => 500)];
  const { sent } = against(script, once({ kind: 'pause', ramp: '10s' }), { jobsMs });
  const back = sent.slice(1).map(({ ms }) => ms);
  const mean = back.reduce((sum, ms) => sum + ms, 0) / back.length;
  expect([Math.min(...back) >= 1000, Math.max(...back) <= 11_000]).toEqual([true, true]);
  expect(Math.abs(mean - 6000)).toBeLessThan((3.3 * 10_000) / Math.sqrt(12 * 1000));
});
