// Limits of APISIX: the plugins limit-count, limit-req and limit-conn of routes, services, consumers and global rules.
//
//   limit-count: { count: 100, time_window: 60, rejected_code: 429 }     { like: apisix-limit-count, count: 100, time_window: 60 }
//
// Source: the plugin pages of apisix.apache.org, and lua-resty-limit-traffic, on which they are built.
import { at, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import {
  everyone,
  type FoundLimiter,
  type FoundLimits,
  keyOfVariables,
  type Like,
  type LimitKey,
  type PathPattern,
  perClient,
} from './found.js';

const PLUGINS = ['limit-count', 'limit-req', 'limit-conn'] as const;

type Bound = Pick<FoundLimiter, 'where' | 'hosts' | 'paths'>;

export function readApisix(roots: readonly TreeEntry[], found: FoundLimits): void {
  for (const root of roots) {
    if (textAt(root, 'kind') === 'ApisixRoute') readObject(root, found);
    else if (textAt(root, 'kind') === undefined) readDeclared(root, found);
  }
}

function readDeclared(root: TreeEntry, found: FoundLimits): void {
  const routes = listAt(root, 'routes');
  const idOf = (one: TreeEntry) => textAt(one, 'id') ?? '';
  for (const route of routes) readPlugins(at(route, 'plugins'), reachOf(route), found);
  // What a route has itself replaces what it shares.
  const shared = (list: string, what: string, field: string) => {
    for (const one of listAt(root, list)) {
      const users = routes.filter((route) => textAt(route, field) === idOf(one));
      if (users.length === 0)
        readPlugins(at(one, 'plugins'), undefined, found, `no route uses the ${what} ${idOf(one)}`);
      for (const route of users) {
        const own = new Set(at(route, 'plugins')?.fields.keys());
        const left = [...(at(one, 'plugins')?.fields ?? [])].filter(([name]) => !own.has(name));
        readPlugins({ ...one, fields: new Map(left) }, reachOf(route), found);
      }
    }
  };
  shared('plugin_configs', 'plugin_config', 'plugin_config_id');
  shared('services', 'service', 'service_id');
  for (const rule of listAt(root, 'global_rules'))
    readPlugins(at(rule, 'plugins'), { where: 'global rule', hosts: [], paths: [] }, found);
  for (const consumer of listAt(root, 'consumers'))
    readPlugins(
      at(consumer, 'plugins'),
      { where: `consumer ${textAt(consumer, 'username') ?? ''}`, hosts: [], paths: [] },
      found,
    );
}

function reachOf(route: TreeEntry): Bound {
  const all = (...names: string[]) =>
    names
      .flatMap((name) =>
        listAt(route, name)
          .map(({ value }) => String(value))
          .concat(textAt(route, name) ?? []),
      )
      .filter((one) => one !== 'undefined');
  const uris = [...new Set(all('uri', 'uris', 'paths'))];
  const paths = uris.map(
    (uri): PathPattern =>
      uri.endsWith('*') ? { kind: 'prefix', text: uri.slice(0, -1) } : { kind: 'exact', text: uri },
  );
  return {
    where: `route ${textAt(route, 'name') ?? textAt(route, 'id') ?? uris.join(', ')}`,
    hosts: [...new Set(all('host', 'hosts'))],
    paths: paths.some(({ kind, text }) => kind === 'prefix' && (text === '/' || text === '')) ? [] : paths,
  };
}

function readObject(root: TreeEntry, found: FoundLimits): void {
  for (const route of listAt(root, 'spec', 'http'))
    for (const plugin of listAt(route, 'plugins')) {
      const name = textAt(plugin, 'name') ?? '';
      const config = at(plugin, 'config');
      const off = textAt(plugin, 'enable') === 'false' ? 'it is not enabled' : undefined;
      const { hosts, paths } = reachOf(at(route, 'match') ?? route);
      const bound = { where: `route ${textAt(route, 'name') ?? ''}`, hosts, paths };
      if (config !== undefined) readPlugins({ ...plugin, fields: new Map([[name, config]]) }, bound, found, off);
    }
}

function readPlugins(
  plugins: TreeEntry | undefined,
  bound: Bound | undefined,
  found: FoundLimits,
  unused?: string,
): void {
  for (const name of PLUGINS) {
    const config = plugins?.fields.get(name);
    if (config === undefined) continue;
    const { file, line } = config;
    const [key, limit] = [keyOf(config), limitOf(name, config)];
    if (typeof limit === 'string') {
      found.refuse(file, line, limit);
      continue;
    }
    const isOff = textAt(config, '_meta', 'disable') === 'true' || textAt(config, 'disable') === 'true';
    const off = isOff ? 'it is disabled' : unused;
    if (off !== undefined || bound === undefined)
      found.unused(file, { name, line, what: `${name} limits nothing: ${off}`, key, limit });
    else
      found.limiter(file, {
        name,
        line,
        ...bound,
        key,
        counts: name === 'limit-conn' ? 'concurrency' : 'requests',
        limit,
        status: numberAt(config, 'rejected_code') ?? 503,
      });
  }
}

/** A text says why there is none. */
function limitOf(name: (typeof PLUGINS)[number], config: TreeEntry): Like | string {
  const number = (field: string) => numberAt(config, field);
  if (name === 'limit-count') {
    const [count, time_window] = [number('count'), number('time_window')];
    if (count === undefined || time_window === undefined)
      return 'limit-count has no count or no time_window that is a number';
    return { like: 'apisix-limit-count', count, time_window };
  }
  if (name === 'limit-conn') {
    const [conn, burst = 0] = [number('conn'), number('burst')];
    return conn === undefined ? 'limit-conn has no conn that is a number' : { like: 'in-flight', limit: conn + burst };
  }
  const [rate, burst = 0] = [number('rate'), number('burst')];
  if (rate === undefined) return 'limit-req has no rate that is a number';
  return { like: 'apisix-limit-req', rate, burst, ...(textAt(config, 'nodelay') === 'true' && { nodelay: true }) };
}

/** What is empty falls back to the address. */
function keyOf(config: TreeEntry): LimitKey {
  const [key = 'remote_addr', type = 'var'] = [textAt(config, 'key'), textAt(config, 'key_type')];
  if (type === 'constant') return { ...everyone, text: `constant ${key}` };
  if (type === 'var_combination') return keyOfVariables(key);
  if (key === 'remote_addr') return perClient;
  return { ...keyOfVariables(`$${key}`), text: `${key}, else client address` };
}
