import { expect, it } from 'vitest';
import type { InspectionEvent } from 'xstate';
import { ActorSystem } from '../../../src/core/limiter/actor-system.js';
import { Bug } from '../../../src/core/schema/failure.js';
import { Rank } from '../../../src/core/time/rank.js';
import { VirtualClock } from '../../../src/core/time/virtual.js';
import type { ServiceAnswer } from '../../../src/harness/clients/behaviour.js';
import type { SentAttempt, Transport } from '../../../src/harness/clients/client.js';
import type { ClientSpec } from '../../../src/harness/clients/client-schema.js';
import { isMessage } from '../../../src/harness/simulate/trace.js';
import { populationOf } from './scripted.js';

/** A transport that answers when told to, and remembers what it was asked. */
class ScriptedTransport implements Transport {
  readonly sent: SentAttempt[] = [];
  readonly told: string[] = [];

  constructor(readonly answerAtOnce?: (attempt: SentAttempt) => ServiceAnswer | undefined) {}

  send(attempt: SentAttempt): void {
    this.sent.push(attempt);
    this.told.push(`send ${attempt.job.number}#${attempt.number} of ${attempt.client.id}`);
    const answer = this.answerAtOnce?.(attempt);
    if (answer !== undefined) attempt.answer(answer);
  }

  abandon(attempt: SentAttempt): void {
    this.told.push(`abandon ${attempt.job.number}#${attempt.number}`);
  }
}

/** A job of such a client at 0, and a clock that has not run. */
function begun(
  spec: ClientSpec,
  answerAtOnce?: (attempt: SentAttempt) => ServiceAnswer | undefined,
  inspect?: (event: InspectionEvent, nowMs: number) => void,
) {
  const clock = new VirtualClock(0, 777);
  const transport = new ScriptedTransport(answerAtOnce);
  const actors = inspect && new ActorSystem((event) => inspect(event, clock.now()));
  const population = populationOf([spec], transport, clock, { actors });
  population.arrive(0);
  return { clock, transport, population };
}

const none = { jobs: 0, attempts: 0, retries: 0, succeeded: 0, given_up: 0, dropped: 0, abandoned: 0 };
const counted = (some: Partial<typeof none>) => expect.objectContaining({ ...none, ...some });

it.each([
  [
    'has waited its time abandons the attempt, tells the transport, and may try again',
    { max_attempts: 2 },
    [],
    200,
    { given_up: 1 },
  ],
  ['takes a late answer abandons the attempt under way', { takes_late_answers: true }, [150], 150, { succeeded: 1 }],
] as const)('a client that %s', (_, more, answersMs, endMs, end) => {
  const { clock, transport, population } = begun({ kind: 'retrying', timeout: '100ms', ...more });
  for (const ms of answersMs) clock.agenda.at(ms, Rank.service, () => transport.sent[0]!.answer({ type: 'served' }));
  clock.run();
  expect([transport.told, clock.now(), population.figures()[0]]).toEqual([
    ['send 1#1 of retrying/0', 'abandon 1#1', 'send 1#2 of retrying/0', 'abandon 1#2'],
    endMs,
    counted({ jobs: 1, attempts: 2, retries: 1, abandoned: 2, ...end }),
  ]);
});

it('an answer in time takes the time limit back', () => {
  const { clock, transport, population } = begun({ kind: 'open', timeout: '100ms' });
  clock.agenda.at(100, Rank.service, () => transport.sent[0]!.answer({ type: 'served' }));
  clock.run();
  expect([clock.agenda.size, population.figures()[0]]).toEqual([0, counted({ jobs: 1, attempts: 1, succeeded: 1 })]);
});

it('an answer that comes too late changes nothing for a client that does not take it', () => {
  const { clock, transport, population } = begun({ kind: 'open', timeout: '100ms' });
  clock.run();
  for (const answer of [{ type: 'failed' }, { type: 'served' }] as const) transport.sent[0]!.answer(answer);
  expect(population.figures()[0]).toEqual(counted({ jobs: 1, attempts: 1, given_up: 1, abandoned: 1 }));
});

it('two answers to one attempt are a bug of the transport', () => {
  const { transport } = begun({ kind: 'open' });
  transport.sent[0]!.answer({ type: 'served' });
  expect(() => transport.sent[0]!.answer({ type: 'served' })).toThrow(Bug);
});

it('an actor takes an answer that comes while it is sending after it has sent', () => {
  const limitedOnce = (attempt: SentAttempt): ServiceAnswer =>
    attempt.number < 3 ? { type: 'limited', retryAfterMs: 0 } : { type: 'served' };
  const { population } = begun({ kind: 'obedient' }, limitedOnce);
  const states = [...population.clients()].map(({ id, state }) => ({ id, state }));
  expect([states, population.figures()[0]]).toEqual([
    [{ id: 'obedient/0', state: { at: 'idle' } }],
    counted({ jobs: 1, attempts: 3, retries: 2, succeeded: 1 }),
  ]);
});

it('a thousand attempts answered at once do not pile up on the stack', () => {
  const spec = { kind: 'retrying', max_attempts: 1000, backoff: { policy: 'none' } } as const;
  const { population } = begun(spec, () => ({ type: 'failed' }));
  expect(population.figures()[0]).toEqual(counted({ jobs: 1, attempts: 1000, retries: 999, given_up: 1 }));
});

it('an actor shows its inspector every message and the state that follows, and attempts by their names', () => {
  const seen: string[] = [];
  const limited = () => ({ type: 'limited', retryAfterMs: 5 }) as const;
  const { clock } = begun({ kind: 'obedient', max_attempts: 2 }, limited, (event, nowMs) => {
    if (event.type !== '@xstate.snapshot' || !isMessage(event.event)) return;
    const { value } = event.snapshot as unknown as { value: string };
    seen.push(`${nowMs} ${(event.actorRef as unknown as { id: string }).id} ${JSON.stringify(event.event)} ${value}`);
  });
  clock.run();
  expect(seen).toEqual([
    '0 obedient/0 {"type":"job","job":{"number":1,"contract":0,"bornMs":0}} asking',
    '0 obedient/0 {"type":"limited","retryAfterMs":5,"attempt":{"job":1,"number":1}} pausing',
    '5 obedient/0 {"type":"wake","waitedMs":5} asking',
    '5 obedient/0 {"type":"limited","retryAfterMs":5,"attempt":{"job":1,"number":2}} idle',
  ]);
});

it('an error of the transport is thrown at the caller of the arrival', () => {
  const failing = () => {
    throw new Bug('of the transport');
  };
  expect(() => begun({ kind: 'open' }, failing)).toThrow('of the transport');
});
