// The library: what a program that embeds Weir gets. Each part is specified where it is made; here is what they promise together.
import { lastValueFrom } from 'rxjs';
import { expect, it } from 'vitest';
import {
  type ArrivalFunction,
  type Behaviour,
  compare,
  createLimiter,
  decide,
  Failure,
  type Job,
  type LimiterOptions,
  type LoadedScenario,
  limiterDefinition,
  load,
  parseScenario,
  rateLimiter,
  type ScenarioObject,
  type Step,
  simulate,
  simulate$,
  startNode,
  verifyRecord,
} from '../src/weir.js';
import { Holder } from './node/caller.js';

it.each<[what: string, options: object, calls: [ms: number, n?: number][], decisions: string[]]>([
  [
    'admits up to the threshold in a window, and says when there is room again',
    { threshold: 2, within: 3, cycleMs: 1000 },
    [[0], [1000], [1500], [3999], [4000]],
    ['1 allowing 1 0', '1 allowing 0 2000', '0 limiting 0 2500', '0 limiting 0 1', '1 allowing 0 2000'],
  ],
  [
    'decides on several requests at once, one after the other',
    { threshold: 5, within: 10, cycleMs: 100 },
    [
      [0, 8],
      [1000, 3],
      [1000, 0],
    ],
    ['5 limiting 0 1000', '3 allowing 2 0', '0 allowing 2 0'],
  ],
  [
    'never goes back in time',
    { threshold: 1, within: 2, cycleMs: 100 },
    [[500], [0], [700]],
    ['1 allowing 0 200', '0 limiting 0 700', '1 allowing 0 200'],
  ],
  ['takes a time as its window', { threshold: 1, within: '1s', cycleMs: 100 }, [[0]], ['1 allowing 0 1000']],
  [
    'limits for the whole time of its window',
    { threshold: 1, within: '10s' },
    [[0], [9_999], [30_000]],
    ['1 allowing 0 10000', '0 limiting 0 9501', '1 allowing 0 10000'],
  ],
])('a limiter %s', (_, options, calls, decisions) => {
  const limiter = createLimiter(options);
  const told = calls.map(([ms, n]) => limiter.decide(ms, n));
  expect(
    told.map(({ admitted, state, remaining, retryAfterMs }) => `${admitted} ${state} ${remaining} ${retryAfterMs}`),
  ).toEqual(decisions);
});

it('a limiter decides as nginx does, and says how long a request is held', () => {
  const limiter = createLimiter({ like: 'nginx', rate: '10r/s', burst: 1 });
  const told = [0, 0, 0, 100].map((ms) => limiter.decide(1_699_999_200_000 + ms));
  expect(told).toEqual([
    { admitted: 1, state: 'allowing', remaining: 1, retryAfterMs: 0, delayMs: 0 },
    { admitted: 1, state: 'allowing', remaining: 0, retryAfterMs: 100, delayMs: 100 },
    { admitted: 0, state: 'limiting', remaining: 0, retryAfterMs: 100, delayMs: 0 },
    { admitted: 1, state: 'allowing', remaining: 0, retryAfterMs: 100, delayMs: 100 },
  ]);
  expect(() => createLimiter({ like: 'nginx', rate: 10 })).toThrow(/rate must be a string/);
});

it('a definition is made of the words of a limit, and never of a field that no limiter has', () => {
  expect(limiterDefinition('5 in 10s', 1000)).toEqual(limiterDefinition({ threshold: 5, within: '10s' }, 1000));
  expect(limiterDefinition('5 in 10s')).toEqual(limiterDefinition('5 in 10s', 777));
  expect(() => limiterDefinition({ treshold: 5 }, 1000)).toThrow(/treshold.*"threshold"/);
  expect(() => decide('5 in 10s' as never)).toThrow(/must be an object/);
});

it.each<[given: string, same: object]>([
  ['5 in 10s', { threshold: 5, within: '10s' }],
  ['100 in 60 cycles', {}],
  ['nginx 10r/s burst=5', { like: 'nginx', rate: '10r/s', burst: 5 }],
  ['gcra 10/s burst=3', { primitive: 'gcra', params: { T_ms: 100, tau_ms: 300 } }],
  [
    '3 in 1s and 5 in 10s',
    {
      and: [
        { threshold: 3, within: '1s' },
        { threshold: 5, within: '10s' },
      ],
    },
  ],
])('a limiter takes the words of --limit: %s', (words, same) => {
  const decided = [words, { limit: words }, same].map((options) => {
    const limiter = createLimiter(options as LimiterOptions);
    return Array.from({ length: 200 }, (_, n) => limiter.decide(1_699_999_200_000 + 61 * n, 1 + (n % 2)));
  });
  expect(decided[0]!.some(({ admitted }) => admitted === 0)).toBe(true);
  expect(decided.slice(1)).toEqual([decided[0], decided[0]]);
});

it.each<[call: string, body: () => unknown, place: string]>([
  ['threshold 0', () => createLimiter({ threshold: 0 }), '/threshold'],
  ['within 0', () => createLimiter({ within: 0 }), '/within'],
  ['within a word', () => createLimiter({ within: 'soon' }), '/within'],
  ['a field that no window has', () => createLimiter({ tresholds: 5 } as never), '/tresholds'],
  ['a field that no product has', () => createLimiter({ like: 'nginx', rate: '1r/s', bursts: 5 }), '/bursts'],
  ['words and fields', () => createLimiter({ limit: '5 in 1s', threshold: 5 } as never), '/threshold'],
  ['words that are none', () => createLimiter({ limit: 5 } as never), '/limit'],
  ['a number', () => createLimiter(5 as never), '/limit'],
  ['a parameter that the template does not have', () => rateLimiter({ tresholds: 5 } as never), '/tresholds'],
  ['half a request', () => createLimiter().decide(0, 0.5), '/n'],
  ['no time', () => createLimiter().decide(Number.NaN), '/nowMs'],
])('a limiter refuses %s', (_, body, place) => {
  expect(placesOf(body)).toEqual([expect.stringMatching(/^invalid_(input|definition)$/), place]);
});

it('createLimiter says which field was meant', () => {
  expect(() => createLimiter({ treshold: 5 } as never)).toThrow(/threshold/);
});

const question = 'How many?';

it.each([undefined, {}, { duration: 3 }, 'burst.yaml'])('a scenario not loaded is refused: %j', async (given) => {
  const scenario = given as unknown as LoadedScenario;
  const failure = expect.objectContaining({ code: 'invalid_input', fix: expect.stringContaining('loadScenario') });
  for (const run of [
    async () => simulate(scenario),
    async () => lastValueFrom(simulate$(scenario)),
    () => load(scenario),
  ])
    await expect(run()).rejects.toEqual(failure);
});

it('parseScenario makes of an object the scenario of the same text', async () => {
  const scenario: ScenarioObject = { question, duration: 20, seed: 3, arrivals: [{ model: 'poisson', rate: 4 }] };
  const [fromObject, fromText] = [parseScenario(scenario), parseScenario(JSON.stringify(scenario))];
  expect((await simulate(fromObject)).outcome).toEqual((await simulate(fromText)).outcome);
});

it('parseScenario takes functions as arrivals, with chance that follows from the seed', async () => {
  const arrivals: ArrivalFunction[] = [(cycle) => (cycle === 2 ? 5 : 0), (_, random) => Math.floor(3 * random())];
  const run = async (seed: number) =>
    (await simulate(parseScenario({ question, duration: 50, seed, arrivals }))).totals;
  const rows = async (seed: number) => [...(await run(seed)).rows()].map(({ cycle, requests }) => [cycle, requests]);
  expect(await rows(1)).toEqual(await rows(1));
  expect(await rows(1)).not.toEqual(await rows(2));
  expect(Object.fromEntries(await rows(1))['2']).toBeGreaterThanOrEqual(5);
});

it('a scenario keeps its functions where a cycle has another length', async () => {
  const scenario = parseScenario({ question, duration: 10, arrivals: [() => 2] }).at(100);
  expect((await simulate(scenario)).outcome.requests).toBe(20);
});

it.each<[what: string, scenario: ScenarioObject, places: string[]]>([
  ['a field that is none', { question, arivals: [] } as never, ['/arivals']],
  ['functions without an end', { question, arrivals: [() => 1] }, ['/duration']],
])('parseScenario refuses %s with its place', (_, scenario, places) => {
  expect(placesOf(() => parseScenario(scenario))).toEqual(['invalid_input', ...places]);
});

it.each([-1, 0.5, Number.NaN, 10_000_001])('a run refuses a function that returns %d', async (n) => {
  const scenario = parseScenario({ question, duration: 5, arrivals: [() => n] });
  await expect(simulate(scenario)).rejects.toMatchObject({
    code: 'invalid_input',
    faults: [{ path: '/arrivals/0' }],
  });
});

it('parseScenario takes clients whose behaviour is a function', async () => {
  type State = { readonly at: 'idle' } | { readonly at: 'asking'; readonly job: Job };
  const once: Behaviour<State> = {
    initial: { at: 'idle' },
    on(state, event): Step<State> {
      if (event.type === 'job')
        return [{ at: 'asking', job: event.job }, [{ type: 'send', job: event.job, number: 1 }]];
      if (state.at === 'idle' || !('attempt' in event) || event.type === 'late') return [state, []];
      const ending = event.type === 'served' ? 'succeeded' : 'given_up';
      return [{ at: 'idle' }, [{ type: 'finish', job: state.job, ending }]];
    },
  };
  const clientsOf = async (client: NonNullable<ScenarioObject['clients']>[number]) => {
    const arrivals = [{ model: 'counts' as const, counts: [5, 0, 5] }];
    const scenario = { question, duration: 3, limiter: { threshold: 4, within: 3 }, arrivals, clients: [client] };
    return (await simulate(parseScenario(scenario))).outcome.clients;
  };
  const figures = await clientsOf({ kind: 'custom', name: 'once', share: 2, ...once });
  expect(figures?.[1]).toMatchObject({ kind: 'once' });
  expect(figures).toEqual(await clientsOf({ kind: 'open', name: 'once', share: 2 }));
});

it.each<[what: string, client: object, place: string]>([
  ['without a function', { initial: { at: 'idle' } }, '/clients/0/kind'],
  ['without a state to begin in', { on: () => [] }, '/clients/0/kind'],
  ['with a share out of range', { initial: { at: 'idle' }, on: () => [], share: -1 }, '/clients/0/share'],
])('parseScenario refuses a client %s', (_, client, place) => {
  const clients = [{ kind: 'custom', ...client }] as unknown as ScenarioObject['clients'];
  const scenario = { question, duration: 3, arrivals: [() => 1], clients };
  expect(placesOf(() => parseScenario(scenario))).toEqual(['invalid_input', place]);
});

it('a run passes on what a function throws', async () => {
  const broken = () => {
    throw new RangeError('no such cycle');
  };
  const scenario = parseScenario({ question, duration: 5, arrivals: [broken] });
  await expect(simulate(scenario)).rejects.toThrow(new RangeError('no such cycle'));
});

const run = (counts: number[], threshold = 3) =>
  simulate(
    parseScenario({
      question: 'How many?',
      limiter: { threshold, within: 2 },
      duration: 5,
      drain: 0,
      arrivals: [{ model: 'counts', counts }],
    }),
  );

it('compare finds nothing between two runs that are the same', async () => {
  expect(compare(await run([2, 0, 1]), await run([2, 0, 1]))).toEqual([]);
});

it('compare names cycle, contract and figure of each difference; counts and states where they begin to differ', async () => {
  const differences = compare(await run([2, 1, 0, 4]), await run([2, 2, 0, 4]));
  expect(
    differences.map((one) => `${one.cycle} ${one.contract} ${one.figure} ${one.predicted} ${one.observed}`),
  ).toEqual(['1 all requests 1 2', '1 all count 3 4', '1 all state allowing limiting']);
});

it('a node in this process answers, and its record holds against its key and no other', async () => {
  const [node, other] = [await startNode({ cycleMs: 100 }), await startNode()];
  const owner = await Holder.minted(node.url);
  await owner.createMachine('edge');
  const record = await owner.exported('edge');
  const found = [
    await verifyRecord(record, node.fingerprint),
    await verifyRecord(record),
    await verifyRecord(record, undefined, { allowUnpinned: true }),
    await verifyRecord(record, node.fingerprint, { checkpoint: record }),
    await verifyRecord(record.split('\n').slice(0, 0).join(), node.fingerprint, { checkpoint: record }),
    await verifyRecord(inPieces(record), node.fingerprint),
    await verifyRecord(record, other.fingerprint),
    await verifyRecord(record.replace('edge', 'hedge'), node.fingerprint),
  ];
  await Promise.all([node.close(), other.close()]);
  expect(found.map(({ valid, checkpoint, first_broken }) => [valid, checkpoint?.pinned, first_broken?.check])).toEqual([
    [true, true, undefined],
    [false, false, 'key'],
    [true, false, undefined],
    [true, true, undefined],
    [false, undefined, 'tail'],
    [true, true, undefined],
    [false, undefined, 'key'],
    [false, undefined, 'hash'],
  ]);
  await expect(fetch(node.url)).rejects.toThrow();
});

async function* inPieces(text: string): AsyncGenerator<string> {
  for (let at = 0; at < text.length; at += 7) yield text.slice(at, at + 7);
}

/** The code of a refusal, and the places of its faults. */
function placesOf(body: () => unknown): string[] {
  try {
    body();
    return [];
  } catch (error) {
    if (!(error instanceof Failure)) throw error;
    return [error.code, ...error.faults.map(({ path }) => path)];
  }
}
