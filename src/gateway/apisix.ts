// Limits of APISIX: the plugins limit-count, limit-req and limit-conn of routes, services, consumers and global rules.
//
//   limit-count: { count: 100, time_window: 60, rejected_code: 429 }     { like: apisix-limit-count, count: 100, time_window: 60 }
//
// Source: the plugin pages of apisix.apache.org, and lua-resty-limit-traffic, on which they are built.
import {
  at,
  entryOf,
  isGiven,
  listAt,
  numberAt,
  numbersAt,
  sayConditions,
  type TreeEntry,
  textAt,
} from './document.js';
import {
  bySpecificity,
  everyone,
  type FoundLimiter,
  type FoundLimits,
  keyOfVariables,
  type Like,
  type LimitKey,
  type PathPattern,
  perClient,
  type Reach,
} from './found.js';
import { filtersOf, reachOfRules, sayMatches, sharesNamespace } from './kubernetes.js';

const PLUGINS = ['limit-count', 'limit-req', 'limit-conn'] as const;
const OTHERS = /^(?!limit-(?:count|req|conn)$).*limit/;

type Bound = Pick<FoundLimiter, 'where' | 'hosts' | 'paths'> & Partial<Pick<FoundLimiter, 'reach'>>;

interface Routed extends Reach {
  readonly limiters: readonly FoundLimiter[];
  readonly priority: number;
}

/** The priority counts among routes of the same host and path. */
function takeRoutes(routes: readonly Routed[], found: FoundLimits): void {
  if (routes.some(({ limiters }) => limiters.length > 0))
    found.table(bySpecificity([...routes].sort((a, b) => b.priority - a.priority)));
}

export function readApisix(roots: readonly TreeEntry[], found: FoundLimits): void {
  const objects = roots.filter((root) => textAt(root, 'kind') === 'ApisixRoute');
  takeRoutes(
    objects.flatMap((root) => listAt(root, 'spec', 'http').map((route) => readObject(root, route, roots, found))),
    found,
  );
  for (const root of roots) {
    const kind = textAt(root, 'kind') ?? '';
    if (kind === 'ApisixGlobalRule') readListed(listAt(root, 'spec', 'plugins'), everywhere, found);
    else if (/^(?:ApisixPluginConfig|PluginConfig)$/.test(kind)) readShared(root, roots, found);
    else if (kind === '' && at(root, 'plugins') !== undefined && (at(root, 'uri') ?? at(root, 'uris')) !== undefined)
      readDeclared(entryOf(root.file, root.line, { fields: new Map([['routes', root]]) }), found);
    else if (kind === '') readDeclared(root, found);
  }
}

const everywhere: Bound = { where: 'global rule', hosts: [], paths: [] };

function readDeclared(root: TreeEntry, found: FoundLimits): void {
  const services = listAt(root, 'services');
  const within = new Map(services.flatMap((one) => listAt(one, 'routes').map((route) => [route, one] as const)));
  const all = [...listAt(root, 'routes'), ...within.keys()];
  const isOff = (one: TreeEntry) => textAt(one, 'status') === '0';
  for (const one of all.filter(isOff))
    readPlugins(at(one, 'plugins')?.fields, undefined, found, 'its route is disabled');
  const routes = all.filter((one) => !isOff(one));
  const idOf = (one: TreeEntry) => textAt(one, 'id') ?? textAt(one, 'name') ?? '';
  const read = new Map<TreeEntry, readonly FoundLimiter[]>();
  // A route's plugin overrides its plugin config, which overrides its service.
  const table = routes.map((route) => {
    const shared = [
      listAt(root, 'plugin_configs').find((one) => idOf(one) === textAt(route, 'plugin_config_id')),
      within.get(route) ?? services.find((one) => idOf(one) === textAt(route, 'service_id')),
    ];
    const reach = reachOf(route, shared[1]);
    for (const one of [route, ...shared])
      for (const [name, config] of at(one, 'plugins')?.fields ?? [])
        if (OTHERS.test(name)) found.refuse(config, `the plugin ${name} is not read`);
    const limiters = PLUGINS.flatMap((name) => {
      const from = [route, ...shared].find((one) => at(one, 'plugins')?.fields.has(name) === true);
      const config = at(from, 'plugins')?.fields.get(name);
      if (config === undefined) return [];
      if (!read.has(config)) {
        const bound =
          from === route
            ? reach
            : { ...reach, where: `${from === shared[0] ? 'plugin config' : 'service'} ${idOf(from!)}` };
        read.set(config, readPlugins(new Map([[name, config]]), bound, found));
      }
      return read.get(config)!;
    });
    if (limiters.length > 0) sayConditions(route, CONDITIONS, found);
    return { ...reach, limiters, priority: numberAt(route, 'priority') ?? 0 };
  });
  for (const [list, what] of [
    ['plugin_configs', 'plugin config'],
    ['services', 'service'],
  ] as const)
    for (const one of listAt(root, list)) {
      const left = [...(at(one, 'plugins')?.fields ?? [])].filter(([, config]) => !read.has(config));
      readPlugins(new Map(left), undefined, found, `no route uses the ${what} ${idOf(one)}`);
    }
  // Plugins of services and plugin configs are shared: they count all their routes together.
  takeRoutes(table, found);
  for (const rule of listAt(root, 'global_rules')) readPlugins((at(rule, 'plugins') ?? rule).fields, everywhere, found);
  for (const what of ['consumer', 'consumer_group'])
    for (const one of listAt(root, `${what}s`)) {
      const where = `${what} ${textAt(one, 'username') ?? idOf(one)}`;
      readPlugins(at(one, 'plugins')?.fields, { where, hosts: [], paths: [], reach: 'unknown' }, found);
    }
}

const CONDITIONS = ['methods', 'vars', 'exprs', 'remote_addr', 'remote_addrs', 'remoteAddrs', 'filter_func'];

function reachOf(route: TreeEntry, service?: TreeEntry): Bound {
  const all = (of: TreeEntry | undefined, ...names: string[]) =>
    names
      .flatMap((name) =>
        listAt(of, name)
          .map(({ value }) => String(value))
          .concat(textAt(of, name) ?? []),
      )
      .filter((one) => one !== 'undefined');
  const prefix = textAt(service, 'path_prefix') ?? '';
  const uris = [...new Set(all(route, 'uri', 'uris', 'paths').map((uri) => prefix + uri))];
  const hosts = [route, service].map((one) => all(one, 'host', 'hosts')).find((some) => some.length > 0) ?? [];
  const paths = uris.map(
    (uri): PathPattern =>
      uri.endsWith('*') ? { kind: 'prefix', text: uri.slice(0, -1) } : { kind: 'exact', text: uri },
  );
  return {
    where: `route ${textAt(route, 'name') ?? textAt(route, 'id') ?? uris.join(', ')}`,
    hosts: [...new Set(hosts)],
    paths,
  };
}

function readObject(root: TreeEntry, route: TreeEntry, roots: readonly TreeEntry[], found: FoundLimits): Routed {
  const reach = reachOf(at(route, 'match') ?? route);
  const bound = { ...reach, where: `route ${textAt(route, 'name') ?? ''}` };
  const shared = roots.find((one) => textAt(one, 'kind') === 'ApisixPluginConfig' && namesConfig(root, route, one));
  const own = listAt(route, 'plugins');
  const isOwn = (plugin: TreeEntry) =>
    own.some((one) => textAt(one, 'name') === textAt(plugin, 'name') && textAt(one, 'enable') !== 'false');
  const plugins = [...own, ...listAt(shared, 'spec', 'plugins').filter((one) => !isOwn(one))];
  const limiters = readListed(plugins, bound, found);
  if (limiters.length > 0) sayConditions(at(route, 'match') ?? route, CONDITIONS, found);
  return { ...reach, limiters, priority: numberAt(route, 'priority') ?? 0 };
}

/** @param route of the ApisixRoute `root`; it may name the namespace, too */
function namesConfig(root: TreeEntry, route: TreeEntry, config: TreeEntry): boolean {
  if (textAt(route, 'plugin_config_name') !== textAt(config, 'metadata', 'name')) return false;
  const namespace = textAt(route, 'plugin_config_namespace');
  return namespace === undefined
    ? sharesNamespace(root, config)
    : namespace === textAt(config, 'metadata', 'namespace');
}

/** Plugins that routes name: those of HTTPRoutes are read here, those of ApisixRoutes with their routes. */
function readShared(root: TreeEntry, roots: readonly TreeEntry[], found: FoundLimits): void {
  const [kind, name] = [textAt(root, 'kind') ?? '', textAt(root, 'metadata', 'name') ?? ''];
  const plugins = listAt(root, 'spec', 'plugins');
  const users = roots
    .filter((one) => textAt(one, 'kind') === 'HTTPRoute' && sharesNamespace(one, root))
    .flatMap((route) => listAt(route, 'spec', 'rules').map((rule) => ({ route, rule })))
    .filter(({ rule }) => filtersOf(rule, kind).includes(name));
  for (const { route, rule } of users) {
    const before = found.limiters.length;
    const where = `route ${textAt(route, 'metadata', 'name') ?? ''}`;
    readListed(plugins, { where, ...reachOfRules(route, [rule]) }, found);
    if (found.limiters.length > before) sayMatches(rule, found);
  }
  const isUsed =
    users.length > 0 || roots.some((one) => listAt(one, 'spec', 'http').some((route) => namesConfig(one, route, root)));
  if (!isUsed) readListed(plugins, undefined, found, `no route names the ${kind} ${name}`);
}

function readListed(
  plugins: readonly TreeEntry[],
  bound: Bound | undefined,
  found: FoundLimits,
  unused?: string | undefined,
): FoundLimiter[] {
  return plugins.flatMap((plugin) => {
    const config = at(plugin, 'config');
    const off = textAt(plugin, 'enable') === 'false' ? 'it is not enabled' : unused;
    if (isGiven(at(plugin, 'secretRef')))
      found.refuse(plugin, 'a part of the plugin is in a secret, which is not read');
    return config === undefined
      ? []
      : readPlugins(new Map([[textAt(plugin, 'name') ?? '', config]]), bound, found, off);
  });
}

function readPlugins(
  plugins: ReadonlyMap<string, TreeEntry> | undefined,
  bound: Bound | undefined,
  found: FoundLimits,
  unused?: string,
): FoundLimiter[] {
  return PLUGINS.flatMap((name) => {
    const config = plugins?.get(name);
    if (config === undefined) return [];
    const filter = at(config, '_meta', 'filter');
    if (isGiven(filter)) found.refuse(filter, 'it applies only to requests that fit its filter; here to all');
    const [key, limit] = [keyOf(config), limitOf(name, config, found)];
    if (typeof limit === 'string') return found.refuse(config, limit) ?? [];
    const group = textAt(config, 'group');
    const isOff = textAt(config, '_meta', 'disable') === 'true' || textAt(config, 'disable') === 'true';
    return found.unless(isOff ? 'it is disabled' : unused, config, {
      name,
      ...bound,
      key,
      counts: name === 'limit-conn' ? 'concurrency' : 'requests',
      limit,
      status: numberAt(config, 'rejected_code') ?? 503,
      ...(group !== undefined && { counter: `apisix ${name} ${group}` }),
    });
  });
}

function limitOf(name: (typeof PLUGINS)[number], config: TreeEntry, found: FoundLimits): Like | string {
  const given = numbersAt(config, found, 'count', 'time_window', 'conn', 'rate', 'burst');
  if (given === undefined) return `${name} has a limit that is not a number`;
  const { count, time_window, conn, rate, burst = 0 } = given;
  if (isGiven(at(config, 'rules'))) return `${name} has rules, which are not read`;
  if (name === 'limit-count' && textAt(config, 'window_type') === 'sliding')
    return 'limit-count with a sliding window is not read';
  if (name === 'limit-count') {
    if (count !== undefined && time_window !== undefined) return { like: 'apisix-limit-count', count, time_window };
    return 'limit-count has no count or no time_window that is a number';
  }
  if (name === 'limit-conn')
    return conn === undefined ? 'limit-conn has no conn that is a number' : { like: 'in-flight', limit: conn + burst };
  if (rate === undefined) return 'limit-req has no rate that is a number';
  return { like: 'apisix-limit-req', rate, burst, ...(textAt(config, 'nodelay') === 'true' && { nodelay: true }) };
}

function keyOf(config: TreeEntry): LimitKey {
  const [key = 'remote_addr', type = 'var'] = [textAt(config, 'key'), textAt(config, 'key_type')];
  if (type === 'constant') return { ...everyone, text: `constant ${key}` };
  if (type === 'var_combination') return keyOfVariables(key);
  if (key === 'remote_addr') return perClient;
  return { ...keyOfVariables(`$${key}`), text: `${key}, else client address` };
}
