// Limits of nginx: zones, and the limit_req and limit_conn that use them, by server and location.
//
//   http       limit_req a          a location without its own limit_req inherits that of server or http;
//     server   limit_req b          its own replaces all inherited ones; limit_conn likewise
//       location /api               b
//       location /login limit_req c c, and not b
//
// Sources: ngx_http_limit_req_module and ngx_http_limit_conn_module of nginx.org; Debian's nginx 1.22.1, run.
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { type Directive, directivesOf, flattened, zoneBytes } from './directives.js';
import { expressionOf } from './expression.js';
import { bySpecificity, type FoundLimiter, type FoundLimits, type Like, type Source } from './found.js';
import { isMainFile, withIncludes } from './nginx-includes.js';
import { type NginxLocation, type NginxServer, nginxRoute, nginxRows } from './nginx-route.js';
import { NginxVariables, type Rewritten, rewrittenBy, UNTOUCHED } from './nginx-variables.js';
import { equalTo, inWords, literalText, tested } from './request-condition.js';

interface Zone {
  readonly name: string;
  readonly of: 'limit_req' | 'limit_conn';
  readonly at: Directive;
  readonly key: string;
  readonly rate: string | undefined;
}

interface Level {
  /** In force, by name: those of a block replace all that it would inherit. */
  readonly lines: ReadonlyMap<string, readonly Directive[]>;
  /** As the server leaves them, for all of its locations. */
  readonly server: Rewritten;
  readonly rewritten: Rewritten;
}

const LIMITS = ['limit_req', 'limit_conn'];
const SETTINGS = ['limit_req_status', 'limit_conn_status', 'limit_req_dry_run', 'limit_conn_dry_run'];

const limitsOf = ({ lines }: Level) => LIMITS.flatMap((name) => lines.get(name) ?? []);
const settingOf = ({ lines }: Level, name: string) => lines.get(name)?.at(-1);

export function readNginx(sources: readonly Source[], found: FoundLimits): void {
  new Configuration(sources, found).read();
}

/** Of what `http` has, however it was written. */
export function readDirectives(http: readonly Directive[], found: FoundLimits): void {
  new Configuration([], found).readHttp(http);
}

class Configuration {
  readonly #files: readonly { readonly name: string; readonly directives: readonly Directive[] }[];
  readonly #zones = new Map<string, Zone>();
  readonly #limiters = new Map<string, FoundLimiter | undefined>();
  readonly #numbers = new Map<Directive, number>();
  readonly #used = new Set<Zone>();
  readonly #placed = new Set<string>();
  #http: readonly Directive[] = [];
  #servers = 0;
  readonly #mains: readonly string[];
  #variables = new NginxVariables([]);

  constructor(
    sources: readonly Source[],
    readonly found: FoundLimits,
  ) {
    this.#mains = sources.flatMap(({ name, text }) => (isMainFile(text) ? [name] : []));
    this.#files = sources.flatMap((source) => {
      const directives = found.reading(source, 'nginx refuses the file', directivesOf);
      return directives === undefined ? [] : [{ name: source.name, directives }];
    });
  }

  read(): void {
    const { whole, included } = withIncludes(this.#files, this.#mains, this.found);
    const isSpare = (name: string) => this.#mains.length > 0 && /(?:^|\/)\w+-available\//.test(name);
    const root = whole
      .filter(({ name }) => !included.has(name) && !isSpare(name))
      .flatMap(({ directives }) => directives);
    const other = root.filter(({ words }) => /^(?:stream|mail|events)$/.test(words[0] ?? ''));
    for (const one of flattened(other))
      if (/^limit_conn/.test(one.words[0] ?? '')) this.#refuse(one, 'limits of a stream are not read');
    const http = root
      .filter((one) => !other.includes(one))
      .flatMap((one) => (one.words[0] === 'http' ? (one.block ?? []) : [one]));
    this.readHttp(http);
  }

  readHttp(http: readonly Directive[]): void {
    const all = flattened(http);
    const named = (name: string) => all.filter(({ words }) => words[0] === name);
    this.#variables = new NginxVariables(
      all.filter(({ words: [name], block }) => (name === 'map' || name === 'geo') && block !== undefined),
    );
    const servers = named('server').filter(({ block }) => block !== undefined);
    for (const zone of [...named('limit_req_zone'), ...named('limit_conn_zone')])
      if (http.includes(zone)) this.#define(zone);
      else this.#refuse(zone, `nginx refuses ${zone.words[0]} outside of http`);
    for (const one of named('lua')) this.#refuse(one, `limits of Lua are not read: ${one.words[1]}`);
    for (const one of [...named('access_by_lua_file'), ...named('rewrite_by_lua_file')])
      this.#refuse(one, `${one.words[1]} is a program, and is not read`);
    for (const one of named('limit_zone')) this.#refuse(one, 'nginx since 1.7.6 has no limit_zone');
    for (const one of named('server'))
      if (one.block === undefined && one.words.some((word) => /^max_conns=[1-9]/.test(word)))
        this.#refuse(one, `${one.words.slice(1).join(' ')} limits connections to a server, and is not read`);
    for (const one of all)
      if (one.words[0]?.startsWith('$')) this.#refuse(one, `nginx refuses ${one.words[0]} as a directive`);
    const none = servers.length === 0;
    this.#servers = servers.length;
    const level = this.#level(http, { lines: new Map(), server: UNTOUCHED, rewritten: UNTOUCHED });
    this.#http = none ? [] : limitsOf(level);
    const places = none ? [this.#location('', [], http, level, { server: '', place: undefined })] : [];
    const trees = servers.map((server) => this.#server(server, level));
    for (const one of none ? [] : http.filter(({ words }) => words[0] === 'location'))
      this.#refuse(one, 'a location outside of a server is not read');
    const served = [...trees, ...places.map((place) => ({ names: [], isDefault: false, ports: [''], place }))];
    this.found.routes.push(nginxRoute(served));
    this.found.rows.push(...bySpecificity(served.flatMap(nginxRows)));
    const statuses = this.found.limiters.map(({ status }) => String(status));
    for (const one of named('error_page'))
      if (one.words.some((word) => word.startsWith('=')) && one.words.some((word) => statuses.includes(word)))
        this.#refuse(one, `${one.words.join(' ')} changes the status of a refusal; here it does not`);
    for (const zone of this.#zones.values()) if (!this.#used.has(zone)) this.#unused(zone);
  }

  #refuse(at: Directive, what: string): undefined {
    return this.found.refuse(at, what);
  }

  #define(at: Directive) {
    const [directive, key = '', ...others] = at.words;
    const of = directive === 'limit_req_zone' ? 'limit_req' : 'limit_conn';
    const given = new Map([key, ...others].map((word) => [word.split('=')[0]!, word.slice(word.indexOf('=') + 1)]));
    const [name = '', size = ''] = (given.get('zone') ?? '').split(':');
    if (name === '') return this.#refuse(at, `${directive} names no zone`);
    const unknown = others.find((word) => !/^(?:zone|rate)=/.test(word) && word !== 'sync');
    if (unknown !== undefined) return this.#refuse(at, `nginx refuses ${unknown} in ${directive}`);
    if (zoneBytes(size) < 32_768)
      return this.#refuse(at, `nginx refuses the size ${size || '(none)'} of the zone ${name}`);
    const rate = given.get('rate');
    const [, pace, unit = 'r/s'] = /^0*([1-9]\d*)(r\/[sm])?$/.exec(rate ?? '') ?? [];
    if (of === 'limit_req' && pace === undefined)
      this.#refuse(
        at,
        `the rate ${rate ?? '(none)'} of the zone ${name} is not a number of requests per second or minute`,
      );
    const zones = `${of} ${name}`;
    if (this.#zones.has(zones)) return this.#refuse(at, `nginx refuses the zone ${name}: it is defined twice`);
    const zone: Zone = { name, of, at, key, rate: pace !== undefined ? `${pace}${unit}` : undefined };
    this.#zones.set(zones, zone);
  }

  #level(block: readonly Directive[], above: Level): Level {
    const own = [...LIMITS, ...SETTINGS].flatMap((name) => {
      const lines = block.filter(({ words }) => words[0] === name);
      return lines.length === 0 ? [] : [[name, lines] as const];
    });
    for (const one of block)
      if (one.words[0] === 'if' && flattened(one.block ?? []).some(({ words: [name = ''] }) => LIMITS.includes(name)))
        this.#refuse(one, 'nginx refuses a limit in an if');
    const rewritten = rewrittenBy(block, above.server, this.#variables);
    return { lines: new Map([...above.lines, ...own]), server: above.server, rewritten };
  }

  #server(server: Directive, above: Level): NginxServer {
    const block = server.block!;
    const own = (name: string) => block.filter(({ words }) => words[0] === name).map(({ words }) => words.slice(1));
    const names = own('server_name').flat();
    const title = names[0] ?? own('listen')[0]?.[0] ?? '80';
    const here = this.#servers > 1 ? `server ${title}` : '';
    const named: Rewritten = { ...UNTOUCHED, given: new Map([['server_name', literalText(names[0] ?? '')]]) };
    const within = this.#level(block, { ...above, server: named });
    const level = { ...within, server: within.rewritten };
    const place = this.#location('', names, block, level, { server: here, place: here === '' ? 'server' : here });
    this.#tried([place, ...place.locations], server);
    for (const name of names)
      if (name.startsWith('~') && expressionOf(name.slice(1), true) === undefined)
        this.#refuse(server, `the expression ${name} is not read: no request goes to this server here`);
    const listens = own('listen');
    const isDefault = listens.some((words) => words.some((word) => /^default(?:_server)?$/.test(word)));
    const ports = listens.map(([address = '']) => address.replace(/^(?:\*|0\.0\.0\.0):/, ''));
    return { names, isDefault, ports: ports.length === 0 ? ['80'] : ports, place };
  }

  #location(
    words: string,
    hosts: readonly string[],
    block: readonly Directive[],
    level: Level,
    { server, place }: { readonly server: string; readonly place: string | undefined },
  ): NginxLocation {
    const { answers, redirects, rewrites } = level.rewritten;
    const asked = [...redirects, ...rewrites].map(({ when }) => when);
    this.found.conditions.push(...asked, ...rewrites.map(({ to }) => tested(to, equalTo(''))));
    const limiters = answers === undefined ? this.#limitersAt(level, place ?? '', hosts) : [];
    const isOwn = block.some(({ words: [name = ''] }) => LIMITS.includes(name));
    if (answers !== undefined && isOwn) this.#answered(answers, level, block);
    const changes = isOwn || block.some(({ words: [name] }) => SETTINGS.includes(name ?? ''));
    if (limiters.length > 0 && (changes || words === '')) this.#place(changes ? (place ?? '') : 'http', limiters);
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
    const tried = block.find(({ words: [name] }) => name === 'try_files')?.words.at(-1) ?? '';
    const isLimited = limiters.some(({ counts }) => counts === 'requests');
    return {
      words,
      limiters,
      locations,
      redirects,
      rewrites,
      isInternal: words.startsWith('@') || block.some(({ words: [name] }) => name === 'internal'),
      ...(!isLimited && /^[/@]/.test(tried) && { tries: tried.replace(/\?.*$/, '') }),
    };
  }

  #place(where: string, limiters: readonly FoundLimiter[]): void {
    const name = [where, ...limiters.map(({ file, line }) => `${line} ${file}`)].join('\n');
    if (this.#placed.has(name)) return;
    this.#placed.add(name);
    this.found.places.push({ where, limiters });
  }

  /** Notes requests that reach a limited location through try_files, which logs do not show. */
  #tried(locations: readonly NginxLocation[], server: Directive): void {
    const all = (some: readonly NginxLocation[]): NginxLocation[] =>
      some.flatMap((one) => [one, ...all(one.locations)]);
    const there = all(locations);
    const files = flattened(server.block!).filter(({ words: [name] }) => name === 'try_files');
    for (const { tries } of there.filter((one) => one.tries !== undefined)) {
      const at = files.find(({ words }) => words.at(-1)!.replace(/\?.*$/, '') === tries);
      if (
        at !== undefined &&
        there.some(({ words, limiters }) => limiters.length > 0 && (words === tries || /^(?:=|~)/.test(words)))
      )
        this.#refuse(at, `try_files sends what is no file to ${tries}; here all requests of this location go there`);
    }
    for (const { words, limiters, isInternal } of there) {
      const name = words.replace(/^=\s*/, '');
      if (
        isInternal === true &&
        limiters.length > 0 &&
        !there.some(({ tries, redirects = [] }) => tries === name || redirects.some(({ to }) => to === name)) &&
        !files.some((one) => one.words.at(-1) === name)
      )
        this.#refuse({ ...server, line: limiters[0]!.line }, `no request of a log is known to reach ${name}`);
    }
  }

  #answered(answers: Directive, level: Level, block: readonly Directive[]): void {
    for (const one of limitsOf(level).filter((own) => block.includes(own))) {
      const zone = this.#zoneOf(one);
      if (zone !== undefined) this.#used.add(zone);
      const what = `line ${answers.line} answers every request before the limit`;
      this.found.unused(one, {
        name: zone?.name ?? one.words.join(' '),
        what,
        key: zone && this.#variables.keyOf(zone.key, level.rewritten.given),
      });
    }
  }

  #limitersAt(level: Level, where: string, hosts: readonly string[] = []): readonly FoundLimiter[] {
    const limits = limitsOf(level);
    return limits.flatMap((one, index) => {
      const zone = this.#zoneOf(one);
      if (zone !== undefined && limits.slice(0, index).some((other) => this.#zoneOf(other) === zone))
        this.#refuse(one, `nginx refuses the zone ${zone.name} twice in one place`);
      const number = getOrInsert(this.#numbers, one, () => this.#numbers.size);
      const settings = SETTINGS.map((name) => settingOf(level, name)?.words[1]).join();
      const { given, when } = level.rewritten;
      const key = zone === undefined ? '' : inWords(this.#variables.textOf(zone.key, given));
      const id = `${number} ${settings} ${key} ${inWords(when)}`;
      if (!this.#limiters.has(id)) this.#limiters.set(id, this.#limiter(one, level, where, hosts));
      const limiter = this.#limiters.get(id);
      return limiter === undefined ? [] : [limiter];
    });
  }

  #zoneOf(one: Directive): Zone | undefined {
    const [directive = '', second = ''] = one.words;
    const name = directive === 'limit_conn' ? second : one.words.find((word) => word.startsWith('zone='))?.slice(5);
    return this.#zones.get(`${directive} ${name}`);
  }

  #limiter(one: Directive, level: Level, where: string, hosts: readonly string[]): FoundLimiter | undefined {
    const { given, when } = level.rewritten;
    const [directive = ''] = one.words;
    const zone = this.#zoneOf(one);
    if (zone === undefined) return this.#refuse(one, `no ${directive}_zone defines the zone of ${one.words.join(' ')}`);
    this.#used.add(zone);
    const limit = directive === 'limit_req' ? this.#rateLimit(one, zone) : this.#connectionLimit(one);
    if (limit === undefined) return undefined;
    const dryRun = settingOf(level, `${directive}_dry_run`);
    const isDryRun = dryRun?.words[1] === 'on';
    if (isDryRun)
      this.found.unused(dryRun, {
        name: zone.name,
        what: `${directive}_dry_run is on: its ${directive} refuse nothing, and are left out`,
      });
    const status = Number(settingOf(level, `${directive}_status`)?.words[1] ?? 503);
    const limiter = this.found.limiter(one, {
      name: zone.name,
      defined: { file: zone.at.file, line: zone.at.line },
      where: this.#http.includes(one) ? 'http' : where,
      hosts: this.#http.includes(one) ? [] : hosts.filter((host) => host !== '_' && !host.startsWith('~')),
      key: this.#variables.keyOf(zone.key, given),
      when,
      counts: directive === 'limit_req' ? 'requests' : 'concurrency',
      limit,
      // By 444 nginx closes the connection.
      status: status === 444 ? undefined : status,
      isDryRun,
      counter: `nginx ${directive} ${zone.name}`,
      // NGINX Plus shares the zone among instances.
      ...(zone.at.words.includes('sync') && { instances: 1 }),
    });
    this.found.routed.add(limiter);
    return limiter;
  }

  #rateLimit(one: Directive, { name, rate }: Zone): Like | undefined {
    const given = new Map(one.words.slice(1).map((word) => [word.split('=')[0]!, word.slice(word.indexOf('=') + 1)]));
    const faults = [...given].filter(([word, value]) =>
      word === 'burst' || word === 'delay' ? !/^0*[1-9]\d*$/.test(value) : word !== 'zone' && word !== 'nodelay',
    );
    for (const [word, value] of faults)
      this.#refuse(
        one,
        word === value
          ? `${word} is not understood`
          : `${value.includes('${') ? 'not filled in:' : 'nginx refuses'} ${word}=${value}`,
      );
    if (rate === undefined) this.#refuse(one, `the rate of the zone ${name} was not understood`);
    if (faults.length > 0 || rate === undefined) return undefined;
    const number = (word: string) => (given.has(word) ? { [word]: Number(given.get(word)) } : {});
    if (given.has('delay') && given.has('nodelay')) return this.#refuse(one, 'nginx refuses delay beside nodelay');
    return {
      like: 'nginx',
      rate,
      ...number('burst'),
      ...number('delay'),
      ...(given.has('nodelay') && { nodelay: true }),
    };
  }

  #connectionLimit(one: Directive): Like | undefined {
    const [, , most = ''] = one.words;
    if (/^[1-9]\d*$/.test(most) && Number(most) < 65_536)
      return { like: 'nginx-limit-conn', connections: Number(most) };
    return this.#refuse(one, `limit_conn takes a zone and a number, not ${most === '' ? 'the zone alone' : most}`);
  }

  #unused({ name, at, key: text, rate, of }: Zone): void {
    const what = `the zone ${name} limits nothing: no ${of} in force names it`;
    const key = this.#variables.keyOf(text, new Map());
    this.found.unused(at, { name, what, key, limit: rate === undefined ? undefined : { like: 'nginx', rate } });
  }
}
