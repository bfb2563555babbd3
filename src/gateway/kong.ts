// Limits of Kong: the plugins rate-limiting and rate-limiting-advanced, declared in a file or as objects of Kubernetes.
//
//   - name: rate-limiting                   { like: kong, minute: 100 }, { like: kong, hour: 1000 }: all windows must admit
//     config: { minute: 100, hour: 1000 }
//
// Source: the plugin references of docs.konghq.com.
import { at, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import {
  everyone,
  type FoundLimiter,
  type FoundLimits,
  type Like,
  type LimitKey,
  type PathPattern,
  perClient,
  unknownKey,
} from './found.js';

const PLUGIN = /^rate-limiting(?:-advanced)?$/;
const WINDOWS = ['second', 'minute', 'hour', 'day', 'month', 'year'];

interface Bound extends Pick<FoundLimiter, 'hosts' | 'paths'> {
  readonly where: string;
  readonly unused?: string | undefined;
}

const everywhere: Bound = { where: 'global', hosts: [], paths: [] };

export function readKong(roots: readonly TreeEntry[], found: FoundLimits): void {
  for (const root of roots) {
    const kind = textAt(root, 'kind') ?? '';
    if (/^Kong(?:Cluster)?Plugin$/.test(kind)) readObject(root, roots, found);
    else if (kind === '' && at(root, 'http') === undefined) readDeclared(root, found);
  }
}

function readDeclared(root: TreeEntry, found: FoundLimits): void {
  const services = listAt(root, 'services');
  const routes = [...listAt(root, 'routes'), ...services.flatMap((service) => listAt(service, 'routes'))];
  const boundTo = (of: readonly TreeEntry[], name: string, what: string): Bound => {
    const routed = of.find((one) => textAt(one, 'name') === name || textAt(one, 'id') === name);
    const own = what === 'service' ? listAt(routed, 'routes') : routed === undefined ? [] : [routed];
    return { where: `${what} ${name}`, ...reachOf(own) };
  };
  for (const plugin of listAt(root, 'plugins')) {
    const name = (what: string) => textAt(plugin, what, 'name') ?? textAt(plugin, what, 'id') ?? textAt(plugin, what);
    const [service, route, consumer] = [name('service'), name('route'), name('consumer')];
    const bound =
      route !== undefined
        ? boundTo(routes, route, 'route')
        : service !== undefined
          ? boundTo(services, service, 'service')
          : everywhere;
    readPlugin(plugin, consumer === undefined ? bound : { ...bound, where: `consumer ${consumer}` }, found);
  }
  for (const [list, what] of [
    [services, 'service'],
    [routes, 'route'],
    [listAt(root, 'consumers'), 'consumer'],
  ] as const)
    for (const one of list)
      for (const plugin of listAt(one, 'plugins')) {
        const name = textAt(one, 'name') ?? textAt(one, 'username') ?? '';
        readPlugin(
          plugin,
          what === 'consumer' ? { ...everywhere, where: `consumer ${name}` } : boundTo(list, name, what),
          found,
        );
      }
}

function reachOf(routes: readonly TreeEntry[]): Pick<Bound, 'hosts' | 'paths'> {
  const all = (name: string) => routes.flatMap((route) => listAt(route, name).map(({ value }) => String(value)));
  const paths = all('paths').map(
    (path): PathPattern =>
      path.startsWith('~') ? { kind: 'regex', text: `^${path.slice(1)}` } : { kind: 'prefix', text: path },
  );
  return { hosts: all('hosts'), paths: paths.some(({ text }) => text === '/') ? [] : paths };
}

/** An object does nothing until an annotation names it, or a label makes it global. */
function readObject(root: TreeEntry, roots: readonly TreeEntry[], found: FoundLimits): void {
  const name = textAt(root, 'metadata', 'name') ?? '';
  if (!PLUGIN.test(textAt(root, 'plugin') ?? '')) return;
  const naming = roots.filter((one) =>
    (textAt(one, 'metadata', 'annotations', 'konghq.com/plugins') ?? '').split(/\s*,\s*/).includes(name),
  );
  const isGlobal = textAt(root, 'metadata', 'labels', 'global') === 'true';
  const [first] = naming;
  const hosts = listAt(first, 'spec', 'rules').flatMap((rule) => textAt(rule, 'host') ?? []);
  const where = first === undefined ? 'global' : `${textAt(first, 'kind')} ${textAt(first, 'metadata', 'name')}`;
  const unused = isGlobal || first !== undefined ? undefined : 'no annotation konghq.com/plugins names it';
  readPlugin(root, { where, hosts, paths: [], unused }, found, name);
}

export function readPlugin(
  plugin: TreeEntry,
  bound: Bound,
  found: FoundLimits,
  name = textAt(plugin, 'name') ?? 'rate-limiting',
): void {
  const kind = textAt(plugin, 'plugin') ?? textAt(plugin, 'name') ?? '';
  if (!PLUGIN.test(kind)) return;
  const { file, line } = plugin;
  const config = at(plugin, 'config');
  const off = textAt(plugin, 'enabled') === 'false' ? 'it is not enabled' : bound.unused;
  const key = keyOf(config);
  const status = numberAt(config, 'error_code') ?? 429;
  const limits = kind.endsWith('advanced') ? advanced(config, file, found) : windows(config, file, found);
  if (limits.length === 0) found.refuse(file, line, `${name} has no limit that is understood`);
  for (const [window, limit, at] of limits) {
    const title = limits.length === 1 ? name : `${name} ${window}`;
    if (off !== undefined)
      found.unused(file, { name: title, line: at, what: `${title} limits nothing: ${off}`, key, limit });
    else found.limiter(file, { name: title, line: at, ...bound, key, limit, status });
  }
}

type Windowed = readonly [window: string, limit: Like, line: number];

function windows(config: TreeEntry | undefined, file: string, found: FoundLimits): Windowed[] {
  return WINDOWS.flatMap((window) => {
    const given = at(config, window);
    if (given === undefined || (given.value === undefined && given.expression === undefined)) return [];
    const limit = numberAt(given);
    if (limit !== undefined && window !== 'month' && window !== 'year')
      return [[window, { like: 'kong', [window]: limit }, given.line] as const];
    found.refuse(
      file,
      given.line,
      limit === undefined ? `the limit per ${window} is not a number` : `windows of a ${window} are not read`,
    );
    return [];
  });
}

/** Lists of limits and of windows, paired by their places. */
function advanced(config: TreeEntry | undefined, file: string, found: FoundLimits): Windowed[] {
  const [limits, sizes] = [listAt(config, 'limit'), listAt(config, 'window_size')];
  const isFixed = textAt(config, 'window_type') === 'fixed';
  const isForgiving = textAt(config, 'disable_penalty') === 'true';
  if (limits.length !== sizes.length)
    found.refuse(file, config?.line ?? 1, 'limit and window_size are not of the same length');
  return limits.slice(0, sizes.length).flatMap((one, i) => {
    const [limit, size] = [numberAt(one), numberAt(sizes[i])];
    if (limit === undefined || size === undefined) {
      found.refuse(file, one.line, 'limit or window_size is not a number');
      return [];
    }
    const more = { ...(isFixed && { window_type: 'fixed' }), ...(isForgiving && { disable_penalty: true }) };
    return [[`${size}s`, { like: 'kong-advanced', limit, window_size: size, ...more }, one.line] as const];
  });
}

function keyOf(config: TreeEntry | undefined): LimitKey {
  const by = textAt(config, 'limit_by') ?? textAt(config, 'identifier') ?? 'consumer';
  if (by === 'ip') return perClient;
  if (by === 'consumer' || by === 'credential') return { text: `${by}, else client address`, parts: ['client'] };
  if (by === 'service') return everyone;
  return unknownKey(by === 'header' ? `header ${textAt(config, 'header_name')}` : by);
}
