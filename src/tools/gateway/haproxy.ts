// Limits of HAProxy: a table counts tracked requests, and a rule refuses if a count is too high.
//
//   stick-table type ip size 1m expire 10s store http_req_rate(10s)
//   http-request track-sc0 src
//   http-request deny deny_status 429 if { sc_http_req_rate(0) gt 20 }        { like: haproxy-http-req-rate, period: 10s, limit: 20 }
//
// The count includes a request tracked before the rule: `gt 20` admits 20, `ge 20` admits 19. Source: HAProxy 2.6, run; its manual, 7.3.3.
import { reachFrom } from './boolean-text.js';
import type { FoundLimiter, FoundLimits, Source } from './found.js';
import {
  COUNTERS,
  type CountComparison,
  comparisonsIn,
  countedBy,
  inUnits,
  likeOf,
  statusOf,
} from './haproxy-limit.js';
import {
  alternativesOf,
  type ConditionTerm,
  type ConfigLine,
  type ConfigSection,
  conditionOf,
  type StickTable,
  sectionsOf,
  TRACKS,
  tablesOf,
  trackedKey,
  withDefaults,
} from './haproxy-lines.js';
import { READS, SectionConditions } from './haproxy-section.js';
import { everyone, type LimitKey, perClient } from './limit-key.js';
import { ALWAYS, allHold, inWords, isAlways, oneHolds, type RequestCondition } from './request-condition.js';

export function looksLikeHaproxy(text: string): boolean {
  return (
    /^[^#\n]*\b(?:stick-table|track-sc\d|http_req_rate|http_req_cnt|gpc0_rate)\b/m.test(text) ||
    /^\s*server\s.*\bmaxconn\s+\d/m.test(text)
  );
}

const VARIABLE = new RegExp(`set-var\\(([^)]*)\\)\\s+\\S*(?:table_|sc\\d?_|src_)(${COUNTERS.join('|')})`);
const REFUSES =
  /^(http-request\s+(?:deny|tarpit|reject|silent-drop|return|redirect)|tcp-request\s+(?:connection|content|session)\s+(?:reject|silent-drop)|reject)\b/;
/** Headers and logs only show a count. */
const ACTS =
  /^(?:use_backend|use-server|(?:http|tcp)-(?:request|response|after-response)\s+(?!(?:add|set|del|replace)-header|capture|set-log-level|set-nice|set-priority|set-mark|set-tos|allow|accept|\w+\s+accept))/;

export function readHaproxy(sources: readonly Source[], found: FoundLimits): void {
  const sections = withDefaults(sources.flatMap(sectionsOf));
  const tables = sections.flatMap((section) => tablesOf(section));
  const used = new Set<string>();
  // Lines of defaults are read in the first section that has them.
  const seen = new Set<ConfigLine>();
  for (const section of sections.filter(({ kind }) => kind !== 'global')) {
    const lines = section.lines.filter((line) => !seen.has(line) && seen.add(line));
    new SectionReader(section, sections, tables, used, found).read(lines);
  }
  for (const table of tables) {
    const limits = [...table.store.keys()].filter((counter) => COUNTERS.includes(counter));
    if (used.has(table.name) || limits.length === 0) continue;
    const what = `the table of ${table.name === '' ? 'this file' : table.name} limits nothing: no rule in force refuses by ${limits.join(' or ')}`;
    found.unused(table, { name: table.name || 'stick-table', what });
  }
}

interface CountingTerm extends ConditionTerm {
  readonly comparisons: readonly CountComparison[];
  /** What is compared with a variable. */
  readonly open: string | undefined;
  /** It reads a count, and compares it in a way that is not read. */
  readonly isUnread: boolean;
}

class SectionReader {
  readonly #conditions: SectionConditions;

  constructor(
    readonly section: ConfigSection,
    readonly sections: readonly ConfigSection[],
    readonly tables: readonly StickTable[],
    readonly used: Set<string>,
    readonly found: FoundLimits,
  ) {
    this.#conditions = new SectionConditions(section);
  }

  read(lines: readonly ConfigLine[]): void {
    for (const line of lines) {
      const [, variable, counter] = VARIABLE.exec(line.text) ?? [];
      if (variable !== undefined) {
        const table = this.#tableNamed(/table_\w+\(([^)]+)\)/.exec(line.text)?.[1]);
        if (table !== undefined) this.used.add(table.name);
        this.found.refuse(
          line,
          `${counter} is compared as the variable ${variable}, with a limit that is not in the file`,
        );
      } else if (REFUSES.test(line.text)) this.#refusing(line, line.text);
      else if (/^use_backend\s/.test(line.text) && this.#sentTo(line)) continue;
      else if (/^http-request\s+lua\./.test(line.text))
        this.found.refuse(line, `${line.words[1]} is a program, and is not read`);
      else if (ACTS.test(line.text)) this.#acting(line);
      else if (/^server(?:-template)?\s/.test(line.text)) this.#queue(line);
      else if (/^\.(?:if|elif|else)\b/.test(line.text))
        this.found.refuse(line, `lines after ${line.text} are there only under a condition; here they are`);
      else if (/^(?:rate-limit\s+sessions|bind\s.*\bmaxconn|maxconn|fullconn)\b/.test(line.text))
        this.found.refuse(line, `${line.text} is not read`);
    }
  }

  /** A backend that refuses everything turns the condition that leads to it into a limit. */
  #sentTo(line: ConfigLine): boolean {
    const target = this.sections.find(({ kind, name }) => kind === 'backend' && name === line.words[1]);
    const refusing = target?.lines.find(({ text }) => REFUSES.test(text) && !/\s(?:if|unless)\s/.test(text));
    if (refusing !== undefined) this.#refusing(line, refusing.text);
    return refusing !== undefined;
  }

  /** What is marked, raised or sent elsewhere by a count may be refused by it. */
  #acting(line: ConfigLine): void {
    if (!this.#conditions.readsCount(line)) return;
    this.#markUsed(conditionOf(line).terms);
    this.found.refuse(line, `it depends on a count, and what follows from it is not read: ${line.text}`);
  }

  #refusing(line: ConfigLine, action: string): void {
    const { word, terms } = conditionOf(line);
    const alternatives = alternativesOf(terms).map((some) => some.map((term) => this.#counting(term)));
    const unread = alternatives.filter((some) => some.some(({ isUnread }) => isUnread));
    for (const some of unread) {
      this.#markUsed(some);
      this.found.refuse(line, `it refuses by a count in a way that is not read: ${this.#conditions.wordsOf(some)}`);
    }
    for (const some of alternatives)
      if (!unread.includes(some)) this.#refusingIf(line, action, some, word === 'unless');
  }

  #counting(term: ConditionTerm): CountingTerm {
    const texts = this.#conditions.textsOf(term);
    const asked = term.isNegated ? [] : texts;
    const comparisons = asked.flatMap(comparisonsIn);
    const [, open] = asked.map((text) => /\bvar\([^)]*\),sub\(([^)]*)\)/.exec(text)).find((one) => one !== null) ?? [];
    const isUnread = open === undefined && texts.filter((text) => READS.test(text)).length > comparisons.length;
    return { ...term, comparisons, open, isUnread };
  }

  /** A table whose counts are compared in a way that is not read limits nonetheless. */
  #markUsed(terms: readonly ConditionTerm[]): void {
    for (const text of terms.flatMap((term) => this.#conditions.textsOf(term)))
      for (const [, slot = '', given = ''] of text.matchAll(/\b(?:sc(\d?)|src)_\w+(?:\(([^)]*)\))?|table_\w+\(/g)) {
        const named = given.split(',').map((one) => one.trim());
        const own = slot !== '' ? slot : named.find((one) => /^\d$/.test(one));
        const table = named.find((one) => one !== '' && !/^\d$/.test(one));
        const track = own === undefined ? undefined : this.#trackOf(Number(own));
        this.used.add(this.#tableNamed(table ?? track?.table)?.name ?? '');
      }
  }

  #refusingIf(line: ConfigLine, action: string, terms: readonly CountingTerm[], isUnless: boolean): void {
    for (const { open } of terms)
      if (open !== undefined) this.found.refuse(line, `it refuses by ${open}, whose limit is a variable`);
    const comparing = terms.filter(({ comparisons }) => comparisons.length > 0);
    if (comparing.length === 0) return;
    if (isUnless || comparing.length > 1) {
      this.#markUsed(terms);
      this.found.refuse(
        line,
        isUnless ? 'a limit with unless is not read' : 'it refuses only if several counts are too high at once',
      );
      return;
    }
    const others = terms.filter((term) => !comparing.includes(term));
    const limited = this.#conditions.of(line, others);
    for (const one of comparing[0]!.comparisons) this.#limiter(line, one, action, limited);
  }

  #limiter(
    line: ConfigLine,
    { counter, slot, table: named, over, figure, isTracked }: CountComparison,
    action: string,
    asked: RequestCondition,
  ) {
    const track = this.#trackOf(slot, named);
    const table = this.#tableNamed(named ?? track?.table);
    if (table !== undefined) this.used.add(table.name);
    if (!/^\d+$/.test(figure)) return this.found.refuse(line, `the limit ${figure} of ${counter} is not a number`);
    const period = table?.store.get(counter);
    if (table === undefined || (!table.store.has(counter) && counter !== 'gpc0_rate'))
      return this.found.refuse(line, `no stick-table stores ${counter}`);
    const tracks = this.#tracksOf(table);
    const isUpdated = /^gpc/.test(counter);
    // Lines without a section are an excerpt: the tracking may be elsewhere.
    const isWhole = this.section.kind !== '';
    if (isWhole && !isUpdated && (isTracked ? track === undefined : tracks.length === 0)) {
      const what = `${counter} is always 0: nothing is tracked in the table`;
      return this.found.unused(line, { name: table.name || 'stick-table', what });
    }
    const own = tracks.filter((one) => this.section.lines.includes(one));
    const isLate = !isUpdated && own.length > 0 && own.every((one) => isAfter(one, line));
    if (isLate && isTracked) {
      const what = `line ${own[0]!.line} tracks after this rule, which does not see the count of its own request`;
      return this.found.unused(line, { name: table.name || 'stick-table', what });
    }
    // A request is counted once its head is read, which rules on connections do not wait for: what they refuse never counts.
    const isUncounted = isLate || (/^http_req/.test(counter) && /^tcp-request/.test(action));
    const raised = isUpdated ? this.#raisedBy(line, counter, slot, asked) : isUncounted ? 'after' : 'before';
    if (raised !== 'before' && raised !== 'after') return this.found.refuse(line, raised);
    const limit = Number(figure) + (over === 'gt' ? 0 : -1) + (raised === 'after' ? 1 : 0);
    const like = likeOf(counter, limit, raised, period, table.expire);
    if (typeof like === 'string') return this.found.refuse(line, like);
    const refuses = allHold(asked, this.#conditions.reached(line));
    const counted = isUpdated ? refuses : this.#counted(tracks, refuses, isTracked);
    const isSame = inWords(counted) === inWords(refuses);
    const when = allHold(counted, this.#sent() ?? ALWAYS);
    const place = reachFrom(when);
    const shown = isSame || isAlways(refuses) ? place : reachFrom(refuses);
    this.found.limiter(line, {
      name: `${table.name || 'stick-table'} ${counter}`,
      defined: { file: table.file, line: table.line },
      where: [...this.#sectionsWith(line).map(placeOf), ...shown.hosts, ...shown.paths.map(({ value }) => value)]
        .filter((one) => one !== '')
        .join(', '),
      ...place,
      ...(!isSame && !isAlways(refuses) && { refuses }),
      reach: this.#reach(line),
      key: (isTracked ? track?.key : undefined) ?? perClient,
      counts: countedBy(counter),
      limit: like,
      status: statusOf(action),
      counter: `haproxy ${table.name} ${counter}`,
    });
  }

  /** Which requests are counted. What is not tracked in a slot has no count there. */
  #counted(tracks: readonly ConfigLine[], refuses: RequestCondition, isTracked: boolean): RequestCondition {
    if (tracks.length === 0) return ALWAYS;
    const counted = oneHolds(...tracks.map((one) => this.#conditionsOf(one).inForce(one)));
    const isWithin = isAlways(counted) || inWords(counted) === inWords(refuses);
    for (const one of isTracked || isWithin ? [] : tracks)
      if (conditionOf(one).word !== undefined)
        this.found.refuse(
          one,
          `what is not counted may be refused by ${this.#conditions.wordsOf(conditionOf(one).terms)}; here it is not`,
        );
    return counted;
  }

  /** Whether a general counter is raised before or after the rule, by each request of it; else why it is not read. */
  #raisedBy(line: ConfigLine, counter: string, slot: number | undefined, limited: RequestCondition): string {
    const kind = counter.replace(/_rate$/, '');
    const raising = ({ lines }: ConfigSection) =>
      lines.filter(({ text }) => new RegExp(`\\bsc-(?:inc|add)-${kind}\\b|_inc_${kind}\\b`).test(text));
    const own = raising(this.section).filter(({ text }) => text.includes(`-${kind}(${slot ?? 0})`));
    const raises = own.length > 0 ? own : this.sections.flatMap(raising);
    const [one] = raises;
    if (one === undefined) return this.section.kind === '' ? 'after' : `${counter} is raised by nothing in the file`;
    const { word, terms } = conditionOf(one);
    const isEach = word === undefined || inWords(this.#conditions.of(one, terms)) === inWords(limited);
    const [, raised] = new RegExp(`^http-request\\s+sc-inc-${kind}\\((\\d)\\)`).exec(one.text) ?? [];
    const isRead = raises.length === 1 && isEach && (slot ?? 0) === Number(raised) && this.section.lines.includes(one);
    if (isRead) return one.line > line.line ? 'after' : 'before';
    return `${counter} counts what line ${one.line} says, and no requests: ${one.text}`;
  }

  #trackOf(slot: number | undefined, named?: string): { readonly key: LimitKey; readonly table: string } | undefined {
    const others = this.sections.filter((one) => one !== this.section && /^(?:frontend|listen)$/.test(one.kind));
    const tracks = [this.section, ...others].flatMap(({ name, lines }) =>
      lines.flatMap(({ text }) => {
        const [, number, key = '', table = name] = TRACKS.exec(text) ?? [];
        const isOne = number !== undefined && (slot === undefined || Number(number) === slot);
        return isOne ? [{ key: trackedKey(key, this.#tableNamed(table)?.length), table }] : [];
      }),
    );
    return tracks.find(({ table }) => named === undefined || table === named) ?? tracks[0];
  }

  #tracksOf({ name }: StickTable): readonly ConfigLine[] {
    const tracks = this.sections.flatMap((section) =>
      section.lines.filter(({ text }) => {
        const [whole, , , table] = TRACKS.exec(text) ?? [];
        return whole !== undefined && (table ?? section.name) === name;
      }),
    );
    return [...new Set(tracks)];
  }

  /** A request passes one frontend and one backend; logs name neither. */
  #reach(line: ConfigLine): FoundLimiter['reach'] {
    const { kind, name } = this.section;
    const fronts = this.sections.filter((one) => /^(?:frontend|listen)$/.test(one.kind));
    const limiting = fronts.filter((front) => {
      const conditions = new SectionConditions(front);
      return front.lines.some((one) => REFUSES.test(one.text) && conditions.readsCount(one));
    });
    const isOfAll = limiting.length < 2 || fronts.every(({ lines }) => lines.includes(line));
    const isSent = this.#sending().every((one) => sends(one, name)) && this.#sent() !== undefined;
    return (kind === 'backend' ? isSent : isOfAll) ? 'known' : 'unknown';
  }

  /** The frontends and others that choose a backend. */
  #sending(): readonly ConfigSection[] {
    return this.sections.filter(({ lines }) => lines.some(({ text }) => /^(?:use|default)_backend\s/.test(text)));
  }

  /** Of a backend: the requests that frontends send to it; undefined if one sends others. */
  #sent(): RequestCondition | undefined {
    const { kind, name } = this.section;
    const fronts = kind === 'backend' ? this.#sending() : [];
    const [first = ALWAYS, ...others] = fronts.map((front) => new SectionConditions(front).goingTo(name));
    return others.every((one) => inWords(one) === inWords(first)) ? first : undefined;
  }

  #sectionsWith(line: ConfigLine): readonly ConfigSection[] {
    return this.sections.filter(({ lines }) => lines.includes(line));
  }

  #conditionsOf(line: ConfigLine): SectionConditions {
    const [section = this.section] = this.#sectionsWith(line);
    return section === this.section ? this.#conditions : new SectionConditions(section);
  }

  #tableNamed(name: string | undefined): StickTable | undefined {
    return this.tables.find((table) => table.name === (name ?? this.section.name));
  }

  #queue(server: ConfigLine): void {
    const { lines } = this.section;
    const before = lines.filter(({ text }, i) => text.startsWith('default-server ') && i < lines.indexOf(server));
    const settings = [...before, server].map(({ text }) => text).join(' ');
    const [, maxconn = '0'] = /.*\bmaxconn\s+(\d+)/.exec(settings) ?? [];
    if (maxconn === '0') return;
    const [, bound] = /\s(minconn|maxqueue)\s+[1-9]/.exec(settings) ?? [];
    if (bound !== undefined)
      this.found.refuse(server, `${bound} is not read: the limit is maxconn and no queue is full here`);
    const timeout = (kind: string) => lines.findLast(({ text }) => text.startsWith(`timeout ${kind} `))?.words[2];
    const queue = timeout('queue') ?? timeout('connect');
    this.found.limiter(server, {
      name: `server ${server.words[1]} maxconn`,
      where: placeOf(this.section),
      key: everyone,
      counts: 'concurrency',
      limit: { like: 'haproxy-maxconn', maxconn: Number(maxconn), queue: queue === undefined ? '5s' : inUnits(queue) },
      status: 503,
    });
  }
}

/** HAProxy takes its rules in this order, whatever the order of their lines. */
const PHASES = ['connection', 'session', 'content'];

function isAfter(one: ConfigLine, other: ConfigLine): boolean {
  const [own, theirs] = [one, other].map(({ words: [kind = '', phase = ''] }) =>
    kind === 'tcp-request' ? PHASES.indexOf(phase) : PHASES.length,
  ) as [number, number];
  return own === theirs ? one.line > other.line : own > theirs;
}

/** Whether a section sends requests to a backend. */
const sends = ({ lines }: ConfigSection, name: string) =>
  lines.some(({ text, words }) => /^(?:use|default)_backend\s/.test(text) && words[1] === name);

const placeOf = ({ kind, name }: ConfigSection) => (kind === '' ? '' : `${kind} ${name}`);
