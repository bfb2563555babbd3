// Limits of Spring Cloud Gateway: the filter RequestRateLimiter of its routes, in YAML or properties.
//
//   filters: [{ name: RequestRateLimiter, args: { redis-rate-limiter.replenishRate: 10, redis-rate-limiter.burstCapacity: 20 } }]
//
// Source: the reference of Spring Cloud Gateway, RequestRateLimiter GatewayFilter factory.
import { at, entryOf, isGiven, listAt, numberAt, numbersAt, type TreeEntry, textAt, walk } from './document.js';
import { type FoundLimiter, type FoundLimits, type PathPattern, type Reach, unknownKey } from './found.js';

export function readSpring(roots: readonly TreeEntry[], found: FoundLimits): void {
  for (const root of roots) {
    const others = at(root, 'resilience4j', 'ratelimiter');
    if (others !== undefined) found.refuse(others, 'limits of resilience4j are not read');
    const before = found.limiters.length + found.notUnderstood.length;
    const all: FoundLimiter[] = [];
    const routes: { readonly route: TreeEntry; readonly own: readonly FoundLimiter[]; readonly order: number }[] = [];
    const profiles: TreeEntry[] = [];
    for (const [entry, names] of walk(root)) {
      if (/(?:^|\.)(?:on-?profile|on-cloud-platform)$/i.test(names.at(-1) ?? '')) profiles.push(entry);
      const last = names.at(-1) ?? '';
      if (last === 'redis-rate-limiter' && names.at(-2) !== 'args' && isGiven(entry))
        found.refuse(entry, 'the default of redis-rate-limiter is not read');
      if (/(?:^|\.)default-?filters$/i.test(last))
        all.push(...entry.items.flatMap((filter) => readFilter(filter, undefined, found)));
      if (!/(?:^|\.)routes$/.test(last) || entry.items.length > 0 || at(entry, 'predicates') === undefined) continue;
      const own = listAt(entry, 'filters').flatMap((filter) => readFilter(filter, entry, found));
      routes.push({ route: entry, own, order: numberAt(entry, 'order') ?? 0 });
    }
    const table = routes
      .sort((a, b) => a.order - b.order)
      .map(({ route, own }) => ({ ...reachOf(route, own.length > 0 ? found : undefined), limiters: [...all, ...own] }));
    if (table.some(({ limiters }) => limiters.length > 0)) found.table(table);
    if (found.limiters.length + found.notUnderstood.length > before || hasLimits(root))
      for (const one of profiles)
        found.refuse(one, `only where ${textAt(one)} is active; here limits of all profiles are read side by side`);
  }
}

const hasLimits = (root: TreeEntry) =>
  [...walk(root)].some(([, names]) => names.at(-1)?.startsWith('redis-rate-limiter'));

function readFilter(filter: TreeEntry, route: TreeEntry | undefined, found: FoundLimits): FoundLimiter[] {
  const refuse = (what: string) => {
    found.refuse(filter, what);
    return [];
  };
  const name = textAt(filter, 'name') ?? String(filter.value ?? '').split('=')[0]!;
  if (!/rate-?limit|throttl/i.test(name)) return [];
  if (name !== 'RequestRateLimiter') return refuse(`the filter ${name} is not read`);
  if (filter.value !== undefined) return refuse('RequestRateLimiter in the short form is not read');
  const args = at(filter, 'args');
  const flat = [...(args?.fields ?? [])].filter(([name]) => name.startsWith('redis-rate-limiter.'));
  const nested = [...(at(args, 'redis-rate-limiter')?.fields ?? [])];
  const limits = new Map(
    [...nested, ...flat].map(([name, one]) => [camelOf(name.replace('redis-rate-limiter.', '')), one]),
  );
  const given = numbersAt(
    entryOf(filter.file, filter.line, { fields: limits }),
    found,
    'replenishRate',
    'burstCapacity',
    'requestedTokens',
  );
  if (given === undefined) return [];
  const { replenishRate, burstCapacity, requestedTokens = 1 } = given;
  if (at(args, 'rate-limiter') !== undefined)
    return refuse(`the rate limiter ${textAt(args, 'rate-limiter')} is not read`);
  if (replenishRate === undefined) return refuse('RequestRateLimiter has no replenishRate that is a number');
  if (requestedTokens !== 1)
    return refuse(`requestedTokens ${requestedTokens}: a request that costs more than 1 is not read`);
  const limiter = found.limiter(filter, {
    name: 'RequestRateLimiter',
    where: route === undefined ? 'default-filters' : `route ${textAt(route, 'id') ?? ''}`,
    ...reachOf(route, undefined),
    key: unknownKey(textAt(args, 'key-resolver') ?? 'the principal'),
    limit: { like: 'spring', replenishRate, ...(burstCapacity !== undefined && { burstCapacity }) },
    status: /^\d+$/.test(textAt(args, 'status-code') ?? '') ? numberAt(args, 'status-code') : 429,
  });
  return [limiter];
}

const camelOf = (name: string) => name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());

function reachOf(route: TreeEntry | undefined, found: FoundLimits | undefined): Reach {
  const reach: { hosts: string[]; paths: PathPattern[] } = { hosts: [], paths: [] };
  for (const one of listAt(route, 'predicates')) {
    const [kind = '', list] = one.value === undefined ? [textAt(one, 'name')] : String(one.value).split(/=(.*)/s);
    const args = [...(at(one, 'args')?.fields.values() ?? [])].flatMap((arg) =>
      arg.items.length > 0 ? arg.items : [arg],
    );
    const values = (list === undefined ? args.map(({ value }) => String(value)) : list.split(',')).map((text) =>
      text.trim(),
    );
    const isRead = values.length > 0 && (kind === 'Path' || kind === 'Host') && !values.includes('undefined');
    if (kind === 'Path' && isRead)
      reach.paths.push(...values.filter((text) => !/^(?:true|false)$/.test(text)).map(pattern));
    else if (kind === 'Host' && isRead)
      reach.hosts.push(...values.map((text) => text.replace(/^(?:\*\*|\{\w+\})\./, '*.')));
    else found?.refuse(one, `only requests that fit ${kind} go to the route; here all of its hosts and paths do`);
  }
  return reach;
}

function pattern(given: string): PathPattern {
  const text = given.replace(/\/\{\*\w+\}$/, '/**');
  if (text === '/**') return { kind: 'prefix', text: '/' };
  if (text.endsWith('/**'))
    return {
      kind: 'regex',
      text: `${pattern(text.slice(0, -3)).text.replace(/^\^?/, '^').replace(/\$$/, '')}(?:/.*)?$`,
    };
  if (!/[*{?]/.test(text)) return { kind: 'exact', text };
  return {
    kind: 'regex',
    text: `^${text.replace(/[.+^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}|\*\*|\*|\?/g, (sign) => (sign === '**' ? '.*' : sign === '?' ? '.' : '[^/]+'))}$`,
  };
}
