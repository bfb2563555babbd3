// What the files of a gateway limit: each limit in the words of its product, where it applies, and what was not understood.
//
//   limit_req_zone $binary_remote_addr zone=api:10m rate=10r/s;
//   location /api { limit_req zone=api burst=20 nodelay; }
//
//   { name: api, where: 'location /api', key: client, limit: { like: nginx, rate: 10r/s, burst: 20, nodelay: true }, status: 503, line: 2 }

/** A limit as a scenario has it: a product with its own parameters. */
export type Like = Readonly<Record<string, unknown>> & { readonly like: string };

/** A part of a key that access logs have. */
export type KeyPart = 'client' | 'host' | 'method' | 'path' | 'user';

export interface LimitKey {
  /** In the words of the file. */
  readonly text: string;
  /** Empty: all requests together. Undefined: it cannot be taken from an access log. */
  readonly parts: readonly KeyPart[] | undefined;
}

export interface Source {
  readonly name: string;
  readonly text: string;
}

/** Something of a file, with its line, from 1. */
interface Noted {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

export interface PathPattern {
  readonly kind: 'exact' | 'prefix' | 'regex';
  readonly text: string;
  readonly ignoresCase?: boolean;
}

export interface FoundLimiter {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** Where its rate and its key are written, if elsewhere: the zone of nginx, the table of HAProxy. */
  readonly defined?: { readonly file: string; readonly line: number };
  /** In words: `location /api`, `route orders`. Empty: everywhere. */
  readonly where: string;
  /** Names of hosts, `*.example.com` too; empty: all. */
  readonly hosts: readonly string[];
  /** Empty: all. */
  readonly paths: readonly PathPattern[];
  /** Unknown where the file does not say which requests meet the limit. */
  readonly reach: 'known' | 'unknown';
  readonly key: LimitKey;
  readonly counts: 'requests' | 'connections' | 'concurrency' | 'errors';
  /** Undefined where the file says that there is none. */
  readonly limit: Like | undefined;
  /** What a refused request is answered with; undefined where its connection is closed. */
  readonly status: number | undefined;
  /** Whether it counts, and refuses nothing. */
  readonly isDryRun: boolean;
  /** Limits with the same counter share their counts. */
  readonly counter: string;
}

/** A limit that is defined, and that no request meets. */
interface NotApplied extends Noted {
  readonly name: string;
  readonly key?: LimitKey | undefined;
  readonly limit?: Like | undefined;
}

/** Limits that a request of one place has to pass, in the order in which they apply. */
interface LimitedPlace {
  readonly where: string;
  readonly limiters: readonly FoundLimiter[];
}

export interface GatewayLimits {
  readonly limiters: readonly FoundLimiter[];
  readonly places: readonly LimitedPlace[];
  readonly notUnderstood: readonly Noted[];
  readonly notApplied: readonly NotApplied[];
  /** The limits that a request has to pass. Host and path as an access log has them; the host may be unknown. */
  readonly appliesTo: (host: string | undefined, path: string) => readonly FoundLimiter[];
}

export type LimitRoute = GatewayLimits['appliesTo'];

export const everyone: LimitKey = { text: 'all requests together', parts: [] };
export const perClient: LimitKey = { text: 'client address', parts: ['client'] };

/** A key that no access log has, in the words of its file. */
export const unknownKey = (text: string): LimitKey => ({ text, parts: undefined });

type Described = Pick<FoundLimiter, 'name' | 'line' | 'limit'> & Partial<FoundLimiter>;

/** Takes what the readers find. */
export class FoundLimits {
  readonly limiters: FoundLimiter[] = [];
  readonly notUnderstood: Noted[] = [];
  readonly notApplied: NotApplied[] = [];
  /** Of formats in which a request meets the limits of one place alone. */
  readonly places: LimitedPlace[] = [];
  readonly routes: LimitRoute[] = [];

  /** By default per client address, everywhere, counting requests, answered with 429. */
  limiter(file: string, found: Described): FoundLimiter {
    const { where = '', name } = found;
    const limiter: FoundLimiter = {
      where,
      file,
      hosts: [],
      paths: [],
      reach: 'known',
      key: perClient,
      counts: 'requests',
      status: 429,
      isDryRun: false,
      counter: `${file} ${where} ${name} ${this.limiters.length}`,
      ...found,
    };
    this.limiters.push(limiter);
    return limiter;
  }

  refuse(file: string, line: number, what: string): void {
    if (this.notUnderstood.some((one) => one.file === file && one.line === line && one.what === what)) return;
    this.notUnderstood.push({ file, line, what });
  }

  unused(file: string, unused: Omit<NotApplied, 'file'>): void {
    this.notApplied.push({ file, ...unused });
  }
}

const byLine = (a: Noted, b: Noted) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line);

export function limitsOf(found: FoundLimits): GatewayLimits {
  for (const { file, line, paths } of found.limiters)
    for (const { kind, text, ignoresCase = false } of paths)
      if (kind === 'regex' && expressionOf(text, ignoresCase) === undefined)
        found.refuse(file, line, `the expression ${text} is not read: no request meets the limit by it here`);
  const placed = new Set(found.places.flatMap(({ limiters }) => limiters));
  const others = found.limiters.filter((limiter) => !placed.has(limiter));
  const wheres = [...new Set(others.map(({ where }) => where))];
  return {
    limiters: found.limiters,
    places: [
      ...found.places,
      ...wheres.map((where) => ({ where, limiters: others.filter((limiter) => limiter.where === where) })),
    ],
    notUnderstood: found.notUnderstood.sort(byLine),
    notApplied: found.notApplied.sort(byLine),
    appliesTo: (host, path) => [
      ...found.routes.flatMap((route) => route(host, path)),
      ...others.filter(
        ({ reach, hosts, paths }) => reach === 'known' && fitsHost(hosts, host) && fitsPath(paths, path),
      ),
    ],
  };
}

/** An unknown host fits all. */
function fitsHost(hosts: readonly string[], host: string | undefined): boolean {
  return host === undefined || hosts.length === 0 || hosts.some((pattern) => isHost(pattern, host));
}

export function isHost(pattern: string, host: string): boolean {
  const [name, asked] = [pattern.toLowerCase(), host.toLowerCase().replace(/:\d+$/, '')];
  if (name.startsWith('*.')) return asked.endsWith(name.slice(1));
  if (name.startsWith('.')) return asked === name.slice(1) || asked.endsWith(name);
  if (name.endsWith('.*')) return asked.startsWith(name.slice(0, -1));
  return name === asked;
}

function fitsPath(paths: readonly PathPattern[], path: string): boolean {
  return paths.length === 0 || paths.some((pattern) => isPath(pattern, path));
}

export function isPath({ kind, text, ignoresCase = false }: PathPattern, path: string): boolean {
  if (kind === 'exact') return path === text;
  if (kind === 'prefix') return path.startsWith(text);
  return expressionOf(text, ignoresCase)?.test(path) === true;
}

const expressions = new Map<string, RegExp | undefined>();

/** Undefined for an expression that JavaScript does not know. */
export function expressionOf(text: string, ignoresCase: boolean): RegExp | undefined {
  const name = `${ignoresCase} ${text}`;
  if (!expressions.has(name)) {
    try {
      expressions.set(name, new RegExp(text, ignoresCase ? 'i' : ''));
    } catch {
      expressions.set(name, undefined);
    }
  }
  return expressions.get(name);
}

const kinds: Readonly<Record<string, KeyPart>> = {
  client: 'client',
  remote_addr: 'client',
  binary_remote_addr: 'client',
  host: 'host',
  http_host: 'host',
  server_name: 'host',
  uri: 'path',
  request_uri: 'path',
  document_uri: 'path',
  remote_user: 'user',
  request_method: 'method',
};

/** A key made of variables as nginx and APISIX name them: `$binary_remote_addr$uri`. */
export function keyOfVariables(text: string): LimitKey {
  const names = [...text.matchAll(/\$\{?(\w+)\}?/g)].map(([, name]) => kinds[name!]);
  return { text, parts: names.includes(undefined) ? undefined : [...new Set(names as KeyPart[])] };
}
