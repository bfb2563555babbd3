// Which old limit a new one replaces, whatever their formats: the same requests, by host and path, then by key and pace.
//
//   Ingress api, host a.example: /api   ──►   HTTPRoute api: a.example/api     26 → 5 at once; key: each client address → *all clients together*
import { number } from '../../report/words.js';
import { type FoundLimiter, type GatewayLimits, isHost, type Reach } from './found.js';
import type { LimitKey } from './limit-key.js';
import { admittedAtOnce, paceOf } from './limit-rule.js';
import * as ask from './request-condition.js';

export interface LimitPair {
  readonly old: FoundLimiter;
  readonly new: FoundLimiter;
}

type Side = Pick<GatewayLimits, 'rows'>;

/** Greedily, the likest first. A limit in several parts has several pairs, each of other requests. */
export function pairsOf(
  [old, left]: readonly [Side, readonly FoundLimiter[]],
  [fresh, others]: readonly [Side, readonly FoundLimiter[]],
): LimitPair[] {
  const places = new Map([
    ...left.map((one) => [one, placesOf(old, left, one)] as const),
    ...others.map((one) => [one, placesOf(fresh, others, one)] as const),
  ]);
  const meets = (a: FoundLimiter, b: FoundLimiter) => likeness(places.get(a)!, places.get(b)!) > 0;
  const all = left.flatMap((one) =>
    others.flatMap((other) => {
      const alike = likeness(places.get(one)!, places.get(other)!);
      const isFar = one.limit?.like === other.limit?.like && alike < SAME;
      if (alike === 0 || isFar || one.counts !== other.counts) return [];
      const isOne = (of: (limiter: FoundLimiter) => string) => (of(one) === of(other) ? 1 : 0);
      const [pace, otherPace] = [paceOf(one) ?? 1, paceOf(other) ?? 1];
      const far = Math.max(pace / otherPace, otherPace / pace);
      const rank = 100 * alike + 4 * isOne(({ key }) => keyWords(key)) + 2 * isOne(conditionOf) + 1 / far;
      return [{ old: one, new: other, rank }];
    }),
  );
  const pairs: LimitPair[] = [];
  for (const one of all.sort((a, b) => b.rank - a.rank)) {
    const isTaken = pairs.some(
      (pair) =>
        (pair.old === one.old && pair.new.counter !== one.new.counter && meets(pair.new, one.new)) ||
        (pair.new === one.new && pair.old.counter !== one.old.counter && meets(pair.old, one.old)),
    );
    if (!isTaken) pairs.push({ old: one.old, new: one.new });
  }
  return pairs;
}

/** What else than host and path decides; it may be in the key. */
function conditionOf({ when = ask.ALWAYS, key }: FoundLimiter): string {
  const isOfRoute = (one: ask.RequestCondition) => {
    const { fields, missing } = ask.needsOf([one]);
    return missing.size === 0 && [...fields].every((field) => field === 'host' || field === 'path');
  };
  const asked = (when.kind === 'and' ? when.of : [when]).filter((one) => !isOfRoute(one)).map(ask.inWords);
  return [...asked, ...(key.value?.kind === 'choice' ? ['in its key'] : [])].join(' and ');
}

/** The reaches of the routes that it limits, else its own. */
function reachesOf({ rows }: Side, limiter: FoundLimiter): readonly Reach[] {
  const own = rows.filter(({ limiters }) => limiters.includes(limiter));
  return own.length > 0 ? own : [limiter];
}

/** The places of all limits that share its count. */
const placesOf = (side: Side, all: readonly FoundLimiter[], { counter }: FoundLimiter) =>
  hostPaths(all.filter((one) => one.counter === counter).flatMap((one) => reachesOf(side, one)));

/** `a.example /api*`: what begins so, of whole segments or not; `* /api`: it alone; `~…`: an expression that is more. */
export function hostPaths(reaches: readonly Reach[]): readonly string[] {
  const all = reaches.flatMap(({ hosts, paths }) =>
    (hosts.length === 0 ? ['*'] : hosts).flatMap((host) =>
      (paths.length === 0 ? ['*'] : paths.map(pathOf)).map((path) => `${host.toLowerCase()} ${path}`),
    ),
  );
  return [...new Set(all)].filter((place) => !all.includes(`${place}*`));
}

const BEGINS = /^\^?((?:[\w/-]|\\.)*?)\/?(?:\(?\.\*\)?|\(\/\|\$\)\(\.\*\))?$/;

function pathOf({ is, value }: ask.ValueTest): string {
  // What matches a whole path begins so only if it goes on with anything.
  const [, inner = value, end] = /^\^\(\?:(.*)\)(\$?)$/s.exec(value) ?? [];
  const isOpen = end !== '$' || /\.\*\)?$/.test(inner);
  const [, begin] = is === 'matching' && isOpen ? (BEGINS.exec(inner) ?? []) : [];
  if (is === 'equal') return value;
  return is === 'prefix' || begin !== undefined ? `${(begin ?? value).replace(/\\|\/$/g, '')}*` : `~${value}`;
}

const SAME = 1;

/** 0: no request meets both. 1: the same requests do. */
export function likeness(some: readonly string[], others: readonly string[]): number {
  const same = some.filter((one) => others.includes(one)).length;
  if (same > 0) return (SAME * same) / Math.max(some.length, others.length);
  return some.some((one) => others.some((other) => covers(one, other) || covers(other, one))) ? 0.01 : 0;
}

/** Whether all requests of the second are of the first, but for those of several hosts. */
export function covers(one: string, other: string): boolean {
  const [host = '', path = ''] = one.split(/ (.*)/s);
  const [otherHost = '', otherPath = ''] = other.split(/ (.*)/s);
  const isOfHost = [host, otherHost].includes('*') || isHost(host, otherHost) || isHost(otherHost, host);
  return isOfHost && (path === otherPath || (path.endsWith('*') && otherPath.startsWith(path.slice(0, -1))));
}

export function keyWords({ text, parts, value }: LimitKey): string {
  if (value !== undefined && value.kind !== 'choice') return ask.inWords(value);
  if (parts === undefined) return text.startsWith('each ') ? text : `each ${text}`;
  if (parts.length === 0) return '*all clients together*';
  return `each ${parts.map((part) => (part === 'client' ? 'client address' : part)).join(' and ')}`;
}

/** What a move changes, in figures and words of no product. */
export function moveWords({ old, new: fresh }: LimitPair): string[] {
  const isRate = [old, fresh].every((one) => paceOf(one) !== undefined);
  const rows: readonly (readonly [of: (one: FoundLimiter) => string | number, before: string, after: string])[] = [
    isRate ? [burstWords, '', ' at once'] : [({ limit }) => String(Object.values(limit ?? {})[1]), '', ' in flight'],
    [(one) => (isRate ? paceWords(paceOf(one)!) : ''), '', ''],
    [({ key }) => keyWords(key), 'key: ', ''],
    [(one) => conditionOf(one) || 'none', 'condition: ', ''],
    [({ status }) => status ?? 'closed', 'status: ', ''],
    [({ isDryRun }) => (isDryRun ? 'on' : 'off'), 'dry run: ', ''],
  ];
  return rows.flatMap(([of, before, after], i) => {
    const [was, is] = [of(old), of(fresh)];
    return was === is && i > 0 ? [] : [`${before}${was} → ${is}${after}`];
  });
}

function burstWords(limiter: FoundLimiter): string {
  const { atOnce, held } = admittedAtOnce(limiter);
  return held === 0 ? number(atOnce) : `${number(atOnce)} (+ ${number(held)} held)`;
}

function paceWords(perMs: number): string {
  const [n, unit] = perMs >= 0.001 ? [1000 * perMs, 's'] : [60_000 * perMs, 'min'];
  return `${Number(n.toPrecision(4))}/${unit}`;
}
