// The run as operators: what comes out of streams of requests, and when.
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lastValueFrom, map, type Observable, of, tap, toArray } from 'rxjs';
import { TestScheduler } from 'rxjs/testing';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import type { CycleRow } from '../../../src/harness/outcome/cycle-row.js';
import { RunFold } from '../../../src/harness/outcome/run-fold.js';
import { replay } from '../../../src/harness/simulate/replay.js';
import { simulate, simulate$ } from '../../../src/harness/simulate/simulate.js';
import {
  countsByCycle,
  decide,
  replay$,
  rollingWindow,
  type StreamedRequest,
  type WindowCounts,
} from '../../../src/harness/simulate/stream.js';
import type { CycleCounts } from '../../../src/harness/traffic/requests.js';
import { failureIn } from '../../failures.js';
import { temporaryFolder } from '../../left-behind.js';
import { read } from '../scenario/reading.js';

/** Cycles of 10 ms. A letter is a request: a to z in cycles 0 to 25; capitals have the key B. */
const letters = Object.fromEntries(
  Array.from({ length: 26 }, (_, cycle): [string, StreamedRequest][] => [
    [String.fromCharCode(97 + cycle), { at: 10 * cycle + 3 }],
    [String.fromCharCode(65 + cycle), { at: 10 * cycle + 7, key: 'B' }],
  ]).flat(),
);

type Texts = Readonly<Record<string, string>>;

/** Holds what comes of requests, drawn as marbles, against a drawing. */
function drawn(
  line: string,
  through: (requests: Observable<StreamedRequest>) => Observable<string>,
  marbles: string,
  texts: Texts,
) {
  const scheduler = new TestScheduler((actual, expected) => expect(actual).toEqual(expected));
  scheduler.run(({ cold, expectObservable }) => {
    expectObservable(through(cold(line, letters))).toBe(marbles, texts);
  });
}

const counted = ({ cycle, keys, contracts, requests }: CycleCounts) =>
  `${cycle}: ${[...contracts].map((k, i) => `${keys[k]} ${requests[i]}`).join(', ')}`;
const inWindow = ({ cycle, keys, contracts, counts }: WindowCounts) =>
  `${cycle}: ${[...contracts].map((k, i) => `${keys[k]} ${counts[i]}`).join(', ')}`;
const decided = ({ cycle, run, contracts, requests, limited, counts, states }: CycleRow) =>
  `${cycle}: ${[...contracts]
    .map((k, i) => `${run.names[k]} ${requests[i]}-${limited[i]} =${counts[i]} ${run.states[states[i]!]!.name}`)
    .join(', ')}`;

const byCycle = { cycleMs: 10, lateMs: 0 };

it('countsByCycle emits a cycle when a later one has begun, and the rest at the end', () =>
  drawn('aab-d|', (requests) => requests.pipe(countsByCycle(byCycle), map(counted)), '--x-y(z|)', {
    x: '0: all 2',
    y: '1: all 1',
    z: '3: all 1',
  }));

it('countsByCycle takes requests that are late by lateMs, and counts keys apart', () =>
  drawn('abAc|', (requests) => requests.pipe(countsByCycle({ cycleMs: 10, lateMs: 10 }), map(counted)), '---x(yz|)', {
    x: '0: all 1, B 1',
    y: '1: all 1',
    z: '2: all 1',
  }));

it('rollingWindow also emits the cycles in which requests leave', () =>
  drawn('a-c|', (requests) => requests.pipe(countsByCycle(byCycle), rollingWindow(2), map(inWindow)), '--x(yz|)', {
    x: '0: all 1',
    y: '2: all 1',
    z: '4: all 0',
  }));

it('decide gives the row of a cycle as soon as its counts are known, and drains at the end', () =>
  drawn(
    'aaab---|',
    (requests) =>
      requests.pipe(
        countsByCycle(byCycle),
        decide(rateLimiter({ threshold: 2, within: 2 }), { cycleMs: 10 }),
        map(decided),
      ),
    '---x---(yzw|)',
    {
      x: '0: all 3-1 =3 limiting',
      y: '1: all 1-1 =4 limiting',
      z: '2: all 0-0 =1 allowing',
      w: '3: all 0-0 =0 allowing',
    },
  ));

const definition = rateLimiter({ threshold: 3, within: 5 });
// Three clients, some requests a second out of order, and a silence in the middle.
const requests = Array.from({ length: 4_000 }, (_, k) => ({
  at: 1_700_000_000_000 + 97 * k - (k % 7 === 0 ? 1_000 : 0) + (k > 2_000 ? 900_000 : 0),
  key: `client ${(k * k) % 3}`,
}));
const rowsOf = (stream: Observable<CycleRow>) => lastValueFrom(stream.pipe(map(decided), toArray()));

it('replay$ gives what a replay of the same requests as a log gives', async () => {
  const path = join(temporaryFolder(), 'log.csv');
  writeFileSync(path, `t,key\n${requests.map(({ at, key }) => `${at},${key}`).join('\n')}\n`);
  const { outcome, timeline, totals } = await replay([path], {
    name: 'log',
    cycleMs: 777,
    plan: planContract(definition),
    log: { timeColumn: 't', keyColumn: 'key' },
  });
  let fold: RunFold | undefined;
  await lastValueFrom(
    replay$(requests, definition).pipe(
      map((row) => {
        fold ??= new RunFold(row.run);
        fold.next(row);
      }),
    ),
  );
  const { by_contract, reactions, ...figures } = fold!.figures(outcome.last_cycle!, 100);
  expect(outcome).toMatchObject(figures);
  expect({ by_contract, reactions }).toEqual({ by_contract: outcome.by_contract, reactions: outcome.reactions });
  expect([[...fold!.timeline!.rows()], [...fold!.totals.rows()]]).toEqual([[...timeline!.rows()], [...totals.rows()]]);
  expect(outcome.limited).toBeGreaterThan(0);
});

it('replay$ takes an array, an Observable or an AsyncIterable, and times as numbers, dates or texts', async () => {
  async function* slowly() {
    for (const { at, key } of requests) yield { at: new Date(at), key };
  }
  const texts = requests.map(({ at, key }) => ({ at: new Date(at).toISOString(), key }));
  const rows = await rowsOf(replay$(requests, definition));
  expect(await rowsOf(replay$(of(...texts), definition))).toEqual(rows);
  expect(await rowsOf(replay$(slowly(), definition))).toEqual(rows);
  expect(await rowsOf(replay$([...requests].reverse(), definition))).toHaveLength(rows.length);
});

it.each<[rule: string, given: StreamedRequest[], code: string]>([
  ['a request of a cycle that was emitted', [{ at: 0 }, { at: 100_000 }, { at: 0 }], 'event_too_old'],
  ['a time that cannot be read', [{ at: 'yesterday' }], 'invalid_input'],
  ['a request without a time', [{ time: 0 } as unknown as StreamedRequest], 'invalid_input'],
  ['a count that is none', [{ at: 0, n: 0 }], 'invalid_input'],
])('%s is an error in words', async (_, given, code) => {
  const failure = await failureIn(lastValueFrom(replay$(of(...given), definition)));
  expect([failure?.code, failure?.why]).toEqual([code, expect.any(String)]);
});

it('what an operator on the rows throws ends the stream, and is an error of it', async () => {
  const failing = replay$(requests, definition).pipe(
    tap(({ totals }) => {
      if (totals.limited > 0) throw new Error('of the operator');
    }),
  );
  await expect(lastValueFrom(failing)).rejects.toThrow('of the operator');
});

it('simulate$ has the rows that the outcome of simulate is made of; each subscription is a run', async () => {
  const scenario = read(
    'question: Q?\nduration: 300\nlimiter: { threshold: 20, within: 10 }\ncontracts: { count: 3 }\narrivals:\n  - { model: poisson, rate: 7 }\n',
  );
  const { outcome } = await simulate(scenario);
  for (const stream of [simulate$(scenario), simulate$(scenario)]) {
    const rows = await lastValueFrom(stream.pipe(toArray()));
    const fold = new RunFold(rows[0]!.run);
    rows.forEach(fold.next);
    expect(fold.figures(outcome.last_cycle!, 100)).toMatchObject({
      requests: outcome.requests,
      limited: outcome.limited,
      by_contract: outcome.by_contract,
    });
  }
});
