import Value from 'typebox/value';
import { expect, it } from 'vitest';
import { valueFaults } from '../../../src/core/schema/value-faults.js';
import { planClients } from '../../../src/harness/clients/client-plan.js';
import { ClientSpec, ClientsSpec, type clientKinds } from '../../../src/harness/clients/client-schema.js';
import { failureOf } from '../../failures.js';

const complete: Record<keyof typeof clientKinds, ClientSpec> = {
  open: { kind: 'open', name: 'a', share: 2, timeout: '90s' },
  obedient: { kind: 'obedient', max_attempts: 5, jitter: '3 cycles' },
  retrying: {
    kind: 'retrying',
    backoff: { policy: 'decorrelated', base: '5ms', cap: '2s' },
    retry_budget: { share: 0.2, floor: '10/s', over: '10s' },
    retries_on: ['limited', 'timeout'],
    backoff_after: { timeout: { policy: 'geometric', base: '1s', factor: 3, first: 0, shorten_by: 0.5, add: '1ms' } },
    deadline: '10s',
    gate: { kind: 'breaker', share: 0.5, over: '10s', least: 20, open: '5s', trials: 3, on: 'retries' },
    hedge: { after: '1s', most: 3 },
    instances: 9,
    retry_after: 'floor',
    takes_late_answers: true,
  },
  holding: { kind: 'holding', count: 3, listens: false, buffer: 9, flush: { batch: 2, spread: 30, jitter: true } },
  closed: { kind: 'closed', count: 10, think: { law: 'exponential', mean: '9s' } },
};

it.each(Object.entries(complete))('a client of kind %s is valid with all its fields', (_kind, spec) => {
  expect([valueFaults(ClientSpec, spec, '/clients/0'), Value.Check(ClientsSpec, [spec])]).toEqual([[], true]);
});

// biome-ignore format: one case a line
it.each<[what: string, spec: unknown, faults: { path: string; message: string }[]]>([
  ['no object', 'open', [{ path: '/clients/0', message: 'must be an object with a field kind or like' }]],
  ['a list', [], [{ path: '/clients/0', message: 'must be an object with a field kind or like' }]],
  ['no kind', {}, [{ path: '/clients/0/kind', message: 'is required: one of "open", "obedient", "retrying", "holding", "closed"' }]],
  ['a kind that is nearly one', { kind: 'retriyng' },
    [{ path: '/clients/0/kind', message: 'must be one of "open", "obedient", "retrying", "holding", "closed"; did you mean "retrying"?' }]],
  ['a field of another kind', { kind: 'open', max_attempts: 3 },
    [{ path: '/clients/0/max_attempts', message: 'is not known; allowed here: kind, name, timeout, share' }]],
  ['a device without a number', { kind: 'holding' }, [{ path: '/clients/0/count', message: 'is required' }]],
  [
    'a policy that is nearly one',
    { kind: 'retrying', backoff: { policy: 'jitter' } },
    [
      {
        path: '/clients/0/backoff/policy',
        message:
          'must be one of "none", "fixed", "exponential", "equal_jitter", "full_jitter", "decorrelated", "geometric", "linear"',
      },
    ],
  ],
])('%s is refused in words', (_what, spec, faults) => {
  expect(valueFaults(ClientSpec, spec, '/clients/0')).toEqual(faults);
});

// biome-ignore format: one case a line
it.each<[what: string, spec: ClientSpec, path: string]>([
  ['a time that is none', { kind: 'open', timeout: '5 parsecs' }, '/clients/0/timeout'],
  ['no patience at all', { kind: 'open', timeout: 0 }, '/clients/0/timeout'],
  ['a negative time', { kind: 'obedient', jitter: '-1s' }, '/clients/0/jitter'],
  ['a cap below the base', { kind: 'retrying', backoff: { policy: 'fixed', base: '2s', cap: '1s' } }, '/clients/0/backoff/cap'],
  ['a rate that is none', { kind: 'retrying', retry_budget: { share: 1, floor: '3 apples' } }, '/clients/0/retry_budget/floor'],
  ['a budget over no time', { kind: 'retrying', retry_budget: { share: 1, over: '5ms' } }, '/clients/0/retry_budget/over'],
  ['jitter of batches that are not spread', { kind: 'holding', count: 1, flush: { jitter: true } }, '/clients/0/flush/jitter'],
  ['a spread that is none', { kind: 'holding', count: 1, flush: { spread: 'long' } }, '/clients/0/flush/spread'],
  ['a field of another policy', { kind: 'retrying', backoff: { policy: 'fixed', factor: 3 } }, '/clients/0/backoff/factor'],
  ['a pause after what is not retried',
    { kind: 'retrying', retries_on: ['failed'], backoff_after: { limited: { policy: 'none' } } }, '/clients/0/backoff_after/limited'],
  ['zero without obey', { kind: 'retrying', retry_after: { policy: 'floor', zero: 'backoff' } }, '/clients/0/retry_after/zero'],
  ['slack without clamp', { kind: 'retrying', retry_after: { policy: 'obey', slack: 3 } }, '/clients/0/retry_after/slack'],
  ['above without a limit', { kind: 'retrying', retry_after: { policy: 'obey', above: 'stop' } }, '/clients/0/retry_after/above'],
  ['two limits of retries', { kind: 'retrying', retry_budget: { share: 1 }, retry_quota: { capacity: 5 } }, '/clients/0/retry_quota'],
  ['a gate that is no limiter', { kind: 'retrying', gate: { kind: 'limiter', limiter: '5 apples' } }, '/clients/0/gate/limiter'],
  ['a gate that never nears', { kind: 'retrying', gate: { kind: 'limiter', limiter: '5 in 9 near_limit=0.8' } }, '/clients/0/gate/limiter'],
  ['a deadline of nothing', { like: 'undici', deadline: 0 }, '/clients/0/deadline'],
  ['no time to think', { kind: 'closed', count: 1, think: 0 }, '/clients/0/think'],
  ['no time to think on average', { kind: 'closed', count: 1, think: { law: 'exponential', mean: '0.5ms' } }, '/clients/0/think/mean'],
])('%s is refused, with its place', (_what, spec, path) => {
  const failure = failureOf(() => planClients([spec], 777, '/clients'));
  expect(failure?.faults.map((fault) => fault.path)).toEqual([path]);
});

it.each<[what: string, spec: unknown, path: string]>([
  ['a library that is nearly one', { like: 'undichi' }, '/clients/0/like'],
  ['a kind beside a library', { like: 'undici', kind: 'retrying' }, '/clients/0/kind'],
  ['a kind of gate', { kind: 'retrying', gate: { kind: 'braker' } }, '/clients/0/gate/kind'],
])('%s is refused at its place', (_what, spec, path) => {
  expect(valueFaults(ClientSpec, spec, '/clients/0').map((fault) => fault.path)).toEqual([path]);
});

const names = (specs: ClientSpec[]) => planClients(specs, 777).map(({ name }) => name);

it('names of clients are the kinds, numbered from the second of a kind on, past those that are given', () => {
  const open = { kind: 'open' } as const;
  expect(names([open, open, { ...open, name: 'open-3' }, open, { kind: 'obedient' }])).toEqual([
    'open',
    'open-2',
    'open-3',
    'open-4',
    'obedient',
  ]);
});

it('a name of clients that is given twice is refused', () => {
  const given = { kind: 'open', name: 'x' } as const;
  expect(() => planClients([given, given], 777, '/clients')).toThrow('/clients/1/name "x" is taken');
});

it('times are cycles, or texts down to parts of a cycle', () => {
  const timeouts = planClients(
    [
      { kind: 'open', timeout: 2 },
      { kind: 'open', timeout: '250ms' },
      { kind: 'open', timeout: '1.5 cycles' },
      { kind: 'open' },
    ],
    777,
  ).map(({ timeoutMs }) => timeoutMs);
  expect(timeouts).toEqual([1554, 250, 1165.5, undefined]);
});
