// Limits of nginx: zones, and the limit_req and limit_conn that name them, by server and location.
//
//   http       limit_req a          a location without a limit_req of its own inherits that of the server, and that of http;
//     server   limit_req b          one of its own replaces all that it would inherit, and so for limit_conn.
//       location /api               b
//       location /login limit_req c c, and not b
//
// Sources: ngx_http_limit_req_module and ngx_http_limit_conn_module of nginx.org; Debian's nginx 1.22.1, run.
import { type Directive, directivesOf, flattened, GrammarFault } from './directives.js';
import {
  expressionOf,
  type FoundLimiter,
  type FoundLimits,
  keyOfVariables,
  type Like,
  type LimitKey,
  type Source,
} from './found.js';
import { type NginxLocation, type NginxServer, nginxRoute } from './nginx-route.js';

export function looksLikeNginx(text: string): boolean {
  return /^[^#\n]*\blimit_(?:req|conn)(?:_zone)?\s+[^\s=:]/m.test(text) || /^[^#\n]*\bserver\s*\{/m.test(text);
}

interface Zone {
  readonly name: string;
  readonly of: 'limit_req' | 'limit_conn';
  readonly at: Directive;
  readonly key: LimitKey;
  /** Of limit_req; undefined where it is not understood. */
  readonly rate: string | undefined;
}

/** What a block sets or inherits. */
interface Level {
  readonly requests: readonly Directive[];
  readonly connections: readonly Directive[];
  readonly settings: ReadonlyMap<string, Directive>;
}

const SETTINGS = ['limit_req_status', 'limit_conn_status', 'limit_req_dry_run', 'limit_conn_dry_run'];

/** Files that come with nginx, and have no limits. */
const HARMLESS = /(?:^|\/)(?:mime\.types|(?:fastcgi|proxy|uwsgi|scgi)_params|fastcgi\.conf|koi-\w+|win-utf)$/;

export function readNginx(sources: readonly Source[], found: FoundLimits): void {
  new Configuration(sources, found).read();
}

class Configuration {
  readonly #found: FoundLimits;
  readonly #files: readonly { readonly name: string; readonly directives: readonly Directive[] }[];
  readonly #included = new Set<string>();
  readonly #zones = new Map<string, Zone>();
  /** The limiters of a directive, as often as a place applies it with another status or dry run. */
  readonly #limiters = new Map<Directive, FoundLimiter | undefined>();
  readonly #used = new Set<Zone>();
  #servers = 0;
  readonly #exempting = new Set<string>();
  readonly #dryRuns = new Set<Directive>();

  constructor(sources: readonly Source[], found: FoundLimits) {
    this.#found = found;
    this.#files = sources.flatMap((source) => {
      try {
        return [{ name: source.name, directives: directivesOf(source) }];
      } catch (error) {
        if (!(error instanceof GrammarFault)) throw error;
        found.refuse(source.name, error.line, `nginx refuses the file: ${error.message}`);
        return [];
      }
    });
  }

  read(): void {
    const whole = this.#files.map(({ name, directives }) => ({
      name,
      directives: this.#withIncludes(directives, [name]),
    }));
    const root = whole.filter(({ name }) => !this.#included.has(name)).flatMap(({ directives }) => directives);
    const http = root.flatMap((one) => (one.words[0] === 'http' ? (one.block ?? []) : [one]));
    const all = flattened(http);
    const named = (name: string) => all.filter(({ words }) => words[0] === name);
    const maps = [...named('map'), ...named('geo')].filter(({ block }) => block !== undefined);
    for (const zone of [...named('limit_req_zone'), ...named('limit_conn_zone')]) this.#define(zone, maps);
    for (const one of all)
      if (one.words[0]?.startsWith('$')) this.#refuse(one, `nginx refuses ${one.words[0]} as a directive`);
    const servers = named('server').filter(({ block }) => block !== undefined);
    this.#servers = servers.length;
    const level = this.#level(http, { requests: [], connections: [], settings: new Map() });
    const none = servers.length === 0;
    const places = none ? [this.#location('', [], http, level, { server: '', place: undefined })] : [];
    if (!none) this.#limitersAt(level, 'http');
    const trees = servers.map((server) => this.#server(server, level));
    const loose = none ? undefined : http.filter(({ words }) => words[0] === 'location');
    for (const one of loose ?? []) this.#refuse(one, 'a location outside of a server is not read');
    this.#found.routes.push(nginxRoute([...trees, ...places.map((place) => ({ names: [], ports: [], place }))]));
    for (const zone of this.#zones.values()) this.#unused(zone);
  }

  #refuse({ file, line }: Directive, what: string): void {
    this.#found.refuse(file, line, what);
  }

  /** With what it includes in its place, as far as it is there. */
  #withIncludes(directives: readonly Directive[], trail: readonly string[]): readonly Directive[] {
    return directives.flatMap((one) => {
      if (one.block !== undefined) return [{ ...one, block: this.#withIncludes(one.block, trail) }];
      if (one.words[0] !== 'include') return [one];
      const [, pattern = ''] = one.words;
      const files = this.#files.filter(({ name }) => isIncluded(pattern, name) && !trail.includes(name));
      if (files.length === 0 && !HARMLESS.test(pattern)) this.#refuse(one, `${pattern} is included, and was not read`);
      return files.flatMap(({ name, directives }) => {
        this.#included.add(name);
        return this.#withIncludes(directives, [...trail, name]);
      });
    });
  }

  #define(at: Directive, maps: readonly Directive[]) {
    const [directive, key = '', ...others] = at.words;
    const of = directive === 'limit_req_zone' ? 'limit_req' : 'limit_conn';
    const given = new Map([key, ...others].map((word) => [word.split('=')[0]!, word.slice(word.indexOf('=') + 1)]));
    const [name = ''] = (given.get('zone') ?? '').split(':');
    if (name === '') return this.#refuse(at, `${directive} names no zone`);
    const rate = given.get('rate');
    const isRate = rate !== undefined && /^[1-9]\d*r\/[sm]$/.test(rate);
    if (of === 'limit_req' && !isRate)
      this.#refuse(
        at,
        `the rate ${rate ?? '(none)'} of the zone ${name} is not a number of requests per second or minute`,
      );
    const zones = `${of} ${name}`;
    if (this.#zones.has(zones)) return this.#refuse(at, `nginx refuses the zone ${name}: it is defined twice`);
    const zone: Zone = { name, of, at, key: this.#keyOf(key, maps), rate: isRate ? rate : undefined };
    this.#zones.set(zones, zone);
  }

  /** A map is followed: what it gives is the key, and an empty key is not counted. */
  #keyOf(text: string, maps: readonly Directive[]): LimitKey {
    const map = maps.find(({ words }) => words.at(-1) === text);
    if (map === undefined) return keyOfVariables(text);
    const isGeo = map.words[0] === 'geo';
    const rows = map.block!.filter(
      ({ words }) => words.length === 2 && !/^(?:include|hostnames|volatile|ranges|proxy|delete)$/.test(words[0]!),
    );
    const values = rows.map(({ words }) => words[1]!);
    const hasDefault = rows.some(({ words }) => words[0] === 'default');
    const empty = rows.find(({ words }) => words[1] === '');
    const say = (at: Directive, when: string) => {
      if (this.#exempting.has(text)) return;
      this.#exempting.add(text);
      this.#refuse(at, `where ${text} is empty, ${when}, nginx limits nothing; here every request is counted`);
    };
    if (empty !== undefined) say(empty, `as for "${empty.words[0]}"`);
    else if (!hasDefault && !isGeo) say(map, 'where nothing of the map fits');
    const given = [...new Set(values.filter((value) => value !== ''))];
    const keys = given.map((value) => this.#keyOf(value, maps));
    const [first] = keys;
    const isOne = first !== undefined && keys.every(({ parts }) => parts?.join() === first.parts?.join());
    return { text: `${text}: ${given.join(' or ')}`, parts: isOne ? first.parts : undefined };
  }

  #level(block: readonly Directive[], above: Level): Level {
    const own = (name: string) => block.filter(({ words }) => words[0] === name);
    const [requests, connections] = [own('limit_req'), own('limit_conn')];
    const settings = new Map(above.settings);
    for (const name of SETTINGS) for (const one of own(name)) settings.set(name, one);
    for (const one of block)
      if (
        one.words[0] === 'if' &&
        flattened(one.block ?? []).some(({ words: [name] }) => /^limit_(?:req|conn)$/.test(name ?? ''))
      )
        this.#refuse(one, 'nginx refuses a limit in an if');
    return {
      requests: requests.length > 0 ? requests : above.requests,
      connections: connections.length > 0 ? connections : above.connections,
      settings,
    };
  }

  #server(server: Directive, above: Level): NginxServer {
    const block = server.block!;
    const own = (name: string) => block.filter(({ words }) => words[0] === name).map(({ words }) => words.slice(1));
    const names = own('server_name').flat();
    const title = names[0] ?? `at line ${server.line}`;
    const here = this.#servers > 1 ? `server ${title}` : '';
    const level = this.#level(block, above);
    const place = this.#location('', names, block, level, { server: here, place: here === '' ? 'server' : here });
    return { names, ports: own('listen').map((listen) => listen.join(' ')), place };
  }

  #location(
    words: string,
    hosts: readonly string[],
    block: readonly Directive[],
    level: Level,
    { server, place }: { readonly server: string; readonly place: string | undefined },
  ): NginxLocation {
    const answers = block.find(({ words: [name] }) => name === 'return');
    const limiters = answers === undefined ? this.#limitersAt(level, place ?? '', hosts) : [];
    const isOwn = block.some(({ words: [name] }) => name === 'limit_req' || name === 'limit_conn');
    if (answers !== undefined && isOwn) this.#answered(answers, level, block);
    const changes = isOwn || block.some(({ words: [name] }) => SETTINGS.includes(name ?? ''));
    if (limiters.length > 0 && changes) this.#found.places.push({ where: place ?? '', limiters });
    if (limiters.length > 0)
      for (const one of block)
        if (one.words[0] === 'if' && one.block?.some(({ words: [name] }) => name === 'return'))
          this.#refuse(
            one,
            `requests for which ${one.words.slice(1).join(' ')} holds are answered before the limit; here they are counted`,
          );
    const locations = block
      .filter(({ words: [name], block: inner }) => name === 'location' && inner !== undefined)
      .map((one) => {
        const rest = one.words.join(' ');
        const [, sign, text = ''] = /^location\s+(~\*?)\s*(.*)$/.exec(rest) ?? [];
        if (sign !== undefined && expressionOf(text, sign === '~*') === undefined)
          this.#refuse(one, `the expression ${text} is not read: no request goes to this location here`);
        const where = server === '' ? rest : `${server}, ${rest}`;
        return this.#location(one.words.slice(1).join(' '), hosts, one.block!, this.#level(one.block!, level), {
          server,
          place: where,
        });
      });
    return { words, limiters, locations };
  }

  #answered(answers: Directive, level: Level, block: readonly Directive[]): void {
    for (const one of [...level.requests, ...level.connections].filter((own) => block.includes(own))) {
      const zone = this.#zoneOf(one);
      if (zone !== undefined) this.#used.add(zone);
      const what = `line ${answers.line} answers every request before the limit`;
      this.#found.unused(one.file, { name: zone?.name ?? one.words.join(' '), line: one.line, what, key: zone?.key });
    }
  }

  #limitersAt(level: Level, where: string, hosts: readonly string[] = []): readonly FoundLimiter[] {
    return [...level.requests, ...level.connections].flatMap((one) => {
      if (!this.#limiters.has(one)) this.#limiters.set(one, this.#limiter(one, level, where, hosts));
      const limiter = this.#limiters.get(one);
      return limiter === undefined ? [] : [limiter];
    });
  }

  #zoneOf(one: Directive): Zone | undefined {
    const [directive = '', second = ''] = one.words;
    const name = directive === 'limit_conn' ? second : one.words.find((word) => word.startsWith('zone='))?.slice(5);
    return this.#zones.get(`${directive} ${name}`);
  }

  #limiter(one: Directive, { settings }: Level, where: string, hosts: readonly string[]): FoundLimiter | undefined {
    const [directive = ''] = one.words;
    const zone = this.#zoneOf(one);
    if (zone === undefined) {
      this.#refuse(one, `no ${directive}_zone defines the zone of ${one.words.join(' ')}`);
      return undefined;
    }
    this.#used.add(zone);
    const limit = directive === 'limit_req' ? this.#rateLimit(one, zone) : this.#connectionLimit(one);
    if (limit === undefined) return undefined;
    const dryRun = settings.get(`${directive}_dry_run`);
    const isDryRun = dryRun?.words[1] === 'on';
    if (isDryRun && !this.#dryRuns.has(dryRun)) {
      this.#dryRuns.add(dryRun);
      this.#refuse(dryRun, `${directive}_dry_run is on: its ${directive} refuse nothing, and are left out`);
    }
    return this.#found.limiter(one.file, {
      name: zone.name,
      line: one.line,
      defined: { file: zone.at.file, line: zone.at.line },
      where,
      hosts: hosts.filter((host) => host !== '_' && !host.startsWith('~')),
      key: zone.key,
      counts: directive === 'limit_req' ? 'requests' : 'concurrency',
      limit,
      status: Number(settings.get(`${directive}_status`)?.words[1] ?? 503),
      isDryRun,
      counter: `nginx ${directive} ${zone.name}`,
    });
  }

  #rateLimit(one: Directive, { name, rate }: Zone): Like | undefined {
    const given = new Map(one.words.slice(1).map((word) => [word.split('=')[0]!, word.slice(word.indexOf('=') + 1)]));
    const faults = [...given].filter(([word, value]) =>
      word === 'burst' || word === 'delay' ? !/^\d+$/.test(value) : word !== 'zone' && word !== 'nodelay',
    );
    for (const [word, value] of faults)
      this.#refuse(one, word === value ? `${word} is not understood` : `${word}=${value} is not a number`);
    if (rate === undefined) this.#refuse(one, `the rate of the zone ${name} was not understood`);
    if (faults.length > 0 || rate === undefined) return undefined;
    const number = (word: string) => (given.has(word) ? { [word]: Number(given.get(word)) } : {});
    const nodelay = given.has('nodelay') ? { nodelay: true } : {};
    return { like: 'nginx', rate, ...number('burst'), ...number('delay'), ...nodelay };
  }

  #connectionLimit(one: Directive): Like | undefined {
    const [, , most = ''] = one.words;
    if (/^[1-9]\d*$/.test(most)) return { like: 'nginx-limit-conn', connections: Number(most) };
    this.#refuse(one, `limit_conn takes a zone and a number, not ${most === '' ? 'the zone alone' : most}`);
    return undefined;
  }

  #unused(zone: Zone): void {
    if (this.#used.has(zone)) return;
    const { name, at, key, rate, of } = zone;
    const what = `the zone ${name} limits nothing: no ${of} in force names it`;
    const limit = rate === undefined ? {} : { limit: { like: 'nginx', rate } };
    this.#found.unused(at.file, { name, line: at.line, what, key, ...limit });
  }
}

/** By its last folder and name, since the folders of a server are not those of a repository; `*` fits what is in a name. */
function isIncluded(pattern: string, name: string): boolean {
  const parts = pattern.split('/').filter((part) => part !== '');
  const names = name.split('/');
  const last = (parts.at(-1) ?? '')
    .replace(/[.+^${}()|[\]\\]/g, '\\$&')
    .replaceAll('*', '[^/]*')
    .replaceAll('?', '[^/]');
  if (!new RegExp(`^${last}$`).test(names.at(-1)!)) return false;
  return !pattern.includes('*') || parts.length < 2 || names.length < 2 || names.at(-2) === parts.at(-2);
}
