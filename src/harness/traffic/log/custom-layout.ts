// Finds the format line of a log whose lines have the same fields in the same places, but in no known order.
//
//   192.0.2.1 - - [17/May/2015:10:05:03 +0000] shop.example "GET /a HTTP/1.1" 200 12
//   $remote_addr $_ $_ [$time_local] $_ "$request" $status
//
// A field is taken only if nearly all lines have it in one place. The format is tried on the lines, and named in a warning.
import { isIP } from 'node:net';
import { addressOf } from './address.js';
import { roleNames, sameWord } from './column-names.js';
import { isFullDate } from './columns.js';
import { ZONE_TEXT } from './instant.js';
import { type Layout, type Recognise, type Role, valuesOf } from './layout.js';
import { templateOf } from './log-format.js';
import type { Warning } from './log-options.js';
import { logfmt, templateLayout } from './pattern.js';

export function nearlyAll<T>(values: readonly T[], holds: (value: T) => boolean): boolean {
  return values.length > 0 && values.filter(holds).length >= NEARLY_ALL * values.length;
}

export const NEARLY_ALL = 0.9;

/** A method and a path; the garbage that servers log in its place is not one. */
export const isRequestLine = (text: string) => /^[A-Z][A-Z_-]{2,}\s+\S/.test(text);

/** Those of RFC 9110 and its relatives, and of nginx, load balancers and Cloudflare; 000 where none was sent. */
export const isStatus = (text: string) => STATUS.test(text);

const STATUS =
  /^(?:000|10[0-3]|20[0-8]|226|30[0-8]|4(?:0\d|1[0-8]|2[1-689]|31|4[049]|5[01]|6[0134]|9[4-9])|5(?:0[0-8]|1[01]|2\d|30|61|98|99))$/;

const METHODS =
  'GET|HEAD|POST|PUT|PATCH|DELETE|OPTIONS|CONNECT|TRACE|PROPFIND|PROPPATCH|MKCOL|COPY|MOVE|LOCK|UNLOCK|REPORT|PURGE';
const METHOD = new RegExp(`^(?:${METHODS})$`);

const isPath = (text: string) => /^(?:\/|\*$|\w{2,7}:\/\/)/.test(text);
export const isAddress = (text: string) => isIP(addressOf(text, 1, false)) > 0;
export const isMethod = (text: string) => METHOD.test(text);

type Found = 'time' | 'client' | 'request' | 'method' | 'path' | 'status';

interface Places {
  readonly places: ReadonlyMap<Found, number>;
  /** What several columns could be, as sentences. */
  readonly doubts: readonly string[];
}

/** Place of each field in columns of values, the name before a value first; of several statuses, the one next to the request. */
export function placesOf(columns: readonly (readonly string[])[]): Places {
  const places = new Map<Found, number>();
  const doubts: string[] = [];
  const isOne = (found: readonly number[]) =>
    found.every((i) => columns[i]!.every((text, row) => text === columns[found[0]!]![row]));
  const all = (holds: (text: string) => boolean) =>
    columns.flatMap((values, i) => (nearlyAll(values, holds) ? [i] : []));
  const put = (name: Found, place: number | undefined) => place !== undefined && places.set(name, place);
  const called = (role: Role, found: readonly number[]) => found.find((i) => isCalled(columns[i - 1], role));
  const times = all((text) => isFullDate(text, true));
  put('time', times.find((i) => columns[i]!.some((text) => text.includes(':'))) ?? times[0]);
  const addresses = all(isAddress);
  // The address of a server has a port beside it.
  const plain = addresses.filter((i) => nearlyAll(columns[i]!, (text) => isIP(text) > 0));
  const clients = plain.length === 0 ? addresses : plain;
  const client = called('client', addresses) ?? (isOne(clients) ? clients[0] : undefined);
  put('client', client);
  if (client === undefined && clients.length > 1)
    doubts.push(`${clients.length} fields hold addresses: name the client.`);
  const lines = all((text) => isRequestLine(text) || isGarbage(text));
  const line = lines.find((i) => columns[i]!.filter(isRequestLine).length * 2 > columns[i]!.length);
  put('request', line);
  const methods = line === undefined ? all(isMethod) : [];
  const method = called('method', methods) ?? methods[0];
  put('method', method);
  const paths = method === undefined ? [] : all(isPath);
  put('path', called('path', paths) ?? paths.find((i) => i > method!) ?? paths[0]);
  const last = places.get('path') ?? line ?? -1;
  const statuses = all(isStatus);
  const status = called('status', statuses) ?? statusOf(columns, last, statuses, isOne(statuses));
  put('status', status);
  const taken =
    status === undefined ? 'name the right one' : 'the first after the request, or the one with a name, was taken';
  if (!isOne(statuses)) doubts.push(`${statuses.length} fields hold statuses: ${taken}.`);
  return { places, doubts };
}

/** A value after its name: `status=200`, `client: 192.0.2.1`. */
function isCalled(before: readonly string[] | undefined, role: Role): boolean {
  const [text = ''] = before ?? [];
  const name = NAME.exec(text)?.[1];
  return (
    name !== undefined && before!.every((one) => one === text) && roleNames[role].some((word) => sameWord([name], word))
  );
}

const NAME = /^(\w+)[=:]$/;

export const isGarbage = (text: string) => text === '-' || text === '' || /\\x|[^\x20-\x7e]/.test(text);

/** Next to the request, with perhaps its protocol between; else the only one, or one of equals. */
function statusOf(
  columns: readonly (readonly string[])[],
  last: number,
  found: readonly number[],
  isOne: boolean,
): number | undefined {
  const isProtocol = columns[last + 1]?.some((text) => /^HTTP\//.test(text)) === true;
  const next = last + (isProtocol ? 2 : 1);
  if (found.includes(next)) return next;
  return isOne ? found[0] : undefined;
}

interface Token {
  /** Text before the value: a separator, perhaps an opening quote or bracket, perhaps `name=`. */
  readonly before: string;
  readonly value: string;
  readonly after: string;
}

const DATE = [
  `\\d{4}[-/]\\d\\d[-/]\\d\\d[ T]\\d\\d:\\d\\d:\\d\\d(?:[.,]\\d+)?(?: ?${ZONE_TEXT})?`,
  '\\d\\d/[A-Z][a-z]{2}/\\d{4}:\\d\\d:\\d\\d:\\d\\d(?:\\.\\d+)? [+-]\\d{4}',
].join('|');

/** With two colons: one after a word ends a name. */
const IPV6 = '(?=[^\\s:]*:[^\\s:]*:)[\\da-fA-F:]+(?:\\d+(?:\\.\\d+){3})?(?=[,;]?(?:[\\s"|[\\]]|$))';

/** Values between delimiters, perhaps quoted or in brackets. A date may hold a comma. */
function separated(by: string): RegExp {
  const end = `(?=[ ]*(?:${by}|$))`;
  const quoted = `(?<open>")(?<quoted>[^"]*)(?<close>")${end}|(?<left>\\[)(?<inner>[^\\]]*)(?<right>\\])${end}`;
  return new RegExp(`(?<before>(?:^|[ ]*${by})[ ]*)(?:${quoted}|(?<plain>(?:${DATE})${end}|.*?${end}))`, 'y');
}

const BLANK_PLAIN = `${DATE}|${IPV6}|\\w+[=:](?=[^/\\s])|[^\\s"|[\\]]+?(?=[,;]?(?:[\\s"|[\\]]|$))|[\\[\\]"|]`;

const TOKENS: Readonly<Record<string, RegExp>> = {
  blank: new RegExp(
    `(?<before>[ \\t]*(?:[|;,][ \\t]*)*)(?:(?<open>")(?<quoted>(?:[^"\\\\]|\\\\.)*)(?<close>")|(?<left>\\[)(?<inner>[^\\]]*)(?<right>\\])|(?<plain>${BLANK_PLAIN}))`,
    'y',
  ),
  '|': separated('\\|'),
  '\t': separated('\\t'),
};

function tokensOf(line: string, pattern: RegExp): Token[] {
  const tokens: Token[] = [];
  pattern.lastIndex = 0;
  while (pattern.lastIndex < line.length && tokens.length < MOST_TOKENS) {
    const groups = pattern.exec(line)?.groups;
    if (groups === undefined) break;
    const { before = '', open = '', quoted, close = '', left = '', inner, right = '', plain } = groups;
    tokens.push({
      before: `${before}${open}${left}`,
      value: quoted ?? inner ?? plain ?? '',
      after: `${close}${right}`,
    });
  }
  return tokens;
}

const MOST_TOKENS = 60;

/** Nginx's names, as a user writes them. */
const NGINX: Readonly<Record<Found, string>> = {
  time: 'time_local',
  client: 'remote_addr',
  request: 'request',
  method: 'request_method',
  path: 'request_uri',
  status: 'status',
};

/** A log without a request line in nearly all lines has no layout of its own. */
export const customLayout: Recognise = (head, isNamed) => {
  const { lines, options } = head;
  if (options.timeColumn !== undefined || logfmt(true)(head, isNamed) !== undefined) return undefined;
  const texts = lines.map((line) => line.toString('latin1').trim());
  const requests = texts.filter((text) => REQUEST.test(text));
  if (requests.length * 2 <= texts.length || nearlyAll(texts, (text) => ERROR_LOG.test(text))) return undefined;
  for (const delimiter of delimitersOf(requests)) {
    const proposal = formatLine(requests, TOKENS[delimiter]!);
    const layout = proposal === undefined ? undefined : tried(proposal.format, lines, proposal.doubts);
    if (layout !== undefined) return layout;
  }
  return undefined;
};

export const REQUEST = new RegExp(`(?:^|[\\s"|[=])(?:${METHODS})["\\s|]+\\S`);

/** Those of nginx and Apache, whose lines say what went wrong with a request. */
const ERROR_LOG = /\[(?:\w*:)?(?:emerg|alert|crit|error|warn|notice|info|debug)\] (?:\d+#\d+: |\[pid )/;

/** Bars and tabs come first: what they separate may hold blanks. A plain table has columns. */
function delimitersOf(texts: readonly string[]): string[] {
  const countOf = (text: string, delimiter: string) => text.split(delimiter).length - 1;
  const isEven = (delimiter: string) => {
    const n = countOf(texts[0]!, delimiter);
    return n >= FEWEST_DELIMITERS && nearlyAll(texts, (text) => countOf(text, delimiter) === n);
  };
  if (isEven('\t') && !nearlyAll(texts, (text) => text.includes('['))) return [];
  return [...['|', '\t'].filter(isEven), 'blank'];
}

const FEWEST_DELIMITERS = 2;

/** From the first line that has the fields where nearly all have them. */
function formatLine(texts: readonly string[], pattern: RegExp) {
  const rows = texts.map((text) => tokensOf(text, pattern));
  const width = Math.min(...rows.map((row) => row.length).filter((length) => length * 2 > rows[0]!.length));
  const columns = Array.from({ length: width }, (_, i) => rows.flatMap((row) => row[i]?.value ?? []));
  const { places, doubts } = placesOf(columns);
  if (!places.has('time') || !(places.has('request') || places.has('path'))) return undefined;
  const last = Math.max(...places.values());
  const names = new Map([...places].map(([name, place]) => [place, name]));
  const isOne = (row: readonly Token[]) => row.length > last && isRow(row, names);
  const row = rows.find(isOne);
  if (row === undefined) return undefined;
  const format = row.slice(0, last + 1).map(({ before, value, after }, i) => {
    const name = names.get(i);
    if (NAME.test(value)) return `${before}${value}`;
    const variable = name === undefined ? '_' : name === 'time' ? timeName(value) : NGINX[name];
    return `${before.replace(/[ \t]*\t[ \t]*/g, '\t').replace(/ +/g, ' ')}$${variable}${after}`;
  });
  const next = row[last + 1];
  const end =
    next !== undefined && /[|\t,;]/.test(next.before)
      ? `${next.before.replace(/ *\t */g, '\t').replace(/["[]$/, '')}$_`
      : '';
  return { format: `${format.join('')}${end}`, doubts };
}

function isRow(row: readonly Token[], names: ReadonlyMap<number, Found>): boolean {
  const textOf = (wanted: Found) => row.find((_, i) => names.get(i) === wanted)?.value;
  const [line, method] = [textOf('request'), textOf('method')];
  return (line === undefined || isRequestLine(line)) && (method === undefined || isMethod(method));
}

function timeName(value: string): string {
  return /^\d+(?:\.\d+)?$/.test(value) ? 'msec' : /^\d{4}-\d\d-\d\dT/.test(value) ? 'time_iso8601' : NGINX.time;
}

/** The layout of a format line, if nearly all lines with a request have its fields. */
function tried(format: string, lines: readonly Buffer[], doubts: readonly string[]): Layout | undefined {
  const { template, known } = templateOf(format);
  const plain = templateLayout('log-format', template, lines, known);
  const requests = lines.filter((line) => REQUEST.test(line.toString('latin1')));
  const layout = { ...plain, lines: requests };
  const held = (name: string, holds: (text: string) => boolean) => {
    if (!layout.names.includes(name)) return true;
    const values = valuesOf(layout, name);
    return values.length >= NEARLY_ALL * requests.length && nearlyAll(values, holds);
  };
  const isHeld =
    held('time', (text) => isFullDate(text, true)) &&
    held('client', isAddress) &&
    held('status', isStatus) &&
    held('method', isMethod) &&
    held('path', isPath) &&
    held('request', (text) => isRequestLine(text) || isGarbage(text));
  if (!isHeld) return undefined;
  const warning = customWarning(format, doubts, layout, lines.length);
  return { ...plain, known: { ...plain.known, warning } };
}

export function isCustom({ known }: Layout): boolean {
  return known?.warning?.code === CUSTOM;
}

const CUSTOM = 'custom_layout';

const WANTED = ['client', 'time', 'method', 'path', 'status', 'host', 'user', 'user_agent'];

function customWarning(format: string, doubts: readonly string[], layout: Layout, lines: number): Warning {
  const { names } = layout;
  const matching = valuesOf(layout, 'time').length;
  const has = (name: string) =>
    names.includes(name) || ((name === 'method' || name === 'path') && names.includes('request'));
  const missing = WANTED.filter((name) => !has(name));
  return {
    code: CUSTOM,
    what: `No known format has its fields where these lines have them. Found: ${WANTED.filter(has).join(', ')}. Not found: ${[missing.join(', '), ...doubts].join('. ').replace(/\.$/, '')}. Read with --log-format '${format.replace(/\t/g, '\\t')}', which fits ${matching} of the first ${lines} lines; to have the others, name them in it ($_ is any text).`,
  };
}
