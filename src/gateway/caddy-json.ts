// Limits of the JSON that Caddy makes of a Caddyfile, and that its API takes: the handler rate_limit of mholt/caddy-ratelimit.
//
//   { handler: rate_limit, rate_limits: { api: { key: "{http.request.remote.host}", window: 1m, max_events: 10 } } }
//
// Source: the README of mholt/caddy-ratelimit; caddyserver.com/docs/json.
import { caddyKey, hostsOf, type Place, pathOf } from './caddy.js';
import { at, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import { durationOf, type FoundLimits } from './found.js';

export function readCaddyJson(roots: readonly TreeEntry[], found: FoundLimits): void {
  for (const root of roots)
    for (const [name, server] of at(root, 'apps', 'http', 'servers')?.fields ?? [])
      visitRoutes(listAt(server, 'routes'), { title: `server ${name}`, site: [], paths: [], stripped: '' }, found);
}

/** @param title where a place has no host */
type JsonPlace = Place & { readonly title: string };

/** Routes and handlers run in their order: what one strips of the path, those behind it do not see. @returns whether one limits */
function visitRoutes(routes: readonly TreeEntry[], place: JsonPlace, found: FoundLimits): boolean {
  let { stripped } = place;
  let limits = false;
  for (const route of routes) {
    const { site, paths, others } = matched(listAt(route, 'match'), stripped);
    const inner = {
      ...place,
      site: site.length > 0 ? site : place.site,
      paths: paths.length > 0 ? paths : place.paths,
    };
    let isLimited = false;
    for (const handle of listAt(route, 'handle')) {
      const handler = textAt(handle, 'handler');
      if (handler === 'rewrite') stripped += textAt(handle, 'strip_path_prefix') ?? '';
      else if (handler === 'subroute')
        isLimited = visitRoutes(listAt(handle, 'routes'), { ...inner, stripped }, found) || isLimited;
      else if (handler === 'rate_limit') {
        isLimited = true;
        if (at(handle, 'distributed') !== undefined)
          found.refuse(handle, 'the counts of other instances are added with a delay; here they count at once');
        for (const [name, zone] of at(handle, 'rate_limits')?.fields ?? [])
          readJsonZone(name, zone, { ...inner, stripped }, found);
      }
    }
    if (isLimited && others.length > 0)
      found.refuse(route, `it applies only to requests that match ${others.join(', ')}; here to all of the place`);
    limits ||= isLimited;
  }
  return limits;
}

/** Of sets of matchers, of which one has to match. */
function matched(sets: readonly TreeEntry[], stripped: string) {
  const texts = (name: string) => sets.flatMap((set) => listAt(set, name).map(({ value }) => String(value)));
  return {
    site: texts('host'),
    paths: texts('path').map((text) => pathOf(stripped + text)),
    others: sets.flatMap((set) => [...set.fields.keys()].filter((name) => name !== 'host' && name !== 'path')),
  };
}

function readJsonZone(name: string, zone: TreeEntry, { title, site, paths, stripped }: JsonPlace, found: FoundLimits) {
  const most = numberAt(zone, 'max_events') ?? 0;
  const written = textAt(zone, 'window') ?? '';
  // A number is nanoseconds, as in all durations of Caddy.
  const window = /^\d+$/.test(written) ? `${Number(written) / 1e6}ms` : durationOf(written);
  if (!Number.isInteger(most) || most <= 0 || window === undefined || window === '0ms') {
    found.refuse(zone, `the zone ${name} has no number of events or no window`);
    return;
  }
  for (const prefix of ['ipv4_prefix', 'ipv6_prefix'])
    if ((numberAt(zone, prefix) ?? 0) > 0)
      found.refuse(at(zone, prefix)!, 'addresses of one network share a count; here each has its own');
  const own = matched(listAt(zone, 'match'), stripped);
  if (own.others.length > 0)
    found.refuse(at(zone, 'match')!, `it applies only to requests that match ${own.others.join(', ')}; here to all`);
  const hosts = own.site.length > 0 ? own.site : site;
  found.limiter(zone, {
    name,
    where: hosts.join(', ') || title,
    hosts: hostsOf(hosts),
    paths: own.paths.length > 0 ? own.paths : paths,
    key: caddyKey(textAt(zone, 'key')),
    limit: { like: 'caddy', max_events: most, window },
  });
}
