import fc from 'fast-check';
import Value from 'typebox/value';
import { expect, it } from 'vitest';
import { RandomStream } from '../../../src/core/math/random.js';
import { constant, type TimeLaw } from '../../../src/core/math/time-law.js';
import { Bug } from '../../../src/core/schema/failure.js';
import { Rank } from '../../../src/core/time/rank.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import { planService, type ServicePlan, ServiceSpec } from '../../../src/harness/scenario/service-plan.js';
import { Service, type Visit } from '../../../src/harness/simulate/service.js';
import { forAll } from '../../draws.js';
import { read } from '../scenario/reading.js';
import { run } from './running.js';
import { servicePlan } from './service-plan.js';

/** Service times as they are told, one after the other. */
const inTurn = (times: readonly number[]): TimeLaw => {
  let next = 0;
  return { drawMs: () => times[next++]! };
};

const plan = (given: Partial<ServicePlan> = {}) => servicePlan({ time: constant(10), ...given });

/** What happens in a service, as text; a request is named by the instant at which it comes. */
class Stage {
  readonly clock = new VirtualClock(0, 777);
  readonly told: string[] = [];
  readonly service: Service<string>;
  readonly #visits = new Map<string, Visit<string>>();

  constructor(given: Partial<ServicePlan>, fromMs = 0, slowUntilMs = 0) {
    this.service = new Service({
      clock: this.clock,
      plan: plan(given),
      draw: new RandomStream(1, 'service'),
      onEnd: (work, isServed) => this.told.push(`${this.clock.now()} ${work} ${isServed ? 'served' : 'failed'}`),
      speed: () => (this.clock.now() < slowUntilMs ? 0.2 : 1),
      fromMs,
    });
  }

  get counted() {
    const { counts, waiting, busy } = this.service;
    const nowMs = this.clock.now();
    return { ...counts, waitingMs: waiting.areaMs(nowMs), busyMs: busy.areaMs(nowMs) };
  }

  offerAt(...instants: readonly number[]): this {
    for (const ms of instants) {
      this.clock.agenda.at(ms, Rank.arrival, () => {
        const visit = this.service.offer(`r${ms}`);
        if (visit === undefined) this.told.push(`${ms} r${ms} refused`);
        else this.#visits.set(`r${ms}`, visit);
      });
    }
    return this;
  }

  /** `0 12 r0@15`: requests at 0 and 12 ms; the first is abandoned at 15. */
  play(requests: string): this {
    for (const one of requests.split(' ')) {
      const [work = '', ms] = one.split('@');
      if (ms === undefined) this.offerAt(Number(work));
      else this.clock.agenda.at(Number(ms), Rank.client, () => this.service.abandon(this.#visits.get(work)!));
    }
    return this;
  }

  /** What is served has no word of its own. */
  get words(): string {
    return this.told.join(', ').replaceAll(' served', '');
  }

  run(untilMs?: number): this {
    this.clock.run(untilMs === undefined ? {} : { untilMs });
    return this;
  }
}

// biome-ignore format: one case a line
it.each<[rule: string, plan: Partial<ServicePlan>, requests: string, told: string]>([
  ['what finds the queue full is refused', { queue: 1 }, '0 1 2 11 12', '2 r2 refused, 10 r0, 12 r12 refused, 20 r1, 30 r11'],
  ['without a queue, what finds all servers busy is refused',
    { servers: 2, queue: 0 }, '0 1 2 10', '2 r2 refused, 10 r10 refused, 10 r0, 11 r1'],
  ['a service that takes no time serves in the same instant, later', { time: constant(0) }, '5', '5 r5'],
  ['lifo takes the last one first', { order: 'lifo' }, '0 1 2 3', '10 r0, 20 r3, 30 r2, 40 r1'],
  ['lifo passes over those that were abandoned', { order: 'lifo', dropsAbandoned: true }, '0 1 2 3 25 r3@5 r1@6', '10 r0, 20 r2, 35 r25'],
  ['adaptive lifo is fifo until the queue has not been empty for the interval',
    { order: 'adaptive_lifo', intervalMs: 15 }, '0 1 2 3 4 5', '10 r0, 20 r1, 30 r5, 40 r4, 50 r3, 60 r2'],
  ['a deadline fails what has waited for longer when its turn comes',
    { deadlineMs: 12 }, '0 1 2 25', '10 r0, 20 r1, 20 r2 failed, 35 r25'],
  ['codel lets requests wait for the interval, and for the target once the queue lasts',
    { codelMs: 5, intervalMs: 25 }, '0 1 2 3 28 60', '10 r0, 20 r1, 30 r2, 30 r3 failed, 40 r28, 70 r60'],
  ['a refusal is work for a server', { queue: 1, refusalMs: 3 }, '0 1 2 4', '2 r2 refused, 4 r4 refused, 10 r0, 26 r1'],
  ['work is longer by a part for each other request in service', { servers: 3, perInFlightMs: 2 }, '0 1 2', '10 r0, 13 r1, 16 r2'],
])('%s', (_rule, given, requests, told) => {
  expect(new Stage(given).play(requests).run().words).toBe(told);
});

it('work that begins in a slow time takes longer', () => {
  expect(new Stage({}, 0, 5).play('0 1').run().words).toBe('50 r0, 60 r1');
});

it('every request is served as a plain recursion says: it begins when it has come and a server is free', () => {
  const requests = fc.array(fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 30 })), {
    maxLength: 60,
  });
  forAll([requests, fc.integer({ min: 1, max: 4 })], (given, servers) => {
    let at = 0;
    const free = new Array<number>(servers).fill(0);
    const ends: string[] = [];
    const clock = new VirtualClock(0, 777);
    const told: string[] = [];
    const service = new Service<number>({
      clock,
      plan: plan({ servers, time: inTurn(given.map(([, ms]) => ms)) }),
      draw: new RandomStream(1, 'service'),
      onEnd: (n) => told.push(`${n} at ${clock.now()}`),
    });
    given.forEach(([gapMs, ms], n) => {
      at += gapMs;
      clock.agenda.at(at, Rank.arrival, () => service.offer(n));
      const first = free.indexOf(Math.min(...free));
      free[first] = Math.max(at, free[first]!) + ms;
      ends.push(`${n} at ${free[first]}`);
    });
    clock.run();
    expect(told.sort()).toEqual(ends.sort());
  });
});

// biome-ignore format: one case a line
it.each<[rule: string, plan: Partial<ServicePlan>, requests: string, told: string, counts: object]>([
  ['that nobody waits for is served all the same, and counted as wasted',
    {}, '0 1 2 r1@5', '10 r0, 20 r1, 30 r2', { arrived: 3, served: 3, dropped: 0, wasted: 1, waitingMs: 9 + 18, busyMs: 30 }],
  ['that is dropped leaves its place in the queue, and what is being served goes on', { queue: 2, dropsAbandoned: true },
    '0 1 2 6 r0@4 r1@5', '10 r0, 20 r2, 30 r6', { arrived: 4, served: 3, dropped: 1, wasted: 1, waitingMs: 4 + 8 + 14, busyMs: 30 }],
  ['that is dropped leaves an empty queue where there is nothing else', { dropsAbandoned: true },
    '0 1 2 50 r1@3 r2@3', '10 r0, 60 r50', { arrived: 4, served: 2, dropped: 2, wasted: 0, waitingMs: 2 + 1, busyMs: 20 }],
])('abandoned work %s', (_rule, given, requests, told, counts) => {
  const { words, counted } = new Stage(given).play(requests).run();
  expect([words, counted]).toEqual([told, { refused: 0, failed: 0, ...counts }]);
});

const given = fc.record({
  servers: fc.integer({ min: 1, max: 3 }),
  queue: fc.constantFrom(0, 1, 5, Number.POSITIVE_INFINITY),
  dropsAbandoned: fc.boolean(),
  requests: fc.array(
    fc.record({
      gapMs: fc.integer({ min: 0, max: 15 }),
      ms: fc.integer({ min: 0, max: 30 }),
      patienceMs: fc.integer({ min: 1, max: 60 }),
    }),
    { maxLength: 80 },
  ),
  stopMs: fc.integer({ min: 0, max: 800 }),
});

it('what arrived is at any instant served, refused, dropped, waiting or being served', () => {
  forAll([given], ({ requests, stopMs, ...rest }) => {
    const { clock, service } = crowd(rest, requests);
    clock.run({ untilMs: stopMs });
    const { arrived, served, refused, dropped } = service.counts;
    expect(served + refused + dropped + service.waiting.value + service.busy.value).toBe(arrived);
  });
});

it('the number inside, summed over time, is the time inside, summed over requests (J. D. C. Little, 1961)', () => {
  forAll([given], ({ requests, ...rest }) => {
    const { clock, service, insideMs } = crowd(rest, requests);
    clock.run();
    const nowMs = clock.now();
    expect(service.waiting.areaMs(nowMs) + service.busy.areaMs(nowMs)).toBe(insideMs.sum);
  });
});

/** Requests that lose patience; the time each spends inside is summed. All times are whole, so sums are exact. */
function crowd(
  rest: Pick<ServicePlan, 'servers' | 'queue' | 'dropsAbandoned'>,
  requests: readonly { gapMs: number; ms: number; patienceMs: number }[],
) {
  const clock = new VirtualClock(0, 777);
  const insideMs = { sum: 0 };
  const gone = new Set<number>();
  let at = 0;
  const service = new Service<{ n: number; atMs: number }>({
    clock,
    plan: servicePlan({ ...rest, time: inTurn(requests.map(({ ms }) => ms)) }),
    draw: new RandomStream(1, 'service'),
    onEnd: ({ n, atMs }) => {
      gone.add(n);
      insideMs.sum += clock.now() - atMs;
    },
  });
  requests.forEach(({ gapMs, patienceMs }, n) => {
    at += gapMs;
    const atMs = at;
    clock.agenda.at(atMs, Rank.arrival, () => {
      const visit = service.offer({ n, atMs });
      if (visit === undefined) return;
      clock.agenda.at(atMs + patienceMs, Rank.client, () => {
        if (gone.has(n)) return;
        const { dropped } = service.counts;
        service.abandon(visit);
        if (service.counts.dropped > dropped) insideMs.sum += patienceMs;
      });
    });
  });
  return { clock, service, insideMs };
}

it('figures of a service leave out what arrived in the warm-up, and measure queue and servers from its end', () => {
  const { service } = new Stage({ time: constant(20) }, 30).offerAt(0, 10, 30, 50).run(100);
  const both = (ms: number, what: string) => ({
    ...{ n: 2, mean: ms, p50: ms, p90: ms, p99: ms, p999: ms, max: ms },
    taken: `${what}; HDR histogram of microseconds, 3 significant digits; mean and max exact`,
  });
  expect(service.figures()).toEqual({
    ...{ arrived: 2, served: 2, refused: 0, dropped: 0, wasted: 0 },
    // Waiting: r30 from 30 to 40, r50 from 50 to 60. Busy: from 30 to 80.
    ...{ queue_mean: 20 / 70, queue_max: 1, busy_share: 50 / 70 },
    wait_ms: both(10, 'from arrival at the service to the beginning of its work'),
    response_ms: both(30, 'from arrival at the service to the end of its work'),
  });
});

it('figures of a service without requests are zeros, and it has no latencies', () => {
  const { service } = new Stage({}).run(100);
  expect(service.figures()).toEqual({
    ...{ arrived: 0, served: 0, refused: 0, dropped: 0, wasted: 0 },
    ...{ queue_mean: 0, queue_max: 0, busy_share: 0, wait_ms: null, response_ms: null },
  });
});

it.each([{ servers: 0 }, { queue: -1 }, { servers: Number.NaN }])('a service cannot be %o', (given) => {
  expect(() => new Stage(given)).toThrow(Bug);
});

it('answers of a service fail by chance, after the work', () => {
  const stage = new Stage({ fails: 0.3 }).offerAt(...Array.from({ length: 2000 }, (_, n) => 20 * n)).run();
  const failed = stage.told.filter((line) => line.endsWith('failed')).length;
  expect(Math.abs(failed - 600)).toBeLessThan(3.3 * Math.sqrt(2000 * 0.3 * 0.7));
  expect([stage.service.figures().failed, stage.service.figures().served]).toEqual([failed, 2000 - failed]);
});

it('every request ends once, in any order and with any deadline', () => {
  const given = fc.record({
    order: fc.constantFrom('fifo' as const, 'lifo' as const, 'adaptive_lifo' as const),
    servers: fc.integer({ min: 1, max: 3 }),
    queue: fc.constantFrom(0, 2, Number.POSITIVE_INFINITY),
    deadlineMs: fc.constantFrom(5, 20, Number.POSITIVE_INFINITY),
    codelMs: fc.constantFrom(3, undefined),
    intervalMs: fc.constantFrom(0, 10),
    fails: fc.constantFrom(0, 0.5),
  });
  const instants = fc.uniqueArray(fc.nat(200), { maxLength: 40 });
  forAll([given, instants], (one, at) => {
    const { told, service } = new Stage(one).offerAt(...at).run();
    const ended = told.map((line) => line.split(' ')[1]!).sort();
    expect([ended, service.waiting.value, service.busy.value]).toEqual([at.map((ms) => `r${ms}`).sort(), 0, 0]);
  });
});

it.each<[given: ServiceSpec, plan: Partial<ServicePlan> & { meanMs: number }]>([
  [{ time: '100ms' }, { servers: 1, queue: Number.POSITIVE_INFINITY, dropsAbandoned: false, meanMs: 100 }],
  [
    { servers: 4, time: { law: 'exponential', mean: 2 }, queue: 0, drop_abandoned: true },
    { servers: 4, queue: 0, dropsAbandoned: true, meanMs: 1554 },
  ],
])('a scenario says the plan of its service: %o', (given, expected) => {
  const { time, ...rest } = planService(given, 777);
  const meanMs = time.drawMs({ exponential: (rate) => 1 / rate } as RandomStream);
  expect([Value.Check(ServiceSpec, given), { ...rest, meanMs }]).toEqual([true, expect.objectContaining(expected)]);
});

it('a service time that makes no sense is refused with its place', () => {
  expect(() => planService({ time: 'soon' }, 777)).toThrow(
    expect.objectContaining({ faults: [expect.objectContaining({ path: '/service/time' })] }),
  );
});

const told = (retryAfter: string, client: string) =>
  run(`question: q?
cycle_ms: 100
limiter: none
duration: 20s
arrivals: [{ model: counts, counts: [3] }]
clients: [${client}]
service: { time: 1s, queue: 0${retryAfter} }`);

it.each([
  ['obeyed', '{ kind: obedient, max_attempts: 3 }', 3, 6, 6000],
  ['obeyed by a policy', '{ kind: retrying, retry_after: obey, backoff: { policy: none } }', 3, 6, 6000],
  ['ignored', '{ kind: retrying, backoff: { policy: geometric, base: 1500ms, factor: 1 } }', 3, 6, 3000],
])('the Retry-After of an answer that fails is %s', async (_, client, succeeded, attempts, lastMs) => {
  // One is served, two are told 3 s; the one that meets the other waits again.
  const { outcome } = await told(', retry_after: 2500ms', client);
  const [figures] = outcome.clients!;
  expect([figures!.succeeded, figures!.attempts]).toEqual([succeeded, attempts]);
  expect(figures!.job_latency_ms!.max).toBeGreaterThan(lastMs);
});

it('the Retry-After of answers that fail may be drawn from a law', async () => {
  const { outcome } = await told(', retry_after: { law: uniform, from: 1s, to: 9s }', '{ kind: obedient }');
  expect(outcome.clients![0]!.succeeded).toBe(3);
});

it('a Retry-After of a service that fails no request is refused', () => {
  const text =
    'question: q?\nduration: 10\narrivals: [{ model: constant, rate: 1 }]\nservice: { time: 1s, retry_after: 5s }';
  expect(() => read(text)).toThrow('fails no request');
});
