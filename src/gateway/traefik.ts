// Limits of Traefik: middlewares, and the routers that name them; in files, as labels of containers, as objects of Kubernetes.
//
//   http: { middlewares: { api: { rateLimit: { average: 10, burst: 20 } } },      { like: traefik, average: 10, burst: 20 }
//           routers: { web: { rule: 'PathPrefix(`/api`)', middlewares: [api] } } }
//
// Source: doc.traefik.io, RateLimit and InFlightReq of Traefik 3.
import { at, entryOf, listAt, numberAt, type TreeEntry, textAt, walk } from './document.js';
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

interface Middleware {
  readonly name: string;
  readonly kind: 'rateLimit' | 'inFlightReq' | 'chain';
  readonly config: TreeEntry;
}

interface Router {
  readonly name: string;
  readonly rule: TreeEntry | undefined;
  readonly middlewares: readonly string[];
}

export function readTraefik(roots: readonly TreeEntry[], found: FoundLimits): void {
  const middlewares: Middleware[] = [];
  const routers: Router[] = [];
  for (const root of roots.flatMap((one) => [one, ...labelled(one)])) {
    const kind = textAt(root, 'kind');
    if (kind === 'Middleware') addMiddleware(textAt(root, 'metadata', 'name') ?? '', at(root, 'spec'), middlewares);
    else if (kind === 'IngressRoute')
      for (const [i, route] of listAt(root, 'spec', 'routes').entries())
        routers.push({
          name: `${textAt(root, 'metadata', 'name')} ${i}`,
          rule: at(route, 'match'),
          middlewares: listAt(route, 'middlewares').map((one) => textAt(one, 'name') ?? ''),
        });
    else {
      for (const [name, given] of at(root, 'http', 'middlewares')?.fields ?? [])
        addMiddleware(name, given, middlewares);
      for (const [name, router] of at(root, 'http', 'routers')?.fields ?? [])
        routers.push({ name, rule: at(router, 'rule'), middlewares: namesIn(at(router, 'middlewares')) });
      for (const [name, point] of at(root, 'entryPoints')?.fields ?? [])
        routers.push({
          name: `entry point ${name}`,
          rule: undefined,
          middlewares: namesIn(at(point, 'http', 'middlewares')),
        });
    }
    const annotated = textAt(root, 'metadata', 'annotations', 'traefik.ingress.kubernetes.io/router.middlewares');
    if (annotated !== undefined)
      routers.push({
        name: textAt(root, 'metadata', 'name') ?? '',
        rule: undefined,
        middlewares: annotated.split(/\s*,\s*/),
      });
  }
  for (const middleware of middlewares)
    if (middleware.kind !== 'chain') readMiddleware(middleware, middlewares, routers, found);
}

const namesIn = (list: TreeEntry | undefined): string[] =>
  list === undefined
    ? []
    : list.items.length > 0
      ? list.items.map(({ value }) => String(value))
      : String(list.value ?? '').split(/\s*,\s*/);

function addMiddleware(name: string, given: TreeEntry | undefined, to: Middleware[]): void {
  for (const [kind, config] of given?.fields ?? []) {
    const known = (['rateLimit', 'inFlightReq', 'chain'] as const).find(
      (one) => one.toLowerCase() === kind.toLowerCase(),
    );
    if (known !== undefined) to.push({ name, kind: known, config });
  }
}

/** `traefik.http.middlewares.api.ratelimit.average=10` in labels makes the same tree. */
function labelled(root: TreeEntry): TreeEntry[] {
  const trees: TreeEntry[] = [];
  for (const [entry, names] of walk(root)) {
    if (names.at(-1) !== 'labels' || (entry.items.length === 0 && entry.fields.size === 0)) continue;
    const labels = [
      ...[...entry.fields].map(([name, one]) => ({ name, one, value: textAt(one) ?? '' })),
      ...entry.items.map((one) => {
        const [name = '', ...value] = String(one.value).split('=');
        return { name, one, value: value.join('=') };
      }),
    ];
    const tree = new Map<string, TreeEntry>();
    for (const { name, one, value } of labels)
      if (/^traefik\.http\./i.test(name)) plant(tree, name.split('.').slice(1), one, value);
    if (tree.size > 0) trees.push(entryOf(entry.file, entry.line, { fields: tree }));
  }
  return trees;
}

function plant(
  tree: Map<string, TreeEntry>,
  [name = '', ...rest]: readonly string[],
  { file, line }: TreeEntry,
  value: string,
): void {
  const own = ['rateLimit', 'inFlightReq'].find((one) => one.toLowerCase() === name.toLowerCase()) ?? name;
  if (rest.length === 0) {
    tree.set(own, entryOf(file, line, { value }));
    return;
  }
  const inner = new Map(tree.get(own)?.fields);
  plant(inner, rest, entryOf(file, line, {}), value);
  tree.set(own, entryOf(file, tree.get(own)?.line ?? line, { fields: inner }));
}

function readMiddleware(
  { name, kind, config }: Middleware,
  all: readonly Middleware[],
  routers: readonly Router[],
  found: FoundLimits,
) {
  const { file, line } = config;
  const limit = limitOf(kind, config);
  if (typeof limit === 'string') return found.refuse(file, line, limit);
  const key = keyOf(config, kind);
  const names = new Set([
    name,
    ...all
      .filter(
        (one) => one.kind === 'chain' && namesIn(at(one.config, 'middlewares')).some((other) => isName(other, name)),
      )
      .map((one) => one.name),
  ]);
  const users = routers.filter((router) =>
    router.middlewares.some((one) => [...names].some((own) => isName(one, own))),
  );
  if (users.length === 0)
    return found.unused(file, {
      name,
      line,
      what: `${name} limits nothing: no router in these files names it`,
      key,
      limit,
    });
  const counter = `traefik ${name}`;
  for (const router of users)
    found.limiter(file, {
      name,
      line,
      where: router.name.startsWith('entry point') ? router.name : `router ${router.name}`,
      ...reachOf(router.rule, found),
      key,
      counts: kind === 'inFlightReq' ? 'concurrency' : 'requests',
      limit,
      counter,
    });
}

/** `api@file`, and in Kubernetes `namespace-api@kubernetescrd`. */
function isName(given: string, name: string): boolean {
  const [own = ''] = given.split('@');
  return own === name || (given.includes('@kubernetescrd') && own.endsWith(`-${name}`));
}

function limitOf(kind: Middleware['kind'], config: TreeEntry): Like | string {
  if (kind === 'inFlightReq') {
    const amount = numberAt(config, 'amount');
    return amount === undefined ? 'inFlightReq has no amount that is a number' : { like: 'in-flight', limit: amount };
  }
  const [average, burst, period] = [numberAt(config, 'average'), numberAt(config, 'burst'), at(config, 'period')];
  if (average === undefined) return 'rateLimit has no average that is a number';
  if (average === 0) return 'an average of 0 limits nothing';
  const length = period && (textAt(period) ?? '');
  if (length !== undefined && !/^\d+(?:\.\d+)?(?:ms|s|m|h)?$/.test(length)) return `the period ${length} is not a time`;
  return {
    like: 'traefik',
    average,
    ...(burst !== undefined && { burst }),
    ...(length !== undefined && { period: /^[\d.]+$/.test(length) ? Number(length) : length }),
  };
}

function keyOf(config: TreeEntry, kind: Middleware['kind']): LimitKey {
  const source = at(config, 'sourceCriterion');
  const header = textAt(source, 'requestHeaderName');
  if (header !== undefined) return unknownKey(`header ${header}`);
  if (textAt(source, 'requestHost') === 'true') return { text: 'host', parts: ['host'] };
  if (source !== undefined && at(source, 'ipStrategy') !== undefined)
    return { text: 'forwarded address', parts: ['client'] };
  return kind === 'inFlightReq' && source === undefined
    ? { text: 'host', parts: ['host'] }
    : source === undefined
      ? perClient
      : everyone;
}

function reachOf(rule: TreeEntry | undefined, found: FoundLimits): Pick<FoundLimiter, 'hosts' | 'paths'> {
  const text = textAt(rule) ?? '';
  const hosts = [...text.matchAll(/\bHost\(([^)]*)\)/g)].flatMap(([, list = '']) => quoted(list));
  const paths = [...text.matchAll(/\b(Path|PathPrefix|PathRegexp)\(([^)]*)\)/g)].flatMap(([, kind, list = '']) =>
    quoted(list).map(
      (one): PathPattern => ({
        kind: kind === 'Path' ? 'exact' : kind === 'PathPrefix' ? 'prefix' : 'regex',
        text: one,
      }),
    ),
  );
  const rest = text.replace(/\b(?:Host|Path|PathPrefix|PathRegexp)\([^)]*\)|&&|\|\||[()\s]/g, '');
  if (rule !== undefined && rest !== '')
    found.refuse(rule.file, rule.line, `of the rule ${text} only hosts and paths are read`);
  return { hosts, paths: paths.some((one) => one.kind === 'prefix' && one.text === '/') ? [] : paths };
}

const quoted = (list: string) => [...list.matchAll(/[`"']([^`"']+)[`"']/g)].map(([, one]) => one!);
