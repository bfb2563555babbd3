// The page of a node, opened in a browser while traffic flows. WEIR_SCREENSHOTS=DIR keeps pictures of what was seen.
import { join } from 'node:path';
import type { Browser, Page } from 'playwright-core';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { findChromium, launchChromium, noChromium } from '../chromium.js';
import { type Serving, serve } from '../cli/command-line.js';

const path = findChromium();

describe.skipIf(path === undefined)(
  `the page of a node${path === undefined ? ` (SKIPPED: ${noChromium})` : ''}`,
  () => {
    let node: Serving;
    let browser: Browser;
    let traffic: Promise<void>;
    let isOver = false;

    beforeAll(async () => {
      node = await serve(['--memory', '--log-level', 'error', '--cycle-ms', '200']);
      browser = await launchChromium(path ?? '');
      const key = await prepare(node);
      traffic = (async () => {
        while (!isOver) await flow(node, key);
      })();
    });
    afterAll(async () => {
      isOver = true;
      await traffic;
      await browser.close();
      await node.stop();
    });

    it.each([
      [360, 'light'],
      [360, 'dark'],
      [1280, 'light'],
      [1280, 'dark'],
    ] as const)(
      'shows the busiest machines, the clock and the key, live: %i px wide, %s',
      async (width, colorScheme) => {
        const { page, complaints } = await open(browser, node.url, { width, colorScheme });
        await page.locator('#machines tr').nth(2).waitFor();
        const cycle = await page.locator('#cycle').textContent();
        // The page allows no evaluation of strings, and a waiting function would be one: it is asked again from here.
        await expect.poll(() => page.locator('#cycle').textContent()).not.toBe(cycle);
        const seen = {
          title: await page.title(),
          status: await page.locator('#status').textContent(),
          first: await page.locator('#machines tr:first-child td:first-child').textContent(),
          machines: await page.locator('#machines tr').count(),
          isPrivateShown: (await page.locator('body').textContent())?.includes('hidden-away'),
          fingerprint: await page.locator('#fingerprint').textContent(),
          version: await page.locator('#version').textContent(),
          cycleMs: await page.locator('#cycle-ms').textContent(),
          hiddenPixels: await page.evaluate('document.documentElement.scrollWidth - window.innerWidth'),
          complaints,
        };
        await picture(page, `home-${width}-${colorScheme}.png`);
        await page.close();
        expect(seen).toEqual({
          title: 'Weir',
          status: 'Live',
          first: 'busy',
          machines: 3,
          isPrivateShown: false,
          fingerprint: node.fingerprint,
          version: '0.1.0',
          cycleMs: '200',
          hiddenPixels: 0,
          complaints: [],
        });
      },
    );

    it('can be used with the keyboard alone, and every stop can be seen', async () => {
      const { page } = await open(browser, node.url, { width: 360, colorScheme: 'light' });
      const stops: string[] = [];
      for (let n = 0; n < 4; n += 1) {
        await page.keyboard.press('Tab');
        stops.push(
          await page.evaluate(
            `(({ activeElement: at }) => (at.id || at.textContent) + (getComputedStyle(at).outlineStyle === 'none' ? ' (not seen)' : ''))(document)`,
          ),
        );
      }
      await page.locator('#cycles').focus();
      const asked = page.waitForRequest((request) => request.url().includes('cycles=300'));
      await page.keyboard.press('ArrowDown');
      await asked;
      await page.close();
      expect(stops).toEqual(['cycles', 'Routes', 'OpenAPI', 'Metrics']);
    });

    it('says when the node does not answer, and comes back with it', async () => {
      const { page } = await open(browser, node.url, { width: 360, colorScheme: 'light' });
      await page.getByText('Live', { exact: true }).waitFor();
      await page.route('**/api/**', (route) => route.abort());
      await page.getByText('The node does not answer').waitFor();
      await page.unroute('**/api/**');
      await page.getByText('Live', { exact: true }).waitFor();
      await page.close();
    });
  },
);

interface Look {
  readonly width: number;
  readonly colorScheme: 'light' | 'dark';
}

/** A page, and whatever the browser complains of: errors of scripts, refusals by the content-security policy, failed requests. */
async function open(
  browser: Browser,
  url: string,
  { width, colorScheme }: Look,
): Promise<{ page: Page; complaints: string[] }> {
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce' });
  const complaints: string[] = [];
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('requestfailed', (request) => complaints.push(`${request.url()}: ${request.failure()?.errorText}`));
  await page.goto(url);
  return { page, complaints };
}

async function picture(page: Page, name: string): Promise<void> {
  const folder = process.env['WEIR_SCREENSHOTS'];
  if (folder !== undefined) await page.screenshot({ path: join(folder, name), fullPage: true });
}

/** Public machines that move more and less often, one with a name as long as names can be, and a private one. */
async function prepare(node: Serving): Promise<string> {
  const { key } = await post(node, '/api/demo-key/mint');
  for (const slug of ['busy', 'calm', LONG, 'hidden-away']) {
    await post(node, '/api/chain/state-machines', key, { slug, is_public: slug !== 'hidden-away' });
    await post(node, '/api/contracts/templates/rate-limiter/deploy', key, { slug, threshold: 1, within: 1 });
  }
  return key;
}

const LONG = 'a-machine-with-a-name-as-long-as-any-name-may-be-0123456789abcde';

/** Each of these events closes a gate that opens again a cycle later. */
async function flow(node: Serving, key: string): Promise<void> {
  for (const slug of ['busy', 'busy', 'busy', 'calm', 'busy', 'busy', LONG, 'hidden-away']) {
    await post(node, `/api/chain/${slug}/event`, key, { type: 'request', count: 2 });
    await new Promise((resolve) => setTimeout(resolve, 60));
  }
}

async function post({ url }: Serving, path: string, key?: string, body?: object): Promise<any> {
  const headers = {
    ...(key === undefined ? {} : { authorization: `Bearer ${key}` }),
    ...(body === undefined ? {} : { 'content-type': 'application/json' }),
  };
  const response = await fetch(`${url}${path}`, {
    method: 'POST',
    headers,
    ...(body === undefined ? {} : { body: JSON.stringify(body) }),
  });
  return response.json();
}
