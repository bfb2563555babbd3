// Which limits of a gateway's files changed, how, and how many requests of a burst pass before and after.
//
//   old   location /api: api 10r/s burst=20        changed: burst 20 → 5; of 100 at once 21 → 6
//   new   location /api: api 10r/s burst=5
import { namedText } from '../../core/limiter/products/limit-words.js';
import { definitionOf } from '../../core/limiter/products/products.js';
import { play } from '../../core/limiter/products/profile.js';
import { LIMITED } from '../../core/limiter/rule/rule.js';
import { limitsFlight, type RuleDefinition, ruleOf } from '../../core/limiter/rule/rule-definition.js';
import { Failure } from '../../core/schema/failure.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import type { FoundLimiter, GatewayLimits } from './found.js';
import { conditionWords, testWords, textWords, type ValueTest } from './request-condition.js';

export interface LimitChange {
  readonly kind: 'added' | 'removed' | 'changed';
  readonly name: string;
  readonly where: string;
  /** In the new files; in the old ones if the limit was removed. */
  readonly file: string;
  readonly line: number;
  readonly old: string | undefined;
  readonly new: string | undefined;
  readonly differs: readonly string[];
  /** Requests admitted of a simultaneous burst, delayed ones included; undefined for limits on requests in flight. */
  readonly burst: { readonly sent: number; readonly old: number; readonly new: number } | undefined;
}

export function limitChanges(old: GatewayLimits, fresh: GatewayLimits): LimitChange[] {
  const left = new Map(old.limiters.map((one) => [one, wholeOf(one)]));
  const others = fresh.limiters.filter((one) => {
    const whole = wholeOf(one);
    const same = [...left].find(([, other]) => other === whole)?.[0];
    return same === undefined || !left.delete(same);
  });
  const named = new Map([...left.keys()].map((one, index, all) => [nameOf(all, one, index), one]));
  const changes = others.map((one, index): LimitChange => {
    const byName = named.get(nameOf(others, one, index));
    const before =
      byName !== undefined && left.has(byName) ? byName : (moved(left, one) ?? rewritten(left, one, others));
    if (before !== undefined) left.delete(before);
    const differs = before === undefined ? [] : differences(before, one);
    return changeOf(before === undefined ? 'added' : 'changed', before, one, differs);
  });
  return [...changes, ...[...left.keys()].map((one) => changeOf('removed', one, undefined, []))];
}

function nameOf(all: readonly FoundLimiter[], one: FoundLimiter, index: number): string {
  const same = (other: FoundLimiter) => other.name === one.name && other.where === one.where;
  return JSON.stringify([one.where, one.name, all.slice(0, index).filter(same).length]);
}

/** The same limit under another name or place; undefined if there is none, or several. */
function moved(left: ReadonlyMap<FoundLimiter, unknown>, one: FoundLimiter): FoundLimiter | undefined {
  const alike = [...left.keys()].filter(
    (other) => (other.where === one.where || other.name === one.name) && limitWords(other) === limitWords(one),
  );
  return alike.length === 1 ? alike[0] : undefined;
}

/** The same requests limited in another format; undefined if there is none, or several. */
function rewritten(
  left: ReadonlyMap<FoundLimiter, unknown>,
  one: FoundLimiter,
  others: readonly FoundLimiter[],
): FoundLimiter | undefined {
  const isAlike = (other: FoundLimiter) => placeWords(other) === placeWords(one);
  const alike = [...left.keys()].filter((other) => isAlike(other) && other.limit?.like !== one.limit?.like);
  return alike.length === 1 && others.filter(isAlike).length === 1 ? alike[0] : undefined;
}

/** Its requests, by hosts, path and condition; nginx has the path in the name of its place. */
function placeWords({ hosts, paths, when, where, counts }: FoundLimiter): string {
  const [, sign = '', text = '/'] = /(?:^|, )location (=|\^~|~\*?)? ?(.*)$/.exec(where) ?? [];
  const is = sign === '=' ? 'equal' : sign.startsWith('~') ? 'matching' : 'prefix';
  const own: ValueTest[] = is === 'prefix' && text === '/' ? [] : [{ is, value: text, ignoresCase: sign === '~*' }];
  const all = (paths.length > 0 ? paths : own).map((one) => testWords(one));
  return JSON.stringify([[...hosts].sort(), all, when && conditionWords(when), counts]);
}

function changeOf(
  kind: LimitChange['kind'],
  old: FoundLimiter | undefined,
  fresh: FoundLimiter | undefined,
  differs: readonly string[],
): LimitChange {
  const one = (fresh ?? old)!;
  const { name, where } = one;
  const isDefined = differs.length > 0 && differs.every((what) => DEFINED.test(what));
  const { file, line } = (isDefined ? one.defined : undefined) ?? one;
  return {
    kind,
    name,
    where,
    file,
    line,
    old: old && limitWords(old),
    new: fresh && limitWords(fresh),
    differs,
    burst: burstOf(old, fresh),
  };
}

/** Words written where a limit is defined, not where it is applied. */
const DEFINED = /^(?:rate|key|period|expire) /;

function limitWords({ limit, isDryRun }: FoundLimiter): string {
  const { like = 'none', ...parameters } = limit ?? {};
  return `${namedText(String(like), parameters)}${isDryRun ? ', dry run' : ''}`;
}

const TRAITS: readonly (readonly [what: string, of: (one: FoundLimiter) => unknown])[] = [
  ['key', ({ key }) => (key.value === undefined ? key.text : textWords(key.value))],
  ['condition', ({ when }) => when && conditionWords(when)],
  ['refused if', ({ refuses }) => refuses && conditionWords(refuses)],
  ['status', ({ status }) => status ?? 'closed'],
  ['dry run', ({ isDryRun }) => (isDryRun ? 'on' : 'off')],
  ['name', ({ name }) => name],
  ['place', ({ where }) => where],
  ['hosts', ({ hosts }) => hosts.join(', ')],
  ['path', ({ paths }) => paths.map((one) => testWords(one)).join(' or ')],
];

/** The same for a rule in other units: 60s, 1m. */
const ruleText = (one: FoundLimiter) => JSON.stringify([one.limit?.like, one.limit && ruleIn(one)]);

/** Of a limit that neither differs nor is elsewhere. */
export const wholeOf = (one: FoundLimiter) => JSON.stringify([ruleText(one), ...TRAITS.map(([, of]) => of(one))]);

function differences(old: FoundLimiter, fresh: FoundLimiter): string[] {
  const names = ruleText(old) === ruleText(fresh) ? [] : Object.keys({ ...old.limit, ...fresh.limit });
  const rows: typeof TRAITS = [
    ...names.map((name) => [name === 'like' ? 'product' : name, ({ limit }: FoundLimiter) => limit?.[name]] as const),
    ...TRAITS,
  ];
  const shown = (value: unknown) => (value === undefined || value === '' ? 'none' : String(value));
  return rows.flatMap(([what, of]) => {
    const [before, after] = [shown(of(old)), shown(of(fresh))];
    return before === after ? [] : [`${what} ${cut(before)} → ${cut(after)}`];
  });
}

const MOST_TEXT = 300;
const cut = (text: string) => (text.length > MOST_TEXT ? `${text.slice(0, MOST_TEXT)}…` : text);

const SMALLEST_BURST = 100;
const LARGEST_BURST = 1_000_000;

/** The smallest burst, in powers of ten, that one side does not admit whole. */
function burstOf(old: FoundLimiter | undefined, fresh: FoundLimiter | undefined): LimitChange['burst'] {
  const sides = [old, fresh].map((one) => (one?.limit === undefined || one.isDryRun ? undefined : ruleIn(one)));
  if (sides.some((one) => one !== undefined && limitsFlight(one))) return undefined;
  for (let sent = SMALLEST_BURST; ; sent *= 10) {
    const [before, after] = sides.map((one) => (one === undefined ? sent : passed(one, sent)));
    if (Math.min(before!, after!) < sent || sent >= LARGEST_BURST) return { sent, old: before!, new: after! };
  }
}

function passed(rule: RuleDefinition, sent: number): number {
  return play(
    ruleOf(rule),
    Array.from({ length: sent }, () => 0),
  ).filter((delay) => delay !== LIMITED).length;
}

export function fittingLimits(gateway: GatewayLimits): GatewayLimits {
  const faults = gateway.limiters.flatMap((limiter) => {
    try {
      if (limiter.limit !== undefined) ruleIn(limiter);
      return [];
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return [{ limiter, what: `${limiter.name}: ${error.why ?? error.what}`.replace(/\.$/, '') }];
    }
  });
  const bad = new Set(faults.map(({ limiter }) => limiter));
  return {
    ...gateway,
    limiters: gateway.limiters.filter((one) => !bad.has(one)),
    notUnderstood: [
      ...gateway.notUnderstood,
      ...faults.map(({ limiter: { file, line }, what }) => ({ file, line, what })),
    ],
  };
}

/** @throws Failure `invalid_definition` if a parameter is out of bounds */
export function ruleIn({ limit }: FoundLimiter): RuleDefinition {
  return definitionOf(limit, CYCLE_MS);
}
