// Devices before a real gate: what they do when it emits, while it is still moving.
import { expect, it } from 'vitest';
import { retryAfterCycles } from '../../../src/core/limiter/forecast.js';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { secondsUntil } from '../../../src/core/time/cycle.js';
import { Rank } from '../../../src/core/time/rank.js';
import type { ClientSpec } from '../../../src/harness/clients/client-schema.js';
import { parseScenario } from '../../../src/harness/scenario/load-scenario.js';
import { ModelledTransport } from '../../../src/harness/simulate/modelled-transport.js';
import { simulate } from '../../../src/harness/simulate/simulate.js';
import { virtualHost } from '../../node/host/virtual-host.js';
import { populationOf } from '../clients/scripted.js';

const CYCLE_MS = 1000;

/** Devices that make an item at each of the given instants, before a limiter of 10 in 10 cycles of a second. */
function run(spec: ClientSpec, instants: readonly number[]) {
  const { clock, host } = virtualHost(0, undefined, CYCLE_MS);
  const contract = host.createContract('m', rateLimiter({ threshold: 10, within: 10 }));
  const told: string[] = [];
  const transport = new ModelledTransport({
    clock,
    decide: () => {
      if (contract.decide(1, clock.cycle()) === 1) return undefined;
      const k = retryAfterCycles(contract.gate)!;
      return { type: 'limited', retryAfterMs: 1000 * secondsUntil(clock.cycle() + k, clock.now(), CYCLE_MS) };
    },
  });
  const population = populationOf([spec], transport, clock);
  host.durableRows.subscribe(({ cycle, emitted, inputs }) => {
    for (const event of emitted) {
      told.push(`${cycle} ${event} at ${inputs?.S}`);
      population.moved(0, event === 'rate_restored');
    }
  });
  for (const ms of instants) clock.agenda.at(ms, Rank.arrival, () => population.arrive(0));
  clock.run();
  const { requests, limited, entries, restores } = contract.tally;
  return { told, counts: population.figures()[0]!, gate: { requests, limited, entries, restores } };
}

const atOnce = (n: number, ms: number) => new Array<number>(n).fill(ms);

const counts = { jobs: 0, attempts: 0, retries: 0, succeeded: 0, given_up: 0, dropped: 0, abandoned: 0 };

it.each<[until: string, spec: ClientSpec]>([
  ['rate_restored, and every flushed item meets a gate that has moved', { kind: 'holding', count: 1 }],
  ['Retry-After where it does not listen', { kind: 'holding', count: 1, listens: false }],
])('a device holds what was limited until %s', (_, spec) => {
  // Twelve at second 0: the eleventh is limited, the twelfth held at once. When they leave the window, both are flushed.
  expect(run(spec, atOnce(12, 0))).toEqual({
    told: ['0 rate_limited at 11', '10 rate_restored at 0'],
    counts: expect.objectContaining({ ...counts, jobs: 12, attempts: 13, retries: 1, succeeded: 12 }),
    gate: { requests: 13, limited: 1, entries: 1, restores: 1 },
  });
});

it('twenty devices that flush at once close the gate again and again; spread over 100 s they do not', () => {
  const devices = { kind: 'holding', count: 20 } as const;
  const burst = atOnce(40, 0);
  const spread = { spread: '100s', jitter: true };
  const entries = [run(devices, burst), run({ ...devices, flush: spread }, burst)].map(({ gate, counts: of }) => ({
    entries: gate.entries,
    succeeded: of.succeeded,
  }));
  expect(entries).toEqual([
    { entries: 3, succeeded: 40 },
    { entries: 1, succeeded: 40 },
  ]);
});

const outcomeOf = async (text: string) => (await simulate(parseScenario(text), {})).outcome;
const head = 'question: Q?\nseed: 3\ncycle_ms: 100\nlimiter: { threshold: 1000000, within: 60 }\nwarm_up: 2000\n';

it('a server at half load is half busy, however long the drain', async () => {
  const { service, clients } = await outcomeOf(
    `${head}duration: 22000\ndrain: 40000\narrivals: [{ model: poisson, rate: 1 }]\nclients: [{ kind: open }]\n` +
      'service: { servers: 1, queue: 1000000, time: { law: exponential, mean: 50ms } }\n',
  );
  // M/M/1 at 0.5: busy 0.5, waiting 0.5, served 10 a second. 20,000 arrivals: a standard error of some 0.01.
  expect(Math.abs(service!.busy_share - 0.5)).toBeLessThan(0.03);
  expect(Math.abs(service!.queue_mean - 0.5)).toBeLessThan(0.1);
  expect(Math.abs(clients![0]!.goodput_per_second - 10)).toBeLessThan(0.3);
});

it('a saturated server serves one job a service time, those born in the warm-up too', async () => {
  const { clients } = await outcomeOf(
    `${head}duration: 4000\nclients: [{ kind: closed, count: 50, think: 100ms }]\n` +
      'service: { servers: 1, queue: 1000, time: 100ms }\n',
  );
  expect(clients![0]!.goodput_per_second).toBe(10);
});
