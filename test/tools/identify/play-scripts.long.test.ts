// A program under test that makes no call: which failure says why.
import { type ChildProcess, spawn } from 'node:child_process';
import { expect, it } from 'vitest';
import { drawsOf } from '../../../src/core/math/random.js';
import {
  type ClientInvestigation,
  investigateClient,
} from '../../../src/tools/identify/client/client-investigation.js';
import { playScripts } from '../../../src/tools/identify/client/play-scripts.js';

const { signal } = new AbortController();
const policy = () => investigateClient(drawsOf(1)('identify client'));

const play = (
  command: readonly string[] | undefined,
  timeMs = 20_000,
  investigation = policy(),
  onReady = (_: string) => {},
) => playScripts(investigation, { port: 0, command, timeMs, signal, onReady, onProgress: () => {} });

/** The words of a program that is this text. */
const program = (source: string) => [process.execPath, '--input-type=module', '-e', source, '{url}'];

it.each([
  [
    ['no-such-program-here', '{url}'],
    {
      code: 'wrong_usage',
      what: 'no-such-program-here cannot be started.',
      why: 'There is no such program, or it may not be run.',
    },
  ],
  [[process.execPath, '-e', 'process.exit(3)'], { code: 'answer_unreadable', why: 'It ended with exit code 3.' }],
  [
    [process.execPath, '-e', 'console.error("no key"); process.exit(1)'],
    { code: 'answer_unreadable', why: 'It ended with exit code 1. It said: no key' },
  ],
])('a program that makes no call fails with the reason: %j', async (command, failure) => {
  await expect(play(command)).rejects.toMatchObject(failure);
});

it.each([
  ['', true],
  ['/job-', false],
])('calls of one start can be separated where their paths differ: path %j', async (path, isMixed) => {
  const source = `for (let i = 0; i < 3; i += 1) await (await fetch(\`\${process.argv[1]}${path === '' ? '' : `${path}\${i}`}\`)).text();`;
  expect((await play(program(source), 4_000)).isMixed).toBe(isMixed);
});

it('a retry after a timeout of the program is no new call, though a late answer would have served it', async () => {
  const source = `for (;;) {
    const answer = await fetch(process.argv[1], { signal: AbortSignal.timeout(400) }).catch(() => undefined);
    if (answer?.ok) break;
  }`;
  const { calls, isMixed } = await play(program(source), 6_000);
  const held = calls.filter(({ attempts: [one] }) => one!.hungUp);
  expect(held.map(({ attempts }) => attempts.length)).toEqual([2]);
  expect(isMixed).toBe(false);
});

const grpc = `const { Client, credentials } = await import('@grpc/grpc-js');
const url = new URL(process.argv[1]);
const client = new Client(url.host, credentials.createInsecure());
client.makeUnaryRequest('/a.B/c', String, String, '', () => {});`;
const http2 = "(await import('node:http2')).connect(process.argv[1]).on('error', () => {}).request({ ':path': '/' });";
const tls = "(await import('node:https')).get(process.argv[1].replace('http:', 'https:')).on('error', () => {});";

// Both with a program that Weir starts, and with one that it waits for.
it.each([
  ['HTTP/2', http2],
  ['HTTP/2', grpc],
  ['TLS', tls],
])('a program that speaks %s is told so', async (protocol, source) => {
  const failure = { code: 'answer_unreadable', what: `The program speaks ${protocol} to the port.` };
  await expect(play(program(source))).rejects.toMatchObject(failure);
  let child: ChildProcess | undefined;
  const waiting = play(undefined, 20_000, policy(), (url) => {
    child = spawn(process.execPath, [...program(source).slice(1, -1), url], {
      stdio: 'ignore',
      cwd: import.meta.dirname,
    });
  });
  await expect(waiting).rejects.toMatchObject(failure);
  child?.kill();
});

it('the playing of scripts keeps time for a further reckoning: the last one ends before the time is over', async () => {
  const left: number[] = [];
  const reckoned = policy();
  function* slowly(): ClientInvestigation {
    for (let round = 0; round < 2; round += 1) {
      const { leftMs } = yield [{ name: 'served', replies: [{ status: 200 }], patienceMs: 100 }];
      left.push(leftMs);
      Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2_000);
    }
    let next = reckoned.next();
    while (next.done !== true)
      next = reckoned.next({ calls: [], leftMs: 0, timers: { averageMs: 0, oftenMs: 0 }, isOver: true });
    return next.value;
  }
  await play([process.execPath, '-e', 'fetch(process.argv[1])', '{url}'], 60_000, slowly());
  // One took two seconds, and two such are kept.
  expect(left[0]! - left[1]!).toBeGreaterThan(6_000);
});
