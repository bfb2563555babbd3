// The rows of client libraries, each held to the library itself: the library against a local server that refuses, and the row against
// the same refusals in the model. Attempts are the same, and every wait lies between those of the model where chance is lowest and highest.
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { DynamoDBClient, ListTablesCommand } from '@aws-sdk/client-dynamodb';
import { credentials, loadPackageDefinition, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { DefaultRateLimiter, StandardRetryStrategy } from '@smithy/core/retry';
import axios from 'axios';
import axiosRetry from 'axios-retry';
import got from 'got';
import ky from 'ky';
import OpenAI from 'openai';
import pRetry from 'p-retry';
// @ts-expect-error It has no types.
import superagent from 'superagent';
import { Agent, RetryAgent, request } from 'undici';
import { afterAll, afterEach, beforeAll, describe, expect, it, vi } from 'vitest';
import { RandomStream } from '../../../src/core/math/random.js';
import { valueFaults } from '../../../src/core/schema/value-faults.js';
import type { ServiceAnswer } from '../../../src/harness/clients/behaviour.js';
import { cubic } from '../../../src/harness/clients/client-gates.js';
import { ClientSpec } from '../../../src/harness/clients/client-schema.js';
import { type ClientLibrary, clientLibraries, type LibraryName } from '../../../src/harness/clients/libraries.js';
import { tries } from '../../draws.js';
import { type Call, type Refusal, RefusingServer } from './library-runs.js';
import { against, failed, limited } from './scripted.js';

const dynamo = (url: string, more: object = {}) =>
  new DynamoDBClient({
    endpoint: url,
    region: 'eu-central-1',
    credentials: { accessKeyId: 'key', secretAccessKey: 'secret' },
    ...more,
  });

const listTables = (client: DynamoDBClient) => client.send(new ListTablesCommand({}));

async function thrown(url: string): Promise<void> {
  const response = await fetch(url);
  await response.text();
  if (!response.ok) throw new Error(`status ${response.status}`);
}

const calls = {
  // DynamoDB has defaults of its own; those of the others are given to it.
  'aws-sdk-2026': (url) => listTables(dynamo(url, { retryStrategy: new StandardRetryStrategy(3) })),
  'aws-dynamodb-2026': (url) => listTables(dynamo(url)),
  undici: async (url) => (await request(url, { dispatcher: new RetryAgent(new Agent()) })).body.dump(),
  got: (url) => got(url),
  ky: (url) => ky(url),
  'axios-retry'(url) {
    const client = axios.create();
    axiosRetry(client);
    return client.get(url);
  },
  'axios-retry-exponential'(url) {
    const client = axios.create();
    axiosRetry(client, { retryDelay: axiosRetry.exponentialDelay });
    return client.get(url);
  },
  'p-retry': (url) => pRetry(() => thrown(url)),
  openai: (url) => new OpenAI({ apiKey: 'key', baseURL: url }).models.list(),
  superagent: (url) => superagent.get(url).retry(3) as Promise<unknown>,
} satisfies Partial<Record<LibraryName, Call>>;

const refusals: readonly Refusal[] = [
  503,
  500,
  429,
  'reset',
  { status: 429, retryAfter: 0 },
  { status: 429, retryAfter: 3 },
  { status: 429, retryAfter: 20 },
  { status: 429, retryAfter: 120 },
];

function answerTo(refusal: Refusal): ServiceAnswer {
  if (refusal === 'reset') return { type: 'lost' };
  if (typeof refusal === 'object') return limited(refusal.retryAfter * 1000);
  return refusal === 429 ? limited() : failed;
}

/** The least and the longest waits of the model: a jitter either shortens them or lengthens them. */
function modelled(like: LibraryName, refusal: Refusal): (readonly [low: number, high: number])[] {
  const [some, others] = [0, 1 - 2 ** -53].map((uniform) => {
    const { sent } = against(() => answerTo(refusal), { like }, { uniform });
    return sent.slice(1).map(({ ms }, n) => ms - sent[n]!.ms);
  });
  return some!.map((ms, n) => [Math.min(ms, others![n]!), Math.max(ms, others![n]!)]);
}

let server: RefusingServer;

beforeAll(async () => {
  server = await RefusingServer.listen();
});

afterEach(() => vi.useRealTimers());
afterAll(() => server.close());

it('every row is a valid client', () => {
  const rows = Object.keys(clientLibraries).map((like) => [like, valueFaults(ClientSpec, { like })]);
  expect(rows.filter(([, faults]) => faults!.length > 0)).toEqual([]);
});

describe.each(Object.entries(calls) as [LibraryName, Call][])('%s', (like, call) => {
  it.each(refusals)('the waits after %j lie between those of the model', async (refusal) => {
    const waits = await server.waits(call, refusal);
    const laws = modelled(like, refusal);
    // Timers of the libraries are in whole ms.
    const within = waits.map((ms, n) => ms >= laws[n]![0] - 1 && ms <= laws[n]![1] + 1);
    expect({ waits, laws, within }).toEqual({ waits, laws, within: laws.map(() => true) });
  });

  const jitter = modelled(like, 503);

  it.runIf(jitter.some(([low, high]) => high > low + 1))('the mean of the waits is that of the law', async () => {
    const runs = tries(60);
    const sums = jitter.map(() => 0);
    for (let run = 0; run < runs; run += 1) {
      for (const [n, ms] of (await server.waits(call, 503)).entries()) sums[n]! += ms;
    }
    // Uniform laws; half a ms is cut off.
    const errors = jitter.map(([low, high], n) => {
      const deviation = (high - low) / Math.sqrt(12 * runs);
      return (sums[n]! / runs - (low + high) / 2) / Math.max(deviation, 1);
    });
    expect(errors.filter((error) => Math.abs(error) > 3.8)).toEqual([]);
  });
});

it('50 failing jobs of one client make 85 attempts under the quota of AWS, as in the model', async () => {
  const client = dynamo(server.url, { retryStrategy: new StandardRetryStrategy(3) });
  await server.waits(async () => {
    for (let job = 0; job < 50; job += 1) await listTables(client).catch(() => undefined);
  }, 503);
  const jobsMs = Array.from({ length: 50 }, (_, n) => n * 60_000);
  const { sent } = against(() => failed, { like: 'aws-sdk-2026' }, { jobsMs });
  expect([server.atMs.length, sent.length]).toEqual([85, 85]);
});

it('the rate limiter of the adaptive mode of AWS sends at the same instants as the model', async () => {
  const startMs = 1_700_000_000_000;
  const draw = new RandomStream(3, 'throttled');
  const throttled = Array.from({ length: 400 }, () => draw.uniform() < 0.1);
  vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: startMs });
  const theirs: number[] = [];
  const limiter = new DefaultRateLimiter();
  // As real timers: at least 1 ms.
  DefaultRateLimiter['setTimeoutFn'] = (wake: () => void, ms: number) => setTimeout(wake, Math.max(1, ms));
  const all = (async () => {
    for (const isThrottled of throttled) {
      await limiter.getSendToken();
      theirs.push(Date.now() - startMs);
      await new Promise((resolve) => setTimeout(resolve, 20));
      limiter.updateClientSendingRate(isThrottled ? { errorType: 'THROTTLING' } : {});
    }
  })();
  await vi.runAllTimersAsync();
  await all;
  const gate = cubic(startMs);
  const end = { after: undefined, heldMs: 20 };
  const ours: number[] = [];
  let nowMs = startMs;
  for (const isThrottled of throttled) {
    for (let answer = gate.enter(nowMs, draw); answer.type === 'again'; answer = gate.enter(nowMs, draw)) {
      // Timers of theirs are in whole ms, at least 1.
      nowMs += Math.max(1, Math.floor(answer.ms));
    }
    ours.push(nowMs - startMs);
    nowMs += 20;
    gate.ended?.({ ...end, type: isThrottled ? 'limited' : 'served', nowMs });
  }
  expect(ours).toEqual(theirs);
});

/** In real time: waits are never shorter than the law says; a busy machine makes them longer. */
const PATIENCE_MS = 2000;

it('gRPC makes as many attempts at each call as the model, and as late, until throttling ends its retries', async () => {
  const attempts: number[] = [];
  const grpc = new Server();
  const none = () => Buffer.alloc(0);
  const method = {
    path: '/test.Test/Call',
    requestStream: false,
    responseStream: false,
    requestSerialize: none,
    requestDeserialize: none,
    responseSerialize: none,
    responseDeserialize: none,
  };
  grpc.addService(
    { Call: method },
    {
      Call(_: unknown, answer: (error: object) => void) {
        attempts.push(performance.now());
        answer({ code: status.UNAVAILABLE });
      },
    },
  );
  const port = await new Promise<number>((resolve, reject) => {
    grpc.bindAsync('127.0.0.1:0', ServerCredentials.createInsecure(), (error, bound) =>
      error === null ? resolve(bound) : reject(error),
    );
  });
  const { max_attempts: maxAttempts, retry_quota: quota } = (clientLibraries.grpc as ClientLibrary).client;
  const Client = loadPackageDefinition({ Test: { Call: method } } as never)['Test'] as never as new (
    ...given: unknown[]
  ) => { Call(message: object, done: (error: unknown) => void): void; close(): void };
  const client = new Client(`127.0.0.1:${port}`, credentials.createInsecure(), {
    'grpc.service_config': JSON.stringify({
      methodConfig: [
        {
          name: [{}],
          retryPolicy: {
            maxAttempts,
            initialBackoff: '0.1s',
            maxBackoff: '1s',
            backoffMultiplier: 2,
            retryableStatusCodes: ['UNAVAILABLE'],
          },
        },
      ],
      retryThrottling: { maxTokens: quota!.capacity, tokenRatio: 0.1 },
    }),
  });
  const made: number[] = [];
  // Chance at its lowest, as in the model below.
  const chance = vi.spyOn(Math, 'random').mockReturnValue(0);
  for (let job = 0; job < 4; job += 1) {
    const before = attempts.length;
    await new Promise<void>((resolve) => client.Call({}, () => resolve()));
    made.push(attempts.length - before);
  }
  chance.mockRestore();
  client.close();
  grpc.forceShutdown();
  const { sent } = against(() => failed, { like: 'grpc' }, { jobsMs: [0, 10_000, 20_000, 30_000], uniform: 0 });
  expect(made).toEqual([1, 2, 3, 4].map((job) => sent.filter((one) => one.job === job).length));
  const waits = (atMs: readonly number[]) => atMs.slice(1, made[0]).map((ms, n) => ms - atMs[n]!);
  const laws = waits(sent.map(({ ms }) => ms));
  const seen = waits(attempts);
  const isLate = seen.map((ms, n) => ms >= laws[n]! - 5 && ms <= laws[n]! + PATIENCE_MS);
  expect({ seen, laws, isLate }).toEqual({ seen, laws, isLate: laws.map(() => true) });
});

it.each<[like: LibraryName, file: string, args: (url: string) => string[]]>([
  ['curl', 'curl', (url) => ['-s', '--retry', '3', url]],
  [
    'urllib3',
    'python3',
    (url) => [
      '-c',
      `import urllib3\nretries = urllib3.Retry(5, backoff_factor=0.2, status_forcelist=[503])\ntry: urllib3.PoolManager().request('GET', '${url}', retries=retries)\nexcept urllib3.exceptions.MaxRetryError: pass`,
    ],
  ],
])('%s, as a process, waits as long as the model', async (like, file, args) => {
  server.refuse(503);
  await promisify(execFile)(file, args(server.url));
  const expected = modelled(like, 503).map(([low]) => low);
  const isLate = server.gaps.map((ms, n) => ms >= expected[n]! - 5 && ms <= expected[n]! + PATIENCE_MS);
  expect({ gaps: server.gaps, isLate }).toEqual({ gaps: server.gaps, isLate: expected.map(() => true) });
});
