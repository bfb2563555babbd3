// Which files an `include` of nginx names, among those given: a path or pattern, relative to the folder of the main file.
//
//   deploy/nginx.conf            include sites-enabled/*;           deploy/sites-enabled/shop
//   deploy/sites-enabled/shop    include snippets/api.location;     deploy/snippets/api.location, and not beside shop
//   deploy/nginx.conf            include /etc/nginx/conf.d/*.conf;  deploy/conf.d/…: a server's folders differ from a repository's
//
// Source: ngx_conf_include and ngx_conf_full_name of nginx 1.22, run.
import type { Directive } from './directives.js';
import { literal } from './expression.js';
import type { FoundLimits } from './found.js';

export const isMainFile = (text: string) => /^[^#\n]*(?:^|[\s;}])(?:http|events)\s*\{/m.test(text);

/** The patterns that a text includes. */
export function includesIn(text: string): string[] {
  const found = text.matchAll(/^(?:[^#\n]*[\s;{}])?include\s+("[^"]*"|'[^']*'|[^\s;]+)\s*;/gm);
  const more = text.matchAll(/[;{}]\s*include\s+("[^"]*"|'[^']*'|[^\s;]+)\s*;/g);
  return [...new Set([...found, ...more].map(([, one]) => one!.replace(/^["']|["']$/g, '')))];
}

const folderOf = (name: string) => name.slice(0, Math.max(0, name.lastIndexOf('/')));

/** Folder and those above it, nearest first. */
function foldersAbove(name: string): string[] {
  const parts = folderOf(name).split('/');
  return parts.map((_, i) => parts.slice(0, parts.length - i).join('/')).concat(name.startsWith('/') ? [] : ['']);
}

/** @param names of all files @param mains names of main files; the nearest above counts */
export function includedBy(
  pattern: string,
  from: string,
  names: readonly string[],
  mains: readonly string[],
): readonly string[] {
  const above = foldersAbove(from);
  const prefixes = above.filter((folder) => mains.some((main) => folderOf(main) === folder));
  const parts = pattern.split('/').filter((part) => part !== '' && part !== '.');
  const least = pattern.includes('*') ? Math.min(2, parts.length) : 1;
  const suffixes = pattern.startsWith('/')
    ? parts.slice(0, parts.length - least + 1).map((_, i) => parts.slice(i).join('/'))
    : [parts.join('/')];
  for (const folder of new Set([...prefixes, ...above]))
    for (const one of suffixes) {
      const found = namesFitting(resolved(folder, one), names);
      if (found.length > 0) return found;
    }
  // Parts of a repository may lie elsewhere than on the server: the last folder and name decide.
  return namesFitting(parts.slice(-least).join('/'), names, '(?:.*/)?');
}

function resolved(folder: string, path: string): string {
  const parts: string[] = [];
  for (const part of [...folder.split('/'), ...path.split('/')]) {
    if (part === '..' && parts.length > 0 && parts.at(-1) !== '..') parts.pop();
    else if (part !== '.' && (part !== '' || parts.length === 0)) parts.push(part);
  }
  const joined = parts.join('/');
  return folder.startsWith('/') ? joined : joined.replace(/^\//, '');
}

function namesFitting(pattern: string, names: readonly string[], above = '(?:\\./)?'): readonly string[] {
  const expression = new RegExp(`^${above}${expressionOf(pattern)}$`);
  return names.filter((name) => expression.test(name)).sort();
}

/** `*`, `?` and `[…]` match within a name, and no dot at its beginning. */
function expressionOf(pattern: string): string {
  return pattern
    .split('/')
    .map((part) => {
      const text = part.replace(/\[!?[^\]]*\]|[*?]|[^*?[]+|\[/g, (one) => {
        if (one === '*') return '[^/]*';
        if (one === '?') return '[^/]';
        return /^\[.+\]$/.test(one) ? one.replace('[!', '[^') : literal(one);
      });
      return /^[*?[]/.test(part) ? `(?!\\.)${text}` : text;
    })
    .join('/');
}

interface NginxFile {
  readonly name: string;
  readonly directives: readonly Directive[];
}

const HARMLESS = /(?:^|\/)(?:mime\.types|(?:fastcgi|proxy|uwsgi|scgi)_params|fastcgi\.conf|koi-\w+|win-utf)$/;

/** Replaces each include by the directives of the files that it names. */
export function withIncludes(files: readonly NginxFile[], mains: readonly string[], found: FoundLimits) {
  const included = new Set<string>();
  const names = files.map(({ name }) => name);
  const replaced = (directives: readonly Directive[], trail: readonly string[]): readonly Directive[] =>
    directives.flatMap((one) => {
      if (one.block !== undefined) return [{ ...one, block: replaced(one.block, trail) }];
      if (one.words[0] !== 'include') return [one];
      const [, pattern = ''] = one.words;
      const named = includedBy(pattern, one.file, names, mains);
      const again = named.find((name) => trail.includes(name));
      if (again !== undefined) found.refuse(one, `nginx refuses the include of ${again} in itself`);
      if (named.length === 0 && !HARMLESS.test(pattern)) {
        found.refuse(one, `${pattern} is included, and was not read`);
        // In a map, what is not read decides its values.
        return [one];
      }
      return files
        .filter(({ name }) => named.includes(name) && !trail.includes(name))
        .flatMap(({ name, directives: inner }) => {
          included.add(name);
          return replaced(inner, [...trail, name]);
        });
    });
  const whole = files.map(({ name, directives }) => ({ name, directives: replaced(directives, [name]) }));
  return { whole, included };
}
