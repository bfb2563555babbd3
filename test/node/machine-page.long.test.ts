// The page of a machine, in a browser: what it shows is what the API says, for a whole burst and over the death of its node.
import type { Page } from 'playwright-core';
import { beforeAll, expect, it } from 'vitest';
import { pause } from '../../src/core/time/wall.js';
import { duration } from '../../src/report/words.js';
import { inChromium } from '../chromium.js';
import { type Serving, serve, temporaryFolder } from '../cli/command-line.js';
import { afterFile } from '../left-behind.js';
import { type Caller, Holder, inTurn } from './caller.js';
import { hiddenPixels, LOOKS, openPage, stops, violations } from './node-page.js';

const THRESHOLD = 20;
const WITHIN = 10;

inChromium('the page of a machine', (browser) => {
  let node: Serving;
  let owner: Caller;
  let id: string;
  const data = temporaryFolder();
  const start = (port = 0) =>
    serve(['--data', data, '--log-level', 'error', '--cycle-ms', '200', '--port', String(port)], {}, afterFile);

  beforeAll(async () => {
    node = await start();
    owner = await Holder.minted(node.url);
    id = await owner.contractOn('edge', { threshold: THRESHOLD, within: WITHIN }, true);
  });

  /** The page of `edge` with the table of its figures. */
  async function openLive() {
    const opened = await openPage(browser, `${node.url}/m/edge`);
    await opened.page.getByText('Live', { exact: true }).waitFor();
    await opened.page.getByText('Figures, cycle by cycle').click();
    return opened;
  }

  /** Events, one request after the other, a little apart. @returns what the node decided */
  async function burst(counts: readonly number[]): Promise<{ admitted: number; limited: number }> {
    const sum = { admitted: 0, limited: 0 };
    for (const count of counts) {
      const [decision] = (await owner.event('edge', { count, contract_id: id })).body.contracts;
      sum.admitted += decision.admitted;
      sum.limited += decision.limited;
      await pause(90);
    }
    return sum;
  }

  it('the page shows a whole burst as the API decided it, and the transitions as the record has them', async () => {
    const { page, complaints, hosts } = await openLive();
    await expect.poll(async () => (await figuresOf(page)).length).toBeGreaterThan(2);
    const decided = await burst([3, 4, 5, 6, 7, 8, 0 + 2, 1]);
    await expect.poll(() => stateOf(page)).toBe('limiting');
    await expect.poll(() => stateOf(page)).toBe('allowing');
    // The window is empty again a window later, and the burst is over in every cycle that the page has.
    await expect.poll(async () => (await figuresOf(page))[0]![1]).toBe(0);
    const shown = await figuresOf(page);
    const sum = (column: number) => shown.reduce((total, row) => total + Number(row[column]), 0);
    expect({ admitted: sum(2), limited: sum(3) }).toEqual(decided);
    expect(await decisionsShown(page)).toEqual(decided);
    expect(countsByHand(shown)).toEqual(shown.map((row) => row[1]));
    const rows = await owner.rows('edge', 'kind=transition');
    const moved = rows.map(({ seq, from, to }) => `${seq} ${from} → ${to}`).reverse();
    expect((await recordShown(page)).filter((text) => text.includes('→'))).toEqual(moved);
    expect([await violations(page), complaints, [...hosts]]).toEqual([[], [], [node.url]]);
  });

  it('the page goes on without a hole or a double after its node was killed', async () => {
    const { page } = await openLive();
    await burst([9, 9, 9]);
    await expect.poll(() => stateOf(page)).toBe('limiting');
    const { port } = new URL(node.url);
    await node.stop('SIGKILL');
    await page.getByText('Connection lost').waitFor();
    // Ten cycles without a node, however fast it starts: the gap in the chart is wide enough to be looked at.
    await pause(2_000);
    node = await start(Number(port));
    await page.getByText('Live', { exact: true }).waitFor();
    await expect.poll(() => stateOf(page)).toBe('allowing');
    await burst([5, 30]);
    await expect.poll(() => stateOf(page)).toBe('limiting');
    await expect.poll(() => stateOf(page)).toBe('allowing');
    const shown = await figuresOf(page);
    const cycles = shown.map(([cycle]) => cycle!);
    expect(cycles).toEqual(cycles.map((_, index) => cycles[0]! - index));
    // What the page could not see it says, in words, in the table and in the chart, where no line goes through it.
    const missed = shown.filter(([, count]) => Number.isNaN(count)).map(([cycle]) => cycle!);
    expect(missed.length).toBeGreaterThan(0);
    await page.getByText(`${duration(200 * missed.length)} unknown, hatched`, { exact: true }).waitFor();
    // A cycle is two pixels wide.
    const { hatched, within, elsewhere } = await linePixels(page);
    expect([hatched > missed.length, within, elsewhere > 0]).toEqual([true, 0, true]);
    const all = (await owner.rows('edge')).map(({ seq }) => String(seq)).reverse();
    expect((await recordShown(page)).map((text) => text.split(' ')[0])).toEqual(all);
  });

  it('the page verifies the record in the browser, and says where it does not hold', async () => {
    const { page, complaints } = await openPage(browser, `${node.url}/m/edge`);
    const verified = async (words: RegExp) => {
      await page.getByRole('button', { name: 'Verify in this browser' }).click();
      await page.locator('#verified', { hasText: words }).waitFor();
      return page.locator('#verified').textContent();
    };
    const told = await owner.verified('edge');
    const proofs = `${told.rows} rows chained, ${told.proofs} results computed again`;
    expect(await verified(/^Holds/)).toBe(`Holds: ${proofs}, signed by ${node.fingerprint}, pinned now, on first use.`);
    expect(await verified(/^Holds.*as pinned/)).toContain(node.fingerprint);
    // A row that says something else, a record that ends early, and one that somebody else signed.
    await page.route('**/state?format=ndjson', async (route) => {
      const text = await (await route.fetch()).text();
      await route.fulfill({ body: text.replace('"from":"allowing"', '"from":"limiting"') });
    });
    expect(await verified(/^Does not hold at row/)).toContain('Its hash is not that of its content.');
    await page.unroute('**/state?format=ndjson');
    await page.route('**/state?format=ndjson', async (route) => {
      const lines = (await (await route.fetch()).text()).split('\n');
      await route.fulfill({ body: [...lines.slice(0, -3), ...lines.slice(-2)].join('\n') });
    });
    expect(await verified(/^Does not hold at row/)).toContain('only');
    await page.unroute('**/state?format=ndjson');
    await page.evaluate(`localStorage.setItem('weir pinned key', '${'A'.repeat(43)}=')`);
    expect(await verified(/^Does not hold:/)).toContain('is pinned');
    expect(complaints).toEqual([]);
  });

  it.each(LOOKS)('the page fits, and axe objects to nothing on it: %i px, %s', async (width, colorScheme) => {
    const { page } = await openPage(browser, `${node.url}/m/edge`, { width, colorScheme });
    await page.getByText('Live', { exact: true }).waitFor();
    await page.locator('.chart canvas').first().waitFor();
    await page.getByText('Figures, cycle by cycle').click();
    await page.locator('.diagram').first().waitFor();
    const hidden = await hiddenPixels(page);
    await page.getByRole('button', { name: /^Row 1 in full/ }).click();
    await page.getByRole('dialog').getByText('Row before').waitFor();
    const found = await violations(page);
    await page.keyboard.press('Escape');
    expect([hidden, found]).toEqual([0, []]);
  });

  it('the page can be used with the keyboard alone', async () => {
    const { page } = await openPage(browser, `${node.url}/m/edge`);
    await page.locator('.record button').first().waitFor();
    const reached = await stops(page, 8);
    const first = ['Skip to the content', 'Weir', 'Log in', 'Figures, cycle by cycle', 'States'];
    expect(reached).toEqual([...first, 'Verify in this browser', 'Export', 'Rows of the record']);
  });

  it('the page shows the owner the keys of a contract, and the command that deploys another', async () => {
    const keyed = { max_keys: 10, store_keys: 'plain', show_keys: true };
    const contract_id = await owner.deploy('edge', { threshold: 1, within: 10_000, keyed });
    const { page } = await openPage(browser, `${node.url}/m/edge`);
    await page.getByRole('button', { name: 'Log in' }).click();
    await page.getByLabel('Key', { exact: true }).fill(owner.key);
    await page.getByRole('dialog').getByRole('button', { name: 'Log in' }).click();
    await page.getByText(`weir node deploy edge --url ${node.url}`).waitFor();
    await page.locator('.contract').nth(1).waitFor();
    for (const index of [0, 1]) await page.getByText('Figures, cycle by cycle').nth(index).click();
    const found = await violations(page);
    for (const key of ['somebody', 'another']) await owner.event('edge', { count: 5, key, contract_id });
    const states = page.locator('.contract').nth(1).locator('.state');
    await expect.poll(() => states.allTextContents()).toEqual(['allowing: 0', 'limiting: 2']);
    expect(await inTurn([0, 1], (at) => states.nth(at).getAttribute('class'))).toEqual(['state ', 'state lit']);
    for (const width of [360, 1_280]) {
      await page.setViewportSize({ width, height: 800 });
    }
    expect(await hiddenPixels(page)).toBe(0);
    await page.getByText('Keys', { exact: true }).click();
    await page.locator('.keys th', { hasText: 'another' }).waitFor();
    await page.getByLabel('Find keys that contain').fill('some');
    await page.locator('.keys th', { hasText: 'another' }).waitFor({ state: 'detached' });
    expect(await page.locator('.keys tbody th').allTextContents()).toEqual(['somebody']);
    const waits = await page.locator('.keys td:last-child').allTextContents();
    const proofs = await page.locator('.record td:nth-child(4)').allTextContents();
    const ages = await page.locator('.record td:last-child').allTextContents();
    expect(waits).toEqual([expect.stringMatching(/^in \d+ (s|min)$/)]);
    // A whole number where the swing of the operator is nearly 0, which is so for hours.
    expect(proofs).toContainEqual(expect.stringMatching(/^operator KO42: \d+(\.\d{1,3})?$/));
    expect(ages.filter((age) => !/^(now|\d+ (s|min) ago|)$/.test(age))).toEqual([]);
    expect(found).toEqual([]);
  });

  it('the page has ten thousand rows in one table, and draws those in sight', async () => {
    const contract_id = await owner.contractOn('long', { threshold: 1, within: 1, keyed: { max_keys: 10_000 } }, true);
    const moves = 10_000;
    // Each of five thousand keys is limited once, and restored when its cycle is over.
    for (let first = 0; first < moves / 2; first += 1_000) {
      const of = { type: 'request', contract_id, count: 2 };
      const events = Array.from({ length: 1_000 }, (_, index) => ({ ...of, key: `k${first + index}` }));
      await owner.post('/api/chain/long/events', events);
    }
    const head = async () => (await owner.get('/api/chain/state-machines/long')).body.machine.head.seq;
    await expect.poll(head).toBe(moves + 2);
    const { page } = await openPage(browser, `${node.url}/m/long`);
    await page.locator('.record button').first().waitFor();
    const first = await recordShown(page);
    await page.locator('.record').focus();
    await page.keyboard.press('End');
    await page.getByText('machine created').waitFor();
    const last = await recordShown(page);
    const drawn = await page.locator('.record tbody tr').count();
    const rows = await page.locator('.record table').getAttribute('aria-rowcount');
    expect([first[0], last.at(-1), rows]).toEqual([
      `${moves + 2} limiting → allowing`,
      '1 machine created',
      String(moves + 3),
    ]);
    expect(drawn).toBeLessThan(60);
  });

  it('the page shows nothing of a private machine to anybody else', async () => {
    await owner.createMachine('secret-plan');
    const { page } = await openPage(browser, `${node.url}/m/secret-plan`);
    await page.getByText('There is no machine "secret-plan", or it is private and not yours.').waitFor();
  });

  it('the page is small: less than 300 kB with all scripts, like the home', async () => {
    const sizes = async (of: string) => {
      const files = [of, of === '/' ? '/home.js' : '/machine.js', '/node.css', '/icon.svg'];
      const bodies = files.map(async (file) => (await (await fetch(node.url + file)).arrayBuffer()).byteLength);
      return (await Promise.all(bodies)).reduce((sum, bytes) => sum + bytes);
    };
    expect(Math.max(await sizes('/'), await sizes('/m/edge'))).toBeLessThan(300_000);
  });
});

async function stateOf(page: Page): Promise<string | null> {
  return page.locator('.contract .doing').first().textContent();
}

/** The figures of the first contract, newest cycle first: cycle, count, admitted, limited. NaN where nobody took them. */
async function figuresOf(page: Page): Promise<readonly (readonly number[])[]> {
  const rows: string[][] = await page.evaluate(
    `[...document.querySelectorAll('.contract .scroll tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))`,
  );
  return rows.map((row) => row.slice(0, 4).map((text) => Number(text.replaceAll(',', ''))));
}

/** Of the first chart: the width of its longest hatched part, and the pixels of the colour of the line within it and elsewhere. */
async function linePixels(page: Page): Promise<{ hatched: number; within: number; elsewhere: number }> {
  return page.evaluate(
    `(() => {
      const canvas = document.querySelector('.chart canvas');
      const { width, height } = canvas;
      const drawn = canvas.getContext('2d').getImageData(0, 0, width, height).data;
      const paper = document.createElement('canvas').getContext('2d');
      const pixels = (name) => {
        paper.fillStyle = getComputedStyle(canvas).getPropertyValue(name);
        paper.fillRect(0, 0, 1, 1);
        const [r, g, b] = paper.getImageData(0, 0, 1, 1).data;
        // The legend and the marks lie above.
        const heights = Array.from({ length: Math.round(0.7 * height) }, (_, y) => height - 1 - y);
        return Array.from({ length: width }, (_, x) => heights.filter((y) => {
          const at = 4 * (y * width + x);
          return Math.abs(drawn[at] - r) + Math.abs(drawn[at + 1] - g) + Math.abs(drawn[at + 2] - b) < 12;
        }).length);
      };
      const muted = pixels('--muted');
      let hatch = [0, 0];
      for (let from = 0, x = 0; x < width; x += 1) {
        if (muted[x] < 0.15 * height) from = x + 1;
        else if (x - from > hatch[1] - hatch[0]) hatch = [from, x];
      }
      const sum = (counts) => counts.reduce((all, one) => all + one, 0);
      const line = pixels('--link');
      const within = sum(line.slice(hatch[0] + 2, hatch[1] - 1));
      return { hatched: hatch[1] - hatch[0], within, elsewhere: sum(line) - within };
    })()`,
  );
}

/** The count of each cycle from what was admitted and limited in the cycles of its window. */
function countsByHand(rows: readonly (readonly number[])[]): readonly number[] {
  return rows.map((_, index) =>
    rows.slice(index, index + WITHIN).reduce((sum, [, , admitted, limited]) => sum + admitted! + limited!, 0),
  );
}

/** The sums that the card of the first contract shows. */
async function decisionsShown(page: Page): Promise<object> {
  const texts = await page.locator('.contract .figures small').allTextContents();
  const [admitted, limited] = texts
    .filter((text) => text.includes('in chart'))
    .map((text) => Number.parseInt(text, 10));
  return { admitted, limited };
}

/** The rows of the record that are drawn: seq and what happened, without the contract. */
async function recordShown(page: Page): Promise<readonly string[]> {
  const rows: string[][] = await page.evaluate(
    `[...document.querySelectorAll('.record tbody tr')].map((row) => [...row.children].map((cell) => cell.textContent))`,
  );
  return rows
    .filter((cells) => cells.length > 2)
    .map(([seq, what]) => `${seq!.replaceAll(',', '')} ${what!.replace(/ · .*$/, '')}`);
}
