// Descriptors of envoyproxy/ratelimit: which limits those meet that a route sends.
//
//   - key: path                        sent: path=/login, remote_address=…
//     descriptors:                     an entry with the value has precedence over one without
//     - key: remote_address            each address counts separately
//
// Source: the README of envoyproxy/ratelimit.
import { at, isGiven, listAt, numberAt, type TreeEntry, textAt } from './document.js';
import type { FoundLimiter, FoundLimits, KeyPart, Like, LimitKey } from './found.js';

export const isDomain = (root: TreeEntry) =>
  textAt(root, 'domain') !== undefined && at(root, 'descriptors') !== undefined;

export const units = ['second', 'minute', 'hour', 'day', 'week', 'month', 'year'];

/** `key=value`, or `key` where the value is that of the request. */
export function entrySent(action: TreeEntry): string {
  const [kind = '', given] = [...action.fields][0] ?? [];
  const own = textAt(given, 'descriptor_key');
  if (/^generic_?[kK]ey$/.test(kind)) return `${own ?? 'generic_key'}=${textAt(given, 'descriptor_value')}`;
  if (/^header_?[vV]alue_?[mM]atch$/.test(kind)) return `${own ?? 'header_match'}=${textAt(given, 'descriptor_value')}`;
  return own ?? kind.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);
}

/** What an access log has of an entry that an action takes from the request. */
function partSent(action: TreeEntry, found: FoundLimits): KeyPart | undefined {
  const [kind = '', given] = [...action.fields][0] ?? [];
  const header = textAt(given, 'header_name')?.toLowerCase();
  if (/^remote_?[aA]ddress$/.test(kind)) return 'client';
  if (header === ':method') return 'method';
  if (header === ':authority' || header === 'host') return 'host';
  if (header !== ':path') return undefined;
  found.refuse(action.file, action.line, 'the path with its query is a part of the key; here the path alone is');
  return 'path';
}

/** The descriptors of envoyproxy/ratelimit: a limit belongs to the path of keys and values that leads to it. */
export class Domains {
  readonly #roots: readonly TreeEntry[];
  readonly #asked = new Set<string>();
  readonly #read = new Map<TreeEntry, FoundLimiter[]>();

  constructor(
    roots: readonly TreeEntry[],
    readonly found: FoundLimits,
  ) {
    this.#roots = roots.filter(isDomain);
  }

  /** The limits of what a route sends: an entry with the value has precedence over one without. */
  reached(domain: string, limits: readonly TreeEntry[]): readonly FoundLimiter[] {
    this.#asked.add(domain);
    const root = this.#roots.find((one) => textAt(one, 'domain') === domain);
    return limits.flatMap((limit) => {
      const actions = listAt(limit, 'actions');
      const trail: Part[] = [];
      const parts: (KeyPart | undefined)[] = [];
      let level = listAt(root, 'descriptors');
      let last: TreeEntry | undefined;
      for (const action of actions) {
        const [key = '', value] = entrySent(action).split(/=(.*)/s);
        const named = level.filter((one) => textAt(one, 'key') === key);
        const open = named.find((one) => textAt(one, 'value') === undefined);
        last = (value === undefined ? undefined : named.find((one) => textAt(one, 'value') === value)) ?? open;
        if (value === undefined)
          for (const one of named.filter((other) => other !== open))
            this.found.refuse(
              one.file,
              one.line,
              `requests with ${key}=${textAt(one, 'value')} have limits of their own; here ${open === undefined ? 'they have none' : 'they count as the others'}`,
            );
        if (last === undefined) return [];
        if (last === open && value === undefined) parts.push(partSent(action, this.found));
        trail.push({ name: key, value: textAt(last, 'value') });
        level = listAt(last, 'descriptors');
      }
      if (last === undefined) return [];
      const { text } = keyOfEntries(trail);
      const key = { text, parts: parts.includes(undefined) ? undefined : (parts as KeyPart[]) };
      return this.#limiter(last, trail, { reach: 'known', key });
    });
  }

  /** Those that no route of these files sends. */
  finish(): void {
    const visit = (entry: TreeEntry, above: readonly Part[], isAsked: boolean): void => {
      const trail = [...above, { name: textAt(entry, 'key') ?? '', value: textAt(entry, 'value') }];
      if (!this.#read.has(entry)) this.#limiter(entry, trail, { reach: 'unknown', key: keyOfEntries(trail) }, isAsked);
      for (const inner of listAt(entry, 'descriptors')) visit(inner, trail, isAsked);
    };
    for (const root of this.#roots)
      for (const one of listAt(root, 'descriptors')) visit(one, [], this.#asked.has(textAt(root, 'domain') ?? ''));
  }

  #limiter(
    entry: TreeEntry,
    trail: readonly Part[],
    place: Pick<FoundLimiter, 'reach' | 'key'>,
    isUnsent = false,
  ): readonly FoundLimiter[] {
    const known = this.#read.get(entry);
    if (known !== undefined) return known;
    const read: FoundLimiter[] = [];
    this.#read.set(entry, read);
    const given = at(entry, 'rate_limit');
    if (given === undefined) return read;
    const { file, line } = entry;
    const name = trail.map((one) => (one.value === undefined ? one.name : `${one.name}=${one.value}`)).join('/');
    for (const field of ['replaces', 'share_threshold', 'unit_multiplier'])
      if (isGiven(at(given, field) ?? at(entry, field)))
        this.found.refuse(file, (at(given, field) ?? at(entry, field))!.line, `${field} is not read`);
    const isUnlimited = textAt(given, 'unlimited') === 'true';
    const limit = isUnlimited ? undefined : windowLimit(given, this.found);
    if (!isUnlimited && limit === undefined) return read;
    if (isUnsent)
      this.found.unused(file, {
        name,
        line,
        what: `${name} limits nothing: no route in these files sends it`,
        key: place.key,
        limit,
      });
    else
      read.push(
        this.found.limiter(file, {
          name,
          line,
          where: `descriptor ${name}`,
          ...place,
          limit,
          isDryRun: textAt(entry, 'shadow_mode') === 'true' || textAt(entry, 'quota_mode') === 'true',
        }),
      );
    return read;
  }
}

interface Part {
  readonly name: string;
  readonly value: string | undefined;
}

function windowLimit(given: TreeEntry, found: FoundLimits): Like | undefined {
  const unit = (textAt(given, 'unit') ?? '').toLowerCase();
  const requests = numberAt(given, 'requests_per_unit');
  if (requests !== undefined && units.includes(unit))
    return { like: 'envoy-ratelimit', requests_per_unit: requests, unit };
  found.refuse(given.file, given.line, 'the rate_limit has no number of requests or no unit');
  return undefined;
}

const parts: Readonly<Record<string, KeyPart>> = {
  remote_address: 'client',
  masked_remote_address: 'client',
  path: 'path',
  ':path': 'path',
  method: 'method',
  ':method': 'method',
  host: 'host',
  ':authority': 'host',
};

/** An entry with a value is a constant. */
export function keyOfEntries(trail: readonly Part[]): LimitKey {
  const open = trail.filter(({ value }) => value === undefined).map(({ name }) => name);
  const known = open.map((name) => parts[name.toLowerCase()]);
  const text = open.length === 0 ? 'all requests with this descriptor' : `each ${open.join(', ')}`;
  return { text, parts: known.includes(undefined) ? undefined : (known as KeyPart[]) };
}

export const actionsOf = (entry: TreeEntry | undefined) => listAt(entry, 'rate_limits');

/** The descriptors that the routes send, each as its entries. */
export function sentIn(manager: TreeEntry): readonly (readonly string[])[] {
  const sent: string[][] = [];
  const look = (entry: TreeEntry): void => {
    for (const limit of actionsOf(entry)) sent.push(listAt(limit, 'actions').map(entrySent));
    for (const inner of [...entry.fields.values(), ...entry.items]) look(inner);
  };
  look(manager);
  return sent;
}
