// Replays observed calls through a client of a scenario: whether it could have made each of them.
import type { RandomStream } from '../../../core/math/random.js';
import { CYCLE_MS } from '../../../core/time/cycle.js';
import type { Behaviour, ClientState, Effect, Job, Wait } from '../../../harness/clients/behaviour.js';
import { planClients } from '../../../harness/clients/client-plan.js';
import type { ClientSpec } from '../../../harness/clients/client-schema.js';
import { clientLibraries, type LibraryName } from '../../../harness/clients/libraries.js';
import { backoffFor, type RetryPolicy, setbackOf } from './retry-policy.js';
import { type Call, hasGivenUp, type Reply, replyAt } from './script.js';
import { areStalls, latestMs } from './wait-law.js';

const job: Job = { number: 1, contract: 0, bornMs: 0 };

function waitsOf(
  { initial, on }: Behaviour<ClientState>,
  replies: readonly Reply[],
  gapsMs: readonly number[],
): (readonly [leastMs: number, mostMs: number] | undefined)[] {
  const entered = (state: ClientState, effects: readonly Effect[]) =>
    effects.some(({ type }) => type === 'enter') ? on(state, { type: 'entered' }) : ([state, effects] as const);
  let [state] = entered(...on(initial, { type: 'job', job }));
  const waits: ReturnType<typeof waitsOf> = [];
  for (const [i, reply] of replies.entries()) {
    const attempt = { job, number: i + 1 };
    const retryAfterMs = reply.retryAfter && reply.retryAfter.seconds * 1000;
    const type = reply.status === 'reset' ? 'lost' : setbackOf(reply);
    const [next, effects] = on(state, type === 'limited' ? { type, retryAfterMs, attempt } : { type, attempt });
    const retry = effects.find((effect) => effect.type === 'retry');
    if (retry === undefined) return [...waits, undefined];
    const ends = [0, 1 - 1e-9].map((u) => drawn(retry.wait, u)).sort((a, b) => a - b);
    waits.push([ends[0]!, ends[1]!]);
    [state] = entered(...on(next, { type: 'wake', waitedMs: gapsMs[i] ?? ends[1]! }));
  }
  return waits;
}

function drawn(wait: Wait, uniform: number): number {
  return typeof wait === 'number' ? wait : wait.drawMs({ uniform: () => uniform } as RandomStream);
}

/** Tolerance for each edge of a wait: a share, or ms for short ones. */
const CLOSE = { share: 0.06, ms: 3 };
type Waited = ReturnType<typeof waitsOf>[number];

function isAlike(a: Waited, b: Waited): boolean {
  if (a === undefined || b === undefined) return a === b;
  const isClose = (one: number, other: number) => Math.abs(one - other) < CLOSE.ms + CLOSE.share * a[1];
  return isClose(a[0], b[0]) && isClose(a[1], b[1]);
}

function isDescribed({ status, retryAfter, heldMs }: Reply): boolean {
  const isKnown = status === 429 || (status === 503 && retryAfter === undefined);
  return isKnown && heldMs === undefined && retryAfter?.form !== 'date' && retryAfter?.seconds !== 0;
}

export function explainsCalls(spec: ClientSpec, calls: readonly Call[], policy: RetryPolicy): boolean {
  const { behaviour } = planClients([spec], CYCLE_MS)[0]!;
  let [gapsSeen, stalls] = [0, 0];
  const isExplained = calls.every((call) => {
    const { attempts, script, place } = call;
    const setbacks = attempts.filter(({ reply }) => reply.status !== 200).map(({ reply }) => reply);
    if (place > 0 || setbacks.length === 0 || !script.replies.every((one) => one.status === 200 || isDescribed(one)))
      return true;
    const gaps = attempts.slice(1).map(({ arrivedMs }, i) => arrivedMs - attempts[i]!.endedMs);
    const waits = waitsOf(behaviour, setbacks, gaps);
    return setbacks.every((reply, i) => {
      const [wait, gapMs] = [waits[i], gaps[i]];
      const fit = backoffFor(setbackOf(reply), policy.backoffs)?.fits[0];
      const late = latestMs((i === 0 ? fit?.first : fit?.later) ?? { offsetMs: 0, spreadMs: 20 });
      const spentMs = attempts[i]!.endedMs - attempts[0]!.arrivedMs;
      const isTooLate = wait !== undefined && spentMs + wait[1] >= (policy.deadline?.least ?? Infinity);
      if (gapMs === undefined && isTooLate) return true;
      if (gapMs === undefined) return wait === undefined || !(hasGivenUp(call) || wait[1] + late < call.silentMs);
      if (wait === undefined) return false;
      const close = (ms: number) => CLOSE.ms + CLOSE.share * ms;
      if (attempts[i + 1]!.isStalled === true) return true;
      gapsSeen += 1;
      stalls += Number(gapMs > wait[1] + close(wait[1]) + late);
      return gapMs > wait[0] - close(wait[0]);
    });
  });
  return isExplained && areStalls(stalls, gapsSeen);
}

const MOST_REPLIES = 12;

export function librariesLike(found: ClientSpec, calls: readonly Call[]): LibraryName[] {
  const scripts = new Map(calls.map(({ script }) => [script.name, script]));
  const answered = [...scripts.values()]
    .map((script) => Array.from({ length: MOST_REPLIES }, (_, i) => replyAt(script, i)))
    .map((replies) => replies.filter(({ status }) => status !== 200))
    .filter((replies) => replies.length > 0 && replies.every(isDescribed));
  const waits = (spec: ClientSpec) => {
    const { behaviour } = planClients([spec], CYCLE_MS)[0]!;
    return answered.flatMap((replies) => [...waitsOf(behaviour, replies, []), undefined]);
  };
  const own = waits(found);
  return (Object.keys(clientLibraries) as LibraryName[]).filter((like) => {
    const its = waits({ like });
    return its.length === own.length && its.every((wait, i) => isAlike(wait, own[i]));
  });
}
