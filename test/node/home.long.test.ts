import { afterAll, beforeAll, expect, it } from 'vitest';
import { pause } from '../../src/core/time/wall.js';
import { inChromium } from '../chromium.js';
import { type Serving, serve } from '../cli/command-line.js';
import { type Caller, Holder, inTurn } from './caller.js';
import { hiddenPixels, LOOKS, openPage, stops, violations } from './node-page.js';

inChromium('the home of a node', (browser) => {
  let node: Serving;
  let owner: Caller;
  let traffic: Promise<void>;
  let isOver = false;

  beforeAll(async () => {
    node = await serve(['--store', 'memory', '--log-level', 'error', '--cycle-ms', '200']);
    owner = await Holder.minted(node.url);
    for (const slug of ['busy', 'calm', LONG, 'hidden-away'])
      await owner.contractOn(slug, { threshold: 1, within: 1 }, slug !== 'hidden-away');
    traffic = (async () => {
      while (!isOver) await flow(owner);
    })();
  });
  afterAll(async () => {
    isOver = true;
    await traffic;
  });

  it.each(LOOKS)('the home shows the busiest machines and the node: %i px, %s', async (width, colorScheme) => {
    const { page, complaints, hosts } = await openPage(browser, node.url, { width, colorScheme });
    await page.locator('#machines tr').nth(2).waitFor();
    await page.locator('#fingerprint', { hasText: 'SHA256' }).waitFor();
    const cycle = await page.locator('#cycle').textContent();
    // The page allows no evaluation of strings, and a waiting function would be one: it is asked again from here.
    await expect.poll(() => page.locator('#cycle').textContent()).not.toBe(cycle);
    const places = ['.status', '#machines tr:first-child a', '#health', '#fingerprint'];
    const texts = await inTurn(places, (place) => page.locator(place).textContent());
    expect([await page.title(), ...texts]).toEqual(['Weir', 'Live', 'busy', 'OK', node.fingerprint]);
    expect(await page.locator('#machines tr').count()).toBe(3);
    expect(await page.locator('body').textContent()).not.toContain('hidden-away');
    expect([await hiddenPixels(page), await violations(page), complaints]).toEqual([0, [], []]);
    expect([...hosts]).toEqual([node.url]);
  });

  it('the home can be used with the keyboard alone, and every stop can be seen', async () => {
    const { page } = await openPage(browser, node.url, { width: 360 });
    await page.locator('#machines tr').nth(2).waitFor();
    const reached = await stops(page, 4);
    const asked = page.waitForRequest((request) => request.url().includes('cycles=600'));
    await page.keyboard.press('ArrowRight');
    await asked;
    expect(reached).toEqual(['Skip to the content', 'Weir', 'Log in', '12 s']);
  });

  it('the home shows the machines of who logs in, private ones too, and nobody else’s', async () => {
    const { page } = await openPage(browser, node.url);
    await page.getByRole('button', { name: 'Log in' }).click();
    const dialog = page.getByRole('dialog');
    await dialog.getByLabel('Key').fill(`weir_${'x'.repeat(43)}`);
    await dialog.getByRole('button', { name: 'Log in' }).click();
    await dialog.getByText('not valid').waitFor();
    await dialog.getByLabel('Key').fill(owner.key);
    await dialog.getByRole('button', { name: 'Log in' }).click();
    await page.locator('#own li', { hasText: 'hidden-away' }).waitFor();
    const own = await page.locator('#own a').allTextContents();
    await page.getByText(`weir node machine create <machine> --url ${node.url}`).waitFor();
    const found = await violations(page);
    await page.getByRole('link', { name: 'hidden-away' }).click();
    await page.getByRole('heading', { name: 'hidden-away' }).waitFor();
    await page.getByRole('button', { name: 'Log out' }).click();
    await page.getByText('private and not yours').waitFor();
    expect([own.sort(), found]).toEqual([[LONG, 'busy', 'calm', 'hidden-away'], []]);
  });

  it.each([360, 1_280])('the home begins with the own machines, limiting ones first: %i px', async (width) => {
    const other = await Holder.minted(node.url);
    await other.contractOn(`quiet-${width}`, { threshold: 5, within: 60 }, false);
    await other.contractOn(`of-keys-${width}`, { threshold: 1, within: 100_000, keyed: { max_keys: 10 } }, false);
    for (const key of ['a', 'b', 'c', 'd']) await other.event(`of-keys-${width}`, { count: 2, key });
    await other.event(`of-keys-${width}`, { key: 'e' });
    const { page } = await openPage(browser, node.url, { width });
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByLabel('Key', { exact: true }).fill(other.key);
    await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click();
    await page.locator('#own li').first().waitFor();
    const titles = await page.locator('main h2').allTextContents();
    const own = await page.locator('#own li').allTextContents();
    const hidden = await hiddenPixels(page);
    expect(titles.slice(0, 2)).toEqual(['Your machines', 'Public machines, active or limiting']);
    expect(own[0]).toBe(`of-keys-${width} private1 of 1 contract is limiting · 4 of 5 keys limiting`);
    expect([own.at(-1), hidden]).toEqual([`quiet-${width} private1 contract, none limiting`, 0]);
  });

  it('the home says times in seconds, and rooms in words', async () => {
    const { page } = await openPage(browser, node.url);
    await expect
      .poll(() => page.locator('#machines td:last-child').allTextContents())
      .toEqual(expect.arrayContaining([expect.stringMatching(/^(now|\d+ s ago)$/)]));
    await page.locator('.rooms dt').nth(4).waitFor();
    const rooms = await page.locator('.rooms dt').allTextContents();
    expect(rooms).toEqual(expect.arrayContaining(['machines', 'window cycles', 'key cells', 'streams', 'mint']));
  });

  it('the home asks for the key of the node once, and for its health again and again', async () => {
    const page = await browser.newPage();
    await page.clock.install();
    const asked: string[] = [];
    page.on('request', (request) => asked.push(new URL(request.url()).pathname));
    const times = (path: string) => asked.filter((one) => one === path).length;
    await page.goto(node.url);
    await page.getByText(node.fingerprint).waitFor();
    const health = async () => {
      await page.clock.runFor(5_000);
      return times('/healthz');
    };
    await expect.poll(health).toBeGreaterThanOrEqual(4);
    expect(times('/api/updates/pubkey')).toBe(1);
  });

  it('the home says when the node does not answer, and comes back with it', async () => {
    const { page } = await openPage(browser, node.url, { width: 360 });
    await page.getByText('Live', { exact: true }).waitFor();
    await page.route('**/api/**', (route) => route.abort());
    await page.getByText('The node does not answer').waitFor();
    await page.unroute('**/api/**');
    await page.getByText('Live', { exact: true }).waitFor();
  });
});

const LONG = 'a-machine-with-a-name-as-long-as-any-name-may-be-0123456789abcde';

/** Each of these events closes a gate that opens again a cycle later. */
async function flow(owner: Caller): Promise<void> {
  for (const slug of ['busy', 'busy', 'busy', 'calm', 'busy', 'busy', LONG, 'hidden-away']) {
    await owner.event(slug, { count: 2 });
    await pause(60);
  }
}
