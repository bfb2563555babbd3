// A limiter drawn at random that follows no known rule: chance, several limits, a limit of another key, or one that adapts.

import { LIMITED } from '../../../src/core/limiter/rule/rule.js';
import { type RuleDefinition, ruleOf } from '../../../src/core/limiter/rule/rule-definition.js';
import { RandomStream } from '../../../src/core/math/random.js';
import { type Answer, answerOf, type IdentifiedRule } from '../../../src/tools/identify/answer.js';
import type { Investigated } from '../../../src/tools/identify/explanations.js';
import { investigate } from '../../../src/tools/identify/investigation.js';
import { type Decide, type Network, played } from './virtual.js';

/** One of several limits: what it is named where no other was met. */
interface Own {
  readonly family: string;
  readonly limit: number;
  readonly spanMs: number;
}

export interface Outsider {
  readonly kind: string;
  readonly decide: Decide;
  readonly own: readonly Own[];
  readonly network: Network;
}

type Drawn = (least: number, most: number) => number;
type Make = (
  random: RandomStream,
  within: Drawn,
) => { readonly decide: Decide; readonly own?: readonly Own[]; readonly serviceMs?: number };

/** Refused if one of them refuses, and then counted by none. */
function allOf(definitions: readonly RuleDefinition[]): Decide {
  const rules = definitions.map(ruleOf);
  const states = rules.map((rule) => rule.fresh(0));
  return (tMs) => {
    if (rules.some((rule, k) => rule.remaining(states[k], tMs) < 1)) return LIMITED;
    return Math.max(...rules.map((rule, k) => rule.admit(states[k], tMs, 1, 0)));
  };
}

function severalLimits(n: number): Make {
  return (random, within) => {
    const definitions: RuleDefinition[] = [];
    const own: Own[] = [];
    let [limit, window_ms] = [Math.round(within(2, 15)), Math.round(within(300, 5_000))];
    for (let k = 0; k < n; k += 1) {
      const u = random.uniform();
      const params = { limit, window_ms };
      definitions.push(
        u < 0.4
          ? { primitive: 'sliding_log', params }
          : u < 0.7
            ? { primitive: 'fixed_window', params }
            : { primitive: 'token_bucket', params: { rate: limit, per_ms: window_ms, capacity: limit } },
      );
      const { primitive } = definitions[k]!;
      own.push({
        family: primitive.replace('_', ' '),
        limit,
        spanMs: primitive === 'token_bucket' ? window_ms / limit : window_ms,
      });
      // The longer one allows less on average: some of what the shorter one admits is refused.
      const times = within(3, 12);
      window_ms = Math.round(window_ms * times);
      limit = Math.max(limit + 1, Math.round(limit * times * within(0.3, 0.75)));
    }
    return { decide: allOf(definitions), own };
  };
}

const kinds: Readonly<Record<string, Make>> = {
  chance: (random, within) => {
    const share = within(0.05, 0.4);
    return { decide: () => (random.uniform() < share ? LIMITED : 0) };
  },
  'two limits': severalLimits(2),
  'three limits': severalLimits(3),
  'another key': (random, within) => {
    const [limit, window_ms] = [Math.round(within(2, 20)), Math.round(within(500, 20_000))];
    const keys = 2 + Math.floor(random.uniform() * 3);
    const rule = ruleOf({
      primitive: random.uniform() < 0.5 ? 'sliding_log' : 'fixed_window',
      params: { limit, window_ms },
    });
    const states = Array.from({ length: keys }, () => rule.fresh(0));
    return { decide: (tMs) => rule.admit(states[Math.floor(random.uniform() * keys)], tMs, 1, 0) };
  },
  adaptive: (random, within) => {
    if (random.uniform() < 0.5) {
      const serviceMs = within(50, 400);
      const rule = ruleOf({ primitive: 'adaptive', params: { algorithm: 'aimd', initial: 5, min: 2, max: 40 } });
      const state = rule.fresh(0);
      return { decide: (tMs) => rule.admit(state, tMs, 1, serviceMs), serviceMs };
    }
    // Halves its limit after a window with refusals, and adds one after a window without.
    const window_ms = Math.round(within(500, 5_000));
    let [limit, window, used, hasRefused] = [Math.round(within(6, 30)), 0, 0, false];
    return {
      decide: (tMs) => {
        const now = Math.floor(tMs / window_ms);
        if (now !== window) {
          limit = hasRefused ? Math.max(1, limit >> 1) : limit + 1;
          [window, used, hasRefused] = [now, 0, false];
        }
        used += 1;
        hasRefused ||= used > limit;
        return used > limit ? LIMITED : 0;
      },
    };
  },
};

export function outsider(seed: number): Outsider {
  const random = new RandomStream(seed, 'outsider');
  const within: Drawn = (least, most) => least * (most / least) ** random.uniform();
  const names = Object.keys(kinds);
  const kind = names[seed % names.length]!;
  const latencyMs = random.uniform() * 25;
  const { decide, own = [], serviceMs = 0 } = kinds[kind]!(random, within);
  const stallMs = random.uniform() < 1 / 3 ? within(30, 150) : 0;
  const network = { latencyMs, jitterMs: 0.3 + random.uniform() * 0.2 * latencyMs, serviceMs, stallMs };
  return { kind, decide, own, network };
}

interface Asked {
  readonly found: Investigated;
  readonly answer: Answer;
  /** Something is named, and it is none of its own limits. */
  readonly isWrong: boolean;
}

/** With default options. */
export function askedOutsider(seed: number): Asked {
  const { decide, own, network } = outsider(seed);
  const options = { budget: 500, timeMs: 300_000, hasKeys: false };
  const found = played(investigate(options), decide, network, seed);
  const answer = answerOf(found);
  const { rules } = answer;
  return { found, answer, isWrong: rules.length > 0 && !rules.some((rule) => own.some((one) => isNamed(one, rule))) };
}

function isNamed({ family, limit, spanMs }: Own, rule: IdentifiedRule): boolean {
  const { limit: found, window_ms: window, token_ms: token } = rule.parameters;
  const span = window ?? token;
  if (rule.family !== family || found!.value !== limit || span === undefined) return false;
  return (span.pieces ?? [span]).some(({ least, most }) => least <= spanMs && spanMs <= most);
}
