// Limits as objects of Kubernetes: of Traefik, Envoy Gateway and kgateway.
//
// Sources: doc.traefik.io of Traefik 3, the API references of Envoy Gateway 1 and kgateway 2.
import { stringify } from 'yaml';
import { literal } from './expression.js';
import { type Dialect, type WrittenLimit, type WrittenRoute, wholePace } from './written-limits.js';

const VERSIONS = {
  Middleware: 'traefik.io/v1alpha1',
  IngressRoute: 'traefik.io/v1alpha1',
  HTTPRoute: 'gateway.networking.k8s.io/v1',
  BackendTrafficPolicy: 'gateway.envoyproxy.io/v1alpha1',
  TrafficPolicy: 'gateway.kgateway.dev/v1alpha1',
  GatewayExtension: 'gateway.kgateway.dev/v1alpha1',
  ConfigMap: 'v1',
};

const object = (kind: keyof typeof VERSIONS, name: string, rest: object) =>
  stringify(
    { apiVersion: VERSIONS[kind], kind, metadata: { name }, ...rest },
    { lineWidth: 0, aliasDuplicateObjects: false },
  );

const joined = (objects: readonly string[]) => objects.join('---\n');

const service = { name: 'YOUR_SERVICE', port: 80 };
const headerIn = (key: string) => (key.startsWith('header ') ? key.slice('header '.length) : undefined);

function ruleOf({ hosts, paths }: WrittenRoute): string {
  const host = hosts.map((one) =>
    one.startsWith('~')
      ? `HostRegexp(\`${one.slice(1)}\`)`
      : one.startsWith('*')
        ? `HostRegexp(\`^[^.]+${literal(one.slice(1))}$\`)`
        : `Host(\`${one}\`)`,
  );
  const path = paths.map(({ is, value, ignoresCase }) => {
    if (is === 'matching') return `PathRegexp(\`${ignoresCase ? '(?i)' : ''}${value}\`)`;
    return is === 'prefix'
      ? `PathPrefix(\`${value}\`)`
      : `Path(\`${value}\`)${is === 'below' ? ` || PathPrefix(\`${value}/\`)` : ''}`;
  });
  const terms = [host, path].map((some) => some.join(' || ')).filter((term) => term !== '');
  return terms.map((term) => (term.includes(' || ') ? `(${term})` : term)).join(' && ') || 'PathPrefix(`/`)';
}

function middleware({ name, perMs, atOnce, held, key }: WrittenLimit): string {
  const [average, ms] = wholePace(perMs || 1);
  const header = headerIn(key);
  const source = header ? { requestHeaderName: header } : key === 'all' ? { requestHost: true } : undefined;
  const rate = { average, period: `${ms / 1000}s`, burst: atOnce + held, ...(source && { sourceCriterion: source }) };
  const flight = { amount: atOnce, sourceCriterion: source ?? { ipStrategy: { depth: 0 } } };
  return object('Middleware', name, { spec: perMs > 0 ? { rateLimit: rate } : { inFlightReq: flight } });
}

export const traefik: Dialect = {
  file: 'traefik.yaml',
  write(routes, limits) {
    const routers = routes.flatMap((route, i) => {
      const match = ruleOf(route);
      const exempt = [...new Set(route.limits.flatMap((limit) => limit.exempt))];
      const router = (rule: string, some: readonly WrittenLimit[], priority: number) => {
        const middlewares = some.map(({ name }) => ({ name }));
        return { kind: 'Rule', match: rule, priority, ...(some.length > 0 && { middlewares }), services: [service] };
      };
      const counted = [match, ...exempt.map((range) => `!ClientIP(\`${range}\`)`)].join(' && ');
      const free = route.limits.filter((limit) => limit.exempt.length === 0);
      const priority = 2 * (routes.length - i);
      return [
        router(counted, route.limits, priority),
        ...(exempt.length > 0 ? [router(match, free, priority - 1)] : []),
      ];
    });
    return joined([...limits.map(middleware), object('IngressRoute', 'limited', { spec: { routes: routers } })]);
  },
};

/** Envoy asks that an expression matches all of a path. */
function matchOf({ is, value, ignoresCase = false }: WrittenRoute['paths'][number]): object {
  const isExpression = is === 'matching' || (is === 'prefix' && !value.endsWith('/'));
  const text = is === 'matching' ? value : `^${literal(value)}`;
  const [before, after] = [text.startsWith('^') ? '' : '.*', text.endsWith('$') ? '' : '.*'];
  const whole = `${before}${text.replace(/^\^|\$$/g, '')}${after}`;
  const path = isExpression
    ? { type: 'RegularExpression', value: `${ignoresCase ? '(?i)' : ''}${whole}` }
    : { type: is === 'equal' ? 'Exact' : 'PathPrefix', value };
  return { path };
}

function httpRoute({ name, hosts, paths }: WrittenRoute): string {
  const matches = paths.map(matchOf);
  const rule = { ...(matches.length > 0 && { matches }), backendRefs: [service] };
  const hostnames = hosts.length > 0 && { hostnames: hosts };
  return object('HTTPRoute', name, { spec: { parentRefs: [{ name: 'YOUR_GATEWAY' }], ...hostnames, rules: [rule] } });
}

/** Routes with the same limits share a policy, so that they share the count where that can be. */
function policiesOf(routes: readonly WrittenRoute[]) {
  const nameOf = ({ limits }: WrittenRoute) => limits.map(({ name }) => name).join();
  return [...new Set(routes.map(nameOf))].flatMap((names) => {
    const [first, ...others] = routes.filter((route) => nameOf(route) === names && names !== '');
    if (first === undefined) return [];
    const isShared = others.length > 0 || first.paths.length > 1;
    const kind = { group: 'gateway.networking.k8s.io', kind: 'HTTPRoute' };
    const targetRefs = [first, ...others].map(({ name }) => ({ ...kind, name }));
    return [{ name: first.name, limits: first.limits, targetRefs, isShared }];
  });
}

const UNITS = [
  ['second', 1000],
  ['minute', 60_000],
  ['hour', 3_600_000],
] as const;

/** The window of a unit that admits nearest to as many at once, at nearly the same rate. */
function windowOf({ perMs, atOnce, held }: WrittenLimit): { readonly n: number; readonly unit: string } {
  const far = (a: number, b: number) => Math.max(a / b, b / a);
  const all = UNITS.map(([unit, ms]) => {
    const n = Math.max(1, Math.round(perMs * ms));
    return { unit, n, far: far(n, atOnce + held) * far(n, perMs * ms) ** 2 };
  });
  return all.sort((a, b) => a.far - b.far)[0]!;
}

const isOfService = (key: string) => key !== 'all';

const ofPolicies: Omit<Dialect, 'file' | 'write'> = {
  hasPlainHosts: true,
  isShared: isOfService,
  lacks({ perMs, exempt }) {
    if (perMs === 0) return 'a policy limits no requests in flight of a key';
    return exempt.length > 0 ? `requests of ${exempt.join(', ')} would not be exempt` : undefined;
  },
};

export const envoyGateway: Dialect = {
  ...ofPolicies,
  file: 'envoy-gateway.yaml',
  write(routes) {
    const policies = policiesOf(routes).map(({ name, limits, targetRefs, isShared }) => {
      const rules = (some: readonly WrittenLimit[]) =>
        some.map((limit) => {
          const [{ n, unit }, header] = [windowOf(limit), headerIn(limit.key)];
          const address = { sourceCIDR: { type: 'Distinct', value: '0.0.0.0/0' } };
          const clientSelectors = [header ? { headers: [{ type: 'Distinct', name: header }] } : address];
          const counted = isOfService(limit.key) && { clientSelectors, ...(isShared && { shared: true }) };
          return { ...counted, limit: { requests: n, unit: unit.replace(/^./, (first) => first.toUpperCase()) } };
        });
      const [global, local] = [true, false].map((is) => rules(limits.filter(({ key }) => isOfService(key) === is)));
      const given = Object.entries({ global, local }).filter(([, some]) => some!.length > 0);
      const rateLimit = Object.fromEntries(given.map(([type, some]) => [type, { rules: some }]));
      return object('BackendTrafficPolicy', name, { spec: { targetRefs, rateLimit } });
    });
    return joined([...routes.map(httpRoute), ...policies]);
  },
};

export const kgateway: Dialect = {
  ...ofPolicies,
  file: 'kgateway.yaml',
  write(routes, limits) {
    const policies = policiesOf(routes).map(({ name, limits: own, targetRefs }) => {
      const [bucket] = own.filter(({ key }) => !isOfService(key));
      const [tokensPerFill, ms] = wholePace(bucket?.perMs ?? 1);
      const fillInterval = ms % 1000 === 0 ? `${ms / 1000}s` : `${ms}ms`;
      const local = bucket && { tokenBucket: { maxTokens: bucket.atOnce + bucket.held, tokensPerFill, fillInterval } };
      const descriptors = own.filter((limit) => limit !== bucket).map((limit) => ({ entries: entriesOf(limit) }));
      const global = descriptors.length > 0 && { global: { extensionRef: { name: 'ratelimit' }, descriptors } };
      return object('TrafficPolicy', name, { spec: { targetRefs, rateLimit: { ...(local && { local }), ...global } } });
    });
    const counted = limits.filter(({ key }) => isOfService(key));
    return joined([...routes.map(httpRoute), ...policies, ...(counted.length > 0 ? serviceOf(counted) : [])]);
  },
};

function entriesOf({ name, key }: WrittenLimit): object[] {
  const header = headerIn(key);
  const own = { type: 'Generic', generic: { key: 'limit', value: name } };
  return [own, header ? { type: 'Header', header } : { type: 'RemoteAddress' }];
}

/** What counts for all instances, and its limits. */
function serviceOf(limits: readonly WrittenLimit[]): string[] {
  const descriptors = limits.map((limit) => {
    const { n, unit } = windowOf(limit);
    const own = { key: headerIn(limit.key) ?? 'remote_address', rate_limit: { unit, requests_per_unit: n } };
    return { key: 'limit', value: limit.name, descriptors: [own] };
  });
  const rateLimit = { domain: 'weir', grpcService: { backendRef: { name: 'ratelimit', port: 8081 } } };
  const data = { 'config.yaml': stringify({ domain: 'weir', descriptors }) };
  return [
    object('GatewayExtension', 'ratelimit', { spec: { type: 'RateLimit', rateLimit } }),
    object('ConfigMap', 'ratelimit', { data }),
  ];
}
