// The page of a machine with twenty contracts, over minutes: frames, processor time of its thread, memory after a forced collection.
// WEIR_PAGE_MINUTES says how long it is watched: 12 of them in `npm run marathon`, of which the first eight fill the history that a page keeps.
// What was measured is written to the standard error.
import type { CDPSession, Page } from 'playwright-core';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { pause } from '../../src/core/time/wall.js';
import { inChromium } from '../chromium.js';
import { type Serving, serve } from '../cli/command-line.js';
import { Holder } from './caller.js';
import { openPage } from './node-page.js';

const CONTRACTS = 20;
const MINUTES = Number(process.env['WEIR_PAGE_MINUTES'] ?? 0.2);
const CYCLE_MS = 777;
/** Processor time of the page's thread, of each second: that of some frames. */
const MOST_TASK_MS = 150;

inChromium('twenty contracts on a page', (browser) => {
  let node: Serving;
  let traffic: Promise<void>;
  let isOver = false;

  beforeAll(async () => {
    node = await serve(['--store', 'memory', '--log-level', 'error', '--cycle-ms', String(CYCLE_MS)]);
    const owner = await Holder.minted(node.url);
    await owner.createMachine('twenty', true);
    for (let n = 0; n < CONTRACTS; n += 1) await owner.deploy('twenty', { threshold: 20 + 10 * n, within: 10 + n });
    traffic = (async () => {
      // Each event counts on every contract of the machine.
      for (let n = 0; !isOver; n += 1) {
        const count = 1 + Math.floor(8 + 8 * Math.sin(n / 15));
        await owner.event('twenty', { count });
        await pause(CYCLE_MS / 2);
      }
    })();
  });
  afterAll(async () => {
    isOver = true;
    await traffic;
  });

  it('a page of twenty contracts is drawn at little cost, and keeps no more at the end than at the beginning', async () => {
    const { page, complaints } = await openPage(browser, `${node.url}/m/twenty`);
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('.chart canvas').first().waitFor();
    const session = await page.context().newCDPSession(page);
    await session.send('Performance.enable', { timeDomain: 'threadTicks' });
    const first = await watched(page, session, Math.max(MINUTES - 4, MINUTES / 2));
    const second = await watched(page, session, Math.min(4, MINUTES / 2));
    process.stderr.write(`${JSON.stringify({ minutes: MINUTES, first, second }, undefined, 1)}\n`);
    expect(complaints).toEqual([]);
    expect(second.taskMsPerSecond).toBeLessThan(MOST_TASK_MS);
    expect(second.nodes).toBeLessThan(first.nodes + 500);
    expect(second.heapMb).toBeLessThan(first.heapMb + 3);
  });
});

/** Watches for a while, and collects the garbage at its end. */
async function watched(page: Page, session: CDPSession, minutes: number) {
  const metrics = async () => {
    const found = await session.send('Performance.getMetrics');
    return Object.fromEntries(found.metrics.map(({ name, value }) => [name, value]));
  };
  await page.evaluate(`{
    const frames = (window.frames_ = { last: performance.now(), times: [], goes: true });
    const next = (now) => { frames.times.push(now - frames.last); frames.last = now; if (frames.goes) requestAnimationFrame(next); };
    requestAnimationFrame(next);
  }`);
  const before = await metrics();
  await page.waitForTimeout(minutes * 60_000);
  const after = await metrics();
  const times: number[] = await page.evaluate(`(window.frames_.goes = false, window.frames_.times.slice(1))`);
  await page.evaluate(`delete window.frames_`);
  // What is just being drawn is up to 5 MB: the least of some.
  const heaps: number[] = [];
  for (let n = 0; n < 8; n += 1) {
    await session.send('HeapProfiler.collectGarbage');
    heaps.push((await session.send('Runtime.getHeapUsage')).usedSize);
    await page.waitForTimeout(700);
  }
  const { nodes } = await session.send('Memory.getDOMCounters');
  const seconds = after['Timestamp']! - before['Timestamp']!;
  const share = (name: string) => Math.round((1e6 * (after[name]! - before[name]!)) / seconds) / 1e3;
  const sum = times.reduce((all, one) => all + one, 0);
  return {
    fps: Math.round((1e4 * times.length) / sum) / 10,
    late: times.filter((ms) => ms > 25).length,
    frames: times.length,
    longestMs: Math.round(Math.max(...times)),
    taskMsPerSecond: share('TaskDuration'),
    scriptMsPerSecond: share('ScriptDuration'),
    layoutMsPerSecond: share('LayoutDuration'),
    styleMsPerSecond: share('RecalcStyleDuration'),
    heapMb: Math.round(Math.min(...heaps) / 1e4) / 100,
    nodes,
  };
}
