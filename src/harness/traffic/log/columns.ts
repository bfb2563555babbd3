// Finds the time, count and client fields of a log by its format and usual names, whose values have to fit; asks if none does.
//
//   time, when    0.25, 2015-05-17T10:05:03Z    the usual name whose values are dates: `when`
//   n, ts         1, 2, 3 beside dates          increments of one are row numbers: no count
//   count         3, "", 7, NaN, 12             mostly whole numbers: the count; the two rows are skipped
import { nearest } from '../../../core/schema/did-you-mean.js';
import { Failure } from '../../../core/schema/failure.js';
import { addressOf, isDressedAddress, partsOfLine, pathOf } from './address.js';
import {
  countNames,
  partNames,
  plainWord,
  requestLineNames,
  requestNames,
  roleNames,
  routeNames,
  sameWord,
  singleNames,
  timeNames,
  usualIn,
} from './column-names.js';
import { presentOf, readDate, type TimeStyle } from './instant.js';
import { printable } from './intake.js';
import { type Layout, mostly, type Role, valuesOf } from './layout.js';
import type { Condition, FieldOptions, Warning } from './log-options.js';
import { areCounts, numberOf, type TimeUnit, unitOf, unitOfDate } from './unix.js';

interface TimeChoice {
  /** One field, or a date and a clock time. */
  readonly names: readonly string[];
  readonly style: TimeStyle;
  readonly from: string;
  readonly unit: TimeUnit | 'date';
}

export interface Wanted {
  readonly name: string;
  readonly extract?: ((text: string) => string) | undefined;
  readonly from: string;
}

export interface Columns {
  readonly time: TimeChoice;
  readonly count: string | undefined;
  readonly cost: readonly string[];
  readonly key: Wanted | undefined;
  readonly also: readonly (Wanted | undefined)[];
  readonly where: readonly (Wanted & { readonly condition: Condition })[];
  readonly warnings: readonly Warning[];
}

/**
 * Named fields must exist; letter case may differ. By default a row is one request, unless a field with a usual name
 * holds mostly whole numbers that are not row numbers; and there is no key.
 * @throws Failure `invalid_input` if a named field, a time, or a count to spread is missing
 */
export function chooseColumns(layout: Layout, options: FieldOptions, path: string): Columns {
  const isChosen = options.where !== undefined && options.where.length > 0;
  const known = layout.known?.warning;
  const warnings: Warning[] = known === undefined || (isChosen && known.code === EVERY_LINE) ? [] : [known];
  const time = chooseTime(layout, options, path, warnings);
  if (!isChosen) warnings.push(...otherLines(layout));
  return {
    time,
    count: countColumn(layout, options, path, time.names, warnings),
    cost: costColumns(layout, options, path, time.names),
    key: options.keyColumn === undefined ? undefined : wanted(layout, options.keyColumn, path, '--key'),
    also: (options.alsoColumns ?? []).map((one) => alsoWanted(layout, one)),
    where: [
      ...(layout.known?.where ?? []).map(([field, value]) => ({
        name: field,
        from: columnWords(layout, field),
        condition: { field, comparison: '=' as const, value },
      })),
      ...(options.where ?? []).map((condition) => ({ ...wanted(layout, condition.field, path, '--where'), condition })),
    ],
    warnings,
  };
}

/** Code of the warning that lines are taken for requests unless some are chosen. */
export const EVERY_LINE = 'every_line';

export function columnWords({ noun }: Layout, name: string): string {
  return `${noun} ${shown(name)}`;
}

/** Objects of an application beside those of its requests count, too. */
function otherLines(layout: Layout): Warning[] {
  if (!/^(?:ndjson|json|gcp|caddy|azure-.*|logfmt)$/.test(layout.format) || layout.known?.where !== undefined)
    return [];
  const status = layout.known?.fields?.status ?? textsOf(layout, roleNames.status, 'status');
  const field = status ?? textsOf(layout, [...roleNames.method, ...roleNames.path]);
  if (field === undefined) return [];
  const found = valuesOf(layout, field).filter((value) => value !== '').length;
  const left = layout.lines.length - found;
  if (left === 0) return [];
  return [
    {
      code: 'no_status',
      what: `${left} of the first ${layout.lines.length} lines have no ${field}, and count as requests. To leave them out: --where '${field}${status === undefined ? '!=' : '>0'}'.`,
    },
  ];
}

/**
 * The time of a log: the field that the user names, else the first of
 *
 * 1. a usual name whose values are dates, or numbers that are dates between 1991 and 2100
 * 2. a date and a clock time in two fields with usual names
 * 3. a usual name whose values are numbers that cannot be times: refused, before another field is taken
 * 4. a usual name whose values are numbers: a clock that starts at 0
 * 5. dates without a clock time: all requests of a day arrive at its start, or are spread over it
 */
function chooseTime(layout: Layout, options: FieldOptions, path: string, warnings: Warning[]): TimeChoice {
  const names = timeFieldsIn(layout, options.timeColumn);
  if (names !== undefined) return choiceOf(layout, names, options, path, warnings);
  if (options.timeColumn !== undefined) throw missing(layout, options.timeColumn, path, '--time');
  const isNameless = layout.names[0] === '1';
  const dated = datedIn(layout, isNameless);
  const naming = dated.length === 0 ? 'Name it with --time' : `Name it, as --time ${shown(dated[0]!)}`;
  const hasNoNames = isNameless || (layout.noun === 'column' && dated.length === 0);
  throw new Failure('invalid_input', {
    what: `No ${layout.noun} of ${path} is known to be the time.`,
    why: `It has ${listed(layout)}.${dated.length === 0 ? '' : ` Dates are in ${dated.map(shown).join(', ')}.`}`,
    fix: `${naming}${hasNoNames ? '; a first line with names says what each column is' : ''}.`,
  });
}

/** One field, or a date and a clock time. */
export function timeFieldsIn(layout: Layout, named: string | undefined): readonly string[] | undefined {
  if (named !== undefined) {
    const whole = resolve(layout, named);
    if (whole !== undefined) return [whole];
    const parts = named.split('+').map((part) => resolve(layout, part));
    return parts.length === 2 && !parts.includes(undefined) ? (parts as string[]) : undefined;
  }
  if (layout.known?.time !== undefined) return [layout.known.time];
  const called = (usual: readonly string[]) =>
    usual.map((word) => sameWord(layout.names, word)).filter((name) => name !== undefined);
  const isDated = (name: string) => holds(layout, name, (value) => isFullDate(value, true));
  const usual = called(timeNames);
  const parts = called(partNames);
  const dated = usual.find(isDated);
  if (dated !== undefined) return [dated];
  const clock = usual.find((name) => holds(layout, name, (value) => CLOCK.test(value)));
  const date = parts.find((name) => holds(layout, name, isDateAlone));
  if (date !== undefined && clock !== undefined) return [date, clock];
  const last =
    parts.find(isDated) ??
    usual.find((name) => holds(layout, name, isNumber) && unitOf(valuesOf(layout, name), name) === undefined) ??
    usual.find((name) => holds(layout, name, (value) => isDate(value) || isNumber(value))) ??
    date ??
    usual[0];
  return last === undefined ? undefined : [last];
}

/** Fields of any name, which the user is asked about. */
export function datedIn(layout: Layout, numbersToo = false): string[] {
  return layout.names.filter((name) => holds(layout, name, (value) => isFullDate(value, numbersToo)));
}

const isNumber = (value: string) => !Number.isNaN(numberOf(value.trim()));

function holds(layout: Layout, name: string, test: (value: string) => boolean): boolean {
  const values = valuesOf(layout, name);
  return values.length > 0 && mostly(values, test);
}

const CLOCK = /^\s*\d{1,2}:\d\d(:\d\d([.,]\d+)?)?(\s*[ap]m)?\s*$/i;

function isDate(value: string): boolean {
  if (!Number.isNaN(Number(value))) return false;
  const text = value.replace(/^[\s[]+|[\s\]]+$/g, '');
  return !Number.isNaN(readDate(text, { year: () => 2000 }));
}

export function isFullDate(value: string, numbersToo: boolean): boolean {
  if (value.includes(':') || /^\d{8}T\d{4}/.test(value)) return value.length <= MAX_DATE && isDate(value);
  return numbersToo && unitOfDate(Number(value || Number.NaN)) !== undefined;
}

const MAX_DATE = 64;

function isDateAlone(value: string): boolean {
  return !value.includes(':') && value.length <= 16 && !/^\d{8,}$/.test(value) && isDate(value);
}

function choiceOf(
  layout: Layout,
  names: readonly string[],
  options: FieldOptions,
  path: string,
  warnings: Warning[],
): TimeChoice {
  const [name = '', clock] = names;
  const { timeUnit } = options;
  const values = valuesOf(layout, name).map((value) => value.trim());
  const isDates = clock !== undefined || mostly(values, isDate);
  if (!isDates && mostly(values, (value) => LIKE_DATE.test(value))) throw noDates(layout, name, values[0]!, path);
  const unit = timeUnit ?? unitOf(values, name) ?? (isDates ? 's' : undefined);
  if (unit === undefined) throw noTimes(layout, name, values, path);
  const mayMix =
    timeUnit === undefined && mostly(values, (text) => unitOfDate(Number(text || Number.NaN)) !== undefined);
  if (clock === undefined && mostly(values, isDateAlone)) {
    warnings.push({
      code: 'date_alone',
      what: 'The time is a date without a clock time: all requests of a day come at its start, unless --count /24h is given.',
    });
  }
  const plain = `${layout.noun}${clock === undefined ? '' : 's'} ${names.map(shown).join(' and ')} (${isDates ? 'date and time' : `unix ${unit}`})`;
  return {
    names,
    style: { unit, mayMix, nowMs: presentOf(values, options.nowMs) },
    from: layout.known?.time === name && layout.known.timeFrom !== undefined ? layout.known.timeFrom : plain,
    unit: isDates ? 'date' : unit,
  };
}

const LIKE_DATE = /^\d{1,4}([/.-])\d{1,2}\1\d{1,4}\b/;

function noDates(layout: Layout, name: string, example: string, path: string): Failure {
  return new Failure('invalid_input', {
    what: `The values of ${columnWords(layout, name)} of ${path} are no times, as ${shown(example)}.`,
    why: 'Dates in digits are read with the year first: day and month cannot be distinguished. A zone is read as +05:30, or by a name that no other zone has.',
    fix: 'Convert them to ISO 8601, or name another with --time.',
  });
}

function noTimes(layout: Layout, name: string, values: readonly string[], path: string): Failure {
  const numbers = values.filter((value) => !Number.isNaN(numberOf(value)));
  const example = numbers.sort((a, b) => numberOf(b) - numberOf(a))[0] ?? '';
  return new Failure('invalid_input', {
    what: `The numbers of ${columnWords(layout, name)} of ${path} cannot be times, as ${shown(example)}.`,
    why: 'They are neither s, ms, us or ns since 1970 nor a clock from 0; FILETIME, WebKit, .NET ticks and days of a spreadsheet are not read.',
    fix: `Convert them to unix s or ISO 8601. If they are s, ms, us or ns, say which, as --time ${shown(name)}:s.`,
  });
}

function wanted(layout: Layout, named: string, path: string, option: string): Wanted {
  const found = wantedIn(layout, named);
  if (found === undefined) throw missing(layout, named, path, option);
  return found;
}

/** A field `host` that already serves as the client is not the server. */
function alsoWanted(layout: Layout, named: string): Wanted | undefined {
  const found = wantedIn(layout, named);
  return named === 'host' && found?.name === wantedIn(layout, 'client')?.name ? undefined : found;
}

function wantedIn(layout: Layout, named: string): Wanted | undefined {
  const [, word = named, hops = '1'] = /^(forwarded|client):(-?[1-9]\d*)$/i.exec(named) ?? [];
  const { names, known } = layout;
  const hop = Number(hops);
  const role = Object.hasOwn(roleNames, word.toLowerCase()) ? (word.toLowerCase() as Role) : undefined;
  const byFormat = role && known?.fields?.[role];
  const own = role === 'client' && byFormat !== undefined ? undefined : resolve(layout, named);
  // An object that is called `client` has the client within.
  const literal = role !== undefined && own !== undefined && !hasTexts(layout, own, role) ? undefined : own;
  const ofLine = role && partsOfLine[role];
  const line = ofLine && textsOf(layout, requestLineNames);
  const name =
    literal ??
    byFormat ??
    (role && (textsOf(layout, roleNames[role], role) ?? usualIn(names, roleNames[role]))) ??
    routeOf();
  if (name === undefined) {
    const path = role === 'query' && line === undefined ? wantedIn(layout, 'path') : undefined;
    if (path !== undefined) return { ...path, extract: ofLine };
    if (line === undefined) return own === undefined ? undefined : { name: own, from: columnWords(layout, own) };
    return { name: line, extract: ofLine, from: `the ${role} in ${columnWords(layout, line)}` };
  }
  const isClient = role === 'client' && name === byFormat;
  const from = isClient && known?.clientFrom !== undefined ? known.clientFrom : columnWords(layout, name);
  const hasPort = isClient && known?.clientHasPort === true;
  const values = valuesOf(layout, name);
  if (role === 'method' && values.some(isUrl)) return { name, from, extract: ofLine };
  if (role === 'path')
    return { name, from, extract: values.some(isUrl) ? (text) => (isUrl(text) ? pathOf(text) : text) : undefined };
  if (role === 'query') return { name, from, extract: (text) => text.replace(/^\?/, '') };
  const isAddress = hasPort || hop !== 1 || values.some(isDressedAddress);
  return {
    name,
    from: hop === 1 ? from : `address ${hop} in ${from}`,
    extract: isAddress ? (text) => addressOf(text, hop, hasPort) : undefined,
  };

  function routeOf(): string | undefined {
    return role === 'path' && line === undefined ? textsOf(layout, routeNames) : undefined;
  }
}

/** Objects, arrays and fields that are always empty have no text; a status that is a level, as `info`, is none. */
function hasTexts(layout: Layout, name: string, role?: Role): boolean {
  return valuesOf(layout, name).some((value) => (role === 'status' ? /\d/.test(value) : value !== ''));
}

function textsOf(layout: Layout, usual: readonly string[], role?: Role): string | undefined {
  for (const word of usual) {
    const found = sameWord(layout.names, word);
    if (found !== undefined && hasTexts(layout, found, role)) return found;
  }
  return undefined;
}

function isUrl(value: string): boolean {
  return /^(\/|\w{2,7}:\/\/|[A-Z]+ \S|([\w-]+\.)+[a-zA-Z]{2,}(:\d+)?\/)/.test(value);
}

function countColumn(
  layout: Layout,
  { countColumn: named, spreadMs = 0, cost }: FieldOptions,
  path: string,
  time: readonly string[],
  warnings: Warning[],
): string | undefined {
  const { known, noun } = layout;
  if (named === false) return undefined;
  if (named !== undefined) {
    const found = resolve(layout, named);
    if (found === undefined) throw missing(layout, named, path, '--count');
    return found;
  }
  if (known?.count !== undefined) return known.count;
  const others = layout.names.filter((name) => !time.includes(name));
  const find = (usual: readonly string[]): string | undefined =>
    usual.map((word) => sameWord(others, word)).find((name) => name !== undefined && areCounts(valuesOf(layout, name)));
  const sure = find(requestNames);
  if (sure !== undefined) return sure;
  const likely = find(countNames);
  if (likely === undefined && spreadMs > 0) {
    throw new Failure('invalid_input', {
      what: `No ${noun} of ${path} is known to be the count that is to be spread.`,
      why: `It has ${listed(layout)}.`,
      fix: 'Name it with --count, as n/60s.',
    });
  }
  const isSingle = spreadMs === 0 && usualIn(others, singleNames) !== undefined;
  if (likely !== undefined && !isSingle) return likely;
  const isFigure = (name: string) =>
    usualIn([name], Object.values(roleNames).flat()) === undefined && areCounts(valuesOf(layout, name));
  const ignored = likely ?? (noun === 'column' && cost === undefined && others.every(isFigure) ? others[0] : undefined);
  if (ignored !== undefined) {
    warnings.push({
      code: 'count_ignored',
      what: `Each row counts as one request: ${columnWords(layout, ignored)} is not read as a number of requests. If it is one, name it with --count.`,
    });
  }
  return undefined;
}

function costColumns(layout: Layout, { cost }: FieldOptions, path: string, time: readonly string[]): string[] {
  if (cost === undefined) return [];
  if (cost.columns !== undefined)
    return cost.columns.map((named) => {
      const found = resolve(layout, named);
      if (found === undefined) throw missing(layout, named, path, '--count');
      return found;
    });
  const word = plainWord(cost.unit).replace(/s$/, '');
  const others = layout.names.filter((name) => !time.includes(name));
  const ending = others.filter((name) => plainWord(name).replace(/s$/, '').endsWith(word));
  const total = ending.filter((name) => plainWord(name.slice(name.lastIndexOf('.') + 1)).startsWith('total'));
  const holding = others.filter((name) => plainWord(name).includes(word));
  const found = total.length === 1 ? total : ending.length > 0 ? ending : holding;
  if (found.length === 1 || (found === ending && found.length > 1)) return [...found];
  const which = found.length === 0 ? 'No' : `${found.map(shown).join(', ')}: no one`;
  throw new Failure('invalid_input', {
    what: `${which} ${layout.noun} of ${path} is known to hold the ${cost.unit} of a request.`,
    why: `It has ${listed(layout)}.`,
    fix: `Name it, or several that are added up, as --count ${cost.unit}=a+b.`,
  });
}

function resolve(layout: Layout, named: string): string | undefined {
  if (layout.names.includes(named)) return named;
  const other = layout.names.find((name) => name.toLowerCase() === named.toLowerCase());
  return other ?? (valuesOf(layout, named).length > 0 ? named : undefined);
}

function missing(layout: Layout, named: string, path: string, option: string): Failure {
  const guess = nearest(named, layout.names);
  return new Failure('invalid_input', {
    what: `${path} has no ${layout.noun} ${named}.`,
    why: `It has ${listed(layout)}.`,
    fix: guess === undefined ? `Name one of them with ${option}.` : `Did you mean ${option} ${shown(guess)}?`,
  });
}

function listed({ names, noun }: Layout): string {
  if (names.length === 0) return `no ${noun}s`;
  const more = names.length - 20;
  return `the ${noun}s ${names.slice(0, 20).map(shown).join(', ')}${more > 0 ? ` and ${more} more` : ''}`;
}

function shown(name: string): string {
  const bytes = Buffer.from(name);
  return name === '' ? '(empty)' : printable(bytes, 0, bytes.length);
}
