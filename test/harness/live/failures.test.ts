// What goes wrong on the way is said in words, with the right code, in bounded time, and accuses nobody.
import { createServer } from 'node:net';
import { expect, it } from 'vitest';
import type { LoadedScenario } from '../../../src/harness/scenario/load-scenario.js';
import { afterTest } from '../../left-behind.js';
import { freePort, loopback } from '../../loopback.js';
import { burst, run, scenario, steady, told } from './asking.js';
import { startSmallNode } from './wrong-node.js';

const CYCLE_MS = 50;

const node = (wrong = {}) => startSmallNode(CYCLE_MS, wrong);

/** A TCP service that does with each connection as told. */
async function tcp(serve: (write: (text: string) => void, end: () => void) => void): Promise<string> {
  const server = createServer((socket) => {
    socket.on('error', () => {});
    serve(
      (text) => socket.write(text),
      () => socket.destroy(),
    );
    afterTest(() => socket.destroy());
  });
  return (await loopback(server)).url;
}

const free = async () => `http://127.0.0.1:${await freePort()}`;
const foreign = scenario('duration: 2\ncycle_ms: 50\ntarget: {}\narrivals: [{ model: constant, rate: 1 }]');

// biome-ignore format: one case a line
it.each<[when: string, url: () => Promise<string>, code: string, asked?: LoadedScenario, timeoutMs?: number]>([
  ['nobody listens', free, 'node_unreachable'],
  ['a service without a clock of its own is not there either', free, 'node_unreachable', foreign],
  ['it says nothing', () => tcp(() => {}), 'node_unreachable', burst, 200],
  ['it hangs up', () => tcp((_, end) => end()), 'node_unreachable'],
  ['it speaks no HTTP', () => tcp((write) => write('220 mail.example ESMTP\r\n')), 'answer_unreadable'],
  ['it is another service', async () => `${(await node()).url}/elsewhere`, 'answer_unreadable'],
])('a target that is not there is reported when %s', async (_, url, code, asked = burst, timeoutMs) => {
  await expect(run(asked, { url: await url(), ...(timeoutMs && { timeoutMs }) })).rejects.toMatchObject({ code, exit: 5 });
});

it.each([
  ['http://192.0.2.1:8777', 'remote_not_allowed'],
  ['http://127.0.0.1.example:8777', 'remote_not_allowed'],
  ['ftp://127.0.0.1', 'wrong_usage'],
  ['127.0.0.1:8777', 'wrong_usage'],
  ['', 'wrong_usage'],
])('%s is refused with %s', async (url, code) => {
  await expect(run(burst, { url })).rejects.toMatchObject({ code, exit: 2 });
});

// biome-ignore format: one case a line
it.each([
  ['a service', 'service: { time: 10ms }', '/service'],
  ['a cost that is corrected at the end', 'service: { time: 10ms }\ncosts: { each: 5, charged: 0 }', '/costs/charged'],
  ['costs at another target', 'target: {}\ncosts: { each: 5 }', '/costs'],
  ['faults', 'faults: [{ kind: pause, from: 1, to: 2 }]', '/faults'],
])('%s cannot run live', async (_, text, path) => {
  const modelled = scenario(`duration: 5\narrivals: [{ model: constant, rate: 1 }]\n${text}`);
  await expect(run(modelled, {})).rejects.toMatchObject({ code: 'invalid_input', faults: [{ path }] });
});

it('a run is invalid when the node is killed in the middle, and every request is accounted for', async () => {
  const small = await node({ slowMs: 30 });
  let answered = 0;
  let isKilled = false;
  const result = await run(burst, {
    url: small.url,
    timeoutMs: 5_000,
    onCycle: ({ elapsed, admitted, limited }) => {
      answered += admitted + limited;
      // In the middle, also where the first answers take long: without any, the node was never there.
      if (isKilled || elapsed < 7 || answered === 0) return;
      isKilled = true;
      void small.kill();
    },
  });
  const { comparison, live } = told(result);
  const { observed } = result;
  expect({ verdict: comparison.verdict, reason: comparison.reason, partial: observed.outcome.partial }).toEqual({
    verdict: 'run invalid',
    reason: expect.stringContaining('went away'),
    partial: true,
  });
  expect(live.sent).toBe(live.answered + live.failed + live.timed_out);
});

it('a run that is stopped reports what was measured until then', async () => {
  const { url } = await node();
  const result = await steady(() => {
    const stopping = new AbortController();
    const onCycle = ({ elapsed }: { elapsed: number }) => {
      if (elapsed === 7) stopping.abort();
    };
    return run(burst, { url, signal: stopping.signal, onCycle });
  });
  const { comparison, live } = told(result);
  const { observed } = result;
  expect({ partial: observed.outcome.partial, verdict: comparison.verdict }).toEqual({
    partial: true,
    verdict: 'run invalid',
  });
  expect(live.sent).toBe(live.answered);
  expect(live.sent).toBeLessThan(18);
});

it('a run that is stopped before it began ends as stopped', async () => {
  const { url } = await node();
  await expect(run(burst, { url, signal: AbortSignal.abort() })).rejects.toMatchObject({ code: 'stopped' });
});

it('a run is invalid when its generator stands still', async () => {
  const { url } = await node();
  const onCycle = ({ elapsed }: { elapsed: number }) => {
    const untilMs = performance.now() + (elapsed === 4 ? 10 * CYCLE_MS : 0);
    while (performance.now() < untilMs);
  };
  const { comparison, live } = told(await run(burst, { url, onCycle }));
  expect(comparison.verdict).toBe('run invalid');
  expect(live.late).toBeGreaterThan(2);
});
