// Owns finding and starting a headless Chromium for tests that look at pages. Where there is none, such tests say so and are skipped.
import { accessSync, constants } from 'node:fs';
import { delimiter, join } from 'node:path';
import { type Browser, chromium } from 'playwright-core';
import { afterAll, beforeAll, describe } from 'vitest';
import { afterTest } from './left-behind.js';

const names = ['chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable', 'chrome'];

/** The browser named by CHROMIUM, the usual one of Linux distributions, or the first one on the PATH; undefined where there is none. */
export function findChromium(env: NodeJS.ProcessEnv = process.env): string | undefined {
  const onPath = (env['PATH'] ?? '').split(delimiter).flatMap((folder) => names.map((name) => join(folder, name)));
  return [env['CHROMIUM'], '/usr/bin/chromium', ...onPath].find(
    (path) => path !== undefined && path !== '' && isExecutable(path),
  );
}

const noChromium = 'no Chromium: set CHROMIUM to its path, or install it, to run these tests';

export type Pages = Pick<Browser, 'newPage'>;

/** Tests in one browser, which starts before them. Where there is none they are skipped, and their title says so. */
export function inChromium(title: string, tests: (browser: Pages) => void): void {
  const path = findChromium();
  describe.skipIf(path === undefined)(path === undefined ? `${title} (SKIPPED: ${noChromium})` : title, () => {
    let browser: Browser;
    beforeAll(async () => {
      browser = await launchChromium(path!);
    });
    const newPage: Browser['newPage'] = async (options) => {
      const page = await browser.newPage(options);
      afterTest(() => page.close());
      return page;
    };
    tests({ newPage });
    afterAll(() => browser?.close());
  });
}

/** A browser that talks to nobody by itself. */
async function launchChromium(executablePath: string): Promise<Browser> {
  const browser = await chromium.launch({
    executablePath,
    args: [
      '--headless',
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  });
  // Only what hangs takes so long: see vitest.config.ts.
  browser.on('context', (context) => context.setDefaultTimeout(240_000));
  return browser;
}

function isExecutable(path: string): boolean {
  try {
    accessSync(path, constants.X_OK);
    return true;
  } catch {
    return false;
  }
}
