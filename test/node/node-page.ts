// Pages of a node in a browser: opened, measured, checked by axe.
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { Page } from 'playwright-core';
import type { Pages } from '../chromium.js';

/** Widths and colours in which a page is looked at: what depends on both shows in one of these. */
export const LOOKS = [
  [360, 'dark'],
  [1_440, 'light'],
] as const;

/** A page, and whatever the browser complains of: errors of scripts, refusals by the content-security policy, failed requests. */
export async function openPage(
  browser: Pages,
  url: string,
  { width = 1_440, colorScheme = 'light' }: { readonly width?: number; readonly colorScheme?: 'light' | 'dark' } = {},
): Promise<{ page: Page; complaints: string[]; hosts: Set<string> }> {
  const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme, reducedMotion: 'reduce' });
  const complaints: string[] = [];
  const hosts = new Set<string>();
  page.on('console', (message) => {
    if (message.type() === 'error' || message.type() === 'warning') complaints.push(message.text());
  });
  page.on('pageerror', (error) => complaints.push(error.message));
  page.on('request', (request) => hosts.add(new URL(request.url()).origin));
  await page.goto(url);
  return { page, complaints, hosts };
}

/** Pixels that a page is wider than the screen. */
export async function hiddenPixels(page: Page): Promise<number> {
  return page.evaluate('document.documentElement.scrollWidth - window.innerWidth');
}

const axe = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8');

/** What axe finds wrong with a page as it is now. */
export async function violations(page: Page): Promise<readonly string[]> {
  await page.evaluate(axe);
  return page.evaluate(
    `axe.run(document).then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html, any }) => html.slice(0, 120) + ' ' + (any[0]?.message ?? '')).join(' | ')))`,
  );
}

/** What the keyboard reaches, one Tab after the other; a stop that cannot be seen says so. */
export async function stops(page: Page, most: number): Promise<readonly string[]> {
  const found: string[] = [];
  for (let n = 0; n < most; n += 1) {
    await page.keyboard.press('Tab');
    found.push(
      await page.evaluate(
        `(({ activeElement: at }) => {
          const name = at.getAttribute('aria-label') ?? (at.labels?.[0] ?? at).textContent.trim();
          const shown = [at, at.nextElementSibling].some((one) => one && getComputedStyle(one).outlineStyle !== 'none');
          return name + (shown ? '' : ' (not seen)');
        })(document)`,
      ),
    );
  }
  return found;
}
