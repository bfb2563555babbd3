import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import type { RunScreen } from '../../src/web/watched.js';
import { inChromium } from '../chromium.js';
import { hiddenPixels, violations } from '../node/node-page.js';
import { begin, temporaryFolder, watchUrl } from './command-line.js';

function watching(...args: string[]) {
  const running = begin(args);
  return { ...running, url: watchUrl(running) };
}

it('is sent whole each time: a reader that comes again has neither hole nor double', async () => {
  const out = join(temporaryFolder(), 'report');
  const { url, child, ended } = watching('load', 'scenarios/burst.yaml', '--cycle-ms', '40', '--watch', '--out', out);
  const states = async (most: number) => {
    const stop = new AbortController();
    const answer = await fetch(`${await url}events`, { signal: stop.signal });
    const all: RunScreen[] = [];
    let text = '';
    for await (const chunk of answer.body!.pipeThrough(new TextDecoderStream())) {
      text += chunk;
      const parts = text.split('\n\n');
      text = parts.pop()!;
      all.push(...parts.map((part) => JSON.parse(part.replace(/^data: /, ''))));
      if (all.length >= most) break;
    }
    stop.abort();
    return all;
  };
  const first = await states(5);
  const second = await states(5);
  const [a, b] = [first.at(-1)!.running, second.at(-1)!.running];
  expect(b.requests.length).toBeGreaterThan(a.requests.length);
  expect(b.requests.slice(0, a.requests.length)).toEqual(a.requests);
  expect(second.at(-1)!.predicted!.requests).toHaveLength(300);
  child.kill('SIGINT');
  expect(await ended).toBe(130);
});

inChromium('the page of a run', (browser) => {
  /** No wider than the window, and nothing for axe to object to, in dark and light. */
  async function isReadable(page: Page) {
    expect(await hiddenPixels(page)).toBeLessThanOrEqual(0);
    for (const colorScheme of ['dark', 'light'] as const) {
      await page.emulateMedia({ colorScheme });
      expect(await violations(page)).toEqual([]);
    }
  }

  it('grows, holds names and contrast, and becomes the report, which needs no server any more', async () => {
    const out = join(temporaryFolder(), 'report');
    const { url, ended } = watching('load', 'scenarios/burst.yaml', '--cycle-ms', '60', '--watch', '--out', out);
    const page = await browser.newPage({ viewport: { width: 360, height: 800 } });
    const [asked, faults]: string[][] = [[], []];
    page.on('request', (request) => asked!.push(request.url()));
    page.on('console', (message) => message.type() === 'error' && faults!.push(message.text()));
    await page.goto(await url);
    await page.waitForSelector('[data-plot="limited"] canvas');
    await page.waitForSelector('.plain .good');
    await isReadable(page);
    await page.waitForURL(/\/report$/);
    await ended;
    expect(await page.innerText('h1')).toBe('burst');
    expect(await page.content()).toContain('Expectations');
    expect(
      asked!.filter((one) => !/^http:\/\/127\.0\.0\.1:\d+\/(events|report)?$/.test(one) && !one.startsWith('data:')),
    ).toEqual([]);
    expect(faults).toEqual([]);
    await page.close();
  });

  it('of a sweep is its heat map as cells come, and becomes the report with the same map', async () => {
    const out = join(temporaryFolder(), 'sweep');
    const axes = ['--set', 'limiter.threshold=40..120:8', '--set', 'limiter.within=20..80:10'];
    const more = ['--replications', '4', '--workers', '1', '--watch', '--out', out];
    const { url, ended } = watching('sweep', 'scenarios/herd.yaml', ...axes, ...more);
    const page = await browser.newPage({ viewport: { width: 360, height: 800 } });
    const faults: string[] = [];
    page.on('console', (message) => message.type() === 'error' && faults.push(message.text()));
    page.on('pageerror', (error) => faults.push(error.message));
    await page.goto(await url);
    await page.waitForSelector('#chart-panel-0');
    const words = await page.innerText('#far');
    expect(words).toMatch(/^\d+ of 77 cells, \d+ of 308 runs/);
    const cells = async () => Number.parseInt(await page.innerText('#far'), 10);
    await expect.poll(cells).toBeGreaterThan(Number.parseInt(words, 10));
    // What was chosen stays while cells come.
    const figure = page.locator('#figure');
    const chosen = (await figure.locator('option').allTextContents())[1]!;
    await figure.selectOption({ label: chosen });
    const before = await cells();
    await expect.poll(cells).toBeGreaterThan(before);
    expect(await figure.locator('option:checked').innerText()).toBe(chosen);
    await isReadable(page);
    await page.waitForURL(/\/report$/);
    expect(await ended).toBe(0);
    expect(await page.innerText('h1')).toBe('Sweep of herd');
    expect(await page.locator('tbody tr').count()).toBe(77);
    await page.waitForSelector('#chart-panel-0');
    expect(faults).toEqual([]);
    await page.close();
  });
});
