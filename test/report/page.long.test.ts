import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { compareRuns } from '../../src/cli/compare-runs.js';
import { comparisonHtml } from '../../src/cli/report-formats.js';
import { chartsOf } from '../../src/report/chart/charts.js';
import { documentPage, pageHtml } from '../../src/report/page/page.js';
import type { Reported } from '../../src/report/reported.js';
import { inChromium } from '../chromium.js';
import { weirHere } from '../cli/command-line.js';
import { temporaryFiles } from '../left-behind.js';
import { violations } from '../node/node-page.js';
import {
  burst,
  devicesRun,
  emptyRun,
  fleetRun,
  hostile,
  liveRun,
  longRun,
  replicatedRun,
  sampleRun,
  shortRun,
} from './sample.js';

const hostileRun = () =>
  sampleRun({
    contracts: { [hostile]: burst, plain: burst },
    more: {
      scenario: hostile,
      question: hostile,
      seed: hostile,
      notes: [hostile],
      expectations: [{ name: hostile, expected: hostile, actual: hostile, held: false }],
      verdict: 'not held',
    },
  });

const runs: Readonly<Record<string, () => Reported>> = {
  sample: sampleRun,
  live: liveRun,
  devices: devicesRun,
  fleet: fleetRun,
  replicated: replicatedRun,
  short: shortRun,
  empty: emptyRun,
  hostile: hostileRun,
};

/** The first is the baseline. */
function sideBySide(all: Readonly<Record<string, Reported>>): string {
  const named = Object.entries(all).map(([name, reported]) => ({ name, reported }));
  const outcomes = named.map(({ name, reported: { outcome } }) => ({ name, outcome }));
  return comparisonHtml(compareRuns(outcomes, true), named);
}

/** A chart before any title, a column without one, and code below a title. */
function anyBlocks(): string {
  const [spec] = chartsOf(sampleRun());
  return documentPage({
    title: 'An answer',
    sentence: 'In blocks.',
    blocks: [
      { kind: 'chart', spec: spec! },
      { kind: 'table', title: 'Latency', columns: ['latency', ''], rows: [['1 ms', '██']] },
      { kind: 'code', title: 'nginx', text: 'limit_req zone=weir;' },
    ],
  });
}

function several(): string {
  return sideBySide({ [hostile]: sampleRun(), live: liveRun(), short: shortRun() });
}

it('the page of a run holds foreign text only escaped', () => {
  const page = pageHtml({ ...hostileRun(), command: hostile });
  expect(page.match(/<img|alert\([12]\)<\/script>|<script>alert/g)).toBeNull();
  expect(page.match(/<script[ >]/g)).toHaveLength(3);
});

it('the page of a run asks for nothing from anywhere', () => {
  const page = pageHtml(sampleRun());
  expect(page.match(/(?:src|href)=|@import|url\(/g)).toBeNull();
  expect(page).toContain("default-src 'none'");
});

it('the page of a run stays below 5 MB for a million cycles and ten thousand transitions', () => {
  const run = longRun(1_000_000, 5_000);
  expect(run.outcome.by_contract[0]?.transitions).toHaveLength(10_000);
  expect(pageHtml(run).length).toBeLessThan(5_000_000);
});

inChromium('the page in a browser', (browser) => {
  const { file, folder } = temporaryFiles();

  /** Opens a page from its file, with all that it complained about. */
  async function open(html: string, width = 1280, colorScheme: 'light' | 'dark' = 'light') {
    const path = file('index.html', html);
    const complaints: string[] = [];
    const page = await browser.newPage({ viewport: { width, height: 800 }, colorScheme });
    page.on('console', (message) => complaints.push(message.text()));
    page.on('pageerror', (error) => complaints.push(error.message));
    page.on('dialog', (dialog) => {
      complaints.push(`dialog: ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on('request', (request) => {
      if (!request.url().startsWith('file:')) complaints.push(`request: ${request.url()}`);
    });
    await page.goto(pathToFileURL(path).href);
    await page.waitForSelector('html[data-drawn]', { state: 'attached' });
    return { page, complaints };
  }

  it('a bar is one line at any width, and inside the page', async () => {
    const rows = [
      ['1 ms', '█'.repeat(40)],
      ['2 ms', '█'],
    ];
    const html = documentPage({
      title: 'Bars',
      sentence: '',
      blocks: [{ kind: 'table', columns: ['latency', ''], rows }],
    });
    for (const width of [320, 390, 700, 1280]) {
      const { page } = await open(html, width);
      const [bar, one] = await page
        .locator('td.tally span')
        .evaluateAll((bars) => bars.map((each) => each.getBoundingClientRect().toJSON()));
      expect([width, bar.height, bar.right < width]).toEqual([width, one.height, true]);
    }
  });

  /** By chart: how many different colours it has; one means that nothing was drawn. */
  const colorsOf = (page: Page): Promise<number[]> =>
    page.evaluate(`[...document.querySelectorAll('canvas')].map((canvas) => {
      const copy = new OffscreenCanvas(canvas.width, canvas.height).getContext('2d', { willReadFrequently: true });
      copy.drawImage(canvas, 0, 0);
      const { data } = copy.getImageData(0, 0, canvas.width, canvas.height);
      return new Set(new Uint32Array(data.buffer)).size;
    })`);

  const firstColumns = (page: Page): Promise<string[]> =>
    page.evaluate(
      `[...document.querySelectorAll('#rows tr')].map((tr) => [...tr.children].slice(0, 4).map((td) => td.firstChild.textContent).join(' '))`,
    );

  it.each(Object.entries(runs))(
    'a page draws every chart, complains of nothing, and is never wider than the screen: %s',
    async (_, make) => {
      const run = make();
      const { page, complaints } = await open(pageHtml(run));
      const seen = [];
      for (const width of [1280, 360]) {
        for (const colorScheme of ['light', 'dark'] as const) {
          await page.setViewportSize({ width, height: 800 });
          await page.emulateMedia({ colorScheme });
          await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
          const colors = await colorsOf(page);
          const scrolled = await page.evaluate('document.documentElement.scrollWidth');
          seen.push([colors.length, colors.filter((n) => n < 4).length, scrolled]);
        }
      }
      const charts = chartsOf(run).length;
      expect({ complaints, seen }).toEqual({
        complaints: [],
        seen: [1280, 1280, 360, 360].map((width) => [charts, 0, width]),
      });
    },
  );

  it('a page has nothing that axe objects to, wide and light, or narrow and dark', async () => {
    const pages = {
      live: pageHtml(liveRun()),
      devices: pageHtml(devicesRun()),
      several: several(),
      blocks: anyBlocks(),
    };
    const found: unknown[] = [];
    for (const [name, html] of Object.entries(pages)) {
      for (const [width, scheme] of [
        [1_440, 'light'],
        [360, 'dark'],
      ] as const) {
        const { page } = await open(html, width, scheme);
        found.push(...(await violations(page)).map((one) => [name, width, one]));
      }
    }
    expect(found).toEqual([]);
  });

  it('a page switches its theme, and draws the charts anew in it', async () => {
    const { page, complaints } = await open(pageHtml(sampleRun()));
    const ground = () => page.evaluate('getComputedStyle(document.body).backgroundColor');
    const before = await ground();
    await page.focus('#theme');
    await page.keyboard.press('Enter');
    expect([before, await ground(), (await colorsOf(page)).every((n) => n >= 4), complaints]).toEqual([
      'rgb(255, 255, 255)',
      'rgb(20, 24, 29)',
      true,
      [],
    ]);
  });

  it('a page sorts the transitions by keyboard', async () => {
    const { page } = await open(pageHtml(fleetRun()));
    const heads = page.locator('#transitions th button');
    await heads.nth(0).focus();
    await page.keyboard.press('Enter');
    const ascending = await firstColumns(page);
    await page.keyboard.press('Enter');
    const descending = await firstColumns(page);
    expect([ascending[0], descending[0], await page.getAttribute('#transitions th', 'aria-sort')]).toEqual([
      'tenant-01 6 limiting 7',
      'tenant-27 200 allowing 4',
      'descending',
    ]);
  });

  it('a page filters the transitions by contract, by cycle and by state', async () => {
    const { page } = await open(pageHtml(sampleRun({ contracts: { first: burst, second: burst } })));
    const shown = () => page.textContent('#shown');
    const seen = [await shown()];
    await page.fill('#filter', 'SECOND');
    seen.push(await shown());
    await page.fill('#filter', '21');
    seen.push(await shown());
    await page.selectOption('#state', 'allowing');
    seen.push(await shown());
    expect(seen).toEqual(['1 to 4 of 4', '1 to 2 of 2', '1 to 2 of 2', 'No transition.']);
  });

  it('a page shows ten thousand transitions fifty at a time', async () => {
    const { page, complaints } = await open(pageHtml(longRun(1_000_000, 5_000)));
    await page.click('#later');
    expect([await page.textContent('#shown'), await page.locator('#rows tr').count(), complaints]).toEqual([
      '51 to 100 of 10,000',
      50,
      [],
    ]);
  });

  it('a page shows a sweep by the chosen figure and axes, as lines or as a map', async () => {
    const out = join(folder, 'sweep');
    const axes = ['--set', 'limiter.threshold=90..130:10', '--set', 'limiter.within=50,70'];
    await weirHere(['sweep', 'scenarios/burst.yaml', ...axes, '--out', out]);
    const { page, complaints } = await open(readFileSync(join(out, 'index.html'), 'utf8'), 360);
    const shown = async () => [await page.innerText('#said'), (await colorsOf(page)).map((n) => n > 4)];
    const seen = [await shown()];
    await page.selectOption('#figure', { label: 'limiting_cycles' });
    await page.selectOption('#kind', 'heat');
    seen.push(await shown());
    // The other axis makes room.
    await page.selectOption('#across', { label: 'within' });
    expect(await page.locator('#by option:checked').innerText()).toBe('threshold');
    seen.push(await shown());
    expect(seen).toEqual([
      ['limited by threshold, 1 chart.', [true]],
      ['limiting_cycles by threshold, 1 chart.', [true]],
      ['limiting_cycles by within, 1 chart.', [true]],
    ]);
    expect(await page.locator('tbody tr').count()).toBe(10);
    expect([await page.evaluate('document.documentElement.scrollWidth'), await violations(page)]).toEqual([360, []]);
    expect(complaints).toEqual([]);
  });

  it('a page keeps an answer on one line, however narrow its column is', async () => {
    const expectation = { name: 'word '.repeat(30), expected: 'limited == 0 && '.repeat(9), actual: 1, held: true };
    const { page } = await open(pageHtml(sampleRun({ more: { expectations: [expectation] } })), 600);
    const lines = await page.evaluate(
      `(() => { const range = document.createRange(); range.selectNodeContents(document.querySelector('[data-title=held]')); return range.getClientRects().length; })()`,
    );
    expect(lines).toBe(1);
  });

  it('a page prints light, with the heads of its tables, and with charts no wider than the paper', async () => {
    const { page } = await open(pageHtml(liveRun()), 1280, 'dark');
    await page.evaluate(`dispatchEvent(new Event('beforeprint'))`);
    await page.emulateMedia({ media: 'print', colorScheme: 'dark' });
    // The paper is narrower than the screen on which the charts were drawn.
    await page.evaluate(`document.querySelector('.page').style.width = '700px'`);
    await page.evaluate('new Promise((drawn) => requestAnimationFrame(() => requestAnimationFrame(drawn)))');
    const seen = await page.evaluate(`({
      ground: getComputedStyle(document.body).backgroundColor,
      heads: [...document.querySelectorAll('#transitions th')].map((th) => th.innerText),
      tooWide: [...document.querySelectorAll('canvas')].filter((canvas) => canvas.getBoundingClientRect().width > 700).length,
      flat: [...document.querySelectorAll('canvas')].filter((canvas) => canvas.getBoundingClientRect().height < 180).length,
      controls: [...document.querySelectorAll('#theme, form, .pager')].filter((one) => one.offsetHeight > 0).length,
    })`);
    expect(seen).toEqual({
      ground: 'rgb(255, 255, 255)',
      heads: ['contract', 'cycle', 'to', 'count', 'lasted'],
      tooWide: 0,
      flat: 0,
      controls: 0,
    });
  });

  it('a page names every figure of several runs in whole words at the width of a phone', async () => {
    const all = [sampleRun(), liveRun(), shortRun(), fleetRun()];
    const named = Object.fromEntries(all.map((run, index) => [`reports/long/path/of-run-${index}`, run]));
    const { page } = await open(sideBySide(named), 360);
    const narrowest = await page.evaluate(
      `Math.min(...[...document.querySelectorAll('th[scope=row]')].map((th) => th.getBoundingClientRect().width))`,
    );
    expect(narrowest).toBeGreaterThanOrEqual(110);
  });

  it.each([1280, 360])('a page shows several runs side by side at %i px', async (width) => {
    const { page, complaints } = await open(several(), width);
    expect([
      complaints,
      await page.evaluate('document.documentElement.scrollWidth'),
      (await colorsOf(page)).map((n) => n > 4),
    ]).toEqual([[], width, [true]]);
  });
});
