// Which limits of a gateway's files changed, how, and how many requests of a burst pass before and after.
//
//   old   location /api: api 10r/s burst=20        changed: burst 20 → 5; of 100 at once 21 → 6
//   new   location /api: api 10r/s burst=5
import { namedText } from '../../core/limiter/products/limit-words.js';
import { LIMITED } from '../../core/limiter/rule/rule.js';
import { limitsFlight } from '../../core/limiter/rule/rule-definition.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import type { LimitChange } from './diff-answer.js';
import type { FoundLimiter, GatewayLimits } from './found.js';
import { type LimitPair, moveWords, pairsOf } from './limit-pairs.js';
import { admittedAtOnce, burstDelays, ruleIn } from './limit-rule.js';
import { inWords, testWords } from './request-condition.js';

export function limitChanges(old: GatewayLimits, fresh: GatewayLimits): LimitChange[] {
  const left = new Set(old.limiters);
  const wholes = groupsOf(old.limiters, wholeOf);
  const others = fresh.limiters.filter((one) => {
    const same = wholes.get(wholeOf(one))?.shift();
    return same === undefined || !left.delete(same);
  });
  const named = groupsOf(left, nameOf);
  const known = new Map(
    others.flatMap((one) => {
      const byName = named.get(nameOf(one))?.shift();
      const before = byName !== undefined && left.has(byName) ? byName : moved(left, one);
      return before !== undefined && left.delete(before) ? [[one, before] as const] : [];
    }),
  );
  const pairs = pairsOf([old, [...left]], [fresh, others.filter((one) => !known.has(one))]);
  for (const pair of pairs) left.delete(pair.old);
  const changes = others.flatMap((one): LimitChange[] => {
    const before = known.get(one);
    if (before !== undefined) return [changeOf('changed', before, one, differences(before, one))];
    const moves = pairs.filter((pair) => pair.new === one);
    if (moves.length === 0) return [changeOf('added', undefined, one, [])];
    // Several places of one count are one move.
    const isFirst = (pair: LimitPair) =>
      pairs.find(({ old: from, new: to }) => from === pair.old && to.counter === one.counter) === pair;
    return moves
      .filter(isFirst)
      .map((pair) => ({ ...changeOf('changed', pair.old, one, moveWords(pair)), from: titleOf(pair.old) }));
  });
  return [...changes, ...[...left].map((one) => changeOf('removed', one, undefined, []))];
}

export const titleOf = ({ name, where }: Pick<FoundLimiter, 'name' | 'where'>) =>
  [name, where].filter((one) => one !== '').join(', ');

const nameOf = ({ where, name }: FoundLimiter) => JSON.stringify([where, name]);

/** In their order, by a text that several may have. */
export function groupsOf(all: Iterable<FoundLimiter>, textOf: (one: FoundLimiter) => string) {
  const groups = new Map<string, FoundLimiter[]>();
  for (const one of all) getOrInsert(groups, textOf(one), () => []).push(one);
  return groups;
}

/** The same limit under another name or place; undefined if there is none, or several. */
function moved(left: ReadonlySet<FoundLimiter>, one: FoundLimiter): FoundLimiter | undefined {
  const alike = [...left].filter(
    (other) =>
      (other.where === one.where || other.name === one.name) &&
      other.key.text === one.key.text &&
      limitWords(other) === limitWords(one),
  );
  return alike.length === 1 ? alike[0] : undefined;
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
  const words = { old: old && limitWords(old), new: fresh && limitWords(fresh) };
  return { kind, name, where, file, line, ...words, differs, ...burstOf(old, fresh) };
}

/** Words written where a limit is defined, not where it is applied. */
const DEFINED = /^(?:rate|key|period|expire) /;

function limitWords({ limit, isDryRun }: FoundLimiter): string {
  const { like = 'none', ...parameters } = limit ?? {};
  return `${namedText(String(like), parameters)}${isDryRun ? ', dry run' : ''}`;
}

const TRAITS: readonly (readonly [what: string, of: (one: FoundLimiter) => unknown])[] = [
  ['key', ({ key }) => (key.value === undefined ? key.text : inWords(key.value))],
  ['condition', ({ when }) => when && inWords(when)],
  ['refused if', ({ refuses }) => refuses && inWords(refuses)],
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

/** The smallest burst, in powers of ten, that one side does not admit whole. */
function burstOf(old: FoundLimiter | undefined, fresh: FoundLimiter | undefined) {
  const sides = [old, fresh].map((one) => (one?.limit === undefined || one.isDryRun ? undefined : one));
  if (sides.some((one) => one !== undefined && limitsFlight(ruleIn(one)))) return undefined;
  const sent = Math.min(...sides.map((one) => (one === undefined ? Infinity : admittedAtOnce(one).sent)));
  if (sent === Infinity) return undefined;
  const burst = sides.map((one) =>
    one === undefined ? sent : burstDelays(one, sent).filter((delay) => delay !== LIMITED).length,
  );
  return { burst, burst_of: sent };
}
