// Limits of the JSON that Caddy makes of a Caddyfile, and that its API takes: the handler rate_limit of mholt/caddy-ratelimit.
//
//   { handler: rate_limit, rate_limits: { api: { key: "{http.request.remote.host}", window: 1m, max_events: 10 } } }
//
// Source: the README of mholt/caddy-ratelimit; caddyserver.com/docs/json.
import { DISTRIBUTED, NETWORKS, type Place, pathOf, takeZone } from './caddy.js';
import { type CaddyBlock, limitersOf, takeBranches } from './caddy-route.js';
import { at, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import { durationOf, type FoundLimiter, type FoundLimits } from './found.js';

export function readCaddyJson(roots: readonly TreeEntry[], found: FoundLimits): void {
  for (const root of roots)
    for (const [name, server] of at(root, 'apps', 'http', 'servers')?.fields ?? []) {
      const place = { title: `server ${name}`, site: [], paths: [], stripped: '' };
      takeBranches(branchesOf(listAt(server, 'routes'), place, found), found);
    }
}

/** Routes and handlers run in their order: what one strips of the path, those behind it do not see. */
function branchesOf(routes: readonly TreeEntry[], place: Place, found: FoundLimits): readonly CaddyBlock[] {
  let { stripped } = place;
  return routes.map((route) => {
    const { hosts, paths, others } = matched(listAt(route, 'match'));
    const own = paths.map((text) => pathOf(stripped + text));
    const inner = {
      ...place,
      site: hosts.length > 0 ? hosts : place.site,
      paths: own.length > 0 ? own : place.paths,
    };
    const limiters: FoundLimiter[] = [];
    const branches: CaddyBlock[] = [];
    for (const handle of listAt(route, 'handle')) {
      const handler = textAt(handle, 'handler');
      if (handler === 'rewrite') stripped += textAt(handle, 'strip_path_prefix') ?? '';
      else if (handler === 'subroute')
        branches.push(...branchesOf(listAt(handle, 'routes'), { ...inner, stripped }, found));
      else if (handler === 'rate_limit') {
        if (at(handle, 'distributed') !== undefined) found.refuse(handle, DISTRIBUTED);
        for (const [name, zone] of at(handle, 'rate_limits')?.fields ?? [])
          limiters.push(...readZone(name, zone, { ...inner, stripped }, found));
      }
    }
    const branch = { hosts, paths: own, limiters, branches };
    if (others.length === 0) {
      const isLast = textAt(route, 'terminal') === 'true';
      return { ...branch, group: textAt(route, 'group') ?? (isLast ? 'terminal' : undefined) };
    }
    if (limitersOf(branch).length > 0)
      found.refuse(route, `it applies only to requests that match ${others.join(', ')}; here to all of the place`);
    return branch;
  });
}

/** Of sets of matchers, of which one has to match. */
function matched(sets: readonly TreeEntry[]) {
  const texts = (name: string) => sets.flatMap((set) => listAt(set, name).map(({ value }) => String(value)));
  return {
    hosts: texts('host'),
    paths: texts('path'),
    others: sets.flatMap((set) => [...set.fields.keys()].filter((name) => name !== 'host' && name !== 'path')),
  };
}

function readZone(name: string, zone: TreeEntry, place: Place, found: FoundLimits): readonly FoundLimiter[] {
  for (const prefix of ['ipv4_prefix', 'ipv6_prefix'])
    if ((numberAt(zone, prefix) ?? 0) > 0) found.refuse(at(zone, prefix)!, NETWORKS);
  const written = textAt(zone, 'window') ?? '';
  // A number is nanoseconds, as in all durations of Caddy.
  const ms = /^\d+$/.test(written) ? Number(written) / 1e6 : undefined;
  const window = ms === undefined ? durationOf(written) : ms > 0 ? `${ms}ms` : undefined;
  const most = numberAt(zone, 'max_events') ?? 0;
  const match = matched(listAt(zone, 'match'));
  const condition = at(zone, 'match');
  return takeZone(zone, { name, most, window, key: textAt(zone, 'key'), ...match, condition }, place, found);
}
