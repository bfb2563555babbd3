// The limits found in gateway files: each in its product's terms, with its place, and notes on what was not understood.
//
//   limit_req_zone $binary_remote_addr zone=api:10m rate=10r/s;
//   location /api { limit_req zone=api burst=20 nodelay; }
//
//   { name: api, where: 'location /api', key: client, limit: { like: nginx, rate: 10r/s, burst: 20, nodelay: true }, status: 503, line: 2 }

import { expressionOf } from './expression.js';
import { type LimitKey, perClient } from './limit-key.js';
import * as ask from './request-condition.js';
import { type UnreadFormat, whyUnread } from './unread-formats.js';

export type Like = Readonly<Record<string, unknown>> & { readonly like: string };

export interface Source {
  readonly name: string;
  readonly text: string;
}

interface Noted {
  readonly file: string;
  readonly line: number;
  readonly what: string;
}

export interface FoundLimiter {
  readonly name: string;
  readonly file: string;
  readonly line: number;
  /** Where rate and key are defined, if elsewhere: the zone of nginx, the table of HAProxy. */
  readonly defined?: { readonly file: string; readonly line: number };
  /** For example `location /api`, `route orders`. Empty: everywhere. */
  readonly where: string;
  /** Host names or patterns such as `*.example.com`; empty: all. */
  readonly hosts: readonly string[];
  /** Empty: all. */
  readonly paths: readonly ask.ValueTest[];
  /** What else a request that is counted fulfils. Default: always. */
  readonly when?: ask.RequestCondition | undefined;
  /** Which of the counted requests may be refused. Default: all. */
  readonly refuses?: ask.RequestCondition | undefined;
  /** Unknown: the file does not say which requests the limit covers. */
  readonly reach: 'known' | 'unknown';
  readonly key: LimitKey;
  readonly counts: 'requests' | 'connections' | 'concurrency' | 'errors';
  readonly limit: Like | undefined;
  /** Response status of a refusal; undefined if the connection is closed. */
  readonly status: number | undefined;
  readonly isDryRun: boolean;
  readonly counter: string;
  /** Of the gateway, each with a count of its own; 1 if they share one. */
  readonly instances: number;
}

interface NotApplied extends Noted {
  readonly name: string;
  readonly key?: LimitKey | undefined;
  readonly limit?: Like | undefined;
}

/** A file in a format that is not read, and its text. */
interface Unread extends Written {
  readonly format: UnreadFormat;
  readonly text: string;
}

/** Which requests. */
export type Reach = Pick<FoundLimiter, 'hosts' | 'paths' | 'when'>;

export interface LimitedRoute extends Reach {
  readonly limiters: readonly FoundLimiter[];
}

interface LimitedPlace {
  readonly where: string;
  readonly limiters: readonly FoundLimiter[];
}

export interface GatewayLimits {
  readonly limiters: readonly FoundLimiter[];
  readonly places: readonly LimitedPlace[];
  /** In order of precedence, also those without a limit; limits of formats that know no routes are in none. */
  readonly rows: readonly LimitedRoute[];
  readonly notUnderstood: readonly Noted[];
  readonly notApplied: readonly NotApplied[];
  readonly unread: readonly Unread[];
  /** All that a request may be asked for. */
  readonly conditions: readonly ask.RequestCondition[];
  /** The limits of a request. A log without hosts has requests for any. */
  readonly appliesTo: (request: ask.LoggedRequest, unsure?: Unsure) => readonly FoundLimiter[];
}

/** Receives each limit that the request may meet, and what the log lacks to say so. */
type Unsure = (limiter: FoundLimiter, lacks: string) => void;

export type LimitRoute = (request: ask.LoggedRequest, unsure: Unsure) => readonly FoundLimiter[];

export type Written = Pick<Noted, 'file' | 'line'>;

/** A text that is not valid in its format. */
export class SyntaxFault extends Error {
  constructor(
    readonly line: number,
    message: string,
  ) {
    super(message);
  }
}

type Described = Pick<FoundLimiter, 'name' | 'limit'> & Partial<FoundLimiter>;

/** Products whose instances share the counts: services beside the gateway, and clouds. */
const SHARED = /^(?:envoy-ratelimit|kong-advanced|aws|google|azure|cloudflare)/;

export class FoundLimits {
  readonly limiters: FoundLimiter[] = [];
  readonly notUnderstood: Noted[] = [];
  readonly notApplied: NotApplied[] = [];
  readonly unread: Unread[] = [];
  /** For formats in which a request meets the limits of exactly one place. */
  readonly places: LimitedPlace[] = [];
  readonly routes: LimitRoute[] = [];
  readonly rows: LimitedRoute[] = [];
  /** Of routes; those of limiters are their own. */
  readonly conditions: ask.RequestCondition[] = [];
  readonly read = new Set<string>();
  readonly routed = new Set<FoundLimiter>();

  /** @param replicas instances of the gateway */
  constructor(
    readonly files: readonly Source[],
    readonly replicas = 1,
  ) {}

  /** Defaults: per client address, everywhere, counts requests, responds 429. */
  limiter({ file, line }: Written, found: Described): FoundLimiter {
    const { where = '', name } = found;
    const limiter: FoundLimiter = {
      where,
      file,
      line,
      hosts: [],
      reach: 'known',
      key: perClient,
      counts: 'requests',
      status: 429,
      isDryRun: false,
      instances: SHARED.test(found.limit?.like ?? '') ? 1 : this.replicas,
      counter: `${file} ${where} ${name} ${this.limiters.length}`,
      ...found,
      when: unlessAlways(found.when),
      paths: orAll(found.paths ?? []),
    };
    this.limiters.push(limiter);
    return limiter;
  }

  /** The first matching route applies; if the host is unknown, the first host with a limit. */
  table(given: readonly LimitedRoute[]): void {
    const routes = given.map((route) => ({ ...route, when: unlessAlways(route.when), paths: orAll(route.paths) }));
    const sets = new Map(
      routes.map(({ limiters }) => [limiters.map((one) => this.limiters.indexOf(one)).join(), limiters]),
    );
    for (const limiters of sets.values()) {
      for (const one of limiters) this.routed.add(one);
      const where = [...new Set(limiters.map((one) => one.where))].join(', ');
      if (limiters.length > 0) this.places.push({ where, limiters });
    }
    this.conditions.push(...routes.flatMap(({ when }) => when ?? []));
    this.rows.push(...routes);
    this.routes.push((request, unsure) => routed(routes, request, unsure));
  }

  /** What `read` makes of the text; undefined if that is not valid, which is noted. */
  reading<Read>(source: Source, fault: string, read: (source: Source) => Read): Read | undefined {
    try {
      return read(source);
    } catch (error) {
      if (!(error instanceof SyntaxFault)) throw error;
      return this.refuse({ file: source.name, line: error.line }, `${fault}: ${error.message}`);
    }
  }

  unless(off: string | undefined, at: Written, found: Described): readonly FoundLimiter[] {
    if (off === undefined) return [this.limiter(at, found)];
    const { name, key, limit } = found;
    this.unused(at, { name, key, limit, what: `${name} limits nothing: ${off}` });
    return [];
  }

  refuse({ file, line }: Written, what: string): undefined {
    if (!this.notUnderstood.some((one) => one.file === file && one.line === line && one.what === what))
      this.notUnderstood.push({ file, line, what });
  }

  /** Named once a file, at its first line of the format. */
  notRead({ file, line }: Written, format: UnreadFormat): void {
    if (this.unread.some((one) => one.file === file && one.format === format)) return;
    const texts = this.files.flatMap(({ name, text }) => (name === file ? [text] : []));
    this.unread.push({ file, line, format, text: texts.join('\n') });
    this.refuse({ file, line }, whyUnread(format));
  }

  unused({ file, line }: Written, unused: Omit<NotApplied, 'file' | 'line'>): undefined {
    if (!this.notApplied.some((one) => one.file === file && one.line === line && one.what === unused.what))
      this.notApplied.push({ file, line, ...unused });
  }
}

/** The limits of the first route that fits; of several that may, those that are limits of all. */
function routed(routes: readonly LimitedRoute[], request: ask.LoggedRequest, unsure: Unsure): readonly FoundLimiter[] {
  const fitting = routes.flatMap((route) => {
    const held = fits(route, request);
    return held === false ? [] : [{ ...route, isSure: held === true }];
  });
  const sure = fitting.filter(({ isSure }) => isSure);
  const first = sure.find(
    ({ limiters, hosts }, i) =>
      limiters.length > 0 &&
      request.host === undefined &&
      !sure.slice(0, i).some((one) => one.hosts.length === 0 || one.hosts.join() === hosts.join()),
  );
  const taken = first ?? sure[0];
  const maybe = fitting.slice(0, taken === undefined ? fitting.length : fitting.indexOf(taken));
  // Without a sure one, the request may take none of them.
  const none: LimitedRoute = { hosts: [], paths: [], limiters: [] };
  const possible = [...maybe.filter(({ isSure }) => !isSure), taken ?? { ...none, isSure: true }];
  const asked = possible.flatMap(({ isSure, when = ask.ALWAYS }) => (isSure ? [] : [when]));
  return limitsOfAll(possible, unsure, ask.lackOf(asked, request));
}

/** The limits that several places have in common; of others it is not sure that the request meets them. */
export function limitsOfAll(
  places: readonly Pick<LimitedRoute, 'limiters'>[],
  unsure: Unsure,
  lacks: string,
): readonly FoundLimiter[] {
  const all = [...new Set(places.flatMap(({ limiters }) => limiters))].filter(({ reach }) => reach === 'known');
  const isCertain = (one: FoundLimiter) => places.every(({ limiters }) => limiters.includes(one));
  for (const one of all) if (!isCertain(one)) unsure(one, lacks);
  return all.filter(isCertain);
}

const unlessAlways = (when: ask.RequestCondition | undefined) => (when && ask.isAlways(when) ? undefined : when);

const orAll = (paths: readonly ask.ValueTest[]) =>
  paths.some(({ is, value }) => is === 'prefix' && (value === '/' || value === '')) ? [] : paths;

const byLine = (a: Noted, b: Noted) => (a.file < b.file ? -1 : a.file > b.file ? 1 : a.line - b.line);

/** Placeholders filled in before the gateway reads the file: `${DOMAIN}`, `{{ domain }}`. */
const FILLED_IN = /\$|\{\{|<%/;

export function limitsOf(found: FoundLimits): GatewayLimits {
  for (const limiter of found.limiters)
    for (const host of limiter.hosts.filter((one) => !one.startsWith('~') && FILLED_IN.test(one)))
      found.refuse(limiter, `the host ${host} is filled in elsewhere; here the limit applies to every host`);
  for (const limiter of found.limiters)
    for (const { is, value, ignoresCase = false } of limiter.paths)
      if (is === 'matching' && expressionOf(value, ignoresCase) === undefined)
        found.refuse(limiter, `the expression ${value} is not read: no request meets the limit by it here`);
  const placed = new Set([...found.routed, ...found.places.flatMap(({ limiters }) => limiters)]);
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
    unread: found.unread,
    rows: found.rows,
    conditions: [
      ...found.conditions,
      ...found.limiters.flatMap(({ when, refuses }) => [when ?? [], refuses ?? []].flat()),
    ],
    appliesTo: (request, unsure = () => undefined) => {
      const met = [
        ...found.routes.flatMap((route) => route(request, unsure)),
        ...others.filter(({ reach }) => reach === 'known'),
      ];
      return met.filter((one) => {
        const held = fits(others.includes(one) ? one : { hosts: [], paths: [], when: one.when }, request);
        if (held === undefined) unsure(one, ask.lackOf([one.when ?? ask.ALWAYS], request));
        return held === true;
      });
    },
  };
}

const isOfFields = (text: ask.RequestText): boolean =>
  text.kind === 'joined' ? text.of.every(isOfFields) : text.kind === 'field' || text.kind === 'normal';

/** What a limit loses that is put through all requests of its place, without a log: its conditions, paths and key. */
export function leftOut({ places }: Pick<GatewayLimits, 'places'>): Noted[] {
  const all = new Set(places.flatMap(({ limiters }) => limiters));
  return [...all].flatMap(({ file, line, where, paths, when = ask.ALWAYS, refuses = ask.ALWAYS, key }) => {
    const others = paths.flatMap(({ value }) => (where.includes(value) ? [] : [value]));
    const by = key.value === undefined || isOfFields(key.value) ? key.lacks : ask.inWords(key.value);
    // A variable of a pasted piece is defined elsewhere.
    const isKnown = by !== undefined && !by.startsWith('$');
    const onlyIf = (does: string, asked: ask.RequestCondition, here: string) =>
      ask.isAlways(asked) ? [] : `it ${does} only if ${ask.inWords(asked)}; here it ${here} every request of the place`;
    const said = [
      others.length === 0 ? [] : `it is for ${others.join(', ')}; here it is for every request`,
      onlyIf('counts requests', when, 'counts'),
      onlyIf('refuses', refuses, 'may refuse'),
      !isKnown ? [] : `it counts by ${by}, and no request without one; here it counts every request`,
    ];
    return said.flat().map((what) => ({ file, line, what }));
  });
}

const PORT = /:\d+$/;

/** `a.example`, `*.example`, `.example`, `www.*`, or an expression: `~^a\\.`. A port is compared where both have one. */
export function isHost(pattern: string, host: string): boolean {
  const ignored = PORT.test(pattern) && PORT.test(host) ? '' : PORT;
  const [name = '', asked = ''] = [pattern, host].map((one) => one.toLowerCase().replace(ignored, ''));
  if (name.startsWith('~')) return expressionOf(pattern.slice(1), true)?.test(asked) === true;
  if (FILLED_IN.test(name)) return true;
  if (name.startsWith('*')) return asked.endsWith(name.slice(1));
  if (name.startsWith('.')) return asked === name.slice(1) || asked.endsWith(name);
  if (name.endsWith('*')) return asked.startsWith(name.slice(0, -1));
  return name === asked;
}

/** Undefined if it depends on what the log lacks. */
export function fits({ hosts, paths, when = ask.ALWAYS }: Reach, request: ask.LoggedRequest): boolean | undefined {
  const { path, host } = request;
  if (host !== undefined && hosts.length > 0 && !hosts.some((pattern) => isHost(pattern, host))) return false;
  const isPathFit = paths.length === 0 || (path === undefined ? undefined : paths.some((one) => ask.passes(one, path)));
  if (isPathFit === false) return false;
  const held = ask.holds(when, request);
  return held === false ? false : isPathFit === undefined ? undefined : held;
}

/** Names first, then the longest that begin with a star, the longest that end with one, expressions, and what is filled in. */
export function nameRank(name: string): number {
  if (name.startsWith('~')) return 3000;
  if (/^[*.]/.test(name)) return 1000 - name.replace(/^\*?\./, '').length;
  return name.endsWith('*') ? 2000 - name.length : FILLED_IN.test(name) ? 4000 : 0;
}

/** Of a route for several hosts that of the least specific; those for any host are the last. */
export const hostRank = ({ hosts }: Pick<Reach, 'hosts'>) =>
  hosts.length === 0 ? 5000 : Math.max(...hosts.map(nameRank));

interface Ranked extends Pick<LimitedRoute, 'hosts' | 'paths'> {
  /** Before all else: the heaviest first. */
  readonly weight?: number;
  /** Added to the length of its path. */
  readonly extra?: number;
}

/** Most specific first: routes by their hosts, then exact paths, expressions, and longer prefixes. */
export function bySpecificity<Route extends Ranked>(routes: readonly Route[]): Route[] {
  const rank = (path: ask.ValueTest | undefined, all: readonly ask.ValueTest[]) => {
    if (path === undefined) return 0;
    // `/api` and `/api/…` are one prefix.
    const isPrefix = path.is === 'prefix' || all.some(({ is, value }) => is === 'prefix' && value === `${path.value}/`);
    return path.ignoresCase === true ? 2 : isPrefix ? 1 : path.is === 'equal' ? 3 : 2;
  };
  return routes
    .flatMap((route) => {
      const { paths, extra = 0, weight = 0 } = route;
      return (paths.length < 2 ? [route] : paths.map((path) => ({ ...route, paths: [path] }))).map((one) => {
        const [path] = one.paths;
        return { one, ranks: [weight, -hostRank(route), rank(path, paths), (path?.value.length ?? 0) + extra] };
      });
    })
    .sort((a, b) => b.ranks.map((rank, i) => rank - a.ranks[i]!).find((far) => far !== 0) ?? 0)
    .map(({ one }) => one);
}
