// The page of a recommended limit: small, alone, and used by keyboard.
import { expect, it } from 'vitest';
import { linesToPaste } from '../../src/tools/recommend/lines-to-paste.js';
import { adviceOfLogs } from '../../src/tools/recommend/recommend.js';
import { sizingPageHtml } from '../../src/tools/recommend/sizing-page.js';
import { inChromium } from '../chromium.js';
import { temporaryFiles } from '../left-behind.js';
import { violations } from '../node/node-page.js';

const { file } = temporaryFiles();

/** 12,000 rows of 600 keys that come at once, more of them the later it is; and one key that never rests. */
async function page(): Promise<string> {
  const rows = Array.from(
    { length: 12_000 },
    (_, i) => `${1_767_600_000_000 + i * 3000},<key ${i % 600}>,${1 + (i % 7)}`,
  );
  const scraper = Array.from({ length: 9000 }, (_, i) => `${1_767_600_000_000 + i * 4000},scraper,20`);
  const log = file('busy.csv', ['time,who,n', ...rows, ...scraper].join('\n'));
  const options = { timeColumn: 'time', keyColumn: 'who', countColumn: 'n' };
  const asked = { cycleMs: 777, shares: [0.1, 0.01], windowCycles: [60, 5000] };
  const found = await adviceOfLogs([log], { ...asked, log: options });
  const { threshold, within } = found.advice.recommendations[0]!;
  const paste = linesToPaste({ threshold, within, cycleMs: 777, key: 'who' });
  return sizingPageHtml({ ...found, name: 'busy.csv', key: 'who', paste, command: 'weir recommend busy.csv' });
}

it('is below 5 MB at more than 10,000 rows, asks nobody, and escapes keys', async () => {
  const text = await page();
  expect(text.length).toBeLessThan(5_000_000);
  expect(text.match(/"to":\[([^\]]*)\]/)![1]!.split(',').length).toBeLessThanOrEqual(10_000);
  expect(text.replaceAll(/xmlns="[^"]*"/g, '')).not.toMatch(/(src|href)="https?:/);
  expect(text).not.toContain('<key 1>');
  expect(text).toContain("default-src 'none'");
  expect(text).toContain('limit_req_zone $YOUR_KEY zone=weir:10m');
});

it('has every recommended threshold among those of the slider, and names what is counted', async () => {
  const rows = Array.from({ length: 9_000 }, (_, i) => `${1_767_600_000_000 + i * 900},${1 + ((i * i) % 9_973)}`);
  const log = file('tokens.csv', ['time,tokens', ...rows].join('\n'));
  const found = await adviceOfLogs([log], {
    cycleMs: 500,
    shares: [0.1, 0.01, 0.001],
    windowCycles: [120],
    log: { timeColumn: 'time', cost: { unit: 'tokens' } },
  });
  const text = sizingPageHtml({ ...found, name: 'tokens.csv', paste: [], command: 'weir recommend' });
  const { windows, unit } = JSON.parse(/id="data">(.*)<\/script>/.exec(text)![1]!);
  const [{ thresholds, recommended }] = windows;
  expect([unit, thresholds.length > 500, recommended.map((one: any) => thresholds.includes(one.threshold))]).toEqual([
    'tokens',
    true,
    [true, true, true],
  ]);
});

inChromium('in a browser', (browser) => {
  it('is chosen by keyboard, and says aloud what is chosen', async () => {
    const shown = file('index.html', await page());
    const tab = await browser.newPage({ viewport: { width: 360, height: 800 } });
    const errors: string[] = [];
    tab.on('pageerror', (error) => errors.push(error.message));
    await tab.goto(`file://${shown}`);
    const slider = tab.getByRole('slider', { name: /Threshold/ });
    const before = Number(await tab.inputValue('#number'));
    await slider.focus();
    await tab.keyboard.press('ArrowRight');
    const after = Number(await tab.inputValue('#number'));
    expect(after).toBeGreaterThan(before);
    expect(await slider.getAttribute('aria-valuetext')).toMatch(new RegExp(`^${after}: .* % limited$`));
    await expect
      .poll(() => tab.getByRole('status').textContent())
      .toMatch(new RegExp(`^At ${after} requests in 46\\.6 s \\(60 cycles\\)`));
    await tab.selectOption('#window', '1');
    expect(await tab.textContent('#summary')).toContain('in 64.8 min');
    await tab.getByRole('button', { name: /less than 1 %/ }).click();
    expect(await tab.locator('#clients tr').count()).toBeGreaterThan(0);
    expect(await tab.evaluate('document.documentElement.scrollWidth')).toBe(360);
    expect(await violations(tab)).toEqual([]);
    expect(errors).toEqual([]);
  });
});
