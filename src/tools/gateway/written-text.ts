// Limits as configuration of nginx and of HAProxy.
import { type Dialect, type WrittenLimit, type WrittenRoute, wholePace } from './written-limits.js';

type Path = WrittenRoute['paths'][number];

function zone({ name, key, perMs, exempt }: WrittenLimit): string[] {
  const [n, ms] = wholePace(perMs || 1);
  const rate = ms === 1000 ? `${n}r/s` : `${Math.max(1, Math.round(60_000 * perMs))}r/m`;
  const [is, own] = [`$exempt_${name}`, `$key_${name}`].map((text) => text.replaceAll('-', '_'));
  const usual =
    { client: '$binary_remote_addr', all: 'all' }[key] ??
    key
      .toLowerCase()
      .replace(/^header /, '$http_')
      .replaceAll('-', '_');
  const counted = exempt.length === 0 ? usual : own;
  const networks = exempt.map((range) => `${range} 1;`).join(' ');
  return [
    ...(exempt.length === 0 ? [] : [`geo ${is} { default 0; ${networks} }`, `map ${is} ${own} { 0 ${usual}; 1 ""; }`]),
    perMs === 0
      ? `limit_conn_zone ${counted} zone=${name}:10m;`
      : `limit_req_zone ${counted} zone=${name}:10m rate=${rate};`,
  ];
}

function uses({ name, atOnce, held, perMs, status }: WrittenLimit): string[] {
  if (perMs === 0) return [`limit_conn ${name} ${atOnce};`, `limit_conn_status ${status};`];
  const pace = held === 0 ? ' nodelay' : atOnce > 1 ? ` delay=${atOnce - 1}` : '';
  const burst = atOnce + held > 1 ? ` burst=${atOnce + held - 1}${pace}` : '';
  return [`limit_req zone=${name}${burst};`, `limit_req_status ${status};`];
}

const quoted = (text: string) => (/[\s;{}"'#]/.test(text) ? `"${text.replace(/\\?"/g, '\\"')}"` : text);

function locationsOf({ is, value, ignoresCase }: Path): string[] {
  if (is === 'matching') return [`~${ignoresCase ? '*' : ''} ${quoted(value)}`];
  return is === 'prefix' ? [quoted(value)] : [`= ${quoted(value)}`, ...(is === 'below' ? [quoted(`${value}/`)] : [])];
}

const location = (path: string, limits: readonly WrittenLimit[]) => [
  `  location ${path} {`,
  ...[...new Set(limits.flatMap(uses))].map((line) => `    ${line}`),
  '    proxy_pass http://YOUR_SERVICE;',
  '  }',
];

const server = (lines: readonly string[], routes: readonly WrittenRoute[]) => [
  'server {',
  ...lines.map((line) => `  ${line};`),
  ...routes.flatMap(({ paths, limits }) =>
    (paths.length === 0 ? ['/'] : paths.flatMap(locationsOf)).flatMap((path) => location(path, limits)),
  ),
  '}',
];

export const nginx: Dialect = {
  file: 'nginx.conf',
  write(routes, limits) {
    const others = routes.filter((route) => route.hosts.length === 0);
    const ofHost = (host: string) => {
      const own = routes.filter((route) => route.hosts.includes(host));
      const isWhole = own.some(({ paths }) => paths.length === 0);
      return [...own, ...others.filter(({ paths }) => !isWhole || paths.length > 0)];
    };
    const lines = [
      'upstream YOUR_SERVICE { server 127.0.0.1:8080; }',
      ...limits.flatMap(zone),
      ...[...new Set(routes.flatMap((route) => route.hosts))].flatMap((host) =>
        server(['listen 80', `server_name ${quoted(host)}`], ofHost(host)),
      ),
      ...server(['listen 80 default_server', ...(others.length > 0 ? [] : ['return 404'])], others),
    ];
    return `${lines.join('\n')}\n`;
  },
};

/** The type of a table, and what is tracked in it. */
function sampleOf(key: string): readonly [type: string, sample: string] {
  if (key === 'client') return ['ip', 'src'];
  return key === 'all' ? ['integer', 'int(1)'] : ['string len 128', `req.hdr(${key.slice('header '.length)})`];
}

const word = (text: string) => (/[\s"'#]/.test(text) ? `"${text.replace(/["\\$]/g, '\\$&')}"` : text);

function hostAcl(host: string): string {
  if (host.startsWith('~')) return `-m reg ${word(host.slice(1))}`;
  return host.startsWith('*') ? `-m end ${host.slice(1)}` : host;
}

function aclsOf({ is, value: text, ignoresCase }: Path): string[] {
  const value = word(text);
  const flag = ignoresCase ? ' -i' : '';
  if (is === 'matching' || is === 'prefix') return [`path_${is === 'prefix' ? 'beg' : 'reg'}${flag} ${value}`];
  return [`path${flag} ${value}`, ...(is === 'below' ? [`path_beg${flag} ${word(`${text}/`)}`] : [])];
}

const ifAny = (terms: readonly string[]) => (terms.length === 0 ? '' : ` if ${terms.join(' ')}`);

/** A count is raised by what is admitted, so that refused requests do not count. */
function backend(name: string, limits: readonly WrittenLimit[]): string[] {
  const counted = limits.map((limit, slot) => {
    const asked = limit.exempt.length === 0 ? [] : [`!{ src ${limit.exempt.join(' ')} }`];
    const over = `{ sc_gpc0_rate(${slot}) ge ${limit.atOnce + limit.held} }`;
    return [
      `track-sc${slot} ${sampleOf(limit.key)[1]} table ${limit.name}${ifAny(asked)}`,
      `deny deny_status ${limit.status}${ifAny([...asked, over])}`,
      `sc-inc-gpc0(${slot})${ifAny(asked)}`,
    ];
  });
  const lines = [0, 1, 2].flatMap((step) => counted.map((some) => `  http-request ${some[step]}`));
  return [`backend ${name}`, ...lines, '  server YOUR_SERVICE 127.0.0.1:8080'];
}

function table({ name, key, atOnce, held, perMs }: WrittenLimit): string[] {
  const ms = Math.round((atOnce + held) / perMs);
  const store = `expire ${2 * ms}ms store gpc0,gpc0_rate(${ms}ms)`;
  return [`backend ${name}`, `  stick-table type ${sampleOf(key)[0]} size 1m ${store}`];
}

export const haproxy: Dialect = {
  file: 'haproxy.cfg',
  lacks: ({ perMs }) => (perMs === 0 ? 'HAProxy counts connections of a key, not requests in flight' : undefined),
  write(routes, limits) {
    const slots = Math.max(0, ...routes.map((route) => route.limits.length));
    const front = routes.flatMap(({ name, hosts, paths }) => {
      const host = hosts.map((one) => `req.hdr(host) -i ${hostAcl(one)}`);
      const acls = [
        ['host', host],
        ['path', paths.flatMap(aclsOf)],
      ] as const;
      const lines = acls.flatMap(([kind, some]) => some.map((acl) => `  acl ${kind}_${name} ${acl}`));
      const asked = acls.flatMap(([kind, some]) => (some.length === 0 ? [] : [`${kind}_${name}`]));
      return [...lines, `  use_backend route-${name}${ifAny(asked)}`];
    });
    const lines = [
      ...(slots > 3 ? ['global', `  tune.stick-counters ${slots}`] : []),
      ...['defaults', '  mode http', '  timeout connect 5s', '  timeout client 1m', '  timeout server 1m'],
      ...['frontend web', '  bind :80', ...front, '  default_backend others'],
      ...routes.flatMap((route) => backend(`route-${route.name}`, route.limits)),
      ...backend('others', []),
      ...limits.flatMap(table),
    ];
    return `${lines.join('\n')}\n`;
  },
};
