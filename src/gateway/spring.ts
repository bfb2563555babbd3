// Limits of Spring Cloud Gateway: the filter RequestRateLimiter of its routes.
//
//   filters: [{ name: RequestRateLimiter, args: { redis-rate-limiter.replenishRate: 10, redis-rate-limiter.burstCapacity: 20 } }]
//
// Source: the reference of Spring Cloud Gateway, RequestRateLimiter GatewayFilter factory.
import { at, listAt, numberAt, type TreeEntry, textAt, walk } from './document.js';
import { type FoundLimits, type PathPattern, unknownKey } from './found.js';

export function readSpring(roots: readonly TreeEntry[], found: FoundLimits): void {
  for (const root of roots)
    for (const [entry, names] of walk(root)) {
      if (/(?:^|\.)default-filters$/.test(names.at(-1) ?? ''))
        for (const filter of entry.items) readFilter(filter, undefined, found);
      if (
        /(?:^|\.)routes$/.test(names.at(-1) ?? '') &&
        at(entry, 'filters') !== undefined &&
        at(entry, 'predicates') !== undefined
      )
        for (const filter of listAt(entry, 'filters')) readFilter(filter, entry, found);
    }
}

function readFilter(filter: TreeEntry, route: TreeEntry | undefined, found: FoundLimits) {
  if (textAt(filter, 'name') !== 'RequestRateLimiter') {
    if (/^RequestRateLimiter=/.test(String(filter.value ?? '')))
      found.refuse(filter.file, filter.line, 'RequestRateLimiter in the short form is not read');
    return;
  }
  const args = at(filter, 'args');
  const given = (name: string) =>
    args?.fields.get(`redis-rate-limiter.${name}`) ?? at(args, 'redis-rate-limiter', name);
  const [rate, burst, tokens] = ['replenishRate', 'burstCapacity', 'requestedTokens'].map((name) =>
    numberAt(given(name)),
  );
  if (rate === undefined)
    return found.refuse(filter.file, filter.line, 'RequestRateLimiter has no replenishRate that is a number');
  if (tokens !== undefined && tokens !== 1)
    return found.refuse(
      filter.file,
      filter.line,
      `requestedTokens ${tokens}: a request that costs more than 1 is not read`,
    );
  const resolver = textAt(args, 'key-resolver');
  found.limiter(filter.file, {
    name: 'RequestRateLimiter',
    line: filter.line,
    where: route === undefined ? 'default-filters' : `route ${textAt(route, 'id') ?? ''}`,
    hosts: predicates(route, 'Host'),
    paths: predicates(route, 'Path').map(pattern),
    key: resolver === undefined ? unknownKey('the principal') : unknownKey(resolver),
    limit: { like: 'spring', replenishRate: rate, ...(burst !== undefined && { burstCapacity: burst }) },
  });
}

function predicates(route: TreeEntry | undefined, name: string): string[] {
  return listAt(route, 'predicates').flatMap(({ value }) => {
    const [kind, list = ''] = String(value ?? '').split('=');
    return kind === name ? list.split(/\s*,\s*/) : [];
  });
}

function pattern(text: string): PathPattern {
  if (text.endsWith('/**')) return { kind: 'prefix', text: text.slice(0, -2) };
  if (!/[*{?]/.test(text)) return { kind: 'exact', text };
  return {
    kind: 'regex',
    text: `^${text.replace(/[.+^$()|[\]\\]/g, '\\$&').replace(/\{[^}]*\}|\*\*|\*|\?/g, (sign) => (sign === '**' ? '.*' : sign === '?' ? '.' : '[^/]+'))}$`,
  };
}
