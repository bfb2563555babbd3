import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { lastValueFrom, toArray } from 'rxjs';
import { expect, it } from 'vitest';
import { clientAddress, combinedLine, MOST_CLIENTS } from '../../../src/cli/request-log.js';
import type { LoadedScenario } from '../../../src/harness/scenario/load-scenario.js';
import { scheduleOf, trafficOf } from '../../../src/harness/simulate/scenario-traffic.js';
import { simulate$ } from '../../../src/harness/simulate/simulate.js';
import { forAllAsync } from '../../draws.js';
import { read } from '../scenario/reading.js';
import { readText } from '../traffic/log/reading.js';
import { run } from './running.js';

async function requestsOf(scenario: LoadedScenario): Promise<{ ms: number; contract: number }[]> {
  const schedule = [...scheduleOf(await trafficOf(scenario), scenario)];
  return schedule.flatMap(({ contracts, instants }) =>
    Array.from(contracts, (contract, k) => ({ ms: instants![k]!, contract })),
  );
}

async function logOf(path: string, startMs: number): Promise<string> {
  let text = '';
  let number = 0;
  for (const { ms, contract } of await requestsOf(read(readFileSync(path, 'utf8'), path)))
    text += `${combinedLine(startMs + ms, contract, number++)}\n`;
  return text;
}

it('the shipped log is what its scenario sends, to the byte', async () => {
  expect(await logOf('scenarios/shop.yaml', Math.ceil(Date.UTC(2026, 0, 1) / 777) * 777)).toBe(
    readFileSync('scenarios/shop.log', 'utf8'),
  );
});

const several: [contracts: string, text: string][] = [
  ['contracts in turn', 'contracts: 3\n'],
  ['contracts by chance', 'contracts: { count: 3, popularity: { law: zipf, exponent: 1 } }\n'],
  ['contracts of their own', 'contracts: { count: 3, independent: true }\n'],
];

it.each<[string, string]>([['one contract', ''], ...several])(
  'requests of %s are in order of time, each in the cycle and contract that the run counts it in',
  async (_, more) => {
    const text = `question: Q?\nduration: 60\nlimiter: { threshold: 1, within: 1 }\narrivals: [{ model: poisson, rate: 2 }, { model: spikes, requests: 5, at: 3, every: 7 }]\n${more}`;
    const { timeline } = await run(text);
    const requests = await requestsOf(read(text));
    expect(requests.map(({ ms }) => ms)).toEqual(requests.map(({ ms }) => ms).sort((a, b) => a - b));
    const counts = new Map<string, number>();
    for (const { ms, contract } of requests) {
      const cell = `${Math.floor(ms / 777)} ${timeline!.contracts[contract]}`;
      counts.set(cell, (counts.get(cell) ?? 0) + 1);
    }
    const expected = [...timeline!.rows()].filter(({ requests: n }) => n > 0);
    expect(Object.fromEntries(counts)).toEqual(
      Object.fromEntries(expected.map(({ cycle, contract, requests: n }) => [`${cycle} ${contract}`, n])),
    );
  },
);

it.each(several)('a rule decides requests of %s at their instants, for the same contracts', async (_, more) => {
  const text = `question: Q?\nduration: 60\nlimiter: { primitive: gcra, params: { T_ms: 500, tau_ms: 900 } }\narrivals: [{ model: poisson, rate: 2 }, { model: poisson, rate: 3 }]\n${more}`;
  const rows = await lastValueFrom(simulate$(read(text), { withDecisions: true }).pipe(toArray()));
  const decided = rows.flatMap(({ decisions }) =>
    decisions === undefined ? [] : decisions.atMs.map((ms, index) => ({ ms, contract: decisions.contracts[index]! })),
  );
  const requests = await requestsOf(read(text));
  expect(decided.map(({ contract }) => contract)).toEqual(requests.map(({ contract }) => contract));
  for (const [index, { ms }] of requests.entries()) expect(decided[index]!.ms).toBeCloseTo(ms, 6);
});

it('a line of a combined log is read again as it was written', async () => {
  await forAllAsync(
    [fc.integer({ min: 0, max: Date.UTC(9999, 11, 31) }), fc.integer({ min: 0, max: MOST_CLIENTS - 1 }), fc.nat()],
    async (unixMs, client, number) => {
      const { heard, reading } = await readText(combinedLine(unixMs, client, number), { keyColumn: 'client' });
      expect([heard, reading.format]).toEqual([[[unixMs, 1, clientAddress(client)]], 'combined']);
    },
  );
});

it('every client has an address of its own', () => {
  expect([0, 254, 255, 65_535, MOST_CLIENTS - 1].map(clientAddress)).toEqual([
    '10.0.0.1',
    '10.0.0.255',
    '10.0.1.0',
    '10.1.0.0',
    '10.255.255.255',
  ]);
});
