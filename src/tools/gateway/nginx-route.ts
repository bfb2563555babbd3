// Which location of nginx answers a request.
//
//   server     by name: exact, then *.suffix, then prefix.*, the longest of each, then expressions in order, else the default
//   rewrites   of the server, then of the location, which is looked for again if the path changes
//   location   = exact; else the longest prefix, in it its own; then expressions in order, unless the prefix has ^~
//
// Source: ngx_http_core_find_location of nginx 1.22. Logs lack the port: among servers with the same name, one with limits has precedence.
import { type FoundLimiter, isHost, type LimitedRoute, type LimitRoute, limitsOfAll, nameRank } from './found.js';
import * as ask from './request-condition.js';

/** `if (…) { return 418; }` beside `error_page 418 = @name`. */
export interface Redirect {
  readonly when: ask.RequestCondition;
  readonly to: string;
}

export interface Rewrite {
  readonly when: ask.RequestCondition;
  readonly to: ask.RequestText;
  /** `last` and `break` end the rewrites of the block; after `break` the location stays. */
  readonly flag: 'last' | 'break' | undefined;
}

export interface NginxLocation {
  /** After `location`: `= /login`, `~* \.png$`. Empty for the server. */
  readonly words: string;
  readonly limiters: readonly FoundLimiter[];
  /** The fallback of try_files, `/index.php` or `@app`; for locations without limits. */
  readonly tries?: string;
  /** Only redirects within nginx lead to it: others get 404 before any limit. */
  readonly isInternal?: boolean;
  readonly redirects?: readonly Redirect[];
  readonly rewrites?: readonly Rewrite[];
  readonly locations: readonly NginxLocation[];
}

export interface NginxServer {
  readonly names: readonly string[];
  /** It is the default server of one of its ports. */
  readonly isDefault: boolean;
  /** Or addresses with one. */
  readonly ports: readonly string[];
  readonly place: NginxLocation;
}

interface Compiled {
  readonly pattern: ask.ValueTest;
  readonly isFinal: boolean;
  readonly location: NginxLocation;
  readonly inner: readonly Compiled[];
}

export function nginxRoute(servers: readonly NginxServer[]): LimitRoute {
  const trees = new Map(servers.map((server) => [server, compiled(server.place.locations)]));
  return (request, unsure) => {
    const server = serverOf(servers, request.host);
    if (server === undefined) return [];
    const { path } = request;
    if (path === undefined) return limitsOfAll(placesOf(server.place), unsure, ask.lackOf([], request));
    const tree = trees.get(server)!;
    const asked = { ...request, path: ask.normalPath(path) };
    const rewritten = locationOf(server.place, tree, asked);
    const isMoved = rewritten?.path !== asked.path;
    const unclear = rewritten === undefined ? placesOf(server.place) : isMoved ? [rewritten.location] : [];
    for (const one of new Set(unclear.flatMap(({ limiters }) => limiters)))
      if (rewritten === undefined || dependsOnPath(one)) unsure(one, 'the path that rewrite gives');
    if (rewritten === undefined) return [];
    const found = rewritten.location;
    if (found.isInternal === true && !isMoved) return [];
    const named = (name: string) => server.place.locations.find(({ words }) => words === name);
    for (const { when, to } of found.redirects ?? []) {
      const [held, limiters] = [ask.holds(when, request), named(to)?.limiters ?? []];
      if (held === true) return limiters;
      if (held === false) continue;
      for (const one of [...limiters, ...found.limiters]) unsure(one, ask.lackOf([when], request));
      return [];
    }
    if (found.tries === undefined) return found.limiters;
    const tried = (named(found.tries) ?? find(tree, found.tries) ?? server.place).limiters;
    return [...found.limiters, ...tried.filter(({ counts }) => counts === 'requests')];
  };
}

/** nginx answers a request with 500 that is rewritten more often. */
const MOST_REWRITES = 10;

/** After all rewrites; undefined if the log does not say. */
function locationOf(server: NginxLocation, tree: readonly Compiled[], request: ask.LoggedRequest) {
  let path = rewrittenPath(server.rewrites, request)?.path;
  for (let k = 0; k < MOST_REWRITES && path !== undefined; k += 1) {
    const location = find(tree, path) ?? server;
    const next = location === server ? { path, stays: true } : rewrittenPath(location.rewrites, { ...request, path });
    if (next?.path === path || next?.stays === true) return { location, path: next.path };
    path = next?.path;
  }
  return undefined;
}

/** By the rewrites of one block. */
function rewrittenPath(rewrites: readonly Rewrite[] = [], request: ask.LoggedRequest) {
  let path = request.path!;
  for (const { when, to, flag } of rewrites) {
    const held = ask.holds(when, { ...request, path });
    const next = held === true ? ask.requestText(to, { ...request, path }) : path;
    if (held === undefined || next === undefined) return undefined;
    path = next;
    if (held && flag !== undefined) return { path, stays: flag === 'break' };
  }
  return { path, stays: false };
}

const dependsOnPath = ({ key: { parts = [], value }, when = ask.ALWAYS }: FoundLimiter) =>
  parts.includes('path') || ask.needsOf([when, ...(value === undefined ? [] : [value])]).fields.has('path');

const placesOf = (place: NginxLocation): readonly NginxLocation[] => [place, ...place.locations.flatMap(placesOf)];

function compiled(locations: readonly NginxLocation[]): readonly Compiled[] {
  return locations
    .filter(({ words }) => !words.startsWith('@'))
    .map((location) => ({
      pattern: patternOf(location.words),
      isFinal: location.words.startsWith('^~'),
      location,
      inner: compiled(location.locations),
    }));
}

function patternOf(words: string): ask.ValueTest {
  const [, sign = '', text = ''] = /^(=|\^~|~\*|~)?\s*(.*)$/.exec(words)!;
  const is = sign === '=' ? 'equal' : sign.startsWith('~') ? 'matching' : 'prefix';
  return { is, value: text, ignoresCase: sign === '~*' };
}

/** The limits of each location. */
export function nginxRows({ names, place }: NginxServer): LimitedRoute[] {
  const hosts = names.filter((name) => name !== '_' && name !== '');
  return placesOf(place)
    .filter(({ words, isInternal }) => !words.startsWith('@') && isInternal !== true)
    .map(({ words, limiters }) => ({ hosts, paths: words === '' ? [] : [patternOf(words)], limiters }));
}

function find(locations: readonly Compiled[], path: string): NginxLocation | undefined {
  let longest: Compiled | undefined;
  for (const one of locations) {
    if (one.pattern.is === 'matching' || !ask.passes(one.pattern, path)) continue;
    if (one.pattern.is === 'equal') return one.location;
    if (longest === undefined || one.pattern.value.length > longest.pattern.value.length) longest = one;
  }
  const within = longest === undefined ? undefined : find(longest.inner, path);
  const isExpression = within !== undefined && isFromExpression(longest!.inner, within);
  if (isExpression || longest?.isFinal === true) return within ?? longest?.location;
  for (const one of locations)
    if (one.pattern.is === 'matching' && ask.passes(one.pattern, path)) return find(one.inner, path) ?? one.location;
  return within ?? longest?.location;
}

function isFromExpression(locations: readonly Compiled[], found: NginxLocation): boolean {
  return locations.some(
    ({ location, pattern, inner }) => (location === found && pattern.is !== 'prefix') || isFromExpression(inner, found),
  );
}

function serverOf(servers: readonly NginxServer[], host: string | undefined): NginxServer | undefined {
  const rankOf = ({ names }: NginxServer) =>
    Math.min(...names.filter((name) => host !== undefined && isHost(name, host)).map(nameRank));
  const ranks = new Map(servers.map((server) => [server, rankOf(server)]));
  const best = Math.min(...ranks.values());
  const isMarked = servers.some(({ isDefault }) => isDefault);
  const fitting = servers.filter((one) => ranks.get(one) === best && (best < Infinity || !isMarked || one.isDefault));
  const isFirst = (one: NginxServer) =>
    one.ports.some((port) => fitting.find(({ ports }) => ports.includes(port)) === one);
  const some = host === undefined ? servers : fitting.filter(isFirst);
  // Among servers with one name on several ports, one often redirects: the relevant requests meet the limits.
  return some.find(({ place }) => hasLimits(place)) ?? some[0];
}

function hasLimits({ limiters, locations }: NginxLocation): boolean {
  return limiters.length > 0 || locations.some(hasLimits);
}
