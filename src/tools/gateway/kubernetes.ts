// Limits of ingress-nginx: annotations of an Ingress.
//
//   nginx.ingress.kubernetes.io/limit-rps: "4"                 { like: nginx, rate: 4r/s, burst: 20, nodelay: true }
//   nginx.ingress.kubernetes.io/limit-burst-multiplier: "5"    the default
//
// Source: the annotations of ingress-nginx 1.x: https://kubernetes.github.io/ingress-nginx/user-guide/nginx-configuration/annotations/
import { at, entryOf, isGiven, listAt, numberAt, type TreeEntry, textAt, textsAt, walk } from './document.js';
import { bySpecificity, type FoundLimiter, type FoundLimits, type Like } from './found.js';
import { matchCondition } from './header-match.js';
import * as ask from './request-condition.js';

const OURS = 'nginx.ingress.kubernetes.io/';
const LIMITS = /^nginx\.ingress\.kubernetes\.io\/limit-(?:rps|rpm|connections)$/;
const THEIRS = /\/(?:global-)?rate-limit(?:$|-requests$)|^haproxy[\w.-]*\/limit-(?:rps|connections)$/;

export function pathOfRule(path: TreeEntry): ask.ValueTest[] {
  const text = textAt(path, 'path') ?? '/';
  const type = textAt(path, 'pathType');
  if (type === 'Exact') return [{ is: 'equal', value: text }];
  // An expression of Kong.
  if (text.startsWith('/~')) return [{ is: 'matching', value: `^(?:${text.slice(2)})` }];
  return type === 'Prefix' ? prefixOf(text) : [{ is: 'prefix', value: text }];
}

export function pathsOfRules(rules: readonly TreeEntry[]): ask.ValueTest[] {
  return rules.flatMap((rule) => listAt(rule, 'http', 'paths').flatMap(pathOfRule));
}

/** Of a match of the Gateway API. */
function pathOfMatch(match: TreeEntry, [before, after]: Anchors): ask.ValueTest[] {
  const text = textAt(match, 'path', 'value') ?? '/';
  const type = textAt(match, 'path', 'type') ?? 'PathPrefix';
  if (type === 'RegularExpression') return [{ is: 'matching', value: `${before}${text}${after}` }];
  return type === 'Exact' ? [{ is: 'equal', value: text }] : prefixOf(text);
}

/** How much of a path an expression has to match: of Envoy all, of Kong the beginning, of Traefik any part. */
type Anchors = readonly [before: string, after: string];

/** Of each match of a rule of an HTTPRoute or GRPCRoute: of one path its method goes first, then more headers and arguments. */
export function reachesOfRoute(route: TreeEntry, rule: TreeEntry, anchors: Anchors) {
  const matches = listAt(rule, 'matches');
  return (matches.length > 0 ? matches : [rule]).map((match) => ({
    hosts: textsAt(route, 'spec', 'hostnames'),
    paths: pathOfMatch(match, anchors),
    when: matchCondition(match),
    extra:
      (isGiven(at(match, 'method')) ? 0.5 : 0) +
      listAt(match, 'headers').length / 100 +
      listAt(match, 'queryParams').length / 10_000,
  }));
}

/** Of a rule of an Ingress; one without a path is for all. */
export function pathEntries(rule: TreeEntry): readonly TreeEntry[] {
  const paths = listAt(rule, 'http', 'paths');
  return paths.length > 0 ? paths : [rule];
}

export const hostsOfRule = (rule: TreeEntry) => [textAt(rule, 'host') ?? []].flat();

/** Names of the objects of a kind that filters of a rule of the Gateway API refer to. */
export function filtersOf(rule: TreeEntry, kind: string): string[] {
  return listAt(rule, 'filters')
    .filter((one) => textAt(one, 'extensionRef', 'kind') === kind)
    .map((one) => textAt(one, 'extensionRef', 'name') ?? '');
}

export function namespaceOf(one: TreeEntry): string | undefined {
  return textAt(one, 'metadata', 'namespace');
}

/** Whether one object may name the other by its name alone. */
export function sharesNamespace(one: TreeEntry, other: TreeEntry): boolean {
  return isOneNamespace(namespaceOf(one), namespaceOf(other));
}

/** A namespace that is not written may be any. */
export function isOneNamespace(one: string | undefined, other: string | undefined): boolean {
  return one === undefined || other === undefined || one === other;
}

/** In the namespace that is named, or else in that of the object that names it. */
export function objectNamed(
  roots: readonly TreeEntry[],
  kind: string,
  name: string,
  by: TreeEntry,
  namespace = namespaceOf(by),
): TreeEntry | undefined {
  const isOne = (one: TreeEntry) => textAt(one, 'kind') === kind && textAt(one, 'metadata', 'name') === name;
  return roots.find((one) => isOne(one) && isOneNamespace(namespaceOf(one), namespace));
}

/** Of whole segments: `/api` and `/api/…`, not `/apis`. */
function prefixOf(text: string): ask.ValueTest[] {
  if (text.endsWith('/')) return [{ is: 'prefix', value: text }];
  return [
    { is: 'equal', value: text },
    { is: 'prefix', value: `${text}/` },
  ];
}

export function readIngress(roots: readonly TreeEntry[], found: FoundLimits): void {
  const settings = roots.flatMap(
    (one) => at(one, ...(textAt(one, 'kind') === 'ConfigMap' ? ['data'] : ['controller', 'config'])) ?? [],
  );
  const codeOf = (name: string) => numberAt(settings.flatMap((one) => at(one, name) ?? [])[0]) ?? 503;
  for (const [one, names] of roots.flatMap((root) => [...walk(root)])) {
    const [name = '', text] = [names.at(-1), String(one.value)];
    const isSnippet = /-snippet$|^value$/.test(name) && /\blimit_(?:req|conn)(?:_zone)?\s/.test(text);
    if (isSnippet) found.refuse(one, 'limits in a snippet are not read');
    else if (names.at(-2) === 'annotations' && THEIRS.test(name))
      found.refuse(one, `the annotation ${name} is not read`);
    else if (name === 'limit-conn-zone-variable' && text !== '$binary_remote_addr')
      found.refuse(one, `${text} is the key of all limits; here it is the address of the client`);
  }
  const ingresses = roots.filter((one) => textAt(one, 'kind') === 'Ingress');
  const values = roots.filter((one) => at(one, 'kind') === undefined).flatMap((one) => [...ingressesIn(one)]);
  const hasRegex = (root: TreeEntry) =>
    textAt(root, 'metadata', 'annotations', `${OURS}use-regex`) === 'true' ||
    at(root, 'metadata', 'annotations')?.fields.has(`${OURS}rewrite-target`) === true;
  const hostsOf = (root: TreeEntry) => listAt(root, 'spec', 'rules').map((rule) => textAt(rule, 'host'));
  const regexHosts = new Set([...ingresses, ...values].filter(hasRegex).flatMap(hostsOf));
  const routes = [...ingresses, ...values].flatMap((root) => {
    const limiters = limitersOf(root, codeOf, found);
    if (isCanary(root)) return [];
    const rules = listAt(root, 'spec', 'rules').flatMap((rule) => {
      const isRegex = regexHosts.has(textAt(rule, 'host'));
      return pathEntries(rule).map((path) => {
        const text = textAt(path, 'path') ?? '/';
        const regex: ask.ValueTest = { is: 'matching', value: `^${text}`, ignoresCase: true };
        return { hosts: hostsOfRule(rule), paths: path === rule ? [] : isRegex ? [regex] : pathOfRule(path), limiters };
      });
    });
    return rules.length > 0 ? rules : [{ hosts: [], paths: [], limiters }];
  });
  if (routes.some(({ limiters }) => limiters.length > 0)) found.table(bySpecificity(routes));
}

/** In values of Helm: `ingress: { annotations: { … }, hosts: [{ host, paths }] }`, wherever it is. */
function* ingressesIn(root: TreeEntry): Generator<TreeEntry> {
  for (const [entry, names] of walk(root)) {
    const annotations = entry.fields.get('annotations');
    if (![...(annotations?.fields.keys() ?? [])].some((name) => LIMITS.test(name))) continue;
    const within = (line: number, fields: Readonly<Record<string, TreeEntry | undefined>>) =>
      entryOf(entry.file, line, {
        fields: new Map(Object.entries(fields).flatMap(([name, one]) => (one === undefined ? [] : [[name, one]]))),
      });
    const hosts = at(entry, 'hosts') ?? at(entry, 'host') ?? at(entry, 'hostname');
    const rules = (hosts?.items ?? [])
      .concat(hosts !== undefined && hosts.items.length === 0 ? hosts : [])
      .map((one) => {
        const paths = (at(one, 'paths') ?? at(entry, 'paths'))?.items.map((path) =>
          path.value === undefined ? path : within(path.line, { path }),
        );
        const list = paths && entryOf(entry.file, one.line, { items: paths });
        return within(one.line, {
          host: one.value === undefined ? at(one, 'host') : one,
          http: list && within(one.line, { paths: list }),
        });
      });
    yield within(entry.line, {
      metadata: within(entry.line, { annotations, name: entryOf(entry.file, entry.line, { value: names.join('.') }) }),
      spec: within(entry.line, { rules: entryOf(entry.file, entry.line, { items: rules }) }),
      enabled: at(entry, 'enabled'),
    });
  }
}

const isCanary = (root: TreeEntry) => textAt(root, 'metadata', 'annotations', `${OURS}canary`) === 'true';

function limitersOf(root: TreeEntry, codeOf: (name: string) => number, found: FoundLimits): readonly FoundLimiter[] {
  const annotations = at(root, 'metadata', 'annotations');
  const given = (name: string) => annotations?.fields.get(`${OURS}${name}`);
  const number = (name: string): number | undefined => {
    const one = given(name);
    if (one === undefined) return undefined;
    const value = numberAt(one) ?? -1;
    return Number.isInteger(value) && value >= 0 ? value : found.refuse(one, `${name} is not a whole number`);
  };
  const multiplier = number('limit-burst-multiplier') ?? 5;
  if (multiplier === 0) found.refuse(given('limit-burst-multiplier')!, 'nginx refuses burst=0, and with it the file');
  const hosts = listAt(root, 'spec', 'rules').flatMap(hostsOfRule);
  const exempt = textAt(given('limit-whitelist') ?? given('limit-allowlist'))?.split(/[\s,]+/);
  const limits: readonly (readonly [name: string, like: (n: number) => Like])[] = [
    ['limit-rps', (n) => ({ like: 'nginx', rate: `${n}r/s`, burst: n * multiplier, nodelay: true })],
    ['limit-rpm', (n) => ({ like: 'nginx', rate: `${n}r/m`, burst: n * multiplier, nodelay: true })],
    ['limit-connections', (n) => ({ like: 'nginx-limit-conn', connections: n })],
  ];
  return limits.flatMap(([name, like]) => {
    const n = number(name);
    const isFlight = name === 'limit-connections';
    if (n === undefined || n === 0 || (multiplier === 0 && !isFlight)) return [];
    const disabled = textAt(root, 'enabled') === 'false' ? 'the Ingress is not enabled' : undefined;
    const off = isCanary(root) ? 'a canary has the limits of its main Ingress' : disabled;
    return found.unless(off, given(name)!, {
      name,
      where: `Ingress ${textAt(root, 'metadata', 'name') ?? ''}${hosts.length === 0 ? '' : `, host ${hosts.join(', ')}`}`,
      hosts,
      paths: pathsOfRules(listAt(root, 'spec', 'rules')),
      limit: like(n),
      ...(exempt && { when: ask.not(ask.isFrom(exempt.filter((one) => one !== ''))) }),
      counts: isFlight ? 'concurrency' : 'requests',
      status: codeOf(isFlight ? 'limit-conn-status-code' : 'limit-req-status-code'),
    });
  });
}
