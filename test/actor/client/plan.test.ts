import Value from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { planClients } from '../../../src/actor/client/client-plan.js';
import {
  type ClientSpec,
  ClientsSpec,
  clientFaults,
  type clientKinds,
} from '../../../src/actor/client/client-schema.js';
import { Failure } from '../../../src/schema/failure.js';

const complete: Record<keyof typeof clientKinds, ClientSpec> = {
  open: { kind: 'open', name: 'a', share: 2, timeout: '90s' },
  obedient: { kind: 'obedient', max_attempts: 5, jitter: '3 cycles' },
  retrying: {
    kind: 'retrying',
    backoff: { policy: 'decorrelated', base: '5ms', cap: '2s' },
    retry_budget: { share: 0.2, floor: '10/s', over: '10s' },
    honours_retry_after: true,
    takes_late_answers: true,
  },
  holding: { kind: 'holding', count: 3, listens: false, buffer: 9, flush: { batch: 2, spread: 30, jitter: true } },
  closed: { kind: 'closed', count: 10, think: { law: 'exponential', mean: '9s' } },
};

describe('what a scenario may say', () => {
  it.each(Object.entries(complete))('%s with all its fields', (_kind, spec) => {
    expect([clientFaults(spec, '/clients/0'), Value.Check(ClientsSpec, [spec])]).toEqual([[], true]);
  });

  it.each<[what: string, spec: unknown, faults: { path: string; message: string }[]]>([
    ['no object', 'open', [{ path: '/clients/0', message: 'must be an object with a field kind' }]],
    ['a list', [], [{ path: '/clients/0', message: 'must be an object with a field kind' }]],
    [
      'no kind',
      {},
      [{ path: '/clients/0/kind', message: 'is required: one of open, obedient, retrying, holding, closed' }],
    ],
    [
      'a kind that is nearly one',
      { kind: 'retriyng' },
      [
        {
          path: '/clients/0/kind',
          message: 'must be one of open, obedient, retrying, holding, closed; did you mean "retrying"?',
        },
      ],
    ],
    [
      'a field of another kind',
      { kind: 'open', max_attempts: 3 },
      [{ path: '/clients/0/max_attempts', message: 'is not known; allowed here: kind, name, timeout, share' }],
    ],
    ['a device without a number', { kind: 'holding' }, [{ path: '/clients/0/count', message: 'is required' }]],
    [
      'a policy that is nearly one',
      { kind: 'retrying', backoff: { policy: 'jitter' } },
      [
        {
          path: '/clients/0/backoff/policy',
          message: 'must be one of "none", "fixed", "exponential", "equal_jitter", "full_jitter", "decorrelated"',
        },
      ],
    ],
  ])('%s is refused in words', (_what, spec, faults) => {
    expect(clientFaults(spec, '/clients/0')).toEqual(faults);
  });

  it.each<[what: string, spec: ClientSpec, path: string]>([
    ['a time that is none', { kind: 'open', timeout: '5 parsecs' }, '/clients/0/timeout'],
    ['no patience at all', { kind: 'open', timeout: 0 }, '/clients/0/timeout'],
    ['a negative time', { kind: 'obedient', jitter: '-1s' }, '/clients/0/jitter'],
    [
      'a cap below the base',
      { kind: 'retrying', backoff: { policy: 'fixed', base: '2s', cap: '1s' } },
      '/clients/0/backoff/cap',
    ],
    [
      'a rate that is none',
      { kind: 'retrying', retry_budget: { share: 1, floor: '3 apples' } },
      '/clients/0/retry_budget/floor',
    ],
    [
      'a budget over no time',
      { kind: 'retrying', retry_budget: { share: 1, over: '5ms' } },
      '/clients/0/retry_budget/over',
    ],
    ['a spread that is none', { kind: 'holding', count: 1, flush: { spread: 'long' } }, '/clients/0/flush/spread'],
    ['no time to think', { kind: 'closed', count: 1, think: 0 }, '/clients/0/think'],
    [
      'no time to think on average',
      { kind: 'closed', count: 1, think: { law: 'exponential', mean: '0.5ms' } },
      '/clients/0/think/mean',
    ],
  ])('%s is refused, with its place', (_what, spec, path) => {
    const failure = (() => {
      try {
        return planClients([spec], 777, '/clients');
      } catch (error) {
        return error;
      }
    })();
    expect(failure).toBeInstanceOf(Failure);
    expect((failure as Failure).faults.map((fault) => fault.path)).toEqual([path]);
  });
});

describe('names', () => {
  const names = (specs: ClientSpec[]) => planClients(specs, 777).map(({ name }) => name);

  it('are the kinds, numbered from the second of a kind on, past those that are given', () => {
    const open = { kind: 'open' } as const;
    expect(names([open, open, { ...open, name: 'open-3' }, open, { kind: 'obedient' }])).toEqual([
      'open',
      'open-2',
      'open-3',
      'open-4',
      'obedient',
    ]);
  });

  it('given twice are refused', () => {
    const given = { kind: 'open', name: 'x' } as const;
    expect(() => planClients([given, given], 777, '/clients')).toThrow('/clients/1/name "x" is taken');
  });
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
