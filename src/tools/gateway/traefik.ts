// Limits of Traefik: middlewares, and the routers that use them; in files, container labels, and Kubernetes objects.
//
//   http: { middlewares: { api: { rateLimit: { average: 10, burst: 20 } } },      { like: traefik, average: 10, burst: 20 }
//           routers: { web: { rule: 'PathPrefix(`/api`)', middlewares: [api] } } }
//
// Source: doc.traefik.io, RateLimit and InFlightReq of Traefik 3.
import { at, isGiven, isThere, listAt, numberAt, numbersAt, type TreeEntry, textAt, treeOf, walk } from './document.js';
import { durationOf } from './duration.js';
import type { FoundLimiter, FoundLimits, Like, Reach } from './found.js';
import { filtersOf, hostsOfRule, pathsOfRules, reachesOfRoute } from './kubernetes.js';
import { headerText, keyOfText, type LimitKey, perClient } from './limit-key.js';
import { equalTo, type ValueTest } from './request-condition.js';
import { TEMPLATE, traefikReach } from './traefik-rule.js';

interface Middleware {
  readonly name: string;
  readonly namespace: string | undefined;
  readonly kind: 'rateLimit' | 'inFlightReq' | 'chain';
  readonly config: TreeEntry;
}

interface Router {
  readonly name: string;
  readonly reach: Reach;
  readonly priority: number;
  readonly isEntryPoint?: boolean;
  /** Empty: all. */
  readonly entryPoints?: readonly string[];
  readonly middlewares: readonly string[];
}

/** Each router has its own instance of each middleware, also of those of its entry points, which come first. */
interface Use {
  readonly router: Router;
  readonly where: string;
  readonly middleware: Middleware;
}

export function readTraefik(roots: readonly TreeEntry[], found: FoundLimits): void {
  const middlewares: Middleware[] = [];
  const routers: Router[] = [];
  for (const root of roots.flatMap((one) => [one, ...labelled(one, found)])) {
    const kind = textAt(root, 'kind');
    const namespace = textAt(root, 'metadata', 'namespace');
    const route = (name: string, rule: string | undefined, from: TreeEntry, points = at(from, 'entryPoints')) => ({
      name,
      ...ruledBy(rule, from, found),
      entryPoints: namesIn(points),
      middlewares: namesIn(at(from, 'middlewares'), namespace),
    });
    const add = (name: string, given: TreeEntry | undefined) =>
      middlewares.push(...middlewaresOf(name, namespace, given, found));
    if (kind === 'Middleware') add(textAt(root, 'metadata', 'name') ?? '', at(root, 'spec'));
    else if (kind === 'IngressRoute')
      for (const one of listAt(root, 'spec', 'routes')) {
        const [name, match] = [textAt(root, 'metadata', 'name'), textAt(one, 'match')];
        routers.push(route(`${name}, ${match}`, match, one, at(root, 'spec', 'entryPoints')));
      }
    else {
      for (const [name, given] of at(root, 'http', 'middlewares')?.fields ?? []) add(name, given);
      for (const [name, router] of at(root, 'http', 'routers')?.fields ?? [])
        routers.push(route(name, textAt(router, 'rule'), router));
      // Of Helm's values: `ports`.
      const points = ['entryPoints', 'ports'].flatMap((field) => [...(at(root, field)?.fields ?? [])]);
      for (const [name, point] of points) {
        const own = route(`entry point ${name}`, undefined, at(point, 'http') ?? point);
        routers.push({ ...own, isEntryPoint: true, entryPoints: [name] });
      }
    }
    routers.push(...routersOf(root));
    for (const one of [...(at(root, 'tcp', 'middlewares')?.fields.values() ?? []), at(root, 'spec')])
      for (const [name, given] of one?.fields ?? [])
        if (/^inFlightConn$/i.test(name)) found.refuse(given, `${name} limits connections of TCP, which is not read`);
  }
  const isBefore = (point: Router, { entryPoints = [] }: Router) =>
    point.isEntryPoint && (entryPoints.length === 0 || entryPoints.includes(point.entryPoints![0]!));
  const own = routers.filter(({ isEntryPoint }) => !isEntryPoint);
  const alone = routers.filter((one) => one.isEntryPoint && !own.some((router) => isBefore(one, router)));
  const uses = [...own, ...alone].flatMap((router) => {
    const points = router.isEntryPoint ? [] : routers.filter((one) => isBefore(one, router));
    return [...points, router].flatMap((from) => {
      const where = [...new Set([from, router])].map(placeOf).join(', ');
      return inOrder(from.middlewares, middlewares).map((middleware): Use => ({ router, where, middleware }));
    });
  });
  const limits = middlewares.filter(({ kind }) => kind !== 'chain');
  const read = new Map(
    limits.flatMap((self) => {
      const here = uses.filter(({ middleware }) => middleware === self);
      return readMiddleware(self, here, found).map((limiter, i) => [here[i]!, limiter] as const);
    }),
  );
  const table = own
    .sort((a, b) => b.priority - a.priority)
    .map((router) => ({
      ...router.reach,
      limiters: uses.flatMap((use) => (use.router === router ? (read.get(use) ?? []) : [])),
    }));
  if (table.some(({ limiters }) => limiters.length > 0)) found.table(table);
}

const placeOf = ({ name, isEntryPoint = false }: Router) => (isEntryPoint ? name : `router ${name}`);

/** Those that are named, in the order in which requests pass them. */
function inOrder(
  names: readonly string[],
  all: readonly Middleware[],
  within: readonly Middleware[] = [],
): Middleware[] {
  const named = names.flatMap((name) => all.filter((one) => isName(name, one) && !within.includes(one)));
  return named.flatMap((one) =>
    one.kind === 'chain'
      ? inOrder(namesIn(at(one.config, 'middlewares'), one.namespace), all, [...within, one])
      : [one],
  );
}

/** By default, and with 0, a rule has the priority of its length. */
function ruledBy(rule: string | undefined, router: TreeEntry, found: FoundLimits) {
  const template = TEMPLATE.exec(rule ?? '');
  if (template !== null && isGiven(at(router, 'middlewares')) && textAt(router, 'ruleSyntax') !== 'v2')
    found.refuse(router, `${template[0]} is read as a template of Traefik 2; Traefik 3 takes it as it is written`);
  return { reach: traefikReach(rule), priority: numberAt(router, 'priority') || (rule?.length ?? 0) };
}

/** An Ingress names middlewares in an annotation, an HTTPRoute in a filter of a rule. */
function routersOf(root: TreeEntry): Router[] {
  const name = textAt(root, 'metadata', 'name') ?? '';
  const rules = listAt(root, 'spec', 'rules');
  const annotation = (name: string) =>
    at(root, 'metadata', 'annotations', `traefik.ingress.kubernetes.io/router.${name}`);
  const annotated = annotation('middlewares');
  if (annotated !== undefined || textAt(root, 'kind') === 'Ingress') {
    const [middlewares, entryPoints] = [namesIn(annotated), namesIn(annotation('entrypoints'))];
    const isExact = textAt(annotation('pathmatcher')) === 'Path';
    const own = rules.map((rule) => {
      const [hosts, paths] = [hostsOfRule(rule), pathsOfRules([rule])];
      const isOpen = listAt(rule, 'http', 'paths').every(
        (one) => !/^(?:Prefix|Exact)$/.test(textAt(one, 'pathType') ?? ''),
      );
      return { hosts, paths: isExact && isOpen ? paths.map(({ value }) => equalTo(value)) : paths };
    });
    return (own.length > 0 ? own : [{ hosts: [], paths: [] }]).map((reach) => ({
      name,
      reach,
      priority: numberAt(annotation('priority')) || lengthOf(reach),
      entryPoints,
      middlewares,
    }));
  }
  if (textAt(root, 'kind') !== 'HTTPRoute') return [];
  return rules.flatMap((rule) => {
    const middlewares = filtersOf(rule, 'Middleware').map((one) => named(one, textAt(root, 'metadata', 'namespace')));
    return reachesOfRoute(root, rule, ['', '']).map(({ extra, ...reach }) => {
      const [{ is, value }] = reach.paths as [ValueTest];
      const priority = lengthOf(reach) + extra + (is === 'equal' && reach.paths.length === 1 ? 1 : 0);
      return { name: `${name}, ${value}`, reach, priority, middlewares };
    });
  });
}

/** In Kubernetes a name belongs to a namespace. */
const named = (name: string, namespace: string | undefined) =>
  namespace === undefined || name.includes('@') ? name : `${namespace}-${name}@kubernetescrd`;

/** @param own the namespace of the object that names them */
const namesIn = (list: TreeEntry | undefined, own?: string): string[] =>
  list === undefined
    ? []
    : list.items.length > 0
      ? list.items.map((one) =>
          one.value === undefined
            ? named(textAt(one, 'name') ?? '', textAt(one, 'namespace') ?? own)
            : String(one.value),
        )
      : String(list.value ?? '')
          .split(/\s*,\s*/)
          .filter((one) => one !== '');

function middlewaresOf(
  name: string,
  namespace: string | undefined,
  given: TreeEntry | undefined,
  found: FoundLimits,
): Middleware[] {
  return [...(given?.fields ?? [])].flatMap(([kind, config]) => {
    for (const [plugin, one] of kind === 'plugin' ? config.fields : [])
      if (/rate-?limit|throttl/i.test(plugin)) found.refuse(one, `limits of the plugin ${plugin} are not read`);
    const known = spelt(kind, ['rateLimit', 'inFlightReq', 'chain'] as const);
    return known === undefined ? [] : [{ name, namespace, kind: known, config: optionsOf(config) }];
  });
}

const OPTIONS = ['sourceCriterion', 'ipStrategy', 'excludedIPs', 'ipv6Subnet', 'requestHeaderName', 'requestHost'];

/** Options have any case; labels are often in lower case. */
const spelt = <Name extends string>(text: string, names: readonly Name[]): Name | undefined =>
  names.find((one) => one.toLowerCase() === text.toLowerCase());

function optionsOf(config: TreeEntry): TreeEntry {
  const fields = [...config.fields].map(([name, one]) => {
    return [spelt(name, OPTIONS) ?? name.toLowerCase(), optionsOf(one)] as const;
  });
  return { ...config, fields: new Map(fields) };
}

/** Builds the same tree from labels, `traefik.http.middlewares.api.ratelimit.average=10`, and arguments, `--entrypoints.…`. */
function labelled(root: TreeEntry, found: FoundLimits): TreeEntry[] {
  const trees: TreeEntry[] = [];
  for (const [entry, names] of walk(root)) {
    if ((names.length > 0 && !HAVE_LABELS.test(names.at(-1)!)) || (entry.items.length === 0 && entry.fields.size === 0))
      continue;
    const labels = [
      ...[...entry.fields].map(([name, one]) => ({ name, one, value: textAt(one) ?? '' })),
      ...entry.items.map((one) => {
        const [name = '', ...value] = String(one.value).split('=');
        return { name, one, value: value.join('=') };
      }),
    ];
    const rows = labels
      .filter(({ name }) => /^(?:traefik\.(?:http|tcp)|--entrypoints)\./i.test(name))
      .map(({ name, one, value }) => ({
        names: name
          .replace(/^(?:traefik\.|--)/i, '')
          .split('.')
          .map(optionOf),
        line: one.line,
        value,
      }));
    const off = labels.find(({ name, value }) => /^traefik\.enable$/i.test(name) && value === 'false');
    if (off !== undefined && rows.some(({ names: some }) => some.includes('middlewares')))
      found.unused(off.one, { name: 'labels', what: 'the labels limit nothing: traefik.enable is false' });
    else if (rows.length > 0) trees.push(treeOf(entry.file, rows));
  }
  return trees;
}

/** Consul and Nomad have them as tags. */
const HAVE_LABELS = /^(?:labels|tags|command|args|additionalArguments)$/i;

const optionOf = (name: string) => spelt(name, ['rateLimit', 'inFlightReq', 'entryPoints']) ?? name;

function readMiddleware(self: Middleware, uses: readonly Use[], found: FoundLimits): readonly FoundLimiter[] {
  const { name, kind, config } = self;
  const limit = limitOf(self, found);
  if (limit === undefined) return [];
  const key = keyOf(config, kind);
  if (at(config, 'sourceCriterion', 'ipStrategy', 'ipv6Subnet') !== undefined)
    found.refuse(config, 'ipv6Subnet is not read: the address of the client is the key here');
  if (isGiven(at(config, 'sourceCriterion', 'ipStrategy', 'excludedIPs')))
    found.refuse(config, 'excludedIPs is not read: the address of the client is the key here');
  if (uses.length === 0) found.unless('no router in these files names it', config, { name, key, limit });
  // In memory each router has its own buckets; Redis shares them.
  const isShared = at(config, 'redis') !== undefined;
  return uses.map(({ router, where }, i) =>
    found.limiter(config, {
      name,
      where,
      ...router.reach,
      key,
      counts: kind === 'inFlightReq' ? 'concurrency' : 'requests',
      limit,
      counter: `traefik ${name}${isShared ? '' : ` ${i}`}`,
      ...(isShared && { instances: 1 }),
    }),
  );
}

/** `api@file`, and in Kubernetes `namespace-api@kubernetescrd`. */
function isName(given: string, { name, namespace }: Middleware): boolean {
  const [own = '', provider] = given.split('@');
  if (provider !== 'kubernetescrd') return own === name;
  return namespace === undefined ? own === name || own.endsWith(`-${name}`) : own === `${namespace}-${name}`;
}

function limitOf({ name, kind, config }: Middleware, found: FoundLimits): Like | undefined {
  const refuse = (what: string) => found.refuse(config, what);
  const given = numbersAt(config, found, 'amount?', 'average?', 'burst?');
  if (given === undefined) return refuse(`${kind} has a limit that is not a number`);
  const { amount, average, burst } = given;
  if (kind === 'inFlightReq')
    return amount === undefined
      ? refuse('inFlightReq has no amount that is a number')
      : { like: 'in-flight', limit: amount };
  if (average === undefined) return refuse('rateLimit has no average that is a number');
  if (average === 0) return found.unused(config, { name, what: `${name} limits nothing: its average is 0` });
  const period = at(config, 'period');
  const length = period && durationOf(textAt(period) ?? '', 's');
  if (period !== undefined && length === undefined) return refuse(`the period ${textAt(period)} is not a time`);
  return {
    like: 'traefik',
    average,
    ...(burst !== undefined && { burst: Math.max(burst, 1) }),
    ...(length !== undefined && Number.parseFloat(length) > 0 && { period: length }),
  };
}

function keyOf(config: TreeEntry, kind: Middleware['kind']): LimitKey {
  const source = at(config, 'sourceCriterion');
  const header = textAt(source, 'requestHeaderName');
  if (header !== undefined) return keyOfText(`header ${header}`, headerText(header));
  if (textAt(source, 'requestHost') === 'true') return { text: 'host', parts: ['host'] };
  if (isThere(at(source, 'ipStrategy'))) return { text: 'forwarded address', parts: ['client'] };
  return kind === 'inFlightReq' ? { text: 'host', parts: ['host'] } : perClient;
}

/** Of the rule that Traefik makes of it. */
const lengthOf = ({ hosts, paths }: Reach) =>
  [...hosts, ...paths.slice(0, 1).map(({ value }) => value)].join('').length;
