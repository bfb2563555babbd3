// Limits published by APIs: API Commons rate limits, and x-rate-limit of OpenAPI. They name no rule and are read as fixed windows.
//
//   - { name: Search, type: Endpoint, limit: 30, metric: request, timeframe: minute, description: … }
//   paths: { /orders: { post: { x-rate-limit: { limit: 10, window: 60s } } } }
//
// Sources: github.com/api-commons/rate-limits, its JSON Schema; x-rate-limit has no schema, so its usual spellings are read.
import { at, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import {
  everyone,
  type FoundLimiter,
  type FoundLimits,
  type Like,
  type LimitKey,
  type PathPattern,
  pathWith,
  perClient,
  unknownKey,
} from './found.js';

export function readPublished(roots: readonly TreeEntry[], found: FoundLimits): void {
  for (const root of roots) {
    const lists = [
      root,
      ...listAt(root, 'common'),
      ...listAt(root, 'apis').flatMap((api) => listAt(api, 'properties')),
    ];
    for (const list of lists) for (const entry of entriesIn(list)) readEntry(entry, found);
    if (textAt(root, 'openapi') !== undefined || textAt(root, 'swagger') !== undefined) readOpenApi(root, found);
  }
}

function entriesIn(list: TreeEntry): readonly TreeEntry[] {
  const items = list.items.length > 0 ? list.items : [list];
  return items.flatMap((item) => {
    if (textAt(item, 'type') === 'RateLimits') return listAt(item, 'data');
    return at(item, 'limit') !== undefined && at(item, 'metric') !== undefined ? [item] : [];
  });
}

function readEntry(entry: TreeEntry, found: FoundLimits) {
  const [limit, metric = '', timeframe = ''] = [
    numberAt(entry, 'limit'),
    textAt(entry, 'metric'),
    textAt(entry, 'timeframe'),
  ];
  const type = textAt(entry, 'type') ?? '';
  const isFlight = metric === 'concurrent-request';
  if (limit === undefined) return found.refuse(entry, 'the limit is not a number');
  if (metric !== 'request' && !isFlight) return found.refuse(entry, `limits of ${metric} are not read`);
  if (!isFlight && !FRAMES.includes(timeframe)) return found.refuse(entry, `the timeframe ${timeframe} is not one`);
  if (textAt(entry, 'userMultiplied') === 'true')
    return found.refuse(entry, 'a limit that grows with the number of users is not read');
  const isScoped = ['Endpoint', 'Resource', 'Model'].includes(type) || at(entry, 'tier') !== undefined;
  found.limiter(entry, {
    name: textAt(entry, 'name') ?? 'limit',
    where: [type, textAt(entry, 'tier')].filter((one) => one !== undefined).join(', '),
    hosts: listAt(entry, 'domains').map(({ value }) => String(value)),
    reach: isScoped ? 'unknown' : 'known',
    key:
      type === 'Platform'
        ? everyone
        : type === 'User'
          ? { text: 'user', parts: ['user'] }
          : unknownKey(type.toLowerCase()),
    counts: isFlight ? 'concurrency' : 'requests',
    limit: isFlight ? { like: 'in-flight', limit } : { like: 'api-commons', limit, timeframe },
  });
}

const FRAMES = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'];
const EXTENSION = /^x-rate-?limit(?:s|ing)?$/i;
const METHODS = ['get', 'put', 'post', 'delete', 'options', 'head', 'patch', 'trace'];

function readOpenApi(root: TreeEntry, found: FoundLimits): void {
  const hosts = listAt(root, 'servers').flatMap(
    (server) => /^https?:\/\/([^/:{}]+)/.exec(textAt(server, 'url') ?? '')?.[1] ?? [],
  );
  const base = /^https?:\/\/[^/]+(\/.*?)\/?$/.exec(textAt(listAt(root, 'servers')[0], 'url') ?? '')?.[1] ?? '';
  const read = (entry: TreeEntry, where: string, paths: readonly PathPattern[]) => {
    for (const [name, given] of entry.fields)
      if (EXTENSION.test(name))
        for (const one of given.items.length > 0 ? given.items : [given])
          readExtension(one, name, { where, hosts, paths }, found);
  };
  read(root, '', []);
  read(at(root, 'info') ?? root, '', []);
  for (const [path, item] of at(root, 'paths')?.fields ?? []) {
    const paths = [pathWith(base + path)];
    read(item, path, paths);
    for (const method of METHODS) {
      const before = found.limiters.length;
      const title = method.toUpperCase();
      if (at(item, method) !== undefined) read(at(item, method)!, `${title} ${path}`, paths);
      for (const one of found.limiters.slice(before))
        found.refuse(one, `only ${title} requests count; here all of the path do`);
    }
  }
}

const LIMITS = ['limit', 'max', 'requests', 'events', 'rate', 'quota', 'count'];
const TIMES = ['window', 'period', 'per', 'interval', 'timeframe', 'duration', 'unit'];

function readExtension(
  given: TreeEntry,
  name: string,
  place: Pick<FoundLimiter, 'where' | 'hosts' | 'paths'>,
  found: FoundLimits,
) {
  if (textAt(given, 'enabled') === 'false') return found.unused(given, { name, what: `${name} is not enabled` });
  const [, figure, unit] = /^\s*(\d+)\s*(?:requests?)?\s*(?:\/|per)\s*(\w+)\s*$/i.exec(textAt(given) ?? '') ?? [];
  const pick = (names: readonly string[]) => names.map((one) => at(given, one)).find((one) => one !== undefined);
  const limit = figure === undefined ? numberAt(pick(LIMITS)) : Number(figure);
  const window = timeOf(unit ?? textAt(pick(TIMES)));
  if (limit === undefined || window === undefined)
    return found.refuse(given, `${name} has no number of requests or no time`);
  const unknown = [...given.fields.keys()].filter(
    (one) => ![...LIMITS, ...TIMES, 'key', 'by', 'enabled', 'description', 'scope', 'burst'].includes(one),
  );
  if (unknown.length > 0) found.refuse(given, `${unknown.join(', ')} of ${name} is not understood`);
  if (at(given, 'burst') !== undefined) found.refuse(given, `the burst of ${name} names no rule, and is not read`);
  const like: Like = { like: 'x-rate-limit', limit, window };
  found.limiter(given, {
    name,
    ...place,
    key: keyOf(textAt(given, 'key') ?? textAt(given, 'by') ?? textAt(given, 'scope')),
    limit: like,
  });
}

function timeOf(text: string | undefined): string | undefined {
  const [, figure = '1', unit = 's'] =
    /^(\d+)?\s*(ms|milliseconds?|s|sec|seconds?|m|min|minutes?|h|hours?|d|days?)?$/i.exec(text ?? '-') ?? ['', '', ''];
  if (unit === '') return undefined;
  const short = /^ms|^milli/i.test(unit) ? 'ms' : unit[0]!.toLowerCase();
  return `${figure}${short}`;
}

function keyOf(text: string | undefined): LimitKey {
  if (text === undefined) return unknownKey('not said');
  return /^(?:ip|client|address|client[-_ ]?ip)$/i.test(text)
    ? perClient
    : /^(?:global|all|none)$/i.test(text)
      ? everyone
      : unknownKey(text);
}
