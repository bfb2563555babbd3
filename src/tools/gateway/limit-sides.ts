// The limits of one version of a gateway's files, ready to decide the requests of a log.
import { announcedWait } from '../../core/limiter/rule/announced.js';
import { and } from '../../core/limiter/rule/combined.js';
import { LIMITED, type Rule } from '../../core/limiter/rule/rule.js';
import { limitsFlight, ruleOf } from '../../core/limiter/rule/rule-definition.js';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import type { FoundLimiter, GatewayLimits } from './found.js';
import type { LimitKey } from './limit-key.js';
import { ruleIn } from './limit-rule.js';
import * as ask from './request-condition.js';

export interface Requester {
  readonly client: number;
  /** The column that the user named for keys that the log lacks. */
  readonly key: string;
  readonly request: ask.LoggedRequest;
  /** Texts of keys that were made of the request; a cache. */
  readonly keys: Map<LimitKey, string>;
}

export interface States {
  readonly byClient: unknown[];
  readonly byText: Map<string, unknown>;
  /** Whether all limits that share these states count by client. */
  isByClient: boolean;
}

export interface SideLimit {
  readonly index: number;
  readonly limiter: FoundLimiter;
  readonly rule: Rule;
  readonly hasOwnKey: boolean;
  readonly states: States;
}

interface MetLimit extends SideLimit {
  /** It counts the request, and does not refuse it. */
  readonly isOnlyCounted: boolean;
}

export interface LimitPlace {
  readonly id: number;
  readonly limits: readonly SideLimit[];
  readonly counted: readonly SideLimit[];
  /** Limits that may refuse a request here, and that the log does not have what judges them. */
  readonly unjudged: readonly FoundLimiter[];
  /** If they charge together. */
  readonly all: Rule<{ members: unknown[]; refusedMs: number }> | undefined;
}

export const NOWHERE: LimitPlace = { id: 0, limits: [], counted: [], unjudged: [], all: undefined };

/** Products that charge only if all limits of a place admit. */
const CHARGES_TOGETHER = new Set(['nginx', 'kong']);
/** Products in which a refused request does not reach the limits after; in others all are charged. */
const ENDS_AT_REFUSAL = new Set(['traefik', 'aws-waf', 'cloudflare']);

export interface LeftOut {
  readonly limiter: FoundLimiter;
  readonly why: string;
  /** A dry run is judged: it refuses nothing. */
  readonly isJudged: boolean;
}

export class LimitSide {
  /** What keys are made of. */
  readonly keyFields: ReadonlySet<ask.RequestField>;
  /** What decides which limits a request meets. */
  readonly placeFields: ReadonlySet<ask.RequestField>;
  readonly hasHosts: boolean;
  readonly #limits: ReadonlyMap<FoundLimiter, SideLimit>;
  readonly #leftOut = new Map<FoundLimiter, LeftOut>();
  readonly #places = new Map<string, LimitPlace>();
  readonly #route: GatewayLimits['appliesTo'];

  /** @param hasKey whether the user named a column for keys that the log does not contain */
  constructor(gateway: GatewayLimits, hasKey: boolean) {
    const limits = new Map<FoundLimiter, SideLimit>();
    const counters = new Map<string, States>();
    for (const limiter of gateway.limiters) {
      const { limit, isDryRun, key } = limiter;
      if (limit === undefined) continue;
      const why = isDryRun ? 'it refuses nothing: a dry run' : whyLeftOut(limiter, hasKey);
      if (why !== undefined) this.#leftOut.set(limiter, { limiter, why, isJudged: isDryRun });
      else {
        const isByClient = key.value === undefined && key.parts?.join() === 'client';
        const states = counters.get(limiter.counter) ?? { byClient: [], byText: new Map(), isByClient };
        states.isByClient &&= isByClient;
        counters.set(limiter.counter, states);
        limits.set(limiter, {
          index: limits.size,
          limiter,
          rule: ruleOf(ruleIn(limiter)),
          hasOwnKey: key.parts !== undefined,
          states,
        });
      }
    }
    this.#limits = limits;
    this.#route = gateway.appliesTo;
    const keys = [...limits.keys()].map(({ key }) => key);
    const ofValues = ask.needsOf(keys.flatMap(({ value }) => value ?? [])).fields;
    const parts = keys.flatMap((key) => key.parts ?? []);
    this.keyFields = new Set([...ofValues, ...parts]);
    const ofConditions = ask.needsOf(gateway.conditions).fields;
    this.placeFields = new Set([...ofConditions, ...ofValues, ...parts.filter((part) => part !== 'client')]);
    this.hasHosts = [...limits.keys()].some(({ hosts }) => hosts.length > 0);
  }

  get leftOut(): readonly LeftOut[] {
    return [...this.#leftOut.values()];
  }

  placeOf(request: ask.LoggedRequest): LimitPlace {
    const unjudged = new Set<FoundLimiter>();
    const unsure = (limiter: FoundLimiter, lacks: string) => {
      unjudged.add(limiter);
      const why = `it depends on ${lacks}, which this log has not`;
      if (this.#limits.has(limiter) && !this.#leftOut.has(limiter))
        this.#leftOut.set(limiter, { limiter, why, isJudged: false });
    };
    const all = this.#route(request, unsure).flatMap((limiter): MetLimit[] => {
      const limit = this.#limits.get(limiter);
      if (this.#leftOut.get(limiter)?.isJudged === false && limit === undefined) unjudged.add(limiter);
      const { key, refuses = ask.ALWAYS } = limiter;
      const text = limit === undefined || !limit.hasOwnKey ? undefined : keyText(key, request);
      if (limit === undefined || (text === '' && !isEveryone(key))) return [];
      if (limit.hasOwnKey && text === undefined) {
        unsure(limiter, ask.lackOf([...(key.value === undefined ? [] : [key.value])], request));
        return [];
      }
      const isRefused = ask.isAlways(refuses) || ask.holds(refuses, request);
      if (isRefused === undefined) unsure(limiter, ask.lackOf([refuses], request));
      return [{ ...limit, isOnlyCounted: isRefused !== true }];
    });
    const met = countedOnce(all);
    if (met.length + unjudged.size === 0) return NOWHERE;
    const names = met.map(({ index, isOnlyCounted }) => `${index} ${isOnlyCounted}`);
    const name = [...names, ...[...unjudged].map(({ counter, where }) => `${where} ${counter}`)].join();
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const limits = met.filter(({ isOnlyCounted }) => !isOnlyCounted);
    const isTogether = limits.every(({ limiter }) => CHARGES_TOGETHER.has(limiter.limit!.like));
    const rules = limits.map(({ rule }) => rule);
    const counted = met.filter(({ isOnlyCounted }) => isOnlyCounted);
    const combined = limits.length > 1 && isTogether ? and(rules, false) : undefined;
    const place = { id: this.#places.size + 1, limits, counted, unjudged: [...unjudged], all: combined };
    this.#places.set(name, place);
    return place;
  }
}

/** For each count one limit: the strictest that may refuse, else one that counts. */
function countedOnce(all: readonly MetLimit[]): readonly MetLimit[] {
  const figure = ({ limiter }: MetLimit) => Number(limiter.limit?.['limit'] ?? 0);
  return all.filter((one, i) => {
    const same = all.filter(({ states }) => states === one.states);
    const refusing = same.filter(({ isOnlyCounted }) => !isOnlyCounted);
    const [strictest] = (refusing.length > 0 ? refusing : same).toSorted((a, b) => figure(a) - figure(b));
    return all.indexOf(strictest!) === i;
  });
}

export const isEveryone = ({ parts, value }: LimitKey) => value === undefined && parts?.length === 0;

/** Undefined if the log lacks a part. */
export function keyText({ parts = [], value }: LimitKey, request: ask.LoggedRequest): string | undefined {
  if (value !== undefined) return ask.requestText(value, request);
  const texts = parts.map((part) => request[part]);
  if (texts.includes(undefined)) return undefined;
  return texts.every((text) => text === '') ? '' : texts.join('\n');
}

function whyLeftOut(limiter: FoundLimiter, hasKey: boolean): string | undefined {
  const { key, reach, counts } = limiter;
  if (counts === 'concurrency' || limitsFlight(ruleIn(limiter)))
    return 'it limits requests in flight, and a log does not say how long each took';
  if (counts !== 'requests') return `it counts ${counts}`;
  if (reach === 'unknown') return `the files do not say which requests meet it, by ${key.text}`;
  return key.parts !== undefined || hasKey ? undefined : `its key is ${key.lacks ?? key.text}, which this log has not`;
}

export interface Decided {
  /** The limit that refuses; undefined if all admit. */
  readonly by: FoundLimiter | undefined;
  /** How long an admitted request is held. */
  readonly delayMs: number;
}

const AT_ONCE: Decided = { by: undefined, delayMs: 0 };

/**
 * Decides and charges a request.
 * @param turn of the request: instances of a gateway take one after the other
 */
export function decided({ limits, counted, all }: LimitPlace, who: Requester, ms: number, turn = 0): Decided {
  for (const one of counted) one.rule.admit(stateOf(one, who, ms, turn), ms, 1, 0);
  if (all !== undefined) {
    const members = limits.map((one) => stateOf(one, who, ms, turn));
    const delayMs = all.admit({ members, refusedMs: 0 }, ms, 1, 0);
    if (delayMs !== LIMITED) return delayMs === 0 ? AT_ONCE : { by: undefined, delayMs };
    const refusing = limits.find((one, i) => one.rule.nextAdmission(members[i], ms, 1) > ms);
    return { by: (refusing ?? limits[0]!).limiter, delayMs: 0 };
  }
  let longest = 0;
  let by: FoundLimiter | undefined;
  for (const one of limits) {
    if (by !== undefined && ENDS_AT_REFUSAL.has(one.limiter.limit!.like)) break;
    const delayMs = one.rule.admit(stateOf(one, who, ms, turn), ms, 1, 0);
    if (delayMs === LIMITED) by ??= one.limiter;
    else longest = Math.max(longest, delayMs);
  }
  return by === undefined && longest === 0 ? AT_ONCE : { by, delayMs: by === undefined ? longest : 0 };
}

/** When a request of the place would be admitted, after `ms`; Infinity: never. */
export function nextAdmissionAt({ limits }: LimitPlace, who: Requester, ms: number): number {
  return Math.max(...limits.map((one) => one.rule.nextAdmission(stateOf(one, who, ms), ms, 1)));
}

/** The wait that the refusing limit announces, in ms from `ms`; undefined if it announces none. */
export function announcedBy(
  { limits }: LimitPlace,
  by: FoundLimiter,
  who: Requester,
  ms: number,
  turn: number,
): number | undefined {
  const limit = limits.find(({ limiter }) => limiter === by)!;
  const wait = announcedWait(limit.rule, ruleIn(by).announces, stateOf(limit, who, ms, turn), ms, 1);
  return wait === Infinity ? undefined : wait;
}

function stateOf({ limiter, rule, hasOwnKey, states }: SideLimit, who: Requester, ms: number, turn = 0): unknown {
  const { key, instances } = limiter;
  const instance = turn % instances;
  if (states.isByClient) {
    const index = who.client * instances + instance;
    states.byClient[index] ??= rule.fresh(ms);
    return states.byClient[index];
  }
  const text = hasOwnKey ? getOrInsert(who.keys, key, () => keyText(key, who.request) ?? '') : who.key;
  // An empty key is not counted.
  if (text === '' && !isEveryone(key)) return rule.fresh(ms);
  const name = instance === 0 ? text : `${text}\r${instance}`;
  return getOrInsert(states.byText, name, () => rule.fresh(ms));
}
