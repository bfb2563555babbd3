// A retry policy as a client of a scenario.

import type { Range } from '../../../core/math/range.js';
import type { ClientSpec } from '../../../harness/clients/client-schema.js';
import type { BackoffSpec, RetryAfterSpec, RetrySpec } from '../../../harness/clients/retry-schema.js';
import { type Backoff, backoffFor, type RetryPolicy } from './retry-policy.js';
import { roundNear } from './round-values.js';
import { type WaitParameters, type WaitStructure, waitLaw } from './wait-law.js';

const setbackNames: readonly (readonly ['limited' | 'failed' | 'lost' | 'timeout', RegExp])[] = [
  ['limited', /^429/],
  ['failed', /^50\d/],
  ['lost', /^reset$/],
  ['timeout', /^timeout$/],
];

export function clientEntry(policy: RetryPolicy): ClientSpec {
  const { retried, attempts, advice, backoffs, timeout, deadline } = policy;
  const retries_on = setbackNames.flatMap(([name, of]) => (retried.always.some((one) => of.test(one)) ? [name] : []));
  const timeoutMs =
    timeout?.most === undefined || timeout.most === Infinity
      ? {}
      : { timeout: ms(roundNear(timeout.least, timeout.most, timeout.most)) };
  if (retries_on.length === 0) return { kind: 'open', ...timeoutMs };
  const isUnlimited = attempts.most === Infinity;
  const [way] = advice;
  const isOnlyAdvised = !retried.always.includes('429') && retries_on.includes('limited');
  if (backoffs.length === 0) {
    const jitter = way?.way === 'later' ? { jitter: ms(way.reachMs!) } : {};
    return { kind: 'obedient', max_attempts: attempts.least, ...jitter, ...timeoutMs };
  }
  const retry_after = retryAfter(policy, isOnlyAdvised);
  const failed = backoffFor('failed', backoffs)!;
  const limited = backoffFor('limited', backoffs)!;
  return {
    kind: 'retrying',
    max_attempts: isUnlimited ? 'unlimited' : attempts.least,
    retries_on,
    backoff: backoffSpec(failed, attempts.least, way?.way === 'scaled'),
    ...(limited === failed ? {} : { backoff_after: { limited: backoffSpec(limited, attempts.least, false) } }),
    ...(retry_after === undefined ? {} : { retry_after }),
    ...retryQuota(policy),
    ...(deadline === undefined
      ? {}
      : { deadline: ms(roundNear(deadline.least, deadline.most, (deadline.least + deadline.most) / 2)) }),
    ...timeoutMs,
  };
}

/** One token per retry after the setback with the larger quota. Refunds by first attempts are not observed. */
function retryQuota({ quota }: RetryPolicy): Pick<RetrySpec, 'retry_quota'> {
  const { limited, failed, isRefunded } = quota;
  const capacity = Math.max(limited?.least ?? 0, failed?.least ?? 0);
  if (capacity === 0) return {};
  const cost = (one: Range | undefined) =>
    one === undefined || one.least === capacity ? 1 : rounded(capacity / (one.least + 0.5));
  const others = cost(failed);
  const costs = { limited: cost(limited), failed: others, lost: others, timeout: others };
  return {
    retry_quota: {
      capacity,
      ...(Object.values(costs).every((one) => one === 1) ? {} : { cost: costs }),
      ...(isRefunded ? { refund: { retried: 'cost' } } : {}),
    },
  };
}

function retryAfter({ advice: [way] }: RetryPolicy, isOnlyAdvised: boolean): RetryAfterSpec | undefined {
  if (way === undefined || way.way === 'ignored') return undefined;
  const policy = { obeyed: 'obey', later: 'obey', floor: 'floor', scaled: 'floor', near: 'clamp' } as const;
  const above = { capped: 'cap', own: 'ignore', stops: 'stop' } as const;
  const spec = {
    policy: policy[way.way],
    ...(way.end === undefined ? {} : { limit: ms(way.end.atMs), above: above[way.end.above] }),
    ...(way.way === 'near' ? { slack: ms(way.reachMs!) } : {}),
    ...(isOnlyAdvised ? { missing: 'stop' as const } : {}),
  };
  return Object.keys(spec).length === 1 ? spec.policy : spec;
}

const USUAL_CAP_MS = 20_000;

/** @param lengthens whether the jitter is written as an extension of the wait */
function backoffSpec({ fits: [fit] }: Backoff, attempts: number, lengthens: boolean): BackoffSpec {
  const { structure, parameters } = fit!;
  if (structure.growth === 'none') return { policy: 'none' };
  const { baseMs, factor, low, plusMs, capMs } = parameters;
  if (structure.jitter === 'decorrelated')
    return { policy: 'decorrelated', base: ms(baseMs), ...cap(capMs, structure, parameters, attempts) };
  const scale = lengthens ? low : 1;
  const first = structure.skipsFirst ? { first: '0ms' } : {};
  return {
    policy: structure.growth === 'linear' ? 'linear' : 'geometric',
    base: ms((scale * baseMs) / (structure.skipsFirst ? factor : 1)),
    ...(factor === 2 || structure.growth === 'linear' ? {} : { factor }),
    ...cap(scale * capMs, structure, parameters, attempts),
    ...first,
    ...(low < 1 && !lengthens ? { shorten_by: rounded(1 - low) } : {}),
    ...(low < 1 && lengthens ? { lengthen_by: rounded(1 / low - 1) } : {}),
    ...(structure.jitter === 'plus' ? { add: ms(plusMs) } : {}),
  };
}

function cap(capMs: number, structure: WaitStructure, parameters: WaitParameters, attempts: number): { cap?: string } {
  if (capMs !== Infinity) return { cap: ms(capMs) };
  const longest = waitLaw(structure, parameters, { k: Math.max(1, attempts - 1), lastMs: 0 }).at(-1)!.toMs;
  return longest > USUAL_CAP_MS || structure.jitter === 'decorrelated' ? { cap: '1h' } : {};
}

function rounded(share: number): number {
  return Number(share.toPrecision(3));
}

export function ms(value: number): string {
  const whole = Math.max(0, Math.round(value));
  return whole >= 1000 && whole % 100 === 0 ? `${whole / 1000}s` : `${whole}ms`;
}
