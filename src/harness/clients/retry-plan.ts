// Plans how a client retries: parses quantities, fills in defaults, refuses fields without effect.
import { checkLimiter } from '../../core/limiter/products/limiter-spec.js';
import { definitionOf, refuseNearLimit } from '../../core/limiter/products/products.js';
import type { Rule } from '../../core/limiter/rule/rule.js';
import { ruleOf } from '../../core/limiter/rule/rule-definition.js';
import { Failure, unreachable } from '../../core/schema/failure.js';
import { parseRate, parseTimeMs } from '../../core/schema/quantity.js';
import { type Pauses, pauses } from './backoff.js';
import { type Behaviour, type SetbackType, setbackTypes } from './behaviour.js';
import { behaviourOf, type ClientChart } from './client-chart.js';
import { accountPause, breaker, cubic, type GatePlan, limiterGate, throttle } from './client-gates.js';
import { retrying } from './requesting.js';
import type { RetryAfterPlan } from './retry-after.js';
import {
  type RetryLimit,
  type RetryQuotaPlan,
  retryBudget,
  retryConcurrency,
  retryQuota,
  SLICES,
} from './retry-limits.js';
import type { BackoffSpec, GateSpec, RetryAfterSpec, RetryQuotaSpec, RetrySpec } from './retry-schema.js';

const NONE: BackoffSpec = { policy: 'none' };

const ofGeometric = ['factor', 'first', 'shorten_by', 'lengthen_by', 'add'] as const;

const jittered: readonly string[] = ['fixed', 'exponential', 'geometric', 'linear'];

export const limitsOfRetries = ['retry_budget', 'retry_concurrency', 'retry_quota'] as const;

/** Of processes: what all requests of one share. */
export interface InstancePlan {
  readonly count: number;
  readonly limit: ((startMs: number) => RetryLimit) | undefined;
  readonly gate: GatePlan | undefined;
}

interface RetryPlan {
  readonly behaviour: Behaviour<{ readonly at: string }>;
  readonly chart: ClientChart;
  readonly shared: InstancePlan;
  readonly deadlineMs: number | undefined;
}

/** Failures name places below `place`. */
export class RetryReader {
  constructor(
    readonly cycleMs: number,
    readonly place: string,
  ) {}

  ms(value: number | string, path: string, leastMs = 0): number {
    return parseTimeMs(value, this.cycleMs, `${this.place}${path}`, leastMs);
  }

  retrying(spec: RetrySpec): RetryPlan {
    const on = spec.retries_on ?? setbackTypes;
    const gate = spec.gate && this.#gate(spec.gate);
    const chart = retrying({
      maxAttempts: spec.max_attempts === 'unlimited' ? Number.POSITIVE_INFINITY : (spec.max_attempts ?? 3),
      on,
      pauses: this.#pauses(spec, on),
      retryAfter: this.#retryAfter(spec.retry_after ?? 'ignore'),
      takesLateAnswers: spec.takes_late_answers ?? false,
      gated: gate?.on,
      hedge: spec.hedge && { afterMs: this.ms(spec.hedge.after, '/hedge/after', 1), most: spec.hedge.most ?? 2 },
    });
    const deadlineMs = spec.deadline === undefined ? undefined : this.ms(spec.deadline, '/deadline', 1);
    const shared = { count: spec.instances ?? 1, limit: this.#limit(spec), gate };
    return { behaviour: behaviourOf(chart), chart, shared, deadlineMs };
  }

  #pauses({ backoff = NONE, backoff_after = {} }: RetrySpec, on: readonly SetbackType[]) {
    const usual = this.#backoff(backoff, '/backoff');
    const after = (type: SetbackType): Pauses => {
      const own = backoff_after[type];
      if (own === undefined) return usual;
      const path = `/backoff_after/${type}`;
      if (!on.includes(type)) this.#refuse(path, `has no effect: ${type} is not among retries_on`);
      return this.#backoff(own, path);
    };
    return { limited: after('limited'), failed: after('failed'), lost: after('lost'), timeout: after('timeout') };
  }

  #backoff(spec: BackoffSpec, path: string): Pauses {
    const { policy, base = '100ms', cap, factor = 2, first, shorten_by = 0, lengthen_by = 0, add = 0 } = spec;
    const own = { geometric: ofGeometric, linear: ofGeometric.slice(1) }[policy as string] ?? [];
    const foreign = ofGeometric.find((field) => spec[field] !== undefined && !own.includes(field));
    if (foreign !== undefined) this.#refuse(`${path}/${foreign}`, `has no effect with the policy ${policy}`);
    const isDrawn = shorten_by > 0 || lengthen_by > 0 || add !== 0;
    if (spec.jitter !== undefined && (isDrawn || !jittered.includes(policy)))
      this.#refuse(
        `${path}/jitter`,
        isDrawn ? 'cannot be combined with another jitter' : `has no effect with the policy ${policy}`,
      );
    const baseMs = this.ms(base, `${path}/base`);
    const capMs = cap === undefined ? Math.max(baseMs, 20_000) : this.ms(cap, `${path}/cap`, baseMs);
    const geometric = {
      factor,
      firstMs: first === undefined ? undefined : this.ms(first, `${path}/first`),
      shortenBy: shorten_by,
      lengthenBy: lengthen_by,
      addMs: this.ms(add, `${path}/add`),
    };
    return pauses({ policy, baseMs, capMs, geometric, isExponential: spec.jitter !== undefined });
  }

  #retryAfter(spec: RetryAfterSpec): RetryAfterPlan {
    const { policy, limit, above, zero, slack, missing } = typeof spec === 'string' ? { policy: spec } : spec;
    const given = { limit, above, zero, slack, missing };
    const idle = {
      ignore: ['limit', 'above', 'zero', 'slack', 'missing'] as const,
      obey: ['slack'] as const,
      floor: ['zero', 'slack'] as const,
      clamp: ['zero'] as const,
    }[policy].find((field) => given[field] !== undefined);
    if (idle !== undefined) this.#refuse(`/retry_after/${idle}`, `has no effect with the policy ${policy}`);
    if (above !== undefined && limit === undefined) this.#refuse('/retry_after/above', 'has no effect without a limit');
    return {
      policy,
      limitMs: limit === undefined ? Number.POSITIVE_INFINITY : this.ms(limit, '/retry_after/limit'),
      above: above ?? 'cap',
      zero,
      slackMs: this.ms(slack ?? '5s', '/retry_after/slack'),
      missing: missing ?? 'backoff',
    };
  }

  #limit(spec: RetrySpec): InstancePlan['limit'] {
    const given = limitsOfRetries.filter((field) => spec[field] !== undefined);
    if (given.length > 1) this.#refuse(`/${given[1]}`, `cannot be combined with ${given[0]}`);
    const { retry_budget: budget, retry_concurrency: concurrency, retry_quota: quota } = spec;
    if (budget !== undefined) {
      const { share, floor = 0, over = '10s' } = budget;
      const overMs = this.ms(over, '/retry_budget/over', SLICES);
      const rate = parseRate(floor, this.cycleMs, `${this.place}/retry_budget/floor`);
      const plan = { share, floor: (rate.requests / rate.cycles) * (overMs / this.cycleMs), overMs };
      return (startMs) => retryBudget(plan, startMs);
    }
    if (concurrency !== undefined) {
      const { share = 0.2, least = 3 } = concurrency;
      return () => retryConcurrency({ share, least });
    }
    if (quota === undefined) return undefined;
    const plan = quotaOf(quota);
    return () => retryQuota(plan);
  }

  #gate(spec: GateSpec): GatePlan {
    return { on: spec.on ?? 'attempts', make: this.#maker(spec) };
  }

  #maker(spec: GateSpec): GatePlan['make'] {
    switch (spec.kind) {
      case 'limiter': {
        const rule = this.#rule(spec.limiter);
        return (startMs) => limiterGate(rule, spec.full ?? 'wait', startMs);
      }
      case 'throttle': {
        const overMs = this.ms(spec.over ?? '2m', '/gate/over', SLICES);
        return (startMs) => throttle(spec.k ?? 2, overMs, startMs);
      }
      case 'breaker': {
        const { share = 0.5, least = 10, trials = 1 } = spec;
        const overMs = this.ms(spec.over ?? '10s', '/gate/over', SLICES);
        const openMs = this.ms(spec.open ?? '30s', '/gate/open');
        return (startMs) => breaker({ share, least, trials, overMs, openMs }, startMs);
      }
      case 'cubic':
        return (startMs) => cubic(startMs);
      case 'pause': {
        const defaultMs = this.ms(spec.untold ?? '1s', '/gate/untold');
        const rampMs = this.ms(spec.ramp ?? 0, '/gate/ramp');
        return () => accountPause(defaultMs, rampMs);
      }
      default:
        return unreachable(spec);
    }
  }

  #rule(text: string): Rule {
    try {
      const limiter = checkLimiter(text);
      refuseNearLimit(limiter, '');
      return ruleOf(definitionOf(limiter, this.cycleMs));
    } catch (error) {
      if (!(error instanceof Failure)) throw error;
      return this.#refuse('/gate/limiter', `is no limiter: ${(error.why ?? error.what).replace(/\.$/, '')}`);
    }
  }

  #refuse(path: string, message: string): never {
    refuseField(`${this.place}${path}`, message);
  }
}

function quotaOf({ capacity, cost = 1, charge = 'retry', threshold, refund = {} }: RetryQuotaSpec): RetryQuotaPlan {
  const by = typeof cost === 'number' ? {} : cost;
  const usual = typeof cost === 'number' ? cost : 1;
  const { limited = usual, failed = usual, lost = usual, timeout = usual } = by;
  const { start = 0, first = 0, retried = 0 } = refund;
  return { capacity, cost: { limited, failed, lost, timeout }, charge, threshold, refund: { start, first, retried } };
}

export function refuseField(path: string, message: string): never {
  throw new Failure('invalid_input', {
    what: 'The clients cannot be made.',
    why: `${path} ${message}.`,
    fix: 'Correct the field named.',
    faults: [{ path, message }],
  });
}
