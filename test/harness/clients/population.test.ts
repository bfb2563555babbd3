import fc from 'fast-check';
import { expect, it } from 'vitest';
import { drawsOf, RandomStream } from '../../../src/core/math/random.js';
import { Rank } from '../../../src/core/time/rank.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import type { SentAttempt, Transport } from '../../../src/harness/clients/client.js';
import type { ClientSpec } from '../../../src/harness/clients/client-schema.js';
import type { Population } from '../../../src/harness/clients/population.js';
import { forAll } from '../../draws.js';
import { populationOf } from './scripted.js';

/** Serves every attempt after a fixed time; a negative one never. */
class SlowTransport implements Transport {
  readonly told: string[] = [];

  constructor(
    readonly clock: VirtualClock,
    readonly ms: number,
  ) {}

  send(attempt: SentAttempt): void {
    this.told.push(`${this.clock.now()} ${attempt.client.id} j${attempt.job.number} to ${attempt.job.contract}`);
    if (this.ms >= 0) {
      this.clock.agenda.at(this.clock.now() + this.ms, Rank.service, () => attempt.answer({ type: 'served' }));
    }
  }

  abandon(): void {}
}

function stage(specs: readonly ClientSpec[], { ms = 10, contracts = 1, seed = 1, fromMs = 0 } = {}) {
  const clock = new VirtualClock(0, 777);
  const transport = new SlowTransport(clock, ms);
  const population = populationOf(specs, transport, clock, { draws: drawsOf(seed), contracts, fromMs });
  return { clock, transport, population };
}

const namesOf = (population: Population) => [...population.clients()].map(({ id }) => id);

it('a pool makes a client when none is free, and takes the one freed last again', () => {
  const { clock, transport, population } = stage([{ kind: 'open' }]);
  for (const ms of [0, 5, 12, 30]) clock.agenda.at(ms, Rank.arrival, () => population.arrive(0));
  clock.run();
  expect([transport.told, namesOf(population)]).toEqual([
    ['0 open/0 j1 to 0', '5 open/1 j2 to 0', '12 open/0 j3 to 0', '30 open/0 j4 to 0'],
    ['open/0', 'open/1'],
  ]);
});

it('a pool serves any contract with any client', () => {
  const { clock, transport, population } = stage([{ kind: 'open' }], { contracts: 3 });
  for (const [ms, contract] of [
    [0, 2],
    [20, 0],
  ] as const) {
    clock.agenda.at(ms, Rank.arrival, () => population.arrive(contract));
  }
  clock.run();
  expect(transport.told).toEqual(['0 open/0 j1 to 2', '20 open/0 j2 to 0']);
});

it('kinds of clients share arrivals by weight, within what chance allows', () => {
  const { population } = stage([
    { kind: 'open', share: 3 },
    { kind: 'obedient', share: 1 },
    { kind: 'retrying', share: 0 },
    { kind: 'closed', count: 5, think: '1s' },
  ]);
  for (let n = 0; n < 800; n += 1) population.arrive(0);
  const jobs = Object.fromEntries(population.figures().map(({ kind, jobs: n }) => [kind, n]));
  expect({ ...jobs, isFair: Math.abs(jobs['open']! - 600) < 3.3 * Math.sqrt(800 * 0.75 * 0.25) }).toEqual({
    all: 800,
    open: jobs['open'],
    obedient: 800 - jobs['open']!,
    retrying: 0,
    closed: 0,
    isFair: true,
  });
});

it('one kind more does not move the draws of another', () => {
  const spec: ClientSpec = { kind: 'closed', count: 3, think: { law: 'exponential', mean: '1s' } };
  const asked = (specs: ClientSpec[]) => {
    const { clock, transport, population } = stage(specs);
    population.begin();
    clock.run({ untilMs: 5000 });
    return transport.told.filter((line) => line.includes('closed/')).map((line) => line.replace(/ j\d+/, ''));
  };
  const other: ClientSpec = { kind: 'closed', name: 'other', count: 2, think: { law: 'exponential', mean: '100ms' } };
  expect(asked([other, spec])).toEqual(asked([spec]));
});

it('clients of a fixed number are dealt to the contracts in turn, and closed ones ask theirs', () => {
  const { clock, transport, population } = stage([{ kind: 'closed', count: 5, think: '1s' }], { contracts: 2 });
  population.begin();
  clock.run({ untilMs: 1000 });
  expect(transport.told).toEqual([
    '1000 closed/0 j1 to 0',
    '1000 closed/1 j2 to 1',
    '1000 closed/2 j3 to 0',
    '1000 closed/3 j4 to 1',
    '1000 closed/4 j5 to 0',
  ]);
});

it('an arrival goes to one of the devices of its contract, each as likely', () => {
  const { transport, population } = stage([{ kind: 'holding', count: 5 }], { contracts: 2 });
  for (let n = 0; n < 3000; n += 1) population.arrive(0);
  for (let n = 0; n < 1000; n += 1) population.arrive(1);
  const items = (device: number) => transport.told.filter((line) => line.includes(`holding/${device} `)).length;
  const byDevice = [0, 1, 2, 3, 4].map(items);
  const isFair = (seen: number, of: number, p: number) => Math.abs(seen - of * p) < 3.3 * Math.sqrt(of * p * (1 - p));
  expect({
    first: byDevice[0]! + byDevice[2]! + byDevice[4]!,
    second: byDevice[1]! + byDevice[3]!,
    fair: [0, 2, 4].every((device) => isFair(byDevice[device]!, 3000, 1 / 3)) && isFair(byDevice[1]!, 1000, 1 / 2),
  }).toEqual({ first: 3000, second: 1000, fair: true });
});

it('devices hear of their own contract only, and only if they listen', () => {
  const { clock, population } = stage(
    [{ kind: 'holding', count: 3 }, { kind: 'holding', name: 'deaf', count: 2, listens: false }, { kind: 'open' }],
    { contracts: 2 },
  );
  const states = () => {
    clock.run();
    return [...population.clients()].map(({ id, state }) => `${id} ${state.at}`);
  };
  population.moved(0, false);
  const limited = states();
  population.moved(0, true);
  expect([limited, states()]).toEqual([
    ['holding/0 holding', 'holding/1 passing', 'holding/2 holding', 'deaf/0 passing', 'deaf/1 passing'],
    ['holding/0 passing', 'holding/1 passing', 'holding/2 passing', 'deaf/0 passing', 'deaf/1 passing'],
  ]);
});

it('devices flush in the instant of the restore, but only after its announcement is done', () => {
  const { clock, transport, population } = stage([{ kind: 'holding', count: 1 }]);
  clock.agenda.at(5, Rank.arrival, () => population.moved(0, false));
  clock.agenda.at(6, Rank.arrival, () => population.arrive(0));
  clock.agenda.at(7, Rank.advance, () => {
    population.moved(0, true);
    transport.told.push('announced');
  });
  clock.run();
  expect(transport.told).toEqual(['announced', '7 holding/0 j1 to 0']);
});

it('figures come as the sum first, then kind by kind, and leave out what was born in the warm-up', () => {
  const { clock, population } = stage([{ kind: 'open' }, { kind: 'retrying', timeout: '5ms', share: 0 }], {
    fromMs: 100,
  });
  for (const ms of [50, 99, 100, 150]) clock.agenda.at(ms, Rank.arrival, () => population.arrive(0));
  clock.run({ untilMs: 1100 });
  const none = { jobs: 0, attempts: 0, retries: 0, succeeded: 0, given_up: 0, dropped: 0, abandoned: 0 };
  const taken = (what: string) => `${what}; HDR histogram of microseconds, 3 significant digits; mean and max exact`;
  const ten = { n: 2, mean: 10, p50: 10, p90: 10, p99: 10, p999: 10, max: 10 };
  const both = {
    ...none,
    // The job of 99 is not counted, but it is served at 109: goodput goes by the time of serving.
    ...{ clients: 2, jobs: 2, attempts: 2, succeeded: 2, retry_amplification: 1, goodput_per_second: 3 },
    job_latency_ms: { ...ten, taken: taken('from the first attempt until served') },
    attempt_latency_ms: { ...ten, taken: taken('from an attempt sent to it served, abandoned ones left out') },
  };
  const silent = {
    clients: 0,
    retry_amplification: 0,
    goodput_per_second: 0,
    job_latency_ms: null,
    attempt_latency_ms: null,
  };
  expect(population.figures()).toEqual([
    { kind: 'all', ...both },
    { kind: 'open', ...both },
    { kind: 'retrying', ...none, ...silent },
  ]);
});

it('every job ends once: of those born, as many succeeded, were given up or dropped as are no longer under way', () => {
  const kinds: ClientSpec[] = [
    { kind: 'open', timeout: '40ms' },
    { kind: 'obedient', max_attempts: 2, timeout: '30ms' },
    { kind: 'retrying', timeout: '20ms', backoff: { policy: 'full_jitter', base: '10ms' }, takes_late_answers: true },
    { kind: 'holding', count: 3, buffer: 2, flush: { batch: 1, spread: '30ms', jitter: true } },
    { kind: 'closed', count: 2, think: { law: 'exponential', mean: '50ms' }, timeout: '25ms' },
  ];
  forAll([fc.nat()], { numRuns: 15 }, (seed) => {
    const clock = new VirtualClock(0, 777);
    const chance = new RandomStream(seed, 'transport');
    const under = new Set<number>();
    const transport: Transport = {
      send(attempt) {
        under.add(attempt.job.number);
        const u = chance.uniform();
        const type = (['served', 'failed', 'lost'] as const)[chance.integer(0, 2)]!;
        const answer = u < 0.3 ? { type: 'limited' as const, retryAfterMs: 20 } : { type };
        clock.agenda.at(clock.now() + chance.integer(0, 60), Rank.service, () => attempt.answer(answer));
      },
      abandon() {},
    };
    const population = populationOf(kinds, transport, clock, { draws: drawsOf(seed) });
    population.begin();
    for (let ms = 0; ms < 1000; ms += 3) clock.agenda.at(ms, Rank.arrival, () => population.arrive(0));
    for (let ms = 100; ms < 1000; ms += 200) {
      clock.agenda.at(ms, Rank.arrival, () => population.moved(0, false));
      clock.agenda.at(ms + 100, Rank.arrival, () => population.moved(0, true));
    }
    clock.run({ untilMs: 3000 });
    const { jobs, succeeded, given_up, dropped } = population.figures()[0]!;
    // Only the two closed clients go on for ever; either may be waiting for an answer.
    const open = [...population.clients()].filter(({ id, state }) => id.startsWith('closed') && state.at === 'asking');
    const [all, ...each] = population.figures();
    const sum = each.reduce((total, { jobs: n }) => total + n, 0);
    expect({ ended: succeeded + given_up + dropped, all: all!.jobs }).toEqual({
      ended: jobs - open.length,
      all: sum,
    });
  });
});

it('the same seed gives the same run; another seed another', () => {
  const spec: ClientSpec = { kind: 'closed', count: 4, think: { law: 'exponential', mean: '1s' } };
  const run = (seed: number) => {
    const { clock, transport, population } = stage([spec], { seed });
    population.begin();
    clock.run({ untilMs: 20_000 });
    return JSON.stringify([transport.told, population.figures()]);
  };
  const told = run(1);
  expect(run(1)).toBe(told);
  expect(run(2)).not.toBe(told);
});
