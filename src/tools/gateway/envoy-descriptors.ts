// Descriptors of envoyproxy/ratelimit: which limits match the descriptors sent by a route.
//
//   - key: path                        sent: path=/login, remote_address=…
//     descriptors:                     an exact value has precedence over a pattern, and a pattern over no value
//     - key: remote_address            each address counts separately, as does each value that matches a pattern: files/*
//
// Source: the README of envoyproxy/ratelimit.
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { at, isGiven, listAt, numberAt, numbersAt, type TreeEntry, textAt, walk } from './document.js';
import { durationOf } from './duration.js';
import { literal } from './expression.js';
import type { FoundLimiter, FoundLimits, Like, Reach } from './found.js';
import { envoyCondition, envoyText } from './header-match.js';
import { headerText, keyOfAll, type LimitKey } from './limit-key.js';
import * as ask from './request-condition.js';

export const isDomain = (root: TreeEntry) =>
  textAt(root, 'domain') !== undefined && at(root, 'descriptors') !== undefined;

export const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'];

/** `key=value`, or `key` if the value comes from the request. */
function entrySent(action: TreeEntry): string {
  const [kind = '', given] = [...action.fields][0] ?? [];
  const own = textAt(given, 'descriptor_key');
  if (/^generic_?[kK]ey$/.test(kind)) return `${own ?? 'generic_key'}=${textAt(given, 'descriptor_value')}`;
  const [, matched] = /^(header|query)(?:_?parameter)?_?value_?match$/i.exec(kind) ?? [];
  if (matched !== undefined) return `${own ?? `${matched}_match`}=${textAt(given, 'descriptor_value')}`;
  return (
    own ??
    textAt(given, 'typed_config', 'descriptor_key') ??
    kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`)
  );
}

/** The text of a request that an action without a value sends. */
function textSent(action: TreeEntry): ask.RequestText {
  const [kind = '', given] = [...action.fields][0] ?? [];
  return /^remote_?[aA]ddress$/.test(kind) ? ask.fieldText('client') : headerText(textAt(given, 'header_name') ?? '');
}

/** What a descriptor that is sent leads to. */
interface Reached {
  readonly entry: TreeEntry;
  readonly trail: readonly Part[];
  readonly parts: readonly (ask.RequestField | undefined)[];
  readonly when: ask.RequestCondition;
}

/** A limit belongs to the path of keys and values that leads to it. */
export class Domains {
  readonly #roots: readonly TreeEntry[];
  readonly #asked = new Set<string>();
  /** By the requests that meet them, as text. */
  readonly #read = new Map<TreeEntry, Map<string, FoundLimiter[]>>();
  readonly #unclear = new Set<TreeEntry>();

  constructor(
    roots: readonly TreeEntry[],
    readonly found: FoundLimits,
  ) {
    this.#roots = roots.filter(isDomain);
  }

  has(domain: string): boolean {
    return this.#roots.some((one) => textAt(one, 'domain') === domain);
  }

  reached(domain: string, limits: readonly TreeEntry[], hosts: readonly string[] = []): readonly FoundLimiter[] {
    this.#asked.add(domain);
    const named = this.#roots.filter((one) => textAt(one, 'domain') === domain);
    return limits.flatMap((limit) => {
      if (named.length > 0) this.found.read.add(limit.file);
      const { paths, when = ask.ALWAYS } = reachSent(limit);
      const level = named.flatMap((root) => listAt(root, 'descriptors'));
      return this.#follow(level, listAt(limit, 'actions'), { trail: [], parts: [], when }).flatMap((one) => {
        const key = keyOfAll(keyOfEntries(one.trail).text, one.parts);
        const place = { reach: 'known', key, hosts, paths, when: one.when } as const;
        return this.#limiter(one.entry, one.trail, place);
      });
    });
  }

  #follow(
    level: readonly TreeEntry[],
    [action, ...rest]: readonly TreeEntry[],
    above: Omit<Reached, 'entry'>,
  ): readonly Reached[] {
    if (action === undefined) return [];
    const [key = '', value] = entrySent(action).split(/=(.*)/s);
    const entries = level.filter((one) => textAt(one, 'key') === key);
    return this.#choices(entries, value, textSent(action), key).flatMap(({ entry, parts, when }) => {
      const here = {
        entry,
        trail: [...above.trail, partOf(entry)],
        parts: [...above.parts, ...parts],
        when: ask.allHold(above.when, when),
      };
      return rest.length === 0 ? [here] : this.#follow(listAt(entry, 'descriptors'), rest, here);
    });
  }

  /** The entry for a value; of a text of the request those for its values, each with the requests that have one. */
  #choices(
    entries: readonly TreeEntry[],
    value: string | undefined,
    text: ask.RequestText,
    key: string,
  ): readonly Omit<Reached, 'trail'>[] {
    const ofValue = (one: TreeEntry) => textAt(one, 'value') ?? '';
    const open = entries.find((one) => ofValue(one) === '' || (value === undefined && ofValue(one) === '*'));
    const others = entries.filter((one) => one !== open && ofValue(one) !== '');
    const patterns = others.filter((one) => partOf(one).isPattern);
    const all = [...others.filter((one) => !patterns.includes(one)), ...patterns];
    if (value !== undefined) {
      const entry = all.find((one) => ofValue(one) === value || ask.passes(testOfValue(ofValue(one)), value)) ?? open;
      return entry === undefined ? [] : [{ entry, parts: [], when: ask.ALWAYS }];
    }
    const part = text.kind === 'field' ? text.field : undefined;
    if (part === undefined)
      for (const one of others) {
        this.#unclear.add(one);
        const rest = open === undefined ? 'they have none' : 'they count as the others';
        this.found.refuse(one, `requests with ${key}=${ofValue(one)} have limits of their own; here ${rest}`);
      }
    const before: ask.RequestCondition[] = [];
    const chosen = (part === undefined ? [] : all).map((entry) => {
      const held = ask.tested(text, testOfValue(ofValue(entry)));
      const { isPattern, isOpen } = partOf(entry);
      const when = isPattern ? ask.allHold(held, ...before.map(ask.not)) : held;
      before.push(held);
      return { entry, parts: isOpen ? [part] : [], when };
    });
    return [
      ...chosen,
      ...(open === undefined ? [] : [{ entry: open, parts: [part], when: ask.allHold(...before.map(ask.not)) }]),
    ];
  }

  /** Adds limits that no route of these files sends. */
  finish(): void {
    const visit = (entry: TreeEntry, above: readonly Part[], isAsked: boolean): void => {
      for (const [name, one] of [...entry.fields, ...(at(entry, 'rate_limit')?.fields ?? [])])
        if (!FIELDS.includes(name)) this.found.refuse(one, `${name} is not a field of a descriptor that is read`);
      if (this.#unclear.has(entry)) return;
      const trail = [...above, partOf(entry)];
      if (!this.#read.has(entry)) this.#limiter(entry, trail, { reach: 'unknown', key: keyOfEntries(trail) }, isAsked);
      for (const inner of listAt(entry, 'descriptors')) visit(inner, trail, isAsked);
    };
    for (const root of this.#roots) {
      for (const [entry] of walk(root)) {
        const names = listAt(entry, 'descriptors').map((one) => `${textAt(one, 'key')} ${textAt(one, 'value') ?? ''}`);
        for (const [i, one] of listAt(entry, 'descriptors').entries())
          if (names.indexOf(names[i]!) < i)
            this.found.refuse(one, `Envoy's service refuses the key ${names[i]!.trim()}: it is there twice`);
      }
      for (const one of listAt(root, 'descriptors')) visit(one, [], this.#asked.has(textAt(root, 'domain') ?? ''));
    }
  }

  #limiter(
    entry: TreeEntry,
    trail: readonly Part[],
    place: Pick<FoundLimiter, 'reach' | 'key'> & Partial<Reach>,
    isUnsent = false,
  ): readonly FoundLimiter[] {
    const all = getOrInsert(this.#read, entry, () => new Map<string, FoundLimiter[]>());
    const { hosts, paths, when } = place;
    const met = JSON.stringify([hosts, paths, when]);
    const known = all.get(met);
    if (known !== undefined) return known;
    const read: FoundLimiter[] = [];
    all.set(met, read);
    const given = at(entry, 'rate_limit');
    if (given === undefined) return read;
    const name = titleOfEntries(trail);
    for (const field of ['replaces', 'unit_multiplier'])
      if (isGiven(at(given, field) ?? at(entry, field)))
        this.found.refuse((at(given, field) ?? at(entry, field))!, `${field} is not read`);
    const isUnlimited = textAt(given, 'unlimited') === 'true';
    const limit = isUnlimited ? undefined : windowLimit(given, this.found);
    if (!isUnlimited && limit === undefined) return read;
    read.push(
      ...this.found.unless(isUnsent ? 'no route in these files sends it' : undefined, entry, {
        name,
        where: `descriptor ${name}`,
        counter: `${entry.file} ${entry.line} ${name}`,
        ...place,
        limit,
        isDryRun: textAt(entry, 'shadow_mode') === 'true' || textAt(entry, 'quota_mode') === 'true',
      }),
    );
    return read;
  }
}

const FIELDS = [
  ...['key', 'value', 'descriptors', 'rate_limit', 'unit', 'requests_per_unit', 'unlimited', 'name', 'detailed_metric'],
  ...['value_to_metric', 'shadow_mode', 'quota_mode', 'share_threshold', 'replaces', 'unit_multiplier'],
];

interface Part {
  readonly name: string;
  readonly value: string | undefined;
  readonly isPattern?: boolean;
  /** Each value that matches the pattern counts separately. */
  readonly isOpen?: boolean;
}

function partOf(entry: TreeEntry): Part {
  const value = textAt(entry, 'value');
  const isPattern = value?.includes('*') === true;
  const isOpen = isPattern && textAt(entry, 'share_threshold') !== 'true';
  return { name: textAt(entry, 'key') ?? '', value, isPattern, isOpen };
}

const testOfValue = (value: string) => (value.includes('*') ? ask.starred(value) : ask.equalTo(value));

function windowLimit(given: TreeEntry, found: FoundLimits): Like | undefined {
  const unit = (textAt(given, 'unit') ?? '').toLowerCase();
  const requests = numberAt(given, 'requests_per_unit');
  if (requests !== undefined && units.includes(unit))
    return { like: 'envoy-ratelimit', requests_per_unit: requests, unit };
  return found.refuse(given, 'the rate_limit has no number of requests or no unit');
}

const parts: Readonly<Record<string, ask.RequestField>> = {
  remote_address: 'client',
  masked_remote_address: 'client',
  path: 'path',
  ':path': 'path',
  method: 'method',
  ':method': 'method',
  host: 'host',
  ':authority': 'host',
};

export const titleOfEntries = (trail: readonly Part[]) =>
  trail.map(({ name, value }) => (value === undefined ? name : `${name}=${value}`)).join('/');

export function keyOfEntries(trail: readonly Part[]): LimitKey {
  const open = trail.filter(({ value, isOpen }) => value === undefined || isOpen === true).map(({ name }) => name);
  const text = open.length === 0 ? 'all requests with this descriptor' : `each ${open.join(', ')}`;
  return keyOfAll(
    text,
    open.map((name) => parts[name.toLowerCase()]),
  );
}

export const actionsOf = (entry: TreeEntry | undefined) => listAt(entry, 'rate_limits');

export const entriesSent = (limit: TreeEntry): readonly string[] => listAt(limit, 'actions').map(entrySent);

export const sentIn = (tree: TreeEntry): readonly TreeEntry[] =>
  [...walk(tree)].flatMap(([entry]) => actionsOf(entry).filter((one) => at(one, 'actions') !== undefined));

/** The requests that send the descriptor. @param entries whose values texts of the request are to have */
export function reachSent(limit: TreeEntry, entries: readonly Part[] = []): Pick<Reach, 'paths' | 'when'> {
  const asked = listAt(limit, 'actions').map((action, i): Pick<Reach, 'paths' | 'when'> => {
    const [kind = '', given] = [...action.fields][0] ?? [];
    const value = entrySent(action).includes('=') ? undefined : entries[i]?.value;
    if (value !== undefined) return { paths: [], when: ask.tested(textSent(action), ask.equalTo(value)) };
    if (!/_?[mM]atch$/.test(kind)) return { paths: [] };
    const headers = listAt(given, 'headers');
    const [header] = headers;
    const isExpected = textAt(given, 'expect_match') !== 'false';
    const isOfPath = headers.length === 1 && textAt(header, 'name') === ':path' && isExpected;
    const paths =
      isOfPath && !isGiven(at(header, 'invert_match')) ? pathsOf(at(header, 'string_match') ?? header!) : [];
    if (paths.length > 0) return { paths };
    const held = envoyCondition(given);
    return { paths: [], when: isExpected ? held : ask.not(held) };
  });
  return { paths: asked.flatMap(({ paths }) => paths), when: ask.allHold(...asked.flatMap((one) => one.when ?? [])) };
}

/** Of a route or header match: `prefix`, `path_separated_prefix`, `path` or `exact`, `safe_regex`. */
export function pathsOf(match: TreeEntry): ask.ValueTest[] {
  const [separated, test] = [textAt(match, 'path_separated_prefix'), envoyText(match)];
  const ignoresCase = textAt(match, 'case_sensitive') === 'false';
  if (separated !== undefined) return [{ is: 'matching', value: `^${literal(separated)}(?:/|$)`, ignoresCase }];
  const isOpen = test === undefined || (test.is === 'prefix' && test.value === '/');
  return isOpen || test.is === 'suffix' || test.is === 'containing' ? [] : [test];
}

/** A bucket in each process: `token_bucket`, `tokenBucket`. */
export function bucketOf(bucket: TreeEntry, found: FoundLimits): Like | undefined {
  const wrapped = ['max_tokens', 'tokens_per_fill'].map(
    (name) => [name, at(bucket, name, 'value') ?? at(bucket, name)] as const,
  );
  const fields = new Map(wrapped.flatMap(([name, one]) => (one === undefined ? [] : [[name, one] as const])));
  const given = numbersAt({ ...bucket, fields }, found, 'max_tokens?', 'tokens_per_fill?');
  const [seconds, nanos] = [numberAt(bucket, 'fill_interval', 'seconds'), numberAt(bucket, 'fill_interval', 'nanos')];
  const written =
    seconds === undefined && nanos === undefined
      ? textAt(bucket, 'fill_interval')
      : `${(seconds ?? 0) + (nanos ?? 0) / 1e9}s`;
  const interval = written === undefined ? undefined : durationOf(written);
  if (given?.max_tokens === undefined || interval === undefined)
    return found.refuse(bucket, 'the token_bucket has no number of tokens or no fill_interval');
  return { like: 'envoy-local', ...given, fill_interval: interval };
}

/** In percent. */
export function sayShares(at: TreeEntry, enabled: number, enforced: number, found: FoundLimits): void {
  const shares = { 'requests meet the limit': enabled, 'the refusals are enforced': enforced };
  for (const [what, share] of Object.entries(shares))
    if (share > 0 && share < 100) found.refuse(at, `only ${share} % of ${what}; here all`);
}
