// The recent history of contracts, in virtual time; and the counts of a stream, by a node.
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { HISTORY_CYCLES } from '../../src/api/contract-history.js';
import { rateLimiter } from '../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../src/core/limiter/validate.js';
import { boundsOf } from '../../src/node/bounds.js';
import { ContractHistories, type Watched } from '../../src/node/contract-histories.js';
import { figuresOf, type Sampled, type Samples } from '../../src/node/counting/counting.js';
import { LocalSamples } from '../../src/node/counting/local/counting.js';
import { defaultLimits } from '../../src/node/limits.js';
import { forAll } from '../draws.js';
import { codeOf } from '../failures.js';
import { virtualHost } from './host/virtual-host.js';
import { Listening } from './listening.js';
import { startRunning } from './running.js';

const CYCLE_MS = 100;
const FIRST = 1_000;

function newsOf(histories: ContractHistories, watched: Watched): string | undefined {
  for (const steps = histories.news(watched); ; ) {
    const { value, done } = steps.next();
    if (done) return value;
  }
}

function watched({ most = 4 } = {}) {
  const { clock, host, runTo } = virtualHost(FIRST, undefined, CYCLE_MS);
  const make = (samples: Samples = new LocalSamples(host)) => {
    const watchedContracts = { perOwner: most, onNode: most, share: 1 / 2 };
    const bounds = boundsOf(clock, { ...defaultLimits, watchedContracts });
    return new ContractHistories(host, samples, bounds.watchedContracts);
  };
  const histories = make();
  const contract = (threshold = 2, within = 3) => host.createContract('m', rateLimiter({ threshold, within }));
  const keyed = () =>
    host.createContract('m', rateLimiter({ threshold: 1, within: 3 }), undefined, {
      maxKeys: 8,
      idleCycles: 100,
      overflow: 'refuse',
    });
  const to = (cycle: number) => runTo(FIRST + cycle);
  const count = (of: ReturnType<typeof contract>, n: number) => host.contract(of.id).decide(n, clock.cycle());
  /** What a new reader of a contract is told. */
  const told = (one: ReturnType<typeof contract>, of = histories) =>
    JSON.parse(newsOf(of, of.watch([one], undefined))!);
  return { clock, host, histories, make, contract, keyed, to, count, told };
}

it('the history of a contract has each cycle once, as it was when it was over', () => {
  const { histories, contract, to, count } = watched();
  const one = contract();
  const reader = histories.watch([one], undefined);
  for (const [cycle, n] of [
    [0, 1],
    [1, 2],
    [2, 0],
    [3, 0],
    [4, 0],
    [5, 1],
  ] as const) {
    to(cycle);
    if (n > 0) count(one, n);
  }
  to(6.5);
  expect(JSON.parse(newsOf(histories, reader)!)).toEqual([
    {
      id: one.id,
      from_cycle: FIRST,
      //       cycle 0  1  2  3  4  5
      count: /*    */ [1, 3, 3, 2, 0, 1],
      admitted: /* */ [1, 1, 0, 0, 0, 1],
      limited: /*  */ [0, 1, 0, 0, 0, 0],
      entries: /*  */ [0, 1, 0, 0, 0, 0],
      restores: /* */ [0, 0, 0, 1, 0, 0],
      limiting: /* */ [0, 1, 1, 0, 0, 0],
      state: /*    */ ['allowing', 'limiting', 'limiting', 'allowing', 'allowing', 'allowing'],
    },
  ]);
  expect(newsOf(histories, reader)).toBeUndefined();
  to(7.5);
  expect(JSON.parse(newsOf(histories, reader)!)).toMatchObject([{ from_cycle: FIRST + 6, count: [1] }]);
});

it('a history takes what an event of the next cycle finds, before it is counted', () => {
  const { clock, histories, contract, to, count } = watched();
  const one = contract(5, 1);
  const reader = histories.watch([one], undefined);
  count(one, 3);
  to(0.99);
  // The event comes before the clock has told anybody of the cycle.
  one.decide(2, clock.cycle() + 1);
  to(2.5);
  expect(JSON.parse(newsOf(histories, reader)!)).toMatchObject([{ count: [3, 2], admitted: [3, 2] }]);
});

it('a history begins with the contract, and not when a stream first asks for it', () => {
  const { contract, to, count, told } = watched();
  const one = contract();
  count(one, 2);
  to(3.5);
  expect(told(one)).toMatchObject([{ from_cycle: FIRST, count: [2, 2, 2], admitted: [2, 0, 0] }]);
});

it('a history begins with the node for contracts that are there already', () => {
  const { histories, make, contract, to, count, told } = watched({ most: 2 });
  const one = contract();
  const later = make();
  count(one, 1);
  to(2.5);
  expect([histories.size, later.size]).toEqual([1, 1]);
  expect(told(one, later)).toMatchObject([{ count: [1, 1] }]);
});

it('the history of a contract with keys is limiting while a key is, whatever the contract itself does', () => {
  const { clock, keyed, to, told } = watched();
  const one = keyed();
  one.decide(1, clock.cycle(), 0, 'a');
  to(1);
  one.decide(1, clock.cycle(), 0, 'a');
  to(6.5);
  expect(one.admits).toBe(true);
  expect(told(one)).toMatchObject([
    { limited: [0, 1, 0, 0, 0, 0], limiting: [0, 1, 1, 0, 0, 0], limited_keys: [0, 1, 1, 0, 0, 0] },
  ]);
});

it('the history of a contract with a candidate says what that would have limited', () => {
  const { host, clock, keyed, to, told } = watched();
  const one = keyed();
  const candidate = planContract(rateLimiter({ threshold: 1, within: 100 }));
  to(1.2);
  [...host.changeContract(one, { candidate })];
  to(2.2);
  for (const name of ['a', 'a', 'a']) one.decide(1, clock.cycle(), 0, name);
  to(3.5);
  const [history] = told(one);
  expect(history.would_limit).toEqual([null, null, 2]);
});

it('a history ends with its contract', () => {
  const { host, histories, contract, to } = watched();
  const one = contract();
  to(1.5);
  host.deleteContract(one);
  to(3.5);
  expect(histories.size).toBe(0);
});

it('a history without requests makes room for a new contract; that of a contract that counts stays', () => {
  const { histories, contract, to, count } = watched({ most: 2 });
  const busy = contract();
  contract();
  for (let cycle = 0; cycle <= HISTORY_CYCLES + 1; cycle += 300) {
    to(cycle);
    count(busy, 1);
  }
  to(HISTORY_CYCLES + 2);
  const [newer, newest] = [contract(), contract()];
  expect([busy, newer, newest].map(({ id }) => histories.has(id))).toEqual([true, true, false]);
});

it('a history goes back a bounded number of cycles, and is there for a reader that comes back', () => {
  const { histories, contract, to } = watched();
  const one = contract();
  const first = histories.watch([one], undefined);
  to(5.5);
  histories.leave(first);
  const again = histories.watch([one], FIRST + 2);
  expect(JSON.parse(newsOf(histories, again)!)).toMatchObject([{ from_cycle: FIRST + 3, count: [0, 0] }]);
  to(2 * HISTORY_CYCLES);
  expect(JSON.parse(newsOf(histories, again)!)[0].count.length).toBe(HISTORY_CYCLES);
});

it('a history says of each cycle what it was given, however seldom that changes', () => {
  const figure = fc.oneof({ weight: 9, arbitrary: fc.constant(1) }, { weight: 1, arbitrary: fc.nat({ max: 3 }) });
  const steps = fc.array(
    fc.record({ gap: fc.oneof({ weight: 200, arbitrary: fc.constant(0) }, fc.nat(2)), count: figure }),
    {
      minLength: 1,
      maxLength: 3 * HISTORY_CYCLES,
      size: 'max',
    },
  );
  forAll([steps, fc.boolean()], (all, isBusy) => {
    const { make, contract, told } = watched();
    const one = contract();
    let history: Sampled | undefined;
    const samples = { mostUnwatched: 1, begin: (begun: Sampled) => (history = begun), end: () => {} };
    const histories = make(samples);
    history!.begin(figuresOf({ admitted: 0, limited: 0, entries: 0, restores: 0 }));
    let expected: number[] = [];
    let cycle = FIRST - 1;
    all.forEach(({ gap, count }, index) => {
      cycle += 1 + gap;
      if (gap > 0) expected = [];
      expected = [...expected, isBusy ? index : count].slice(-HISTORY_CYCLES);
      history!.take(cycle, figuresOf({ count: expected.at(-1)! }));
    });
    const [{ from_cycle, count }] = told(one, histories);
    expect([from_cycle, count]).toEqual([cycle - expected.length + 1, expected]);
  });
});

it('histories are bounded for a stream, a network of addresses, and all; one in no stream makes room', () => {
  const { histories, contract } = watched();
  const [a, b, c, d, e] = [contract(), contract(), contract(), contract(), contract()];
  const ab = histories.watch([a, b], undefined, 'one network');
  expect(codeOf(() => histories.watch(Array(25).fill(c), undefined, 'one network'))).toBe('invalid_input');
  // A network of addresses has half of what others leave.
  expect(codeOf(() => histories.watch([c], undefined, 'one network'))).toBe('node_overloaded');
  expect(codeOf(() => histories.watch([a], undefined, 'one network'))).toBe('done');
  expect(codeOf(() => histories.watch([c], undefined, 'another'))).toBe('done');
  // What others leave is less now than the network has: it gets no more, and loses nothing.
  expect(codeOf(() => histories.watch([a], undefined, 'one network'))).toBe('done');
  expect(codeOf(() => histories.watch([d], undefined, 'a third'))).toBe('node_overloaded');
  histories.leave(ab);
  expect(codeOf(() => histories.watch([e], undefined, 'a third'))).toBe('done');
  expect(histories.size).toBe(4);
});

const node = await startRunning({ cycleMs: 50 });
const owner = node.owner();
await owner.createMachine('seen', true);

/** The counts of cycle after cycle, until there are enough. */
async function counts(
  query: string,
  isEnough: (found: readonly { admitted: number }[]) => boolean,
  onOpen: () => void = () => {},
): Promise<{ cycle: number; admitted: number }[]> {
  const listening = await Listening.to(node, `/api/chain/seen/stream?${query}`);
  onOpen();
  const found: { cycle: number; admitted: number }[] = [];
  for (let message = 0; message === 0 || !isEnough(found); message += 1) {
    const [{ from_cycle, admitted }] = (await listening.next('counts', message)).data.data.contracts;
    found.push(...admitted.map((value: number, index: number) => ({ cycle: from_cycle + index, admitted: value })));
  }
  listening.close();
  return found;
}

it('a stream of counts gives each cycle once, adds up to what was decided, and goes on after a cycle', async () => {
  // Only now: the tests before this one may take as long as a history goes back.
  const id = await owner.deploy('seen');
  const sumOf = (all: readonly { admitted: number }[]) => all.reduce((sum, { admitted }) => sum + admitted, 0);
  let reading = Promise.resolve<Awaited<ReturnType<typeof counts>>>([]);
  await new Promise<void>((opened) => {
    reading = counts(`counts=${id}`, (all) => all.length >= 8 && sumOf(all) >= 15, opened);
  });
  let sent = 0;
  for (let n = 1; n <= 5; n += 1) {
    await owner.post('/api/chain/seen/event', { type: 'request', count: n });
    sent += n;
  }
  const found = await reading;
  const cycles = found.map(({ cycle }) => cycle);
  expect(cycles).toEqual(cycles.map((_, index) => cycles[0]! + index));
  expect(sumOf(found)).toBe(sent);
  const later = found.slice(5);
  const resumed = await counts(`counts=${id}&after_cycle=${cycles[4]}`, (all) => all.length >= later.length);
  expect(resumed.slice(0, later.length)).toEqual(later);
});

// biome-ignore format: one case a line
it.each([
  ['a contract that is not there', 'counts=none', 404, 'contract_not_found'],
  ['more than a stream may have', `counts=${Array.from({ length: 200 }, (_, n) => `contract-number-${n}`)}`, 400, 'invalid_input'],
])('a stream is refused the counts of %s', async (_, query, status, code) => {
  const answer = await node.ask('GET', `/api/chain/seen/stream?${query}`);
  expect([answer.status, answer.body.code]).toEqual([status, code]);
});
