// The site as it is built: every link leads somewhere, and every page can be read, on a wide and on a narrow screen, light and dark.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, resolve } from 'node:path';
import { pathToFileURL } from 'node:url';
import { beforeAll, expect, it } from 'vitest';
import { topics } from '../src/cli/topics/topics.js';
import { inChromium } from './chromium.js';
import { temporaryFolder } from './cli/command-line.js';
import { few } from './draws.js';
import { hiddenPixels, openPage, violations } from './node/node-page.js';

const root = resolve(import.meta.dirname, '..');
const out = join(temporaryFolder(), 'site');
const texts = ['index', ...topics.map(({ name }) => name)];
const names = [...texts, 'search'];

beforeAll(() => {
  execFileSync(process.execPath, [join(root, 'src/build/site.js'), out], { cwd: root });
});

it('the site has a page for the README and each topic, and the playground', () => {
  const pages = readdirSync(out).filter((name) => name.endsWith('.html'));
  expect(pages.sort()).toEqual([...names, 'playground'].map((name) => `${name}.html`).sort());
});

it('the site has each text as Markdown, too, and a list of them for programs', () => {
  expect(
    readdirSync(out)
      .filter((name) => name.endsWith('.md'))
      .sort(),
  ).toEqual(texts.map((name) => `${name}.md`).sort());
  const linksOf = (name: string) =>
    [...readFileSync(join(out, name), 'utf8').matchAll(/\]\((?!https?:|#)([^)\s#]+)/g)].map(([, place = '']) => place);
  const broken = [...texts.map((name) => `${name}.md`), 'llms.txt'].flatMap((name) =>
    linksOf(name).filter((place) => !existsSync(join(out, place))),
  );
  expect(broken).toEqual([]);
  expect(new Set(linksOf('llms.txt'))).toEqual(new Set(texts.map((name) => `${name}.md`)));
});

it.each(names)('%s links and shows what is there, and nothing elsewhere', (name) => {
  const page = readFileSync(join(out, `${name}.html`), 'utf8');
  const places = [...page.matchAll(/(?:href|src)="([^"#]+)/g)].map(([, place = '']) => place);
  expect(places.filter((place) => !existsSync(join(out, place)))).toEqual([]);
});

inChromium('the pages of the site in a browser', (browser) => {
  it('the search finds the section in which all words are, and leads there', async () => {
    const url = pathToFileURL(join(out, 'search.html')).href;
    const { page, complaints } = await openPage(browser, url, { width: 800 });
    await page.fill('input', 'backup restore');
    const found = await page.locator('ol a').allTextContents();
    await page.fill('input', 'no-such-word-anywhere');
    const none = [await page.locator('ol li').count(), await page.locator('output').textContent()];
    await page.fill('input', 'Backup, and rows');
    await page.locator('ol a').first().click();
    const heading = page.locator(':target');
    expect([found.some((title) => /operations/.test(title)), none, await heading.textContent()]).toEqual([
      true,
      [0, '0 sections'],
      'Backup, and rows that may go',
    ]);
    expect(complaints).toEqual([]);
  });

  it('every page has contrast, names and no line that is too wide', async () => {
    const { page, complaints } = await openPage(browser, 'about:blank', { width: 360 });
    const found: unknown[] = [];
    for (const name of names) {
      await page.goto(pathToFileURL(join(out, `${name}.html`)).href);
      // All pages have one style, made from Markdown.
      const faults = few(names, 5).includes(name) ? await violations(page) : [];
      found.push([name, await hiddenPixels(page), ...complaints.splice(0), ...faults]);
    }
    expect(found).toEqual(names.map((name) => [name, 0]));
    await page.goto(pathToFileURL(join(out, 'index.html')).href);
    await page.emulateMedia({ colorScheme: 'dark' });
    await page.setViewportSize({ width: 1_440, height: 800 });
    expect(await violations(page)).toEqual([]);
  });
});
