import fc from 'fast-check';
import { expect, it } from 'vitest';
import { rateLimiter } from '../../../src/core/limiter/rate-limiter.js';
import { ruleLimiter } from '../../../src/core/limiter/rule-limiter.js';
import { planContract } from '../../../src/core/limiter/validate.js';
import { comparisonOf, whenNotHeld } from '../../../src/harness/live/comparison-verdict.js';
import type { LiveSeen } from '../../../src/harness/live/live-run.js';
import type { RequestLog } from '../../../src/harness/live/request-log.js';
import type { RequestFault } from '../../../src/harness/live/target.js';
import type { Difference } from '../../../src/harness/outcome/outcome-schema.js';
import { forAll } from '../../draws.js';
import { emptyLog, fault, log } from './logged.js';

const well = {
  asked: { names: ['all'], plan: planContract(rateLimiter()) } as Pick<LiveSeen['asked'], 'names' | 'plan' | 'clients'>,
  clients: undefined as LiveSeen['clients'],
  isScheduled: true,
  waited: 0,
  connections: 9,
  firstCycle: 0,
  lastCycle: 0,
  time: { cycleMs: 777 },
  unsound: undefined as string | undefined,
  behind: undefined as string | undefined,
  movedMs: 0,
  streamLost: false,
  lagMs: { p90: 1, most: 1 },
  isPartial: false,
  gone: undefined as string | undefined,
};
const seenWith = (more: Partial<typeof well>, requestLog: RequestLog) =>
  ({ ...well, ...more, requestLog }) as unknown as LiveSeen;
const ONE = [{}] as unknown as NonNullable<LiveSeen['asked']['clients']>;
const byMs = {
  names: ['all'],
  plan: planContract(ruleLimiter({ primitive: 'gcra', params: { T_ms: 1, tau_ms: 1 } }, undefined)),
};
const difference: Difference = { cycle: 7, contract: 'all', figure: 'admitted', predicted: 1, observed: 2 };
const admittedAt = (count: number) => ({ type: 'decided', admitted: true, count, state: 'allowing' }) as const;

interface Given {
  readonly health?: Partial<typeof well>;
  readonly differences?: readonly Difference[];
  readonly answered?: number;
  readonly faults?: readonly RequestFault[];
  readonly late?: number;
  readonly stampedOffMs?: number;
  readonly tooUncertain?: string;
  readonly reason?: string;
}

function verdict(given: Given) {
  const { health = {}, differences = [], answered = 100, faults = [], late = 0, stampedOffMs } = given;
  const { tooUncertain } = given;
  const { plan, clients } = health.asked ?? well.asked;
  const requestLog = emptyLog({ plansByCycle: plan.rule === undefined && clients === undefined });
  requestLog.plan(0, answered + faults.length);
  for (let k = 0; k < answered; k += 1) log(requestLog, 0, admittedAt(k + 1));
  for (const one of faults) log(requestLog, 3, one);
  requestLog.late = late;
  if (stampedOffMs !== undefined) {
    const endedMs = 6 * 777 - stampedOffMs;
    const request = { contract: 0, cost: undefined, intendedMs: endedMs - 1, sentMs: endedMs - 1 };
    requestLog.end(request, endedMs, { ...admittedAt(1), cycle: 6 });
  }
  const comparison = comparisonOf(seenWith(health, requestLog), { differences, tolerance: 'none', tooUncertain });
  if (given.reason !== undefined) expect(comparison.reason).toContain(given.reason);
  return [comparison.verdict, comparison.differences[0]?.cycle];
}

// biome-ignore format: one case a line
it.each<[name: string, given: Given, verdict: string, firstCycle: number | undefined]>([
  ['all is well', {}, 'agrees', undefined],
  ['the run was stopped by hand', { health: { isPartial: true } }, 'run invalid', undefined],
  ['two requests are late', { late: 2 }, 'agrees', undefined],
  ['clients sent late', { late: 50, health: { asked: { ...well.asked, clients: ONE }, clients: [], isScheduled: false }, reason: '50 of 100 requests were sent more than 250 ms late' },
    'run invalid', undefined],
  ['a closed loop, which has no instants to keep', { late: 50, health: { isScheduled: false } }, 'agrees', undefined],
  ['requests are late, and the limiter decides by the ms', { late: 50, health: { asked: byMs }, reason: 'more than 250 ms late' },
    'run invalid', undefined],
  ['requests are late, since all connections were in use', { late: 50, health: { waited: 26 }, reason: '9 connections were in use; raise -c/--connections.' },
    'run invalid', undefined],
  ['they are, and some got no answer', { late: 50, health: { waited: 26 }, faults: [fault('timed_out')], reason: '9 connections were in use' },
    'run invalid', undefined],
  ['few of the late ones waited for that', { late: 50, health: { waited: 25 }, reason: 'did not keep up' }, 'run invalid', undefined],
  ['a decision differs', { differences: [difference] }, 'node differs', 7],
  ['a generator fell behind', { health: { behind: 'Generator a fell behind.' } }, 'run invalid', undefined],
  ['a decision differs, and a generator fell behind',
    { differences: [difference], health: { behind: 'Generator a fell behind.' } }, 'node differs', 7],
  ['a decision differs, and a generator is lost with what it sent',
    { differences: [difference], health: { unsound: 'Generator a was lost.' } }, 'run invalid', 7],
  ['a decision differs, and requests are late', { differences: [difference], late: 50 }, 'node differs', 7],
  ['a decision differs however a request without an answer was counted',
    { differences: [difference], faults: [fault('timed_out')] }, 'node differs', 7],
  ['the answers would fit too many limiters', { tooUncertain: 'So.' }, 'run invalid', undefined],
  ['they would, and still do not fit the model', { tooUncertain: 'So.', differences: [difference] }, 'node differs', 7],
  ['a status is none of a gate', { faults: [fault('unexpected')] }, 'node differs', 3],
  ['it hangs up', { faults: [fault('closed')] }, 'run invalid', undefined],
  ['what it sends is not HTTP, once', { faults: [fault('not_http')] }, 'run invalid', undefined],
  ['it is stopped, and a decision differs', { health: { isPartial: true }, differences: [difference] }, 'node differs', 7],
  ['a stamp cannot be', { stampedOffMs: 9 }, 'node differs', 5],
  ['many requests are late', { late: 50 }, 'run invalid', undefined],
  ['an answer does not come', { faults: [fault('timed_out')] }, 'run invalid', undefined],
  ['it says that it is overloaded', { faults: [fault('overloaded')] }, 'run invalid', undefined],
  ['it is gone', { faults: [fault('refused')], health: { gone: 'So.' } }, 'run invalid', undefined],
  ['the stream is lost', { health: { streamLost: true } }, 'run invalid', undefined],
  ['the generator is saturated', { health: { lagMs: { p90: 500, most: 500 } } }, 'run invalid', undefined],
  ['nothing was sent', { answered: 0 }, 'run invalid', undefined],
  ['its clock was set', { health: { movedMs: 500 }, stampedOffMs: 400, differences: [difference] }, 'run invalid', 7],
])('a run has its verdict and its first difference: %s', (_, given, expected, firstCycle) => {
  expect(verdict(given)).toEqual([expected, firstCycle]);
});

it('what the answers do not distinguish is said beside agrees alone', () => {
  const requestLog = emptyLog();
  requestLog.plan(0, 1);
  log(requestLog, 0, admittedAt(1));
  const remarkOf = (used: string | undefined, remark: string | undefined) =>
    comparisonOf(seenWith({}, requestLog), {
      ...{ differences: [], tolerance: 'none', tooUncertain: undefined },
      ...{ used, remark, neighbours: () => 'As 5.' },
    });
  expect(remarkOf(undefined, undefined)).toMatchObject({ verdict: 'agrees', remark: 'As 5.' });
  expect(remarkOf(undefined, 'Waits.')).toMatchObject({ verdict: 'agrees', remark: 'Waits. As 5.' });
  expect(remarkOf('In use.', undefined)).not.toHaveProperty('remark');
  expect(remarkOf('In use.', undefined)).toMatchObject({ verdict: 'run invalid', reason: 'In use.' });
});

const ends = fc.constantFrom<'decided' | RequestFault['kind']>(
  'decided',
  'unexpected',
  'closed',
  'refused',
  'timed_out',
);

it('a request log accounts for every request that was sent: answered, failed or timed out', () => {
  forAll([fc.array(fc.tuple(fc.nat(5), ends))], (all) => {
    const requestLog = emptyLog();
    for (const [cycle, end] of all) log(requestLog, cycle, end === 'decided' ? admittedAt(1) : fault(end));
    const counted = [...requestLog.byCycle.values()].reduce((sum, { answered }) => sum + answered.length, 0);
    expect(requestLog.sent).toBe(requestLog.answered + requestLog.failed + requestLog.timedOut);
    expect([requestLog.answered, requestLog.faults.length]).toEqual([counted, requestLog.failed + requestLog.timedOut]);
  });
});

it.each<[name: string, late: number, clients: LiveSeen['clients'], verdict: string, becomes: string]>([
  ['every request came in its cycle', 0, undefined, 'agrees', 'agrees'],
  ['one came in another: it may be for that reason alone', 1, undefined, 'agrees', 'run invalid'],
  ['clients sent one late', 1, [], 'agrees', 'run invalid'],
  ['the node differs all the same', 1, undefined, 'node differs', 'node differs'],
])(
  'a failed expectation invalidates a run that agrees if a request came in another cycle: %s',
  (_, late, clients, verdict, becomes) => {
    const requestLog = emptyLog();
    requestLog.late = late;
    const before = { verdict, reason: 'So.' } as unknown as Parameters<typeof whenNotHeld>[0];
    expect(whenNotHeld(before, seenWith({ clients, isScheduled: clients === undefined }, requestLog)).verdict).toBe(
      becomes,
    );
  },
);
