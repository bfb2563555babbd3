// A live run from end to end: prepare the target, warm up both sides, run the session, read the clock of the target once more.
//
//   prepare ─► warm up ─► session ─► the clock once more ─► seen
import type { Reached } from '../client/connect.js';
import { Durations } from '../math/durations.js';
import type { TransitionSeen } from '../outcome/outcome-schema.js';
import type { Connection } from './connection.js';
import { alignedClock, movedMs, type NodeTime, readNodeTime, warmUp } from './connection.js';
import type { Heard } from './event-listener.js';
import type { Generators } from './generators.js';
import { LAST_WAIT_MS, type LiveRunOptions, LiveSession, type SessionSeen } from './live-session.js';
import type { Merged } from './merge.js';
import { PauseWatch } from './pause-watch.js';
import { ForeignTarget } from './target.js';
import { WeirTarget } from './weir-target.js';

/** What was seen of a live run. */
export interface LiveSeen extends SessionSeen, Merged {
  readonly time: NodeTime;
  /** How far the target's clock moved meanwhile, in ms, beyond what is uncertain. */
  readonly movedMs: number;
  /** The first mistake that a task of the run made: a bug. */
  readonly mistake: unknown;
}

/**
 * @param generators who send in the place of this process
 * @throws Failure `node_unreachable`, `answer_unreadable`, what a node refuses, and of generators `worker_failed`, `store_away`
 */
export async function runLive(
  connection: Connection,
  options: Omit<LiveRunOptions, 'isElsewhere'>,
  generators?: Generators,
): Promise<LiveSeen> {
  const { endpoint, nodes, clock: base, time } = connection;
  const { names, foreign, signal } = options;
  const [node] = nodes;
  const weir = node && (await WeirTarget.prepare(node, { ...options, endpoint, timeoutMs: connection.timeoutMs }));
  const target = weir ?? new ForeignTarget(endpoint, foreign ?? {}, names);
  if (weir !== undefined) await warmUp(connection, weir.peek, signal);
  await generators?.gather(connection, weir?.made, signal);
  let mistake: unknown;
  const lag = new Durations();
  const clock = alignedClock(base, time, {
    onError: (error) => (mistake ??= error),
    onLag: (lagMs) => lag.record(lagMs),
  });
  clock.start();
  const watch = new PauseWatch(base, time);
  const session = new LiveSession(
    clock,
    { ...options, isElsewhere: generators !== undefined },
    connection,
    target,
    weir && warmer(connection, weir),
  );
  try {
    await session.listen(weir);
    await session.run();
    await session.settle();
    const after = node === undefined || session.gone !== undefined ? time : await timeAfter(node, connection, session);
    const lagMs = { p90: lag.quantileMs(0.9), most: lag.quantileMs(1) };
    const own = { lagMs, pauses: watch.seen, apartMs: 0, sentBy: [] };
    const seen = { ...session.seen(), ...own, unsound: undefined, behind: undefined };
    return {
      ...seen,
      ...(await generators?.merged(connection, seen.evidence)),
      time,
      movedMs: movedMs(time, after),
      mistake,
    };
  } finally {
    session.end();
    watch.stop();
    clock.stop();
  }
}

/** Opens what is missing of so many connections. What fails here fails again for the requests of the run, and is reported there. */
export function warmer(
  { pool, clock, timeoutMs, connections }: Connection,
  weir: WeirTarget,
): (wanted: number) => void {
  return (wanted) => {
    const n = Math.min(wanted, connections);
    if (n > pool.connected) pool.warm(n, weir.peek, clock, timeoutMs).catch(() => {});
  };
}

async function timeAfter(
  node: Reached,
  { clock, timeoutMs, time }: Connection,
  session: LiveSession,
): Promise<NodeTime> {
  try {
    return await readNodeTime(node, clock, { timeoutMs: Math.min(timeoutMs, LAST_WAIT_MS) });
  } catch (error) {
    session.left(error instanceof Error ? error.message : String(error));
    return time;
  }
}

/** The transitions among what was heard, in order. */
export function transitionsIn(heard: readonly Heard[]): TransitionSeen[] {
  return heard
    .filter(({ event }) => event === 'transition')
    .map(({ cycle, to, count }) => ({ cycle, to, count: count ?? 0 }));
}
