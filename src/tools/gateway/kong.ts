// Limits of Kong: the plugins rate-limiting and rate-limiting-advanced, declared in a file or as objects of Kubernetes.
//
//   - name: rate-limiting                   { like: kong, minute: 100 }, { like: kong, hour: 1000 }: all windows must admit
//     config: { minute: 100, hour: 1000 }
//
// Source: the plugin references of docs.konghq.com.
import { at, isGiven, listAt, numberAt, numbersAt, type TreeEntry, textAt, textsAt } from './document.js';
import { bySpecificity, type FoundLimiter, type FoundLimits, type Like, type Reach } from './found.js';
import { annotatedCondition, kongCondition, weightOf } from './kong-route.js';
import {
  filtersOf,
  hostsOfRule,
  objectNamed,
  pathEntries,
  pathOfRule,
  reachesOfRoute,
  sharesNamespace,
} from './kubernetes.js';
import { everyone, headerText, keyOfText, type LimitKey, perClient, unknownKey } from './limit-key.js';
import * as ask from './request-condition.js';

const PLUGIN = /^rate-limiting(?:-advanced)?$/;
const WINDOWS = ['second', 'minute', 'hour', 'day', 'month', 'year'] as const;

interface Bound extends Partial<Pick<FoundLimiter, 'hosts' | 'paths' | 'reach'>> {
  readonly where: string;
  readonly unused?: string | undefined;
  /** A consumer is known, and is the key unless the plugin names another. */
  readonly hasConsumers?: boolean;
  /** Of several services. */
  readonly isOfSeveral?: boolean;
}

export function readKong(roots: readonly TreeEntry[], found: FoundLimits): void {
  readObjects(roots, found);
  for (const root of roots)
    if (textAt(root, 'kind') === undefined && at(root, 'http') === undefined) readDeclared(root, found);
}

const AUTHENTICATES = /^(?:key-auth|basic-auth|hmac-auth|jwt|oauth2|openid-connect|mtls-auth|ldap-auth)/;

/** Of each kind of plugin only the most specific one runs: that of the route, else of the service, else the global one. */
function readDeclared(root: TreeEntry, found: FoundLimits): void {
  const services = listAt(root, 'services');
  const routes = [
    ...listAt(root, 'routes').map((route) => ({
      route,
      service: textAt(route, 'service', 'name') ?? textAt(route, 'service'),
    })),
    ...services.flatMap((service) => listAt(service, 'routes').map((route) => ({ route, service: nameOf(service) }))),
  ];
  const isOld = Number(textAt(root, '_format_version')) < 3;
  const consumers = listAt(root, 'consumers');
  const lists = [
    ['service', services],
    ['route', routes.map(({ route }) => route)],
    ['consumer', consumers],
    ['consumer_group', listAt(root, 'consumer_groups')],
  ] as const;
  const written = [
    ...listAt(root, 'plugins').map((plugin) => ['', undefined, plugin] as const),
    ...lists.flatMap(([what, some]) =>
      some.flatMap((one) => listAt(one, 'plugins').map((plugin) => [what, nameOf(one), plugin] as const)),
    ),
  ];
  const hasConsumers =
    consumers.length > 0 || written.some(([, , plugin]) => AUTHENTICATES.test(textAt(plugin, 'name') ?? ''));
  const plugins = written.map(([above, one, plugin]) => {
    const named = ['consumer', 'consumer_group', 'route', 'service'].flatMap((what) => {
      const name = what === above ? one : (nameOf(at(plugin, what)) ?? textAt(plugin, what));
      const meant = lists.find(([kind]) => kind === what)![1].find((other) => textAt(other, 'id') === name);
      return name === undefined ? [] : [`${what} ${nameOf(meant) ?? name}`];
    });
    return { plugin, kind: textAt(plugin, 'name') ?? '', scope: named.join(', ') || 'global' };
  });
  const scopesOf = ({ route, service }: (typeof routes)[number]) => [
    `route ${nameOf(route)}`,
    `service ${service}`,
    'global',
  ];
  const isOn = (kind: string, scope: string) =>
    plugins.some((one) => one.kind === kind && one.scope === scope && textAt(one.plugin, 'enabled') !== 'false');
  const scopeIn = (route: (typeof routes)[number], kind: string) => scopesOf(route).find((scope) => isOn(kind, scope));
  const read = plugins.map(({ plugin, kind, scope }) => {
    const users = routes.filter((route) => scopesOf(route).includes(scope));
    const isThere =
      users.some((route) => scopeIn(route, kind) === scope) || (scope === 'global' && routes.length === 0);
    const unused =
      users.length > 0
        ? 'each route of it has a limit of its own'
        : services.some((one) => scope === `service ${nameOf(one)}`)
          ? `the ${scope} has no route`
          : undefined;
    const reach = isThere ? 'known' : 'unknown';
    const isOfSeveral = scope === 'global' && services.length > 1;
    const bound = { where: scope, unused: isThere ? undefined : unused, hasConsumers, isOfSeveral, reach } as const;
    return { kind, scope, limiters: readPlugin(plugin, bound, found) };
  });
  const isPersonal = ({ scope }: { readonly scope: string }) => scope.startsWith('consumer');
  const broader = read.filter((one) => !isPersonal(one) && one.limiters.length > 0);
  for (const { kind, scope, limiters } of read.filter(isPersonal))
    for (const one of broader.some((other) => other.kind === kind) ? limiters : [])
      found.refuse(one, `the ${scope} has this limit in place of broader ones; here they apply to it, too`);
  const table = routes.map((route) => {
    const limiters = read.flatMap((one) => (scopeIn(route, one.kind) === one.scope ? one.limiters : []));
    const extra = 10_000 * (numberAt(route.route, 'regex_priority') ?? 0);
    return { ...reachOf(route.route, isOld), limiters, weight: weightOf(route.route), extra };
  });
  const ordered = bySpecificity(table).map(({ weight: _, ...route }) => route);
  const global = read.flatMap(({ scope, limiters }) => (scope === 'global' ? limiters : []));
  if (broader.length > 0) found.table(table.length > 0 ? ordered : [{ hosts: [], paths: [], limiters: global }]);
}

/** A route without a name is called by where it leads from. */
function nameOf(one: TreeEntry | undefined): string | undefined {
  const places = ['paths', 'hosts', 'methods'].map((name) => textsAt(one, name));
  return (
    textAt(one, 'name') ??
    textAt(one, 'username') ??
    textAt(one, 'id') ??
    (one?.fields.size ? places.flat().join(', ') || `at line ${one.line}` : undefined)
  );
}

/** @param isOld before Kong 3 a path with other signs than those of paths is an expression */
function reachOf(route: TreeEntry, isOld: boolean): Reach {
  const paths = textsAt(route, 'paths').map((path): ask.ValueTest => {
    const expression = isOld && /[^\w.~/%-]/.test(path) ? path : /^~(.*)/s.exec(path)?.[1];
    return expression === undefined ? { is: 'prefix', value: path } : { is: 'matching', value: `^(?:${expression})` };
  });
  return { hosts: textsAt(route, 'hosts'), paths, when: kongCondition(route) };
}

/** An object applies if an annotation or a filter names it or a label makes it global; a plugin of a route replaces a global one of its kind. */
function readObjects(roots: readonly TreeEntry[], found: FoundLimits): void {
  const hasConsumers = roots.some(
    (one) => textAt(one, 'kind') === 'KongConsumer' || AUTHENTICATES.test(textAt(one, 'plugin') ?? ''),
  );
  const read = roots.flatMap((root) => {
    const [object = '', kind = ''] = [textAt(root, 'kind'), textAt(root, 'plugin')];
    if (!/^Kong(?:Cluster)?Plugin$/.test(object) || !/rate-?limit|^service-protection$/.test(kind)) return [];
    const name = textAt(root, 'metadata', 'name') ?? '';
    const isGlobal = textAt(root, 'metadata', 'labels', 'global') === 'true';
    const places = roots.filter((one) => mayName(one, root, roots)).flatMap((one) => placesNaming(one, root, roots));
    const bound: Bound = {
      where: [...new Set(places.map(({ where }) => where))].join(', ') || 'global',
      hosts: [...new Set(places.flatMap(({ hosts }) => hosts))],
      paths: places.flatMap(({ paths }) => paths),
      reach: places.every(({ isRouted }) => isRouted) ? 'known' : 'unknown',
      hasConsumers,
      unused: isGlobal || places.length > 0 ? undefined : 'no annotation konghq.com/plugins and no filter names it',
    };
    const limiters = readPlugin(root, bound, found, name);
    const rules = places.length === 0 ? [{ at: undefined, isOfService: false }] : places;
    const level = (rule: TreeEntry | undefined, isOfService = false) => (rule === undefined ? 2 : Number(isOfService));
    return rules.map(({ at: rule, isOfService }) => ({ kind, limiters, rule, level: level(rule, isOfService) }));
  });
  const limitersOf = (rule?: TreeEntry) => {
    const all = read.filter((one) => one.rule === rule || one.rule === undefined);
    const held = all.filter(({ kind, level }) => !all.some((one) => one.kind === kind && one.level < level));
    return [...new Set(held.toSorted((a, b) => a.level - b.level).flatMap(({ limiters }) => limiters))];
  };
  const routed = roots.flatMap(placesOf).filter(({ isRouted }) => isRouted);
  const table = routed.map((one) => ({ ...one, limiters: limitersOf(one.at) }));
  if (table.some(({ limiters }) => limiters.length > 0))
    found.table([...bySpecificity(table), { hosts: [], paths: [], limiters: limitersOf() }]);
}

interface Place extends Reach {
  readonly at: TreeEntry;
  readonly where: string;
  readonly isRouted: boolean;
  /** The plugin is that of the service behind it. */
  readonly isOfService?: boolean;
}

/** A plugin is for its namespace, or for all where none of a namespace has the name; one of another namespace is named with that. */
function mayName(one: TreeEntry, plugin: TreeEntry, roots: readonly TreeEntry[]): boolean {
  if (textAt(plugin, 'kind') === 'KongPlugin') return isNamedWithNamespace(one, plugin) || sharesNamespace(one, plugin);
  return objectNamed(roots, 'KongPlugin', textAt(plugin, 'metadata', 'name') ?? '', one) === undefined;
}

/** Of an annotation. */
const listIn = (one: TreeEntry, name: string) =>
  textAt(one, 'metadata', 'annotations', `konghq.com/${name}`)?.split(/\s*,\s*/) ?? [];

const isNamedWithNamespace = (one: TreeEntry, plugin: TreeEntry) => {
  const name = (field: string) => textAt(plugin, 'metadata', field);
  return listIn(one, 'plugins').includes(`${name('namespace')}:${name('name')}`);
};

function placesNaming(one: TreeEntry, plugin: TreeEntry, roots: readonly TreeEntry[]): Place[] {
  const name = textAt(plugin, 'metadata', 'name') ?? '';
  const isAnnotated = listIn(one, 'plugins').includes(name) || isNamedWithNamespace(one, plugin);
  const isBound = textAt(one, 'kind') === 'KongPluginBinding' && textAt(one, 'spec', 'pluginRef', 'name') === name;
  const behind = isAnnotated && textAt(one, 'kind') === 'Service' ? placesBefore(one, roots) : [];
  if (behind.length > 0) return behind;
  return placesOf(one).filter(({ at: rule }) => isAnnotated || isBound || filtersOf(rule, 'KongPlugin').includes(name));
}

/** The rules that lead to a service. */
function placesBefore(service: TreeEntry, roots: readonly TreeEntry[]): Place[] {
  const name = textAt(service, 'metadata', 'name');
  const leads = ({ at: rule }: Place) =>
    textAt(rule, 'backend', 'service', 'name') === name ||
    listAt(rule, 'backendRefs').some((one) => textAt(one, 'name') === name);
  const near = roots.filter((one) => sharesNamespace(one, service)).flatMap(placesOf);
  return near.filter(leads).map((place) => ({ ...place, where: `Service ${name}`, isOfService: true }));
}

/** The rules of an object; what has none may be for any request. */
function placesOf(one: TreeEntry): Place[] {
  const kind = textAt(one, 'kind') ?? '';
  const place = { where: `${kind} ${textAt(one, 'metadata', 'name')}`, isRouted: true };
  const rules = listAt(one, 'spec', 'rules');
  if (/^(?:HTTP|GRPC)Route$/.test(kind))
    return rules.flatMap((rule) =>
      reachesOfRoute(one, rule, ['^(?:', ')']).map((reach) => ({ ...place, at: rule, ...reach })),
    );
  const when = annotatedCondition(one);
  const aliases = listIn(one, 'host-aliases');
  if (kind === 'Ingress' && rules.length > 0)
    return rules.flatMap((rule) => {
      const own = { ...place, hosts: [...hostsOfRule(rule), ...aliases], when, extra: ask.isAlways(when) ? 0 : 0.5 };
      return pathEntries(rule).map((path) => ({ ...own, at: path, paths: path === rule ? [] : pathOfRule(path) }));
    });
  return [{ ...place, at: one, hosts: [], paths: [], isRouted: kind === 'Ingress' }];
}

export function readPlugin(
  plugin: TreeEntry,
  { unused, hasConsumers = false, isOfSeveral = false, ...bound }: Bound,
  found: FoundLimits,
  name = textAt(plugin, 'name') ?? 'rate-limiting',
): FoundLimiter[] {
  const kind = textAt(plugin, 'plugin') ?? textAt(plugin, 'name') ?? '';
  if (!PLUGIN.test(kind)) {
    if (/rate-?limit|^service-protection$/.test(kind)) found.refuse(plugin, `the plugin ${kind} is not read`);
    return [];
  }
  const config = at(plugin, 'config');
  const patches = at(plugin, 'configPatches') ?? at(plugin, 'configFrom');
  if (isGiven(patches)) found.refuse(patches, 'a part of the plugin is in a secret, which is not read');
  const off =
    textAt(plugin, 'enabled') === 'false' || textAt(plugin, 'disabled') === 'true' ? 'it is not enabled' : unused;
  const key = keyOf(config, hasConsumers, isOfSeveral);
  const protocols = textsAt(plugin, 'protocols');
  if (protocols.length > 0 && !protocols.some((one) => one.startsWith('http')))
    found.refuse(at(plugin, 'protocols')!, `only requests of ${protocols.join(', ')} count; here all do`);
  const throttling = at(config, 'throttling', 'enabled');
  if (textAt(throttling) === 'true') found.refuse(throttling!, 'requests wait before they are refused; here none does');
  if (textAt(config, 'enforce_consumer_groups') === 'true')
    found.refuse(
      at(config, 'enforce_consumer_groups')!,
      'limits of consumer groups replace this one; here they do not',
    );
  const status = numberAt(config, 'error_code') ?? 429;
  const policy = textAt(config, 'policy') ?? textAt(config, 'strategy');
  const counted = policy && { instances: policy === 'local' ? found.replicas : 1 };
  const limits = kind.endsWith('advanced') ? advanced(config, found) : windows(config, found);
  if (limits.length === 0) found.refuse(plugin, `${name} has no limit that is understood`);
  return limits.flatMap(([window, limit, at]) => {
    const title = limits.length === 1 ? name : `${name} ${window}`;
    return found.unless(off, at, { name: title, ...bound, key, limit, status, ...counted });
  });
}

type Windowed = readonly [window: string, limit: Like, at: TreeEntry];

function windows(config: TreeEntry | undefined, found: FoundLimits): Windowed[] {
  return WINDOWS.flatMap((window) => {
    const limit = config && numbersAt(config, found, `${window}?`)?.[window];
    if (limit === undefined) return [];
    const given = at(config, window)!;
    if (window !== 'month' && window !== 'year') return [[window, { like: 'kong', [window]: limit }, given] as const];
    return found.refuse(given, `windows of a ${window} are not read`) ?? [];
  });
}

function advanced(config: TreeEntry | undefined, found: FoundLimits): Windowed[] {
  const [limits, sizes] = [listAt(config, 'limit'), listAt(config, 'window_size')];
  const isFixed = textAt(config, 'window_type') === 'fixed';
  const isForgiving = textAt(config, 'disable_penalty') === 'true';
  if (limits.length !== sizes.length && config !== undefined)
    found.refuse(config, 'limit and window_size are not of the same length');
  return limits.slice(0, sizes.length).flatMap((one, i) => {
    const [limit, size] = [numberAt(one), numberAt(sizes[i])];
    if (limit === undefined || size === undefined)
      return found.refuse(one, 'limit or window_size is not a number') ?? [];
    const more = { ...(isFixed && { window_type: 'fixed' }), ...(isForgiving && { disable_penalty: true }) };
    return [[`${size}s`, { like: 'kong-advanced', limit, window_size: size, ...more }, one] as const];
  });
}

function keyOf(config: TreeEntry | undefined, hasConsumers: boolean, isOfSeveral: boolean): LimitKey {
  const compound = textsAt(config, 'compound_identifier');
  if (compound.length > 0) return unknownKey(compound.join(', '));
  const by = textAt(config, 'limit_by') ?? textAt(config, 'identifier') ?? 'consumer';
  if (by === 'ip') return perClient;
  if (hasConsumers && (by === 'consumer' || by === 'credential')) return unknownKey(by);
  if (by === 'consumer' || by === 'credential') return { text: `${by}, else client address`, parts: ['client'] };
  if (by === 'service' && !isOfSeveral) return everyone;
  // Requests without it are counted by their address.
  const [name = '', path = ''] = [textAt(config, 'header_name'), textAt(config, 'path')];
  const orClient = (what: string, when: ask.RequestCondition, text: ask.RequestText) =>
    keyOfText(`${what}, else client address`, ask.choiceText([{ when, text }], ask.fieldText('client')));
  const header = headerText(name);
  if (by === 'header') return orClient(`header ${name}`, ask.isThere(header), header);
  const isPath = ask.tested(ask.fieldText('path'), ask.equalTo(path));
  return by === 'path' ? orClient(`path ${path}`, isPath, ask.literalText(path)) : unknownKey(by);
}
