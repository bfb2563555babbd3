// Chooses the fields of a log that say when, how many and who. The rules look at names and at the sampled values:
//
//   time, when    0.25, 2015-05-17T10:05:03Z    the values that are dates: `when`
//   n, ts         1, 2, 3 beside dates          a number that goes up by one is that of the row: no count
//   count         3, "", 7, NaN, 12             mostly whole numbers: the count; the two rows are skipped
import { Failure } from '../../schema/failure.js';
import { hasPort, isIpLiteral, type Part } from './address.js';
import { type Layout, mostly, valuesOf } from './layout.js';
import type { FieldOptions, Warning } from './log-options.js';
import { listed, missing, resolve, sameWord, shown } from './names.js';
import { chooseTime, type TimeChoice } from './time-column.js';
import { readCount } from './unix.js';
import type { Condition } from './where.js';

/** A field, and what of it is read. */
export interface Wanted {
  readonly name: string;
  readonly part: Part;
  /** The field in words. */
  readonly from: string;
}

/** The choice, and the words for a person. */
export interface Columns {
  readonly time: TimeChoice;
  readonly count: string | undefined;
  readonly countFrom: string | undefined;
  readonly key: Wanted | undefined;
  readonly where: readonly (Wanted & { readonly condition: Condition })[];
  readonly warnings: readonly Warning[];
}

/** What a number of requests is called, whatever else the table has. */
const requestNames = words(
  'requests request_count requestcount num_requests n_requests total_requests requests_total number_of_requests',
  'http_requests http_reqs reqs req_count num_reqs',
);

/** What a number of requests is called that may be a number of something else. */
const countNames = words('count n hits cnt calls num_calls invocations events event_count freq frequency qty volume');

/** Fields that belong to one single request: a table with one of them has a row for each. */
const singleNames = words(
  'request_id req_id trace_id span_id correlation_id session session_id user_agent http_user_agent useragent referer',
  'referrer http_referer',
);

const forwardedNames = words('forwarded x_forwarded_for http_x_forwarded_for xff forwarded_for fwd');

/** What the client is called, the surest name first: beside a forwarded address, `host` is the server. */
const clientNames = [
  ...words(
    'client client_ip client_addr client_address client_host remote_addr remote_address remote_ip remote_host',
    'source_ip src_ip c_ip caller_ip client_ip_address source_ip_address ip ip_address addr address user_ip id_orig_h peer',
  ),
  ...forwardedNames,
  'host',
];

/** Names that stand for a field in every format that has it, and what the field may be called. */
const roles: Readonly<Record<string, readonly string[]>> = {
  client: clientNames,
  forwarded: forwardedNames,
  method: words('method request_method http_method verb cs_method http_request_method req_method'),
  path: words(
    'path uri_path url_path request_path cs_uri_stem uri request_uri url request_url http_path endpoint route name',
  ),
  user: words('user remote_user username user_name user_id userid cs_username uid account tenant'),
  status: words('status status_code response_code http_status sc_status code response_status origin_status'),
  duration: words('duration request_time elapsed response_time'),
};

/** Fields that hold a whole request line: `GET /a HTTP/1.1`. */
const requestLineNames = words('request request_line http_request');

function words(...lines: string[]): string[] {
  return lines.flatMap((line) => line.split(' '));
}

/**
 * Chooses the fields. Named ones must exist (also in other letter case). Without a name,
 *
 * - the time is chosen by `chooseTime`;
 * - each row is one request, unless a field with a usual name for a number of requests holds mostly whole numbers, and not the
 *   number of the row;
 * - there is no key.
 * @throws Failure `invalid_input` when a named field, a time, or a count to spread is not there
 */
export function chooseColumns(layout: Layout, options: FieldOptions, path: string): Columns {
  const warnings: Warning[] = layout.known?.warning === undefined ? [] : [layout.known.warning];
  const time = chooseTime(layout, options, path, warnings);
  const count = countColumn(layout, options, path, time.names, warnings);
  return {
    time,
    count,
    countFrom: count === undefined ? undefined : `${layout.noun} ${shown(count)}`,
    key: options.keyColumn === undefined ? undefined : wanted(layout, options.keyColumn, path, '--key'),
    where: [
      ...(layout.known?.where ?? []).map(([field, value]) => ({
        ...plainly(layout, field),
        condition: { field, comparison: '=' as const, value },
      })),
      ...(options.where ?? []).map((condition) => ({
        ...wanted(layout, condition.field, path, '--where'),
        condition,
      })),
    ],
    warnings,
  };
}

function plainly(layout: Layout, name: string): Wanted {
  return { name, part: 'whole', from: `${layout.noun} ${shown(name)}` };
}

/** The field that a person means. */
function wanted(layout: Layout, told: string, path: string, option: string): Wanted {
  const [, role = told, hop = '1'] = /^(forwarded|client):(-?[1-9]\d*)$/i.exec(told) ?? [];
  const { names, known } = layout;
  const named = resolve(layout, told);
  if (role.toLowerCase() === 'client' && known?.client !== undefined) {
    const part = addressPart(layout, known.client, Number(hop), known.clientHasPort === true);
    return { name: known.client, part, from: known.clientFrom ?? `${layout.noun} ${shown(known.client)}` };
  }
  const usual = Object.hasOwn(roles, role.toLowerCase()) ? roles[role.toLowerCase()] : undefined;
  const name = named ?? (usual === undefined ? undefined : firstOf(names, usual));
  const isMethod = role.toLowerCase() === 'method';
  if (name === undefined && (isMethod || role.toLowerCase() === 'path')) {
    const line = firstOf(names, requestLineNames);
    const part = isMethod ? 'method' : 'path';
    if (line !== undefined) return { name: line, part, from: `the ${part} in ${layout.noun} ${shown(line)}` };
  }
  if (name === undefined) throw missing(layout, told, path, option);
  const from = `${layout.noun} ${shown(name)}`;
  if (role.toLowerCase() === 'path') return { name, part: pathPart(layout, name), from };
  const part = addressPart(layout, name, Number(hop), false);
  return { name, part, from: hop === '1' ? from : `address ${hop} in ${from}` };
}

/** Addresses are read without port, and of a list one; anything else as it is. */
function addressPart(layout: Layout, name: string, hop: number, always: boolean): Part {
  if (always || hop !== 1) return { hop, hasPort: always };
  const isAddress = (value: Buffer): boolean => {
    const comma = value.indexOf(COMMA);
    const first = comma < 0 ? value : value.subarray(0, comma);
    return hasPort(first) || (comma > 0 && isIpLiteral(first, 0, first.length)) || first[0] === OPEN_BRACKET;
  };
  return valuesOf(layout, name).some(isAddress) ? { hop, hasPort: false } : 'whole';
}

function pathPart(layout: Layout, name: string): Part {
  const looksLike = (value: Buffer) => /^(\/|\w{2,7}:\/\/|[A-Z]+ \S)/.test(value.toString('latin1', 0, 64));
  return mostly(valuesOf(layout, name), looksLike) ? 'path' : 'whole';
}

function countColumn(
  layout: Layout,
  options: FieldOptions,
  path: string,
  time: readonly string[],
  warnings: Warning[],
): string | undefined {
  const told = options.countColumn;
  if (told === false) return undefined;
  if (told !== undefined) {
    const found = resolve(layout, told);
    if (found === undefined) throw missing(layout, told, path, '--count-column');
    return found;
  }
  if (layout.known?.count !== undefined) return layout.known.count;
  const isSpread = (options.spreadMs ?? 0) > 0;
  const others = layout.names.filter((name) => !time.includes(name));
  const find = (usual: readonly string[]): string | undefined =>
    usual.map((word) => sameWord(others, word)).find((name) => name !== undefined && isCount(valuesOf(layout, name)));
  const sure = find(requestNames);
  const likely = sure ?? find(countNames);
  const isOneEach = !isSpread && firstOf(others, singleNames) !== undefined;
  if (sure === undefined && likely !== undefined && isOneEach) {
    warnings.push({
      code: 'count_ignored',
      what: `Each row counts as one request: ${layout.noun} ${shown(likely)} is not read as a number of requests, since the rows look like single requests. If it is one, name it with --count-column.`,
    });
    return undefined;
  }
  if (likely !== undefined || !isSpread) return likely;
  throw new Failure('invalid_input', {
    what: `No ${layout.noun} of ${path} is known to be the count that is to be spread.`,
    why: `It has ${listed(layout)}.`,
    fix: 'Name it with --count-column, or leave out --spread.',
  });
}

/** Mostly whole numbers, and not 1, 2, 3: that is the number of the row. */
function isCount(values: readonly Buffer[]): boolean {
  const counts = values.map((value) => readCount(value, 0, value.length)).filter((count) => !Number.isNaN(count));
  if (counts.length === 0 || counts.length * 2 <= values.length) return false;
  const isNumbered = counts.length > 1 && counts.every((count, i) => i === 0 || count === counts[i - 1]! + 1);
  return !isNumbered;
}

function firstOf(names: readonly string[], usual: readonly string[]): string | undefined {
  for (const word of usual) {
    const found = sameWord(names, word);
    if (found !== undefined) return found;
  }
  return undefined;
}

const COMMA = 0x2c;
const OPEN_BRACKET = 0x5b;
