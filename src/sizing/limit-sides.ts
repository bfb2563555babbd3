// The limits of one version of a gateway's files, ready to decide the requests of a log.
import type { FoundLimiter, GatewayLimits, KeyPart } from '../gateway/found.js';
import { announcedWait } from '../limiter/rule/announced.js';
import { and } from '../limiter/rule/combined.js';
import { LIMITED, type Rule } from '../limiter/rule/rule.js';
import { limitsFlight, ruleOf } from '../limiter/rule/rule-definition.js';
import { ruleIn } from './limit-changes.js';

/** `key` is the column named by the user. */
export type CountedPart = KeyPart | 'key';

export interface Requester {
  readonly client: number;
  readonly user: string;
  readonly key: string;
  readonly host: string;
  readonly path: string;
  readonly method: string;
}

interface States {
  readonly byClient: unknown[];
  readonly byText: Map<string, unknown>;
}

interface Limit {
  readonly limiter: FoundLimiter;
  readonly rule: Rule;
  readonly parts: readonly CountedPart[];
  readonly isPerClient: boolean;
  readonly states: States;
}

export interface LimitPlace {
  readonly id: number;
  readonly limits: readonly Limit[];
  readonly all: Rule<{ members: unknown[]; refusedMs: number }> | undefined;
}

const NOWHERE: LimitPlace = { id: 0, limits: [], all: undefined };

/** Products that charge only if all limits of a place admit; others charge each limit in turn. */
const CHARGES_TOGETHER = new Set(['nginx', 'kong']);

export interface LeftOut {
  readonly limiter: FoundLimiter;
  readonly why: string;
}

export class LimitSide {
  readonly leftOut: readonly LeftOut[];
  readonly parts: ReadonlySet<CountedPart>;
  readonly hasHosts: boolean;
  readonly #limits: ReadonlyMap<FoundLimiter, Limit>;
  readonly #places = new Map<string, LimitPlace>();
  readonly #route: GatewayLimits['appliesTo'];

  /** @param hasKey whether the user named a column for keys that the log does not contain */
  constructor(gateway: GatewayLimits, hasKey: boolean) {
    const limits = new Map<FoundLimiter, Limit>();
    const counters = new Map<string, States>();
    this.leftOut = gateway.limiters.flatMap((limiter): LeftOut[] => {
      const parts: readonly CountedPart[] | undefined = limiter.key.parts ?? (hasKey ? ['key'] : undefined);
      const why = whyLeftOut(limiter);
      if (why !== undefined) return [{ limiter, why }];
      if (limiter.limit === undefined) return [];
      if (parts === undefined)
        return [{ limiter, why: `its key, ${limiter.key.text}, is not in an access log: name a column with --key` }];
      const counter = `${limiter.counter} ${parts.join()}`;
      const states = counters.get(counter) ?? { byClient: [], byText: new Map() };
      counters.set(counter, states);
      const isPerClient = parts.length === 1 && parts[0] === 'client';
      limits.set(limiter, { limiter, rule: ruleOf(ruleIn(limiter)), parts, isPerClient, states });
      return [];
    });
    this.#limits = limits;
    this.#route = gateway.appliesTo;
    this.parts = new Set([...limits.values()].flatMap(({ parts }) => parts));
    this.hasHosts = [...limits.keys()].some(({ hosts }) => hosts.length > 0);
  }

  /** Whether some limits apply to certain paths only. */
  get hasPaths(): boolean {
    return this.placeOf('', '').limits.length < this.#limits.size;
  }

  placeOf(host: string, path: string): LimitPlace {
    const limits = this.#route(host === '' ? undefined : host, path).flatMap((one) => this.#limits.get(one) ?? []);
    if (limits.length === 0) return NOWHERE;
    const name = limits
      .map(({ limiter: { file, line, name, where } }) => [file, line, name, where].join(' '))
      .join('\n');
    const known = this.#places.get(name);
    if (known !== undefined) return known;
    const isTogether = limits.every(({ limiter }) => CHARGES_TOGETHER.has(limiter.limit!.like));
    const rules = limits.map(({ rule }) => rule);
    const all = limits.length === 1 ? undefined : and(rules, !isTogether);
    const place = { id: this.#places.size + 1, limits, all };
    this.#places.set(name, place);
    return place;
  }
}

function whyLeftOut(limiter: FoundLimiter): string | undefined {
  const { limit, key, reach, counts, isDryRun } = limiter;
  if (limit === undefined) return undefined;
  if (isDryRun) return 'it refuses nothing: a dry run';
  if (counts === 'concurrency' || limitsFlight(ruleIn(limiter)))
    return 'it limits requests in flight, and a log does not say how long each took';
  if (counts !== 'requests') return `it counts ${counts}`;
  return reach === 'unknown' ? `the files do not say which requests meet it, by ${key.text}` : undefined;
}

/** Decides and charges a request. @returns the limit that refuses; undefined if all admit */
export function limitRefusing({ limits, all }: LimitPlace, who: Requester, ms: number): FoundLimiter | undefined {
  const [first] = limits;
  if (first === undefined) return undefined;
  if (all === undefined)
    return first.rule.decide(stateOf(first, who, ms), ms, 1, 0) === LIMITED ? first.limiter : undefined;
  const members = limits.map((one) => stateOf(one, who, ms));
  if (all.decide({ members, refusedMs: 0 }, ms, 1, 0) !== LIMITED) return undefined;
  const refusing = limits.find((one, i) => one.rule.nextAdmission(members[i], ms, 1) > ms);
  return (refusing ?? first).limiter;
}

/** The wait that the refusing limit announces, in ms from `ms`; undefined if it announces none. */
export function announcedBy({ limits }: LimitPlace, by: FoundLimiter, who: Requester, ms: number): number | undefined {
  const limit = limits.find(({ limiter }) => limiter === by)!;
  const wait = announcedWait(limit.rule, ruleIn(by).announces, stateOf(limit, who, ms), ms, 1);
  return wait === Infinity ? undefined : wait;
}

function stateOf({ rule, parts, isPerClient, states }: Limit, who: Requester, ms: number): unknown {
  if (isPerClient) {
    states.byClient[who.client] ??= rule.fresh(ms);
    return states.byClient[who.client];
  }
  const key = parts.map((part) => who[part]).join('\n');
  // An empty key is not counted.
  if (key === '' && parts.length > 0) return rule.fresh(ms);
  let state = states.byText.get(key);
  if (state === undefined) {
    state = rule.fresh(ms);
    states.byText.set(key, state);
  }
  return state;
}
