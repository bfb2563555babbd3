// `npm run site`: the README, the topics and the playground as pages, in build/site. Any web server can serve them, and a disk, too.
//
//   README.md ──► index.html          src/topics/limits.md ──► limits.html          dist/web/play.html ──► playground.html
//
// Links between the texts become links between the pages. Other files that they name (scenarios, pictures) are copied below files/.
// The pages have no scripts and ask for nothing elsewhere; the playground has its own policy.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { Marked } from 'marked';
import { documentOf, escaped, hashed } from '../dist/report/page/html.js';
import { topics } from '../dist/topics/topics.js';
import { themeStyle } from '../dist/web/chart/palette.js';

const root = resolve(import.meta.dirname, '..');
const out = resolve(process.argv[2] ?? 'build/site');
const pages = [{ name: 'index', path: 'README.md', about: 'Weir' }, ...topics];
const pageAt = new Map(pages.map(({ name, path }) => [join(root, path), `${name}.html`]));
const style =
  themeStyle +
  readFileSync(join(root, 'dist/web/report.css'), 'utf8') +
  readFileSync(join(root, 'src/site.css'), 'utf8');
const policy = `default-src 'none'; style-src ${hashed(style)}; img-src 'self' data:; base-uri 'none'; form-action 'none'`;

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
for (const page of pages) writeFileSync(join(out, `${page.name}.html`), documentFor(page));
copyFileSync(join(root, 'dist/web/play.html'), join(out, 'playground.html'));
process.stdout.write(`${pages.length + 1} pages in ${relative('.', out) || '.'}; open index.html\n`);

function documentFor({ name, path, about }) {
  const file = join(root, path);
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === 'link' || token.type === 'image') token.href = placeOf(token.href, file);
    },
    renderer: {
      heading({ tokens, depth, text }) {
        const words = this.parser.parseInline(tokens);
        return `<h${depth} id="${escaped(text.toLowerCase().replace(/[^\w]+/g, '-'))}">${words}</h${depth}>\n`;
      },
      // A wide table moves within itself, also by the keyboard.
      table(token) {
        const cell = ({ tokens, text }, tag) =>
          `<${tag}>${text === '' ? '' : this.parser.parseInline(tokens)}</${tag}>`;
        const row = (cells, of) => `<tr>${cells.map((one) => cell(one, of(one))).join('')}</tr>`;
        const head = token.header.every(({ text }) => text === '')
          ? ''
          : `<thead>${row(token.header, ({ text }) => (text === '' ? 'td' : 'th'))}</thead>`;
        const body = token.rows.map((cells) => row(cells, () => 'td')).join('');
        return `<div class="wide" tabindex="0"><table>${head}<tbody>${body}</tbody></table></div>\n`;
      },
      code({ text }) {
        return `<pre tabindex="0"><code>${escapedLines(text)}</code></pre>\n`;
      },
    },
  });
  const links = pages.map((one) => {
    const here = one.name === name ? ' aria-current="page"' : '';
    return `<li><a href="${one.name}.html"${here}>${one.name === 'index' ? 'Weir' : one.name}</a></li>`;
  });
  return documentOf(name === 'index' ? 'Weir' : `Weir: ${about}`, policy, style, [
    `<nav aria-label="Topics"><ul>${links.join('')}<li><a href="playground.html">playground</a></li></ul></nav>`,
    `<main>${marked.parse(readFileSync(file, 'utf8'))}</main>`,
    '</div></body></html>',
    '',
  ]);
}

/** Where a link of a text leads to on the site. */
function placeOf(href, from) {
  if (/^(https?:|#)/.test(href)) return href;
  const [path, mark = ''] = href.split('#');
  let file = resolve(dirname(from), path);
  if (existsSync(file) && statSync(file).isDirectory()) file = join(file, 'README.md');
  const page = pageAt.get(file);
  if (page !== undefined) return mark === '' ? page : `${page}#${mark}`;
  if (!existsSync(file)) throw new Error(`${relative(root, from)} links to ${href}, which is not there`);
  const copy = join('files', relative(root, file));
  mkdirSync(dirname(join(out, copy)), { recursive: true });
  cpSync(file, join(out, copy));
  return copy;
}

/** `escaped` makes dots of control characters, and so of line feeds. */
function escapedLines(text) {
  return text.split('\n').map(escaped).join('\n');
}
