// Formats of text: nginx, HAProxy. Read without a library, for a fast start of the command line.
import { FoundLimits, type GatewayLimits, limitsOf, type Source } from './found.js';
import { looksLikeHaproxy, readHaproxy } from './haproxy.js';
import { readNginx } from './nginx.js';
import { includedBy, includesIn, isMainFile } from './nginx-includes.js';
import { unreadIn } from './unread-formats.js';

export function stanzaLimits(text: string): GatewayLimits {
  const source = { name: 'paste', text };
  const found = new FoundLimits([source]);
  if (!isTemplate(source, found)) readStanzas([source], found);
  return limitsOf(found);
}

export function readStanzas(sources: readonly Source[], found: FoundLimits): void {
  const haproxy = sources.filter(({ text }) => looksLikeHaproxy(text) && !NGINX.test(text));
  // Files are read together, texts of one file apart: a page has examples, a ConfigMap has several configurations.
  const isPart = ({ name }: Source) => haproxy.filter((other) => other.name === name).length > 1;
  for (const some of [haproxy.filter((one) => !isPart(one)), ...haproxy.filter(isPart).map((one) => [one])])
    if (some.length > 0) readHaproxy(some, found);
  const plain = sources.filter((source) => !haproxy.includes(source));
  const isNginx = plain.some(({ text }) => looksLikeNginx(text));
  const nginx = withIncluded(
    plain.filter(({ text }) => looksLikeNginx(text) || (isNginx && isNginxPart(text))),
    plain,
  );
  if (nginx.length > 0) readNginx(nginx, found);
  for (const source of sources)
    if (!haproxy.includes(source) && !nginx.includes(source))
      refuseWords(source, 'it is in no format that is read', found);
}

function looksLikeNginx(text: string): boolean {
  return /^[^#\n]*\blimit_(?:(?:req|conn)(?:_zone)?|zone)\s+[^\s=:]/m.test(text) || /^[^#\n]*\bserver\s*\{/m.test(text);
}

/** Without a limit or a server: what decides of them in other files, and what includes those. */
const isNginxPart = (text: string) =>
  isMainFile(text) || /^[^#\n]*\b(?:limit_(?:req|conn)_\w+\s|(?:map|geo)\s[^{;]*\$\w+\s*\{)/m.test(text);

/** What a file of nginx includes is a part of it, whatever it looks like. */
function withIncluded(some: readonly Source[], all: readonly Source[]): readonly Source[] {
  const [names, taken] = [all.map(({ name }) => name), new Set(some)];
  const mains = some.flatMap(({ name, text }) => (isMainFile(text) ? [name] : []));
  for (const { name: from, text } of taken)
    for (const pattern of includesIn(text))
      for (const name of includedBy(pattern, from, names, mains))
        for (const one of all) if (one.name === name) taken.add(one);
  return all.filter((one) => taken.has(one));
}

const NGINX = /^[^#\n]*\blimit_(?:req|conn)(?:_zone)?\s/m;

const WORDS =
  /\blimit_(?:req|conn)(?:_zone)?\s|\bstick-table\b|\btrack-sc\d|http_req_rate|conn_(?:rate|cur)\b|\bdescriptors:|\brate_limit\b|\brate-?[lL]imit(?:s|ers?)?\s*=|local_ratelimit|token_bucket:|requests_per_unit|rate-limiting|limit-(?:rps|rpm)\b|rateLimit:|rate_based_statement|throttle\b.*\blimit|\bQS_\w*(?:Limit|MaxConn)|\bDOS(?:Page|Site)Count\b|\bvsthrottle\.|\bevasive\.max/;

export function looksLikeLimits(text: string): boolean {
  return WORDS.test(text) || looksLikeHaproxy(text);
}

const MARKER = /\{\{|\{%|<%/;

export function looksLikeDocument(text: string): boolean {
  return (
    /^\s*[{[]\s*["{[\]}]/.test(text) ||
    (/^[\w.@"-]+:(?:\s|$)/m.test(text) && !/;\s*$/m.test(text) && !/^\s*(?:frontend|backend|stick-table)\b/m.test(text))
  );
}

/** Refuses templates that mention limits: their values are known only once filled in. */
export function isTemplate(source: Source, found: FoundLimits): boolean {
  const { name, text } = source;
  const lines = text.split('\n');
  const isRuby = /\.rb$/.test(name);
  const isNamed = /\.(?:j2|jinja2?|erb|mustache|hbs|tmpl|tpl|template|gotmpl|ejs)$/i.test(name);
  const first = lines.findIndex((line) => MARKER.test(line.replace(/(?:^|\s)#.*$/, '')));
  const isSure = isRuby || (first >= 0 && isNamed);
  if (first < 0 && isNamed && looksLikeLimits(text))
    found.refuse({ file: name, line: 1 }, 'its name is that of a template: it is read as it is written');
  if (!isSure && (first < 0 || looksLikeDocument(text) || unreadIn(text) !== undefined)) return false;
  refuseWords(source, isRuby ? 'it is a program' : 'it is in a template', found);
  if (first >= 0)
    found.refuse({ file: name, line: first + 1 }, `the file is a template: ${lines[first]!.trim().slice(0, 60)}`);
  return true;
}

export function refuseWords({ name, text }: Source, why: string, found: FoundLimits): void {
  const unread = unreadIn(text);
  if (unread !== undefined) {
    found.notRead({ file: name, line: unread.line }, unread.format);
    return;
  }
  for (const [index, line] of text.split('\n').entries())
    if (WORDS.test(line) && !/^\s*(?:#|\/\/)/.test(line))
      found.refuse({ file: name, line: index + 1 }, `${why}: ${line.trim().slice(0, 100)}`);
}
