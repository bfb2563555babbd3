// `npm run site`: the README, the topics and the playground as pages, in build/site, for any web server or from disk.
//
//   README.md ──► index.html          src/cli/topics/logs.md ──► logs.html, logs.md          dist/web/play.html ──► playground.html
//   all sections ──► search.html                                all names ──► llms.txt
//
// Links between the texts become links between the pages. Other files they name (scenarios, pictures) are copied below files/.
// Pages request nothing from elsewhere. Only the search and the playground have scripts, each with its own policy.
import { copyFileSync, cpSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { dirname, join, relative, resolve } from 'node:path';
import { Marked } from 'marked';
import {
  commandsPage,
  escaped,
  fieldPage,
  fieldPaths,
  hashed,
  htmlDocument,
  schemas,
  scriptJson,
  topics,
} from '../../build/build-time.js';

const root = resolve(import.meta.dirname, '../..');
const { description } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'));
const out = resolve(process.argv[2] ?? 'build/site');
const pages = [{ name: 'index', path: 'README.md', about: 'Weir' }, ...topics];
const pageAt = new Map(
  pages.filter(({ path }) => path !== undefined).map(({ name, path }) => [join(root, path), `${name}.html`]),
);
const style = readFileSync(join(root, 'dist/web/weir.css'), 'utf8');
const policy = `default-src 'none'; style-src ${hashed(style)}; img-src 'self' data:; base-uri 'none'; form-action 'none'`;

rmSync(out, { recursive: true, force: true });
mkdirSync(out, { recursive: true });
const references = { fields: allFields(), commands: await commandsPage() };
const sections = [];
for (const page of pages) {
  writeFileSync(join(out, `${page.name}.html`), documentFor(page));
  writeFileSync(
    join(out, `${page.name}.md`),
    textOf(page).replace(/(?<=\]\()[^)\s]+(?=\))/g, (href) => toText(href, fileOf(page))),
  );
}
writeFileSync(join(out, 'search.html'), searchPage());
const listed = pages.slice(1).map(({ name, about }) => `- [${name}](${name}.md): ${about}`);
writeFileSync(
  join(out, 'llms.txt'),
  `# Weir\n\n> ${description}\n\n- [Overview](index.md)\n\n## Topics\n\n${listed.join('\n')}\n`,
);
copyFileSync(join(root, 'dist/web/play.html'), join(out, 'playground.html'));
process.stdout.write(`${pages.length + 2} pages in ${relative('.', out) || '.'}; open index.html\n`);

function fileOf({ path }) {
  return path === undefined ? root : join(root, path);
}

function textOf(page) {
  return page.path === undefined ? references[page.name] : readFileSync(fileOf(page), 'utf8');
}

function documentFor(page) {
  const { name, about } = page;
  const file = fileOf(page);
  const title = name === 'index' ? 'Weir' : name;
  let section = { href: `${name}.html`, title, text: '' };
  sections.push(section);
  const marked = new Marked({
    walkTokens(token) {
      if (token.type === 'link' || token.type === 'image') token.href = placeOf(token.href, file);
    },
    // Addresses in texts refer to nodes on the reader's own machine.
    tokenizer: { url: () => undefined },
    renderer: {
      heading({ tokens, depth, text }) {
        const words = this.parser.parseInline(tokens);
        return `<h${depth} id="${idOf(text)}">${words}</h${depth}>\n`;
      },
      // Wide tables scroll on their own, also by keyboard.
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
  const text = textOf(page);
  for (const token of marked.lexer(text)) {
    if (token.type === 'heading' && token.depth > 1) {
      section = { href: `${name}.html#${idOf(token.text)}`, title: `${title}: ${plain(token.text)}`, text: '' };
      sections.push(section);
    } else section.text += `${plain(token.raw)} `;
  }
  return pageOf(name, name === 'index' ? 'Weir' : `Weir: ${about}`, policy, marked.parse(text));
}

function searchPage() {
  const script = readFileSync(join(root, 'src/build/site-search.js'), 'utf8');
  const own = `${policy}; script-src ${hashed(script)}`;
  const form = `<h1>Search</h1><p><label>Words <input type="search" autocomplete="off"></label> <output aria-live="polite"></output></p><ol></ol>`;
  const data = `<script type="application/json" id="sections">${scriptJson(sections)}</script>`;
  return pageOf('search', 'Weir: search', own, `${form}${data}<script type="module">${script}</script>`);
}

function pageOf(name, title, ownPolicy, main) {
  const links = [...pages.map((one) => one.name), 'playground', 'search'].map((one) => {
    const here = one === name ? ' aria-current="page"' : '';
    return `<li><a href="${one}.html"${here}>${one === 'index' ? 'Weir' : one}</a></li>`;
  });
  return htmlDocument(title, ownPolicy, style, [
    `<nav aria-label="Topics"><ul>${links.join('')}</ul></nav>`,
    `<main class="site">${main}</main>`,
    '</div></body></html>',
    '',
  ]);
}

function idOf(heading) {
  return escaped(heading.toLowerCase().replace(/[^\w]+/g, '-'));
}

function plain(text) {
  return text
    .replace(/\]\([^)]*\)/g, '')
    .replace(/^\s*[-:|\s]+$/gm, '')
    .replace(/[`*|[\]#]+/g, ' ')
    .replace(/\s+/g, ' ')
    .trim();
}

function toText(href, from) {
  return placeOf(href, from).replace(/\.html(?=#|$)/, '.md');
}

function allFields() {
  const sections = fieldPaths(schemas.scenario).map((field) => fieldPage(schemas.scenario, field).replace('# ', '## '));
  return [fieldPage(schemas.scenario, ''), ...sections].join('\n\n');
}

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

/** `escaped` would turn line feeds into dots, as all control characters. */
function escapedLines(text) {
  return text.split('\n').map(escaped).join('\n');
}
