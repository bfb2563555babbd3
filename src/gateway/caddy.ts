// Limits of a Caddyfile: the directive rate_limit of the plugin mholt/caddy-ratelimit.
//
//   example.com {
//     rate_limit { zone api { key {remote_host}  events 10  window 1m } }       { like: caddy, max_events: 10, window: 1m }
//   }
//
// Source: the README of mholt/caddy-ratelimit; the grammar of caddyserver.com/docs/caddyfile.
import { type CaddyBlock, handlesInOrder, takeBranches } from './caddy-route.js';
import {
  bySpecificity,
  durationOf,
  everyone,
  type FoundLimiter,
  type FoundLimits,
  type KeyPart,
  keyOfAll,
  type LimitKey,
  type PathPattern,
  type Source,
  type Written,
} from './found.js';

interface CaddyLine extends Written {
  readonly words: readonly string[];
  readonly block: readonly CaddyLine[] | undefined;
}

export function looksLikeCaddy(text: string): boolean {
  return /^\s*rate_limit\s*(?:[\w@/*]\S*\s*)?\{\s*$/m.test(text) && !/\brate_limits?:/.test(text);
}

const MOST_DEPTH = 200;

function linesOf({ name: file, text }: Source): CaddyLine[] {
  const stack: CaddyLine[][] = [[]];
  for (const [index, raw] of text.split('\n').entries()) {
    const found = [...raw.matchAll(/#.*|"((?:\\.|[^"\\])*)"|`([^`]*)`|[^\s"`#]+[^\s]*/g)]
      .filter(([token]) => !token.startsWith('#'))
      .map(([token, quoted, ticked]) => quoted ?? ticked ?? token);
    // The addresses of a site may be on several lines.
    const isOpen = stack.length === 1 && stack[0]!.at(-1)?.words.at(-1)?.endsWith(',') === true;
    const words = isOpen && found.length > 0 ? [...stack[0]!.pop()!.words, ...found] : found;
    if (words[0] === '}' && stack.length > 1) {
      stack.pop();
      continue;
    }
    if (words.length === 0) continue;
    const opens = words.at(-1) === '{' && stack.length < MOST_DEPTH;
    const block: CaddyLine[] | undefined = opens ? [] : undefined;
    stack.at(-1)!.push({ file, line: index + 1, words: opens ? words.slice(0, -1) : words, block });
    if (block !== undefined) stack.push(block);
  }
  return stack[0]!;
}

const placeholders: Readonly<Record<string, readonly KeyPart[]>> = {
  remote_host: ['client'],
  'http.request.remote.host': ['client'],
  client_ip: ['client'],
  host: ['host'],
  'http.request.host': ['host'],
  path: ['path'],
  'http.request.uri.path': ['path'],
  method: ['method'],
};

export function readCaddy(source: Source, found: FoundLimits): void {
  const all = linesOf(source);
  const limits = (lines: readonly CaddyLine[]): boolean =>
    lines.some(({ words, block }) => words[0] === 'rate_limit' || limits(block ?? []));
  const snippets = new Map(
    all.flatMap(({ words: [name = ''], block }) =>
      /^\(.+\)$/.test(name) ? [[name.slice(1, -1), block ?? []] as const] : [],
    ),
  );
  const imported = new Set<string>();
  const visit = (lines: readonly CaddyLine[], place: Place, above: readonly CaddyLine[], trail: readonly string[]) => {
    const branches: CaddyBlock[] = [];
    const matchers = [...lines, ...above];
    for (const one of lines) {
      const { words, block } = one;
      const [name = '', matcher = ''] = words;
      const { site, stripped } = place;
      if (site.length === 0 && /^\(.+\)$/.test(name)) continue;
      const snippet = name === 'import' ? snippets.get(matcher) : undefined;
      if (snippet !== undefined && limits(snippet) && !trail.includes(matcher)) {
        imported.add(matcher);
        if (words.length > 2) found.refuse(one, `the snippet ${matcher} has arguments, which are not read`);
        else branches.push(...visit(snippet, place, matchers, [...trail, matcher]));
        continue;
      }
      if (name === 'import' && !snippets.has(matcher) && !matcher.includes('{args'))
        found.refuse(one, `${matcher} is imported, and was not read`);
      const own = pathsOf(matchers, matcher)?.map((path) => ({ ...path, text: stripped + path.text }));
      const isHandled = /^(?:handle|handle_path|route)$/.test(name);
      const inner = { ...place, paths: own?.length ? own : place.paths };
      const reach = { hosts: [], paths: own ?? [] };
      if (own === undefined && block !== undefined && (name === 'rate_limit' || isHandled) && limits([one]))
        found.refuse(one, `it applies only to requests that match ${matcher}; here to all of the place`);
      if (name === 'ratelimit' || (name === 'rate_limit' && block === undefined))
        found.refuse(one, `${words.join(' ')} is of another plugin than mholt/caddy-ratelimit, and is not read`);
      else if (name === 'rate_limit')
        branches.push({ ...reach, limiters: readZones(block ?? [], inner, found), branches: [] });
      else if (block !== undefined && site.length === 0) {
        const names = words.map((word) => word.replace(/,$/, ''));
        const within = handlesInOrder(visit(block, { ...place, site: names }, matchers, trail));
        branches.push({ hosts: hostsOf(names), paths: [], group: 'site', limiters: [], branches: within });
      } else if (block !== undefined) {
        const strips = name === 'handle_path' ? (own?.[0]?.text.replace(/\/$/, '') ?? stripped) : stripped;
        const group = own !== undefined && name.startsWith('handle') ? 'handle' : undefined;
        const within = visit(block, isHandled ? { ...inner, stripped: strips } : place, matchers, trail);
        const ordered = name === 'route' ? within : handlesInOrder(within);
        if (isHandled) branches.push({ ...reach, group, limiters: [], branches: ordered });
        else branches.push(...within);
      }
    }
    return branches;
  };
  /** Empty: all paths. Undefined: the matcher has conditions other than paths. */
  const pathsOf = (lines: readonly CaddyLine[], matcher: string): PathPattern[] | undefined => {
    if (matcher === '' || matcher === '*') return [];
    if (matcher.startsWith('/')) return [pathOf(matcher)];
    const named = matcher.startsWith('@') ? lines.find(({ words }) => words[0] === matcher) : undefined;
    const [, kind, ...given] = named?.words ?? [];
    const inner = named?.block ?? (kind === undefined ? [] : [{ words: [kind, ...given] }]);
    const isPaths = inner.length === 1 && inner[0]!.words[0] === 'path';
    return isPaths ? inner[0]!.words.slice(1).map(pathOf) : undefined;
  };
  const sites = visit(all, { site: [], paths: [], stripped: '' }, [], []);
  takeBranches(
    [
      ...sites.filter(({ group }) => group === undefined),
      ...bySpecificity(sites.filter(({ group }) => group === 'site')),
    ],
    found,
  );
  for (const one of all) {
    const name = one.words[0]?.slice(1, -1) ?? '';
    if (/^\(.+\)$/.test(one.words[0] ?? '') && limits(one.block ?? []) && !imported.has(name))
      found.unused(one, { name, what: `the snippet ${name} limits nothing: no site imports it` });
  }
}

export const pathOf = (text: string): PathPattern =>
  text.endsWith('*') ? { kind: 'prefix', text: text.slice(0, -1) } : { kind: 'exact', text };

export interface Place {
  /** Where there is no host. */
  readonly title?: string;
  readonly site: readonly string[];
  readonly paths: readonly PathPattern[];
  /** The part of the path that handle_path has removed. */
  readonly stripped: string;
}

export const DISTRIBUTED = 'the counts of other instances are added with a delay; here they count at once';
export const NETWORKS = 'addresses of one network share a count; here each has its own';

const OPTIONS = ['key', 'events', 'max_events', 'window', 'match', 'ipv4_prefix', 'ipv6_prefix'];

function readZones(lines: readonly CaddyLine[], place: Place, found: FoundLimits): readonly FoundLimiter[] {
  return lines.flatMap((zone) => {
    const { words, block = [] } = zone;
    const [kind, name = 'zone'] = words;
    if (kind === 'distributed') found.refuse(zone, DISTRIBUTED);
    if (kind !== 'zone') return [];
    const given = (...names: string[]) => block.find((one) => names.includes(one.words[0]!));
    const [key, events, window, match] = [given('key'), given('events', 'max_events'), given('window'), given('match')];
    const faults = [
      ...block
        .filter((one) => !OPTIONS.includes(one.words[0]!))
        .map((one) => [one, `${one.words[0]} is not an option of a zone`] as const),
      ...[key, events, window]
        .filter((one) => one !== undefined && one.words.length !== 2)
        .map((one) => [one!, `${one!.words[0]} takes one value`] as const),
    ];
    for (const one of block.filter(({ words: [option] }) => /^ipv[46]_prefix$/.test(option!)))
      if (Number(one.words[1]) > 0) found.refuse(one, NETWORKS);
    for (const [one, what] of faults) found.refuse(one, `Caddy refuses the zone ${name}: ${what}`);
    const [most, length] = [
      /^\d+$/.test(events?.words[1] ?? '') ? Number(events!.words[1]) : 0,
      window?.words[1] ?? '',
    ];
    if (faults.length > 0) return [];
    const others = (match?.block ?? []).filter((one) => one.words[0] !== 'path');
    return takeZone(
      zone,
      {
        ...{ name, most, window: durationOf(length), key: key?.words[1], hosts: [] },
        paths: (match?.block ?? []).flatMap((one) => (one.words[0] === 'path' ? one.words.slice(1) : [])),
        others: others.map((one) => one.words.join(' ')),
        condition: others[0],
      },
      place,
      found,
    );
  });
}

/** As a Caddyfile or its JSON says it. */
interface Zone {
  readonly name: string;
  readonly most: number;
  readonly window: string | undefined;
  readonly key: string | undefined;
  /** What it matches by itself, and where the `others` are written. */
  readonly hosts: readonly string[];
  readonly paths: readonly string[];
  readonly others: readonly string[];
  readonly condition: Written | undefined;
}

const hostsOf = (site: readonly string[]) =>
  site.map((one) => one.replace(/^https?:\/\//, '').replace(/[:/].*$/, '')).filter((one) => one !== '');

export function takeZone(
  zone: Written,
  given: Zone,
  { title = '', site, paths, stripped }: Place,
  found: FoundLimits,
): readonly FoundLimiter[] {
  const { name, most, window, key, others, condition = zone } = given;
  if (!Number.isInteger(most) || most <= 0 || window === undefined) {
    found.refuse(zone, `the zone ${name} has no number of events or no window`);
    return [];
  }
  if (others.length > 0)
    found.refuse(condition, `it applies only to requests that match ${others.join(', ')}; here to all`);
  const hosts = given.hosts.length > 0 ? given.hosts : site;
  const limiter = found.limiter(zone, {
    name,
    where: hosts.join(', ') || title,
    hosts: hostsOf(hosts),
    paths: given.paths.length > 0 ? given.paths.map((text) => pathOf(stripped + text)) : paths,
    key: keyOfZone(key),
    limit: { like: 'caddy', max_events: most, window },
  });
  return [limiter];
}

function keyOfZone(text: string | undefined): LimitKey {
  if (text === undefined) return everyone;
  const names = [...text.matchAll(/\{([^}]+)\}/g)].map(([, name]) => placeholders[name!]);
  if (names.length === 0) return { text: `constant ${text}`, parts: [] };
  return keyOfAll(text, names);
}
