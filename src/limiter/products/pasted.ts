// Reads a limiter from a piece of configuration: an nginx or HAProxy stanza becomes the product with its parameters.
//
//   limit_req_zone $binary_remote_addr zone=a:10m rate=10r/s;          { like: nginx, rate: 10r/s, burst: 5, nodelay: true }
//   limit_req zone=a burst=5 nodelay;
//
//   stick-table type ip size 1m expire 10s store http_req_rate(10s)    { like: haproxy-http-req-rate, period: 10s, limit: 20 }
//   http-request deny if { sc_http_req_rate(0) gt 20 }
import { Failure } from '../../schema/failure.js';

/** A limiter as a person would give it: a product by its name, with its parameters. */
export type Like = Readonly<Record<string, unknown>> & { readonly like: string };

/** Whether a text is a stanza that `readStanza` should be asked about. */
export function looksLikeStanza(text: string): boolean {
  return /\b(limit_req|limit_conn|limit_req_zone|stick-table|http_req_rate|http_req_cnt|gpc0_rate|maxconn)\b/.test(
    text,
  );
}

/** Limits that apply together: to requests of one place of a configuration. */
export interface PastedLimiter {
  /** `location /api`, with its server where there are several; undefined for a stanza without places. */
  readonly name: string | undefined;
  /** In the order in which they apply; a request has to pass all. */
  readonly limits: readonly Like[];
}

export interface Pasted {
  readonly limiters: readonly PastedLimiter[];
  /** What is in the text and not in the limiters, each with its line. */
  readonly notes: readonly string[];
}

/**
 * The limiters of a stanza, or of a whole configuration of nginx: one for each place that has limits of its own.
 * @throws Failure `invalid_definition` where there is none, or a zone or a table is missing
 */
export function readStanza(text: string): Pasted {
  if (/\blimit_(req|conn)(_zone)?\s/.test(text)) return nginxLimiters(text);
  const limits = haproxyLimits(text.replace(/#.*$/gm, ''));
  if (limits.length === 0) throw refused('There is no limit_req, no limit_conn, and no deny of a tracked rate in it.');
  return { limiters: [{ name: undefined, limits }], notes: [] };
}

function refused(why: string): Failure {
  return new Failure('invalid_definition', {
    what: 'The stanza cannot be read as a limiter.',
    why,
    fix: 'Paste limit_req_zone with limit_req, or a stick-table with the http-request deny that reads it.',
  });
}

interface Directive {
  readonly words: readonly string[];
  readonly line: number;
  /** Undefined for one that ends with a semicolon. */
  readonly block: readonly Directive[] | undefined;
}

/** Words, braces and semicolons, each with its line. Quotes and a backslash keep what they hold together; # begins a comment. */
const TOKEN = /#[^\n]*|"((?:\\.|[^"\\])*)"|'((?:\\.|[^'\\])*)'|[{};]|(?:\$\{[^}]*\}|\\.|[^\s{};"'\\])+|\n/g;

function directivesOf(text: string): readonly Directive[] {
  const stack: Directive[][] = [[]];
  let [line, from] = [1, 1];
  let words: string[] = [];
  for (const [token, double, single] of text.matchAll(TOKEN)) {
    if (token === '\n') line += 1;
    else if (token === ';' || token === '{') {
      const block: Directive[] | undefined = token === '{' ? [] : undefined;
      if (words.length > 0 || block !== undefined) stack.at(-1)!.push({ words, line: from, block });
      if (block !== undefined) stack.push(block);
      words = [];
    } else if (token === '}') {
      if (stack.length === 1) throw refused(`Line ${line} closes a block that was not opened.`);
      stack.pop();
      words = [];
    } else if (!token.startsWith('#')) {
      if (words.length === 0) from = line;
      words.push(double ?? single ?? token);
      line += token.split('\n').length - 1;
    }
  }
  if (words.length > 0) throw refused(`Line ${from}: ${words[0]} has no semicolon.`);
  return stack[0]!;
}

interface Zone {
  readonly rate: string;
  readonly key: string;
  readonly line: number;
}

/** What a block hands to those in it: each kind of limit is replaced as a whole where a block has its own. */
interface Level {
  readonly requests: readonly Directive[];
  readonly connections: readonly Directive[];
  readonly isDryRun: boolean;
}

function nginxLimiters(text: string): Pasted {
  const root = directivesOf(text);
  const all = flattened(root);
  const named = (name: string) => all.filter(({ words }) => words[0] === name);
  const zones = new Map(named('limit_req_zone').map(zoneOf));
  const used = new Set<string>();
  const notes: { readonly line: number; readonly note: string }[] = [];
  const say = (line: number, note: string) => notes.push({ line, note: `Line ${line}: ${note}` });
  const servers = named('server').filter(({ block }) => block !== undefined);
  const limiters: PastedLimiter[] = [];

  const visit = (block: readonly Directive[], above: Level, server: string, place: string | undefined): void => {
    const own = (name: string) => block.filter(({ words }) => words[0] === name);
    const [requests, connections, [dryRun]] = [own('limit_req'), own('limit_conn'), own('limit_req_dry_run')];
    const level: Level = {
      requests: requests.length > 0 ? requests : above.requests,
      connections: connections.length > 0 ? connections : above.connections,
      isDryRun: dryRun === undefined ? above.isDryRun : dryRun.words[1] === 'on',
    };
    if (dryRun !== undefined && level.isDryRun)
      say(dryRun.line, 'limit_req_dry_run is on: its limit_req refuse nothing, and are left out.');
    if (requests.length > 0 || connections.length > 0 || dryRun !== undefined) {
      const limits = [
        ...(level.isDryRun ? [] : level.requests.map((one) => limitOf(one))),
        ...level.connections.map(({ words, line }) => {
          if (!/^\d+$/.test(words[2] ?? '')) throw refused(`Line ${line}: limit_conn takes a zone and a number.`);
          return { like: 'nginx-limit-conn', connections: Number(words[2]) };
        }),
      ];
      if (limits.length > 0) limiters.push({ name: place, limits });
    }
    for (const { words, block: inner, line } of block) {
      const [name] = words;
      if (name === 'include') say(line, `${words.slice(1).join(' ')} is included, and was not read.`);
      if (inner === undefined || name === 'map' || name === 'geo' || name === 'types') continue;
      const rest = words.join(' ');
      if (name === 'server') {
        const [, title = `at line ${line}`] = inner.find(({ words: [first] }) => first === 'server_name')?.words ?? [];
        const here = servers.length > 1 ? `server ${title}` : '';
        visit(inner, level, here, here === '' ? 'server' : here);
      } else if (name === 'location') visit(inner, level, server, server === '' ? rest : `${server}, ${rest}`);
      else if (name === 'if' && flattened(inner).some(({ words: [first] }) => first?.startsWith('limit_')))
        say(line, 'a limit in an if is not read.');
      else if (name !== 'if') visit(inner, level, server, name === 'http' ? 'http' : place);
    }
  };

  const limitOf = ({ words, line }: Directive): Like => {
    const given = new Map(words.slice(1).map((word) => [word.split('=')[0]!, word.slice(word.indexOf('=') + 1)]));
    const zone = zones.get(given.get('zone') ?? '');
    if (zone === undefined)
      throw refused(`The zone ${JSON.stringify(given.get('zone') ?? '')} of a limit_req has no limit_req_zone.`);
    used.add(given.get('zone')!);
    for (const [name, value] of given) {
      const isNumber = name === 'burst' || name === 'delay';
      if (isNumber && !/^\d+$/.test(value)) throw refused(`Line ${line}: ${name}=${value} is no number.`);
      if (!isNumber && name !== 'zone' && name !== 'nodelay') say(line, `${name} of a limit_req is not understood.`);
    }
    const number = (name: string) => (given.has(name) ? { [name]: Number(given.get(name)) } : {});
    return {
      like: 'nginx',
      rate: zone.rate,
      ...number('burst'),
      ...number('delay'),
      ...(given.has('nodelay') ? { nodelay: true } : {}),
    };
  };

  visit(root, { requests: [], connections: [], isDryRun: false }, '', undefined);
  for (const [zone, { key, line }] of zones) {
    if (!used.has(zone)) say(line, `the zone ${zone} limits nothing: no limit_req in force names it.`);
    for (const map of named('map')) {
      const exempt = map.words[2] !== key ? undefined : map.block?.find(({ words }) => words.at(-1) === '');
      if (exempt !== undefined)
        say(
          exempt.line,
          `where ${key} is empty, as for "${exempt.words[0]}", nginx limits nothing; the limiter counts every request.`,
        );
      if (exempt === undefined && map.words[2] === key && map.block?.every(({ words }) => words[0] !== 'default'))
        say(
          map.line,
          `${key} is empty where nothing of the map fits, and nginx limits nothing there; the limiter counts every request.`,
        );
    }
  }
  const said = notes.sort((a, b) => a.line - b.line).map(({ note }) => note);
  if (limiters.length === 0) throw refused(['No limit is in force.', ...said].join(' '));
  const isTwice = ({ name }: PastedLimiter) => limiters.filter((one) => one.name === name).length > 1;
  const distinct = limiters.map((one, i) => (isTwice(one) ? { ...one, name: `${one.name}, number ${i + 1}` } : one));
  return { limiters: distinct, notes: [...new Set(said)] };
}

function flattened(directives: readonly Directive[]): Directive[] {
  return directives.flatMap((one) => [one, ...flattened(one.block ?? [])]);
}

function zoneOf({ words, line }: Directive): readonly [name: string, zone: Zone] {
  const [, key = '', ...others] = words;
  const [, zone] = /(?:^| )zone=([\w-]+)/.exec(others.join(' ')) ?? [];
  const [, rate] = /(?:^| )rate=(\d+r\/[sm])(?: |$)/.exec(others.join(' ')) ?? [];
  if (zone === undefined || rate === undefined) throw refused('A limit_req_zone lacks its zone or its rate.');
  return [zone, { rate, key, line }];
}

function haproxyLimits(text: string): Like[] {
  const denies = [
    ...text.matchAll(/\bsc\d?_(http_req_rate|gpc0_rate|http_req_cnt)(?:\(\d*[^)]*\))?\s+(gt|ge)\s+(\d+)/g),
  ];
  const counters = denies.map(([, counter = '', compared, figure]) => {
    // A request that is counted before it is judged is in the count: `gt 10` admits ten. One that is not: `ge 10`.
    const isBefore = counter === 'gpc0_rate';
    const limit = Number(figure) + (compared === 'gt' ? (isBefore ? 1 : 0) : isBefore ? 0 : -1);
    const [, period] = new RegExp(`\\b${counter}\\((\\w+)\\)`).exec(text.replace(/\bsc\d?_\w+\([^)]*\)/g, '')) ?? [];
    const [, expire] = /\bexpire\s+(\w+)/.exec(text) ?? [];
    if (counter === 'http_req_cnt') {
      if (expire === undefined) throw refused('The stick-table of http_req_cnt has no expire: it never forgets.');
      return { like: 'haproxy-http-req-cnt', expire: inUnits(expire), limit };
    }
    if (period === undefined) throw refused(`No stick-table stores ${counter}(period).`);
    const like = isBefore ? 'haproxy-gpc0-rate' : 'haproxy-http-req-rate';
    return { like, period: inUnits(period), limit };
  });
  const [, queue] = /\btimeout\s+queue\s+(\w+)/.exec(text) ?? [];
  const servers = [...text.matchAll(/\bserver\s+[^\n]*\bmaxconn\s+(\d+)/g)].map(([, most]) => ({
    like: 'haproxy-maxconn',
    maxconn: Number(most),
    queue: queue === undefined ? '5s' : inUnits(queue),
  }));
  return [...counters, ...servers];
}

/** HAProxy counts ms where there is no unit. */
function inUnits(time: string): string | number {
  return /^\d+$/.test(time) ? Number(time) : time;
}
