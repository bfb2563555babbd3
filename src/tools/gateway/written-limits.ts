// The limits of a gateway as what every product is given of them: routes in order of precedence, each with its limits.
//
//   nginx 5r/s burst=25 nodelay, each client      26 at once, 0.005 per ms, key client
//   Prefix /api of a.example                      a.example, /api and what is below it
import { literal } from './expression.js';
import { bySpecificity, type FoundLimiter, type GatewayLimits, type LimitedRoute } from './found.js';
import { groupsOf, titleOf } from './limit-changes.js';
import { covers, hostPaths, likeness } from './limit-pairs.js';
import { admittedAtOnce, paceOf } from './limit-rule.js';
import { ALWAYS, inWords, isAlways, type ValueTest } from './request-condition.js';

export interface WrittenLimit {
  readonly name: string;
  readonly atOnce: number;
  /** Admitted after a wait. */
  readonly held: number;
  /** In the long run; 0: `atOnce` are in flight. */
  readonly perMs: number;
  /** `header x` or: */
  readonly key: 'client' | 'all' | string;
  readonly status: number;
  /** Networks whose requests are not counted. */
  readonly exempt: readonly string[];
}

export interface WrittenRoute {
  readonly name: string;
  /** Empty: all. */
  readonly hosts: readonly string[];
  readonly paths: readonly (Omit<ValueTest, 'is'> & { readonly is: 'equal' | 'below' | 'prefix' | 'matching' })[];
  readonly limits: readonly WrittenLimit[];
}

export interface Dialect {
  /** Its name also says the format. */
  readonly file: string;
  readonly write: (routes: readonly WrittenRoute[], limits: readonly WrittenLimit[]) => string;
  /** A host is a name or begins with `*.`, and is no expression. */
  readonly hasPlainHosts?: boolean;
  /** Why it has no words for a limit; absent: it has some for all. */
  readonly lacks?: (limit: WrittenLimit) => string | undefined;
  /** Whether instances share the count of such a key; by default each has its own. */
  readonly isShared?: (key: string) => boolean;
}

export interface WrittenLimits {
  readonly text: string;
  /** What is not in it, and why. */
  readonly left: readonly string[];
}

export function writtenIn(dialect: Dialect, gateway: GatewayLimits, replicas: number): WrittenLimits {
  const left: string[] = [];
  const limits = new Map<FoundLimiter, WrittenLimit>();
  for (const limiter of gateway.limiters) {
    const limit = limitOf(limiter, uniqueName(limiter.name, [...limits.values()]), dialect, replicas);
    const why = typeof limit === 'string' ? limit : dialect.lacks?.(limit);
    if (typeof limit === 'string' || why !== undefined) left.push(`${limiter.name}, ${limiter.where}: ${why}`);
    else limits.set(limiter, limit);
  }
  const routes: WrittenRoute[] = [];
  for (const { hosts: given, paths: tests, limiters, when = ALWAYS } of rowsOf(gateway)) {
    const own = [...new Set(limiters)].flatMap((one) => limits.get(one) ?? []);
    // Requests for which it does not hold go on to the routes behind.
    if (!isAlways(when) && !limiters.every((one) => one.when === when && limits.has(one))) {
      const places = [...given, ...tests.map(({ value }) => value)].join(', ') || 'all';
      const titles =
        own.length > 0 ? own.map(({ name }) => name) : limiters.length > 0 ? [] : ['a route without a limit'];
      left.push(...titles.map((title) => `${title}, ${places}: it depends on a condition: ${inWords(when)}`));
      continue;
    }
    const [hosts, paths] = [given.flatMap(hostsOf), pathsOf(tests)];
    const name = uniqueName([hosts[0], paths[0]?.value].join(' '), routes);
    const expression = hosts.find((host) => host.startsWith('~'));
    if (expression !== undefined && dialect.hasPlainHosts === true)
      left.push(...own.map((limit) => `${limit.name}, host ${expression}: a host is no expression there`));
    // A route behind one for all paths is never taken.
    else if (!routes.some((one) => one.paths.length === 0 && isOneList(one.hosts, hosts)))
      routes.push({ name, hosts, paths, limits: own });
  }
  const used = [...limits.values()].filter((limit) => routes.some((one) => one.limits.includes(limit)));
  for (const some of groupsOf(limits.keys(), ({ counter }) => counter).values())
    if (some.length > 1) left.push(`the count that is shared by ${some.map(titleOf).join('; ')}: each has its own`);
  return { text: dialect.write(routes, used), left };
}

function limitOf(limiter: FoundLimiter, name: string, { isShared }: Dialect, replicas: number): WrittenLimit | string {
  const { limit, isDryRun, reach, counts, when, refuses, status = 444 } = limiter;
  const key = keyOf(limiter);
  const networks = when?.kind === 'not' && when.of.kind === 'test' && when.of.test.is === 'within' && when.of.test;
  const asked = [networks ? undefined : when, refuses].flatMap((one) => one ?? []);
  if (limit === undefined || isDryRun) return 'it refuses nothing';
  if (reach === 'unknown') return 'the files do not say which requests meet it';
  if (counts !== 'requests' && counts !== 'concurrency') return `it counts ${counts}`;
  if (key === undefined) return `its key is ${limiter.key.lacks ?? limiter.key.text}`;
  if (asked.length > 0) return `it depends on a condition: ${asked.map(inWords).join(' and ')}`;
  const instances = isShared?.(key) === true ? 1 : replicas;
  const share = (n: number) => n && Math.max(1, Math.round(n / instances));
  const perMs = (paceOf(limiter) ?? 0) / instances;
  const inFlight = { atOnce: Number(Object.values(limit)[1]) * limiter.instances, held: 0 };
  const { atOnce, held } = perMs === 0 ? inFlight : admittedAtOnce(limiter);
  const exempt = networks ? networks.ranges : [];
  return { name, atOnce: share(atOnce), held: share(held), perMs, key, status, exempt };
}

const KEYS: Readonly<Record<string, string>> = {
  '': 'all',
  client: 'client',
  agent: 'header user-agent',
  referer: 'header referer',
};

function keyOf({ key: { parts, value, text, lacks } }: FoundLimiter): string | undefined {
  const [, header] = /^(?:header |each |the header )(\S+)$/.exec(lacks ?? text) ?? [];
  if (parts === undefined || value !== undefined) return header && `header ${header}`;
  return KEYS[parts.join()];
}

/** `.example` is it and what is below it, `www.*` begins so. */
function hostsOf(host: string): string[] {
  if (host.startsWith('.')) return [host.slice(1), `*${host}`];
  return host.endsWith('*') && !host.startsWith('~') ? [`~^${literal(host.slice(0, -1))}`] : [host];
}

/** The limits of each host and path, with those of formats that know no routes; of others only what a limit would else cover. */
function rowsOf(gateway: GatewayLimits): LimitedRoute[] {
  const routed = new Set(gateway.rows.flatMap(({ limiters }) => limiters));
  const others = gateway.limiters.filter((one) => !routed.has(one));
  const within = (row: LimitedRoute) =>
    others.filter((one) => hostPaths([row]).every((some) => hostPaths([one]).some((all) => covers(all, some))));
  const rows: LimitedRoute[] = [
    ...gateway.rows,
    ...others.map((one) => ({ hosts: one.hosts, paths: one.paths, limiters: [] })),
  ];
  const all = bySpecificity(rows).map((row) => ({ ...row, limiters: [...row.limiters, ...within(row)] }));
  const limited = all.filter(({ limiters }) => limiters.length > 0).map((row) => hostPaths([row]));
  const merged: LimitedRoute[] = [];
  for (const row of all.filter((one) => limited.some((some) => likeness(some, hostPaths([one])) > 0))) {
    const meets = (one: LimitedRoute) => likeness(hostPaths([one]), hostPaths([row])) > 0;
    const index = merged.findLastIndex(
      (one) => one.when === row.when && isOneList(one.hosts, row.hosts) && isOneList(one.limiters, row.limiters),
    );
    // A route between the two goes before this row.
    if (index < 0 || merged.slice(index + 1).some(meets)) merged.push(row);
    else {
      const { paths } = merged[index]!;
      merged[index] = { ...row, paths: paths.length === 0 || row.paths.length === 0 ? [] : [...paths, ...row.paths] };
    }
  }
  return merged;
}

const isOneList = (some: readonly unknown[], others: readonly unknown[]) =>
  some.length === others.length && some.every((one, i) => one === others[i]);

/** `/api` and `/api/…` are one path, and what is below it. */
function pathsOf(tests: readonly ValueTest[]): WrittenRoute['paths'] {
  const has = (is: string, value: string) => tests.some((one) => one.is === is && one.value === value);
  if (has('prefix', '/')) return [];
  return tests.flatMap(({ is, ...test }): WrittenRoute['paths'] => {
    if (is === 'prefix' && has('equal', test.value.slice(0, -1)) && test.value.endsWith('/')) return [];
    if (is === 'equal' && has('prefix', `${test.value}/`)) return [{ is: 'below', ...test }];
    return is === 'suffix' || is === 'containing' ? [] : [{ is, ...test }];
  });
}

function uniqueName(text: string, taken: readonly { readonly name: string }[]): string {
  const plain = text.toLowerCase().replace(/[^a-z\d]+/g, '-');
  const base = plain.replace(/^-+|-+$/g, '') || 'all';
  return taken.some(({ name }) => name === base) ? `${base}-${taken.length + 1}` : base;
}

const UNITS_MS = [1000, 60_000, 3_600_000, 86_400_000];

/** Whole requests of a time. */
export function wholePace(perMs: number): readonly [n: number, ms: number] {
  const isWhole = (n: number) => n > 0.5 && Math.abs(n - Math.round(n)) < 1e-6 * n;
  const unit = UNITS_MS.find((ms) => isWhole(perMs * ms));
  if (unit !== undefined) return [Math.round(perMs * unit), unit];
  return perMs < 0.001 ? [1, Math.round(1 / perMs)] : [Math.round(60_000 * perMs), 60_000];
}
