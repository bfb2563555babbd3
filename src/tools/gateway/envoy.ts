// Limits of Envoy: local buckets of a listener, and descriptors of envoyproxy/ratelimit.
//
//   token_bucket: { max_tokens: 10, tokens_per_fill: 10, fill_interval: 1s }      { like: envoy-local, … }: a bucket in each process
//   - { key: path, rate_limit: { unit: minute, requests_per_unit: 5 } }           { like: envoy-ratelimit, … }: a fixed window
//
// Sources: the reference of Envoy's local_ratelimit filter, the README of envoyproxy/ratelimit.
import { at, listAt, numberAt, type TreeEntry, textAt, textsAt, walk } from './document.js';
import {
  actionsOf,
  bucketOf,
  Domains,
  entriesSent,
  isDomain,
  keyOfEntries,
  pathsOf,
  reachSent,
  sayShares,
  sentIn,
  titleOfEntries,
} from './envoy-descriptors.js';
import { literal } from './expression.js';
import { type FoundLimiter, type FoundLimits, hostRank, type Reach } from './found.js';
import { envoyCondition } from './header-match.js';
import { readTrafficPolicies } from './kgateway.js';
import { everyone, unknownKey } from './limit-key.js';
import { ALWAYS, allHold, fieldText, not, type RequestCondition, tested } from './request-condition.js';

export function readEnvoy(roots: readonly TreeEntry[], found: FoundLimits): void {
  const domains = new Domains(roots, found);
  const patches = roots.filter((root) => textAt(root, 'kind') === 'EnvoyFilter');
  const filters = patches.flatMap((root) =>
    [...walk(root)].flatMap(([one]) => (LIMITS_GLOBALLY.test(typeOf(one)) ? [one] : [])),
  );
  const asked = new Set(filters.flatMap((one) => textAt(one, 'domain') ?? []));
  const tables = tablesIn(roots);
  const held = new Set(tables.values());
  for (const root of roots) {
    const kind = textAt(root, 'kind') ?? '';
    if (/^(?:QuotaSpec|QuotaSpecBinding)$/.test(kind))
      found.refuse(root, `${kind} belongs to Mixer, which Istio no longer has: it limits nothing`);
    if (isDomain(root)) continue;
    sayOthers(root, domains, found);
    if (!/^(?:Backend)?TrafficPolicy$/.test(kind))
      visit(
        root,
        {
          where: kind === '' ? '' : `${kind} ${textAt(root, 'metadata', 'name') ?? ''}`,
          hosts: [],
          paths: [],
          sends: sentIn(root),
          domain: patches.includes(root) && asked.size === 1 ? [...asked][0] : undefined,
          stages: new Set(filters.map(stageOf)),
          tables,
          held,
          patches: patches.flatMap((one) => listAt(one, 'spec', 'configPatches')),
        },
        domains,
        found,
      );
  }
  readTrafficPolicies(roots, domains, found);
  domains.finish();
}

/** The routes of each connection manager, written in it or by their name elsewhere; those that no manager names by themselves. */
function tablesIn(roots: readonly TreeEntry[]): ReadonlyMap<TreeEntry, TreeEntry> {
  const entries = roots
    .flatMap((root) => [...walk(root)].map(([entry]) => entry))
    .filter(({ fields }) => fields.size > 0);
  const all = entries.filter((one) => at(one, 'virtual_hosts') !== undefined);
  const managed = entries
    .filter((one) => at(one, 'http_filters') !== undefined)
    .flatMap((manager) => {
      const [own, name] = [at(manager, 'route_config'), textAt(manager, 'rds', 'route_config_name')];
      const table = all.find((one) => one === own || (own === undefined && textAt(one, 'name') === name));
      return table === undefined ? [] : [[manager, table] as const];
    });
  const held = new Set(managed.map(([, table]) => table));
  return new Map([...managed, ...all.filter((one) => !held.has(one)).map((one) => [one, one] as const)]);
}

const OTHERS =
  /\.(?:connection_limit|adaptive_concurrency|rate_limit_quota|admission_control|network\.rate_?limit)\.v\w+\.(\w+)$/;

/** Fields that change what a limit means, of filters and of what routes send. */
const CHANGING: Readonly<Record<string, string>> = {
  local_cluster_rate_limit: 'the instances of the cluster share the bucket; here each has its own',
  request_type: 'only requests from within or from outside meet the limit; here all do',
  rate_limited_status: 'the status of a refusal is not read: it is 429 here',
  hits_addend: 'hits_addend is not read: a request costs 1 here',
  limit: 'a limit that is sent with the request replaces that of the descriptor, and is not read',
};

/** Of Envoy, Envoy Gateway and Istio. */
const IN_FLIGHT = /^max_?(?:requests|connections|parallelRequests|pendingRequests)$|^http[12]Max(?:Pending)?Requests$/i;

function sayOthers(root: TreeEntry, domains: Domains, found: FoundLimits): void {
  for (const [entry, names] of walk(root)) {
    const [, type] = OTHERS.exec(typeOf(entry)) ?? [];
    if (type !== undefined) found.refuse(entry, `limits of ${type} are not read`);
    const isGlobal = LIMITS_GLOBALLY.test(typeOf(entry));
    const domain = textAt(entry, 'domain') ?? '';
    if (isGlobal && !domains.has(domain))
      found.refuse(entry, `the limits of the domain ${domain} are in no file that was read`);
    if (isGlobal || LIMITS_LOCALLY.test(typeOf(entry)) || at(entry, 'actions') !== undefined)
      for (const [name, what] of Object.entries(CHANGING)) {
        const given = at(entry, name) ?? at(entry, 'value', name);
        if (given !== undefined && !/^(?:both|429|TooManyRequests)$/.test(textAt(given) ?? textAt(given, 'code') ?? ''))
          found.refuse(given, what);
      }
    for (const name of isGlobal ? ['filter_enabled', 'filter_enforced'] : [])
      if (at(entry, name) !== undefined && shareOf(entry, name) < 100)
        found.refuse(at(entry, name)!, `${name} is below 100 %, and is not read: every request is limited here`);
    const last = names.at(-1) ?? '';
    if (IN_FLIGHT.test(last) && names.some((name) => /^(?:circuit_?breakers?|connectionPool)$/i.test(name)))
      found.refuse(entry, `${last} of a circuit breaker limits what is in flight to its cluster, and is not read`);
  }
}

interface Context extends Reach {
  readonly where: string;
  readonly sends: readonly TreeEntry[];
  readonly domain: string | undefined;
  /** Of the filters that limit by descriptors. */
  readonly stages: ReadonlySet<string>;
  readonly tables: ReadonlyMap<TreeEntry, TreeEntry>;
  readonly held: ReadonlySet<TreeEntry>;
  /** Of Istio. */
  readonly patches: readonly TreeEntry[];
}

const typeOf = (entry: TreeEntry | undefined) => textAt(entry, 'type_url') ?? textAt(entry, '@type') ?? '';

function visit(entry: TreeEntry, above: Context, domains: Domains, found: FoundLimits): void {
  let context = above;
  const socket = at(entry, 'address', 'socket_address');
  if (socket !== undefined && at(entry, 'filter_chains') !== undefined) {
    const address = `${textAt(socket, 'address') ?? ''}:${textAt(socket, 'port_value') ?? ''}`;
    context = { ...context, where: `listener ${textAt(entry, 'name') ?? address}` };
  }
  const table = context.tables.get(entry);
  if (table !== undefined) readManager(entry, table, context, domains, found);
  if (context.held.has(table ?? entry)) return;
  if (at(entry, 'domains') !== undefined) context = { ...context, hosts: hostsIn(entry) };
  const match = entry.fields.get('match');
  if (match !== undefined) {
    const paths = pathsOf(match);
    const where = [context.where, `route ${paths[0]?.value}`].filter((one) => one !== '').join(', ');
    const when = envoyCondition(match);
    context = { ...context, paths, when, ...(paths.length > 0 && { where }) };
    const named = at(match, 'routeConfiguration', 'vhost', 'route', 'name');
    if (named !== undefined && textAt(named) !== 'default' && limits(at(entry, 'patch')))
      found.refuse(named, `only the route ${textAt(named)} is limited; here all of its hosts are`);
  }
  const patched = patchedHosts(entry);
  if (patched.length > 0) context = { ...context, hosts: patched };
  if (textAt(entry, 'patch', 'operation') === 'REMOVE') return;
  if (textAt(entry, 'applyTo') === 'HTTP_FILTER') context = { ...context, when: notOverridden(entry, context.patches) };
  if (context.domain !== undefined) {
    const staged = actionsOf(entry).filter((one) => context.stages.has(stageOf(one)));
    domains.reached(context.domain, staged, context.hosts);
  }
  if (LIMITS_LOCALLY.test(typeOf(entry))) readLocal(entry, context, undefined, found);
  else for (const inner of [...entry.fields.values(), ...entry.items]) visit(inner, context, domains, found);
}

/** Empty: all. */
const hostsIn = (virtualHost: TreeEntry) => {
  const names = textsAt(virtualHost, 'domains');
  return names.includes('*') ? [] : names;
};

/** Of the virtual host that a patch of Istio is for; empty: all. Services also have shorter names. */
function patchedHosts(patch: TreeEntry): string[] {
  const name = textAt(patch, 'match', 'routeConfiguration', 'vhost', 'name') ?? '';
  const [, host = '*'] = /^([\w.*-]+):\d+$/.exec(name) ?? [];
  const [, inCluster = host, service, space] = /^((\w[\w-]*)\.([\w-]+)\.svc)\.cluster\.local$/.exec(host) ?? [];
  if (service !== undefined) return [host, inCluster, `${service}.${space}`, service];
  return host === '*' ? [] : [host];
}

/** A bucket of a virtual host takes the place of that of the filter. */
function notOverridden(filter: TreeEntry, patches: readonly TreeEntry[]): RequestCondition {
  const own = patches.filter(
    (one) =>
      /^(?:VIRTUAL_HOST|HTTP_ROUTE)$/.test(textAt(one, 'applyTo') ?? '') &&
      textAt(one, 'match', 'context') === textAt(filter, 'match', 'context') &&
      limits(at(one, 'patch')),
  );
  const hosts = own.map(patchedHosts);
  if (hosts.some((some) => some.length === 0)) return not(ALWAYS);
  const names = hosts.flat().map((host) => host.split('*').map(literal).join('.*'));
  const value = `^(?:${names.join('|')})(?::\\d+)?$`;
  return names.length === 0 ? ALWAYS : not(tested(fieldText('host'), { is: 'matching', value, ignoresCase: true }));
}

const limits = (entry: TreeEntry | undefined): boolean =>
  entry !== undefined && [...walk(entry)].some(([one]) => LIMITS_LOCALLY.test(typeOf(one)));

const LIMITS_LOCALLY = /\.LocalRateLimit$/;
const LIMITS_GLOBALLY = /\.http\.(?:ratelimit\.v3\.|rate_limit\.v2\.)RateLimit$/;

/** Each request takes one route. A route's configuration overrides its virtual host's, which overrides the filter's. */
function readManager(manager: TreeEntry, tables: TreeEntry, context: Context, domains: Domains, found: FoundLimits) {
  const configured = [...walk(tables)].flatMap(([one]) => [
    ...(at(one, 'typed_per_filter_config')?.fields.keys() ?? []),
  ]);
  const filters =
    manager === tables
      ? [...new Set(configured)].map((name) => ({ name, config: undefined, isOff: false }))
      : listAt(manager, 'http_filters').map((one) => ({
          name: textAt(one, 'name') ?? '',
          config: at(one, 'typed_config'),
          isOff: textAt(one, 'disabled') === 'true',
        }));
  const sent = [...new Set([...sentIn(manager), ...sentIn(tables)])];
  const read = new Map<TreeEntry, readonly LocalLimit[]>();
  const local = (config: TreeEntry, at: Context) => {
    if (!read.has(config)) read.set(config, readLocal(config, at, sent, found));
    return read.get(config)!;
  };
  const table = listAt(tables, 'virtual_hosts').flatMap((host) => {
    const hosts = hostsIn(host);
    const routes = listAt(host, 'routes').map((route) => {
      const match = at(route, 'match');
      const reach = {
        hosts,
        paths: match === undefined ? [] : pathsOf(match),
        when: envoyCondition(match),
      };
      const within = (title: string) => [context.where, title].filter((one) => one !== '').join(', ');
      const levels = [
        { of: route, where: within(`route ${reach.paths[0]?.value ?? '/'}`) },
        { of: host, where: within(`virtual host ${textAt(host, 'name') ?? textsAt(host, 'domains').join(', ')}`) },
        { of: tables, where: context.where },
      ];
      const sends = [...new Set([...actionsOf(route), ...actionsOf(at(route, 'route'))])];
      const sentWith = (option: string | undefined) =>
        option === 'INCLUDE' || (option !== 'IGNORE' && sends.length === 0) ? [...sends, ...actionsOf(host)] : sends;
      const included = textAt(route, 'route', 'include_vh_rate_limits') === 'true' ? 'INCLUDE' : undefined;
      const weighted = at(route, 'route', 'weighted_clusters');
      if (limits(weighted)) found.refuse(weighted!, 'limits of weighted clusters are not read');
      const limiters = filters.flatMap(({ name, config, isOff }) => {
        const level = levels.find(({ of }) => at(of, 'typed_per_filter_config')?.fields.has(name) === true);
        const given = at(level?.of, 'typed_per_filter_config')?.fields.get(name);
        if (textAt(given, 'disabled') === 'true' || (isOff && given === undefined)) return [];
        const own = /\.FilterConfig$/.test(typeOf(given)) ? at(given, 'config') : given;
        const all =
          [own, config].map(actionsOf).find((some) => some.length > 0) ??
          sentWith(included ?? textAt(own ?? config, 'vh_rate_limits')).filter(
            (one) => stageOf(one) === stageOf(config),
          );
        if (LIMITS_GLOBALLY.test(typeOf(config)))
          return domains.reached(textAt(own, 'domain') ?? textAt(config, 'domain') ?? '', all);
        const taken = LIMITS_LOCALLY.test(typeOf(own)) ? own : config;
        if (taken === undefined || !LIMITS_LOCALLY.test(typeOf(taken))) return [];
        const place = { ...context, where: taken === own ? level!.where : context.where };
        const mine = all.map(entriesSent);
        return local(taken, taken === own && level!.of === route ? { ...place, ...reach } : place).flatMap(
          ({ limiter, sentAs }) => (sentAs === undefined || mine.some((some) => sentAs(some)) ? [limiter] : []),
        );
      });
      return { ...reach, limiters };
    });
    // What fits none of its routes goes to no other host.
    return [...routes, { hosts, paths: [], limiters: [] }];
  });
  for (const { config } of filters)
    if (config !== undefined && LIMITS_LOCALLY.test(typeOf(config)) && !read.has(config))
      found.unused(config, {
        name: textAt(config, 'stat_prefix') ?? 'local_ratelimit',
        what: 'the filter limits nothing: every route has limits of its own',
      });
  if (table.some(({ limiters }) => limiters.length > 0)) found.table(table.sort((a, b) => hostRank(a) - hostRank(b)));
}

const stageOf = (entry: TreeEntry | undefined) => textAt(entry, 'stage') ?? '0';

interface LocalLimit {
  readonly limiter: FoundLimiter;
  /** Whether the sent entries match the limited descriptor; undefined: limits all requests. */
  readonly sentAs: ((entries: readonly string[]) => boolean) | undefined;
}

/** @param sends descriptors of routes; undefined if the files contain no routes */
function readLocal(
  entry: TreeEntry,
  { where, hosts, paths, when, sends: near }: Context,
  sends: readonly TreeEntry[] | undefined,
  found: FoundLimits,
): LocalLimit[] {
  const filter = at(entry, 'value') ?? entry;
  const prefix = textAt(filter, 'stat_prefix') ?? 'local_ratelimit';
  const isOfConnections = /\.(?:network|listener)\./.test(typeOf(entry));
  const [enabled, enforced] = isOfConnections
    ? [textAt(filter, 'runtime_enabled', 'default_value') === 'false' ? 0 : 100, 100]
    : [shareOf(filter, 'filter_enabled'), shareOf(filter, 'filter_enforced')];
  const perConnection = textAt(filter, 'local_rate_limit_per_downstream_connection') === 'true';
  const code = textAt(filter, 'status', 'code');
  const status = code === 'ServiceUnavailable' ? 503 : (numberAt(filter, 'status', 'code') ?? 429);
  /** Without a descriptor, for all requests. */
  const add = (given: TreeEntry, descriptor?: ReturnType<typeof limitedDescriptor>): LocalLimit[] => {
    const { entries = [], sentAs } = descriptor ?? {};
    const limit = bucketOf(given, found);
    if (limit === undefined) return [];
    const by = sentAs && all.find((one) => sentAs(entriesSent(one)));
    const isSent = sentAs === undefined || by !== undefined;
    const off =
      enabled === 0
        ? isOfConnections
          ? 'runtime_enabled is false'
          : 'filter_enabled is 0 %, or absent'
        : isSent || sends === undefined
          ? undefined
          : 'no route of the listener sends this descriptor';
    if (off === undefined) sayShares(given, enabled, enforced, found);
    const own = by === undefined || off !== undefined ? { paths: [] } : reachSent(by, entries);
    const asked = allHold(...[when, own.when].flatMap((one) => one ?? []));
    const whole = perConnection ? unknownKey('each connection') : everyone;
    const limiters = found.unless(off, given, {
      name: descriptor === undefined ? prefix : titleOfEntries(entries),
      where,
      hosts,
      paths: own.paths.length > 0 ? own.paths : paths,
      when: asked,
      reach: isSent ? 'known' : 'unknown',
      key: descriptor === undefined ? whole : keyOfEntries(entries),
      limit,
      status: isOfConnections ? undefined : status,
      counts: isOfConnections ? 'connections' : 'requests',
      isDryRun: enforced === 0,
    });
    const isAlwaysSent = sentAs !== undefined && ownActions.some((one) => sentAs(entriesSent(one)));
    return limiters.map((limiter) => ({ limiter, sentAs: isAlwaysSent ? undefined : sentAs }));
  };
  const ownActions = actionsOf(filter);
  const all = ownActions.length > 0 ? ownActions : (sends ?? near);
  const bucket = at(filter, 'token_bucket');
  const limits = bucket === undefined ? [] : add(bucket);
  const consumes = at(filter, 'always_consume_default_token_bucket');
  if (consumes !== undefined && textAt(consumes) === 'false')
    found.refuse(consumes, 'requests with a descriptor do not take from the default bucket; here they do');
  for (const descriptor of listAt(filter, 'descriptors')) {
    const given = at(descriptor, 'token_bucket');
    if (given !== undefined) limits.push(...add(given, limitedDescriptor(descriptor)));
  }
  return limits;
}

function limitedDescriptor(descriptor: TreeEntry) {
  const entries = listAt(descriptor, 'entries').map((one) => ({
    name: textAt(one, 'key') ?? '',
    value: textAt(one, 'value') || undefined,
  }));
  const sentAs = (sent: readonly string[]) =>
    sent.length === entries.length &&
    sent.every((text, i) => {
      const [key, value] = text.split(/=(.*)/s);
      const wanted = entries[i]!;
      return key === wanted.name && (value === undefined || wanted.value === undefined || value === wanted.value);
    });
  return { entries, sentAs };
}

function shareOf(filter: TreeEntry, name: string): number {
  const value = at(filter, name, 'default_value');
  const of = { HUNDRED: 1, TEN_THOUSAND: 100, MILLION: 10_000 }[textAt(value, 'denominator') ?? 'HUNDRED'] ?? 1;
  return (numberAt(value, 'numerator') ?? 0) / of;
}
