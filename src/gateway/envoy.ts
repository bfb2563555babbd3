// Limits of Envoy: local buckets of a listener, descriptors of envoyproxy/ratelimit, and policies of Envoy Gateway.
//
//   token_bucket: { max_tokens: 10, tokens_per_fill: 10, fill_interval: 1s }      { like: envoy-local, … }: a bucket in each process
//   - { key: path, rate_limit: { unit: minute, requests_per_unit: 5 } }           { like: envoy-ratelimit, … }: a fixed window
//
// Sources: the reference of Envoy's local_ratelimit filter, the README of envoyproxy/ratelimit, the API reference of Envoy Gateway.
import { at, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import {
  everyone,
  type FoundLimits,
  type KeyPart,
  type Like,
  type LimitKey,
  type PathPattern,
  perClient,
  unknownKey,
} from './found.js';
import { reachOfRoute } from './kubernetes.js';

export function readEnvoy(roots: readonly TreeEntry[], found: FoundLimits): void {
  for (const root of roots) {
    if (textAt(root, 'kind') === 'BackendTrafficPolicy') readPolicy(root, roots, found);
    else if (/^(?:QuotaSpec|QuotaSpecBinding)$/.test(textAt(root, 'kind') ?? ''))
      found.refuse(
        root.file,
        root.line,
        `${textAt(root, 'kind')} belongs to Mixer, which Istio no longer has: it limits nothing`,
      );
    else if (textAt(root, 'domain') !== undefined && at(root, 'descriptors') !== undefined)
      for (const one of listAt(root, 'descriptors')) readDescriptor(one, [], found);
    else visit(root, { where: nameOf(root), sends: new Map(), hosts: [], paths: [] }, found);
  }
}

interface Context {
  readonly where: string;
  /** Descriptors that routes of the listener send, with the paths of those routes. */
  readonly sends: ReadonlyMap<string, readonly PathPattern[]>;
  readonly hosts: readonly string[];
  readonly paths: readonly PathPattern[];
}

const nameOf = (root: TreeEntry) => {
  const kind = textAt(root, 'kind');
  return kind === undefined ? '' : `${kind} ${textAt(root, 'metadata', 'name') ?? ''}`;
};

function visit(entry: TreeEntry, above: Context, found: FoundLimits): void {
  let context = above;
  const socket = at(entry, 'address', 'socket_address');
  if (socket !== undefined && at(entry, 'filter_chains') !== undefined) {
    const address = `${textAt(socket, 'address') ?? ''}:${textAt(socket, 'port_value') ?? ''}`;
    context = { ...context, where: `listener ${textAt(entry, 'name') ?? address}`, sends: sentIn(entry) };
  }
  if (at(entry, 'domains') !== undefined) {
    const hosts = listAt(entry, 'domains').map(({ value }) => String(value));
    context = { ...context, hosts: hosts.includes('*') ? [] : hosts };
  }
  if (at(entry, 'match') !== undefined) {
    const paths = pathsOf(at(entry, 'match')!);
    context = { ...context, paths, ...(paths.length > 0 && { where: `${context.where}, route ${paths[0]!.text}` }) };
  }
  if (/\.LocalRateLimit$/.test(textAt(entry, '@type') ?? '') || /LocalRateLimit$/.test(textAt(entry, 'type_url') ?? ''))
    readLocal(at(entry, 'value') ?? entry, context, found);
  else for (const inner of [...entry.fields.values(), ...entry.items]) visit(inner, context, found);
}

function pathsOf(match: TreeEntry): PathPattern[] {
  const [prefix, exact, regex] = [
    textAt(match, 'prefix') ?? textAt(match, 'path_separated_prefix'),
    textAt(match, 'path'),
    textAt(match, 'safe_regex', 'regex'),
  ];
  if (prefix !== undefined && prefix !== '/') return [{ kind: 'prefix', text: prefix }];
  if (exact !== undefined) return [{ kind: 'exact', text: exact }];
  return regex === undefined ? [] : [{ kind: 'regex', text: `^(?:${regex})$` }];
}

/** What the routes of a listener send, by the keys and values of its entries. */
function sentIn(listener: TreeEntry): ReadonlyMap<string, readonly PathPattern[]> {
  const sent = new Map<string, readonly PathPattern[]>();
  const look = (entry: TreeEntry, paths: readonly PathPattern[]): void => {
    const here = at(entry, 'match') === undefined ? paths : pathsOf(at(entry, 'match')!);
    for (const limit of listAt(entry, 'rate_limits')) {
      const entries = listAt(limit, 'actions').map(entrySent);
      sent.set(entries.join('/'), [...(sent.get(entries.join('/')) ?? []), ...here]);
    }
    for (const inner of [...entry.fields.values(), ...entry.items]) look(inner, here);
  };
  look(listener, []);
  return sent;
}

/** `key=value`, or `key` where the value is that of the request. */
function entrySent(action: TreeEntry): string {
  const [kind = '', given] = [...action.fields][0] ?? [];
  const own = textAt(given, 'descriptor_key');
  if (/^generic_?[kK]ey$/.test(kind)) return `${own ?? 'generic_key'}=${textAt(given, 'descriptor_value')}`;
  if (/^header_?[vV]alue_?[mM]atch$/.test(kind)) return `${own ?? 'header_match'}=${textAt(given, 'descriptor_value')}`;
  return own ?? kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

function readLocal(filter: TreeEntry, { where, sends, hosts, paths }: Context, found: FoundLimits): void {
  const { file } = filter;
  const prefix = textAt(filter, 'stat_prefix') ?? 'local_ratelimit';
  const status = numberAt(filter, 'status', 'code') ?? 429;
  const share = (name: string) => numberAt(filter, name, 'default_value', 'numerator') ?? 0;
  const [enabled, enforced] = [share('filter_enabled'), share('filter_enforced')];
  const perConnection = textAt(filter, 'local_rate_limit_per_downstream_connection') === 'true';
  const bucket = at(filter, 'token_bucket');
  const key = perConnection ? unknownKey('each connection') : everyone;
  const add = (
    name: string,
    given: TreeEntry,
    more: { readonly key: LimitKey; readonly paths: readonly PathPattern[]; readonly isSent: boolean },
  ) => {
    const limit = bucketOf(given, found);
    if (limit === undefined) return;
    const line = given.line;
    const off =
      enabled === 0
        ? 'filter_enabled is 0 %, or absent'
        : !more.isSent
          ? 'no route of the listener sends this descriptor'
          : undefined;
    if (off !== undefined)
      return found.unused(file, { name, line, what: `${name} limits nothing: ${off}`, key: more.key, limit });
    if (enforced > 0 && enforced < 100)
      found.refuse(file, line, `only ${enforced} % of the refusals are enforced; here all are`);
    found.limiter(file, {
      name,
      line,
      where,
      hosts,
      paths: more.paths,
      key: more.key,
      limit,
      status,
      isDryRun: enforced === 0,
    });
  };
  if (bucket !== undefined) add(prefix, bucket, { key, paths, isSent: true });
  const own = new Set(listAt(filter, 'rate_limits').map((one) => listAt(one, 'actions').map(entrySent).join('/')));
  for (const descriptor of listAt(filter, 'descriptors')) {
    const entries = listAt(descriptor, 'entries').map((one) => ({
      name: textAt(one, 'key') ?? '',
      value: textAt(one, 'value') || undefined,
    }));
    const name = entries.map((one) => (one.value === undefined ? one.name : `${one.name}=${one.value}`)).join('/');
    const keys = entries.map((one) => one.name).join('/');
    const sentBy = [...sends].filter(([sent]) => sent === name || sent === keys);
    const given = at(descriptor, 'token_bucket');
    const isSent = sentBy.length > 0 || own.has(name) || own.has(keys);
    if (given !== undefined)
      add(name, given, { key: keyOf(entries), paths: sentBy.flatMap(([, some]) => some), isSent });
  }
}

function bucketOf(bucket: TreeEntry, found: FoundLimits): Like | undefined {
  const [most, fill] = [numberAt(bucket, 'max_tokens'), numberAt(bucket, 'tokens_per_fill')];
  const interval =
    textAt(bucket, 'fill_interval') ??
    (at(bucket, 'fill_interval', 'seconds') && `${numberAt(bucket, 'fill_interval', 'seconds')}s`);
  if (most === undefined || interval === undefined || !/^[\d.]+m?s$/.test(interval)) {
    found.refuse(bucket.file, bucket.line, 'the token_bucket has no number of tokens or no fill_interval');
    return undefined;
  }
  return {
    like: 'envoy-local',
    max_tokens: most,
    ...(fill !== undefined && { tokens_per_fill: fill }),
    fill_interval: interval,
  };
}

const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'];

/** A limit belongs to the whole path of keys and values that leads to it; an entry with a value has precedence. */
function readDescriptor(entry: TreeEntry, above: readonly Part[], found: FoundLimits): void {
  const trail = [...above, { name: textAt(entry, 'key') ?? '', value: textAt(entry, 'value') }];
  const name = trail.map((one) => (one.value === undefined ? one.name : `${one.name}=${one.value}`)).join('/');
  const given = at(entry, 'rate_limit');
  if (given !== undefined) {
    const isUnlimited = textAt(given, 'unlimited') === 'true';
    const limit = isUnlimited ? undefined : windowLimit(given, found);
    if (isUnlimited || limit !== undefined)
      found.limiter(entry.file, {
        name,
        line: entry.line,
        where: `descriptor ${name}`,
        reach: 'unknown',
        key: keyOf(trail),
        limit,
        isDryRun: textAt(entry, 'shadow_mode') === 'true' || textAt(entry, 'quota_mode') === 'true',
      });
  }
  for (const inner of listAt(entry, 'descriptors')) readDescriptor(inner, trail, found);
}

interface Part {
  readonly name: string;
  readonly value: string | undefined;
}

function windowLimit(given: TreeEntry, found: FoundLimits): Like | undefined {
  const unit = (textAt(given, 'unit') ?? '').toLowerCase();
  const requests = numberAt(given, 'requests_per_unit');
  if (requests !== undefined && units.includes(unit))
    return { like: 'envoy-ratelimit', requests_per_unit: requests, unit };
  found.refuse(given.file, given.line, 'the rate_limit has no number of requests or no unit');
  return undefined;
}

const parts: Readonly<Record<string, KeyPart>> = {
  remote_address: 'client',
  masked_remote_address: 'client',
  path: 'path',
  ':path': 'path',
  method: 'method',
  ':method': 'method',
  host: 'host',
  ':authority': 'host',
};

/** An entry with a value is a constant. */
function keyOf(trail: readonly Part[]): LimitKey {
  const open = trail.filter(({ value }) => value === undefined).map(({ name }) => name);
  const known = open.map((name) => parts[name.toLowerCase()]);
  const text = open.length === 0 ? 'all requests with this descriptor' : `each ${open.join(', ')}`;
  return { text, parts: known.includes(undefined) ? undefined : (known as KeyPart[]) };
}

function readPolicy(root: TreeEntry, roots: readonly TreeEntry[], found: FoundLimits) {
  const { file } = root;
  const targets = [...listAt(root, 'spec', 'targetRefs'), ...listAt(root, 'spec', 'targetRef')];
  const name = textAt(root, 'metadata', 'name') ?? 'policy';
  const [first] = targets;
  if (first === undefined) return found.refuse(file, root.line, 'the policy names no target');
  const where = targets.map((one) => `${textAt(one, 'kind')} ${textAt(one, 'name')}`).join(', ');
  const place = reachOfRoute(roots, textAt(first, 'kind') ?? '', textAt(first, 'name') ?? '');
  for (const type of ['global', 'local'] as const)
    for (const [index, rule] of listAt(root, 'spec', 'rateLimit', type, 'rules').entries()) {
      const requests = numberAt(rule, 'limit', 'requests');
      const unit = (textAt(rule, 'limit', 'unit') ?? '').toLowerCase();
      if (requests === undefined || !units.includes(unit)) {
        found.refuse(file, rule.line, 'the rule has no number of requests or no unit');
        continue;
      }
      const bucket = {
        like: 'envoy-local',
        max_tokens: requests,
        tokens_per_fill: requests,
        fill_interval: SECONDS[unit],
      };
      found.limiter(file, {
        name: `${name} rule ${index}`,
        line: rule.line,
        where,
        ...place,
        key: selected(rule, found),
        limit: type === 'global' ? { like: 'envoy-ratelimit', requests_per_unit: requests, unit } : (bucket as Like),
        isDryRun: textAt(rule, 'shadowMode') === 'true',
      });
    }
}

const SECONDS: Readonly<Record<string, string>> = { second: '1s', minute: '60s', hour: '3600s', day: '86400s' };

/** Distinct counts each value separately; Exact, the default, counts all that fit together. */
function selected(rule: TreeEntry, found: FoundLimits): LimitKey {
  const keys: LimitKey[] = [];
  for (const selector of listAt(rule, 'clientSelectors'))
    for (const [kind, given] of selector.fields) {
      const many = given.items.length > 0 ? given.items : [given];
      for (const one of many) {
        const isDistinct = textAt(one, 'type') === 'Distinct';
        const value = textAt(one, 'value') ?? textAt(one, 'name') ?? kind;
        if (isDistinct)
          keys.push(kind === 'sourceCIDR' ? perClient : unknownKey(`each ${textAt(one, 'name') ?? kind}`));
        if (!isDistinct || (kind === 'sourceCIDR' && value !== '0.0.0.0/0' && value !== '::/0'))
          found.refuse(one.file, one.line, `it applies only to requests of ${kind} ${value}; here it applies to all`);
        else if (kind === 'sourceCIDR' && value === '0.0.0.0/0')
          found.refuse(one.file, one.line, 'addresses of IPv6 are not limited by 0.0.0.0/0; here they are');
      }
    }
  if (keys.length === 0) return everyone;
  const known = keys.flatMap((one) => one.parts ?? []);
  return {
    text: keys.map(({ text }) => text).join(', '),
    parts: keys.some((one) => one.parts === undefined) ? undefined : known,
  };
}
