import Value from 'typebox/value';
import { describe, expect, it } from 'vitest';
import { valueFaults } from '../../../src/core/schema/value-faults.js';
import { planClients } from '../../../src/harness/clients/client-plan.js';
import { ClientSpec, ClientsSpec, type clientKinds } from '../../../src/harness/clients/client-schema.js';
import { failureOf } from '../../failures.js';
import { tablesBeside } from '../../tables-beside.js';

const tables = tablesBeside(import.meta.url);

const complete: Record<keyof typeof clientKinds, ClientSpec> = tables.complete;

describe('what a scenario may say', () => {
  it.each(Object.entries(complete))('%s with all its fields', (_kind, spec) => {
    expect([valueFaults(ClientSpec, spec, '/clients/0'), Value.Check(ClientsSpec, [spec])]).toEqual([[], true]);
  });

  it.each<[what: string, spec: unknown, faults: { path: string; message: string }[]]>(tables.faults)(
    '%s is refused in words',
    (_what, spec, faults) => {
      expect(valueFaults(ClientSpec, spec, '/clients/0')).toEqual(faults);
    },
  );

  it.each<[what: string, spec: ClientSpec, path: string]>(tables.places)(
    '%s is refused, with its place',
    (_what, spec, path) => {
      const failure = failureOf(() => planClients([spec], 777, '/clients'));
      expect(failure?.faults.map((fault) => fault.path)).toEqual([path]);
    },
  );
});

it.each<[what: string, spec: unknown, path: string]>([
  ['a library that is nearly one', { like: 'undichi' }, '/clients/0/like'],
  ['a kind beside a library', { like: 'undici', kind: 'retrying' }, '/clients/0/kind'],
  ['a kind of gate', { kind: 'retrying', gate: { kind: 'braker' } }, '/clients/0/gate/kind'],
])('%s is refused in words', (_what, spec, path) => {
  expect(valueFaults(ClientSpec, spec, '/clients/0').map((fault) => fault.path)).toEqual([path]);
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
