// Limits of HAProxy: a table counts what is tracked, and a rule refuses where a count is too high.
//
//   stick-table type ip size 1m expire 10s store http_req_rate(10s)
//   http-request track-sc0 src
//   http-request deny deny_status 429 if { sc_http_req_rate(0) gt 20 }        { like: haproxy-http-req-rate, period: 10s, limit: 20 }
//
// A request that is tracked first is in the count: `gt 20` admits 20, `ge 20` admits 19. Source: HAProxy 2.6, run; its manual, 7.3.3.
import {
  everyone,
  type FoundLimits,
  type KeyPart,
  type Like,
  type LimitKey,
  type PathPattern,
  perClient,
  type Source,
  unknownKey,
} from './found.js';

export function looksLikeHaproxy(text: string): boolean {
  return (
    /^[^#\n]*\b(?:stick-table|track-sc\d|http_req_rate|http_req_cnt|gpc0_rate)\b/m.test(text) ||
    /^\s*server\s.*\bmaxconn\s+\d/m.test(text)
  );
}

interface Line {
  readonly line: number;
  readonly words: readonly string[];
  readonly text: string;
}

interface Section {
  readonly kind: string;
  readonly name: string;
  readonly lines: readonly Line[];
}

interface Table {
  readonly name: string;
  readonly line: number;
  readonly expire: string | undefined;
  /** Counters with their periods. */
  readonly store: ReadonlyMap<string, string | undefined>;
}

/** A comparison of a counter in a condition. */
interface Comparison {
  readonly counter: string;
  readonly slot: number | undefined;
  readonly table: string | undefined;
  readonly over: 'gt' | 'ge';
  readonly figure: string;
}

const COUNTERS = [
  'http_req_rate',
  'http_req_cnt',
  'http_err_rate',
  'http_fail_rate',
  'conn_rate',
  'conn_cur',
  'gpc0_rate',
  'gpc1_rate',
  'sess_rate',
];
const COMPARED = new RegExp(
  `(?:\\bsc(\\d?)_|\\bsrc_|\\b\\w+,table_)(${COUNTERS.join('|')})(?:\\(([^)]*)\\))?\\s+(?:-m\\s+int\\s+)?(gt|ge)\\s+(\\S+)`,
  'g',
);
const VARIABLE = new RegExp(`set-var\\(([^)]*)\\)\\s+\\S*(?:table_|sc\\d?_|src_)(${COUNTERS.join('|')})`);
const REFUSES =
  /^(http-request\s+(?:deny|tarpit|reject|silent-drop|return|redirect)|tcp-request\s+(?:connection|content|session)\s+(?:reject|silent-drop)|reject)\b/;
const TRACKS =
  /^(?:(?:http|tcp)-request\s+(?:connection\s+|content\s+|session\s+)?)?track-sc(\d)\s+(\S+)(?:\s+table\s+(\S+))?/;

export function readHaproxy({ name: file, text }: Source, found: FoundLimits): void {
  const sections = sectionsOf(text);
  const tables = sections.flatMap((section) => tablesOf(section));
  const used = new Set<string>();
  for (const section of sections) new SectionReader(file, section, sections, tables, used, found).read();
  for (const table of tables) {
    const limits = [...table.store.keys()].filter((counter) => COUNTERS.includes(counter));
    if (used.has(table.name) || limits.length === 0) continue;
    const what = `the table of ${table.name === '' ? 'this file' : table.name} limits nothing: no rule in force refuses by ${limits.join(' or ')}`;
    found.unused(file, { name: table.name === '' ? 'stick-table' : table.name, line: table.line, what });
  }
}

function sectionsOf(text: string): readonly Section[] {
  const sections: { kind: string; name: string; lines: Line[] }[] = [{ kind: '', name: '', lines: [] }];
  for (const [index, raw] of text.split('\n').entries()) {
    const words = wordsOf(raw);
    const [kind = '', name = ''] = words;
    if (words.length === 0) continue;
    if (/^(?:global|defaults|frontend|backend|listen|peers|resolvers|http-errors|cache|program|userlist)$/.test(kind))
      sections.push({ kind, name, lines: [] });
    else sections.at(-1)!.lines.push({ line: index + 1, words, text: words.join(' ') });
  }
  return sections;
}

function wordsOf(line: string): string[] {
  const words: string[] = [];
  for (const [token, double, single] of line.matchAll(/#.*|"((?:\\.|[^"\\])*)"|'([^']*)'|(?:\\.|[^\s#"'])+/g)) {
    if (token.startsWith('#')) break;
    words.push(double ?? single ?? token);
  }
  return words;
}

function tablesOf({ name, lines }: Section): Table[] {
  return lines.flatMap(({ text, line }) => {
    const [, own] = /^table\s+(\S+)\s+type/.exec(text) ?? [];
    if (own === undefined && !text.startsWith('stick-table ')) return [];
    const [, expire] = /\bexpire\s+(\w+)/.exec(text) ?? [];
    const stored = [...text.matchAll(/\bstore\s+(\S+(?:,\s*\S+)*)/g)].flatMap(([, list = '']) => [
      ...list.matchAll(/(\w+)(?:\((\w+)\))?/g),
    ]);
    return [
      { name: own ?? name, line, expire, store: new Map(stored.map(([, counter, period]) => [counter!, period])) },
    ];
  });
}

class SectionReader {
  readonly #acls = new Map<string, Line[]>();

  constructor(
    readonly file: string,
    readonly section: Section,
    readonly sections: readonly Section[],
    readonly tables: readonly Table[],
    readonly used: Set<string>,
    readonly found: FoundLimits,
  ) {
    for (const line of section.lines) {
      const [word, name = ''] = line.words;
      if (word === 'acl') this.#acls.set(name, [...(this.#acls.get(name) ?? []), line]);
    }
  }

  read(): void {
    for (const line of this.section.lines) {
      const [, variable, counter] = VARIABLE.exec(line.text) ?? [];
      if (variable !== undefined) {
        const table = this.#tableNamed(/table_\w+\(([^)]*)\)/.exec(line.text)?.[1]);
        if (table !== undefined) this.used.add(table.name);
        this.#refuse(line, `${counter} is compared as the variable ${variable}, with a limit that is not in the file`);
      } else if (REFUSES.test(line.text)) this.#refusing(line, line.text);
      else if (/^use_backend\s/.test(line.text)) this.#sentTo(line);
      else if (/^server\s/.test(line.text)) this.#queue(line);
    }
  }

  #refuse({ line }: Line, what: string): void {
    this.found.refuse(this.file, line, what);
  }

  /** A backend that refuses all it gets: the condition that leads to it limits. */
  #sentTo(line: Line): void {
    const target = this.sections.find(({ kind, name }) => kind === 'backend' && name === line.words[1]);
    const refusing = target?.lines.find(({ text }) => REFUSES.test(text) && !/\s(?:if|unless)\s/.test(text));
    if (refusing !== undefined) this.#refusing(line, refusing.text);
  }

  #refusing(line: Line, action: string) {
    const { text } = line;
    const [, word, condition = ''] = /\s(if|unless)\s+(.*)$/.exec(text) ?? [];
    const terms = condition.match(/\{[^}]*\}|\S+/g) ?? [];
    const resolved = terms.map((term) => this.#resolved(term));
    const comparisons = resolved.flatMap(({ comparisons: some }) => some);
    for (const { reads } of resolved)
      if (reads !== undefined) this.#refuse(line, `it refuses by ${reads}, whose limit is a variable`);
    if (comparisons.length === 0) return;
    const others = terms.filter((term, i) => resolved[i]!.comparisons.length === 0 && term !== 'or' && term !== '||');
    if (word === 'unless') return this.#refuse(line, 'a limit with unless is not read');
    const isEither = terms.some((term) => term === 'or' || term === '||');
    const comparing = resolved.filter(({ comparisons: some }) => some.length > 0).length;
    if (comparing > 1 && !isEither) return this.#refuse(line, 'it refuses only if several counts are too high at once');
    const paths = isEither ? [] : others.flatMap((term) => this.#pathsOf(term));
    const hosts = isEither ? [] : others.flatMap((term) => this.#hostsOf(term));
    const unknown = others.filter(
      (term) => isEither || (this.#pathsOf(term).length === 0 && this.#hostsOf(term).length === 0),
    );
    if (unknown.length > 0)
      this.#refuse(line, `it applies only if ${unknown.join(' ')}; here it applies to every request of the place`);
    for (const one of comparisons) this.#limiter(line, one, action, paths, hosts);
  }

  /** The comparisons of a term: written in braces, or in an acl of that name. */
  #resolved(term: string): { readonly comparisons: readonly Comparison[]; readonly reads: string | undefined } {
    const isNegated = term.startsWith('!');
    const texts = term.startsWith('{') ? [term] : (this.#acls.get(term.replace('!', '')) ?? []).map(({ text }) => text);
    const comparisons = texts.flatMap((text) =>
      [...text.matchAll(COMPARED)].map(([, slot = '', counter = '', given = '', over, figure = '']) => {
        const numbers = given.split(',').map((one) => one.trim());
        const own = slot !== '' ? Number(slot) : /^\d$/.test(numbers[0]!) ? Number(numbers[0]) : undefined;
        const table = numbers.find((one) => one !== '' && !/^\d$/.test(one));
        return { counter, slot: own, table, over: over as 'gt' | 'ge', figure };
      }),
    );
    const reads = texts
      .map((text) => /\bvar\(([^)]*)\),sub\(([^)]*)\)/.exec(text)?.[2])
      .find((name) => name !== undefined);
    return { comparisons: isNegated ? [] : comparisons, reads: isNegated ? undefined : reads };
  }

  #limiter(
    line: Line,
    { counter, slot, table: named, over, figure }: Comparison,
    action: string,
    paths: readonly PathPattern[],
    hosts: readonly string[],
  ) {
    const track = this.#trackOf(slot);
    const table = this.#tableNamed(named ?? track?.table);
    if (table !== undefined) this.used.add(table.name);
    if (!/^\d+$/.test(figure)) return this.#refuse(line, `the limit ${figure} of ${counter} is not a number`);
    const period = table?.store.get(counter);
    if (table === undefined || (!table.store.has(counter) && counter !== 'gpc0_rate'))
      return this.#refuse(line, `no stick-table stores ${counter}`);
    // Counted before it is judged, the request is in the count.
    const isBefore = /^gpc\d_rate$/.test(counter);
    const limit = Number(figure) + (over === 'gt' ? (isBefore ? 1 : 0) : isBefore ? 0 : -1);
    const like = likeOf(counter, limit, period, table.expire);
    if (typeof like === 'string') return this.#refuse(line, like);
    const tracks = this.section.lines.filter(({ text }) => TRACKS.test(text));
    for (const one of tracks) {
      const [, given = ''] = /\s(?:if|unless)\s+(.*)$/.exec(one.text) ?? [];
      if (given !== '')
        this.#refuse(one, `requests are counted only ${/\s(if|unless)\s/.exec(one.text)![1]} ${given}; here all are`);
    }
    this.#exempted(line);
    this.found.limiter(this.file, {
      name: `${table.name === '' ? 'stick-table' : table.name} ${counter}`,
      line: line.line,
      defined: { file: this.file, line: table.line },
      where: [placeOf(this.section), ...[...hosts, ...paths.map(({ text }) => text)]]
        .filter((one) => one !== '')
        .join(', '),
      paths,
      hosts,
      key: track?.key ?? perClient,
      counts: counter.startsWith('conn_cur')
        ? 'concurrency'
        : /^(?:conn|sess)_rate/.test(counter)
          ? 'connections'
          : /err|fail/.test(counter)
            ? 'errors'
            : 'requests',
      limit: like,
      status: statusOf(action),
      counter: `haproxy ${table.name} ${counter}`,
    });
  }

  /** A rule that allows before this one exempts; after it, it exempts nothing. */
  #exempted({ line: at }: Line): void {
    for (const one of this.section.lines)
      if (/^http-request\s+allow\b/.test(one.text) && one.line < at)
        this.#refuse(one, 'what is allowed here does not meet the limits below; here it does');
  }

  #trackOf(slot: number | undefined): { readonly key: LimitKey; readonly table: string | undefined } | undefined {
    const own = this.section.lines;
    const above = this.sections
      .filter(({ kind }) => kind === 'frontend' || kind === 'listen')
      .flatMap(({ lines }) => lines);
    for (const { text } of [...own, ...above]) {
      const [, number, key = '', table] = TRACKS.exec(text) ?? [];
      if (number !== undefined && (slot === undefined || Number(number) === slot)) return { key: keyOf(key), table };
    }
    return undefined;
  }

  #tableNamed(name: string | undefined): Table | undefined {
    return this.tables.find((table) => table.name === (name ?? this.section.name));
  }

  #texts(term: string): readonly string[] {
    if (term.startsWith('{')) return [term.replace(/^\{\s*|\s*\}$/g, '')];
    return (this.#acls.get(term) ?? []).map(({ words }) => words.slice(2).join(' '));
  }

  #pathsOf(term: string): PathPattern[] {
    return this.#texts(term).flatMap((text) => {
      const [, fetch, flag, given = ''] = /^(path|path_beg|path_reg|path_end)\s+(-i\s+)?(.+)$/.exec(text) ?? [];
      if (fetch === undefined) return [];
      const ignoresCase = flag !== undefined;
      return given.split(' ').map((one): PathPattern => {
        if (fetch === 'path_end')
          return { kind: 'regex', text: `${one.replace(/[.*+?^${}()|[\]\\]/g, '\\$&')}$`, ignoresCase };
        return { kind: fetch === 'path' ? 'exact' : fetch === 'path_beg' ? 'prefix' : 'regex', text: one, ignoresCase };
      });
    });
  }

  #hostsOf(term: string): string[] {
    return this.#texts(term).flatMap((text) => {
      const [, given = ''] = /^(?:req\.)?hdr(?:_dom)?\(host\)\s+(?:-i\s+|-m\s+str\s+)*([^-].*)$/i.exec(text) ?? [];
      return given.split(' ').filter((host) => host !== '' && !host.startsWith('/'));
    });
  }

  #queue({ text, line }: Line): void {
    const [, name = '', maxconn] = /^server\s+(\S+)\s.*\bmaxconn\s+(\d+)/.exec(text) ?? [];
    if (maxconn === undefined) return;
    const times = [this.section, ...this.sections.filter(({ kind }) => kind === 'defaults' || kind === '')].flatMap(
      ({ lines }) => lines,
    );
    const [, queue] =
      times.map((one) => /^timeout\s+queue\s+(\w+)/.exec(one.text)).find((match) => match !== null) ?? [];
    this.found.limiter(this.file, {
      name: `server ${name} maxconn`,
      line,
      where: placeOf(this.section),
      key: everyone,
      counts: 'concurrency',
      limit: { like: 'haproxy-maxconn', maxconn: Number(maxconn), queue: queue === undefined ? '5s' : inUnits(queue) },
      status: 503,
    });
  }
}

const placeOf = ({ kind, name }: Section) => (kind === '' ? '' : `${kind} ${name}`);

/** A text says why there is none. */
function likeOf(counter: string, limit: number, period: string | undefined, expire: string | undefined): Like | string {
  if (counter === 'conn_cur')
    return limit < 1 ? 'a limit of 0 connections refuses all' : { like: 'nginx-limit-conn', connections: limit };
  if (counter === 'http_req_cnt')
    return expire === undefined
      ? 'the stick-table of http_req_cnt has no expire: it never forgets'
      : { like: 'haproxy-http-req-cnt', expire: inUnits(expire), limit };
  if (period === undefined) return `no stick-table stores ${counter} with a period`;
  if (limit < 1) return `a limit of 0 per ${period} refuses all`;
  if (expire !== undefined && (msOf(expire) ?? 0) < (msOf(period) ?? 0))
    return `expire ${expire} is shorter than the period ${period}: counts are lost`;
  return {
    like: /^gpc\d_rate$/.test(counter) ? 'haproxy-gpc0-rate' : 'haproxy-http-req-rate',
    period: inUnits(period),
    limit,
  };
}

/** HAProxy counts ms where there is no unit. */
function inUnits(time: string): string | number {
  return /^\d+$/.test(time) ? Number(time) : time;
}

function msOf(time: string): number | undefined {
  const [, figure, unit = 'ms'] = /^(\d+)(us|ms|s|m|h|d)?$/.exec(time) ?? [];
  return figure === undefined
    ? undefined
    : Number(figure) * { us: 0.001, ms: 1, s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000 }[unit as 's'];
}

function statusOf(action: string): number | undefined {
  if (/\b(?:reject|silent-drop)\b/.test(action)) return undefined;
  const [, given] = /\b(?:deny_status|status|code)\s+(\d+)/.exec(action) ?? [];
  if (given !== undefined) return Number(given);
  return /\bredirect\b/.test(action) ? 302 : /\btarpit\b/.test(action) ? 500 : /\breturn\b/.test(action) ? 200 : 403;
}

const fetches: Readonly<Record<string, readonly KeyPart[]>> = {
  src: ['client'],
  'req.hdr(x-forwarded-for)': ['client'],
  'hdr_ip(x-forwarded-for)': ['client'],
  path: ['path'],
  url: ['path'],
  base: ['host', 'path'],
  base32: ['host', 'path'],
  'base32+src': ['client', 'host', 'path'],
  'hdr(host)': ['host'],
  'req.hdr(host)': ['host'],
  method: ['method'],
};

function keyOf(text: string): LimitKey {
  const fetch = text
    .toLowerCase()
    .split(',')[0]!
    .replace(/,-?\d+\)$/, ')');
  if (/^(?:int|str|always_true|dst_port|fe_id|be_id)\b/.test(fetch)) return { text, parts: [] };
  const parts = fetches[fetch];
  return parts === undefined ? unknownKey(text) : { text, parts };
}
