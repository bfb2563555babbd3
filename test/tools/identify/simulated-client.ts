// A client of a known retry policy, in virtual time: it makes calls against scripts.
import { drawsOf, type RandomStream } from '../../../src/core/math/random.js';
import { type ClientAnswer, clientAnswer } from '../../../src/tools/identify/client/client-answer.js';
import {
  type ClientInvestigation,
  investigateClient,
} from '../../../src/tools/identify/client/client-investigation.js';
import {
  type Call,
  type Reply,
  replyAt,
  type Script,
  type SeenAttempt,
} from '../../../src/tools/identify/client/script.js';

export interface TrueClient {
  readonly attempts: number;
  /** Wait before retry k. */
  readonly wait: (k: number, draw: RandomStream, lastMs: number, reply: Reply) => number;
  readonly retries: (reply: Reply) => boolean;
  /** Of an announced wait and its own: undefined to give up. */
  readonly advice?: (toldMs: number, ownMs: number, draw: RandomStream) => number | undefined;
  readonly timeoutMs?: number;
  /** A call does not wait beyond it, in ms. */
  readonly deadlineMs?: number | undefined;
  /** Retries of all calls of one process, which makes many one after the other; undefined for one call. */
  readonly quota?: number | undefined;
  /** Whether the retries of a call that is served do not count. */
  readonly refunds?: boolean;
  /** Calls of one process, one after the other; 1 without a quota. */
  readonly calls?: number;
  /** A token bucket before every send, shared by all calls of one process. */
  readonly gate?: { readonly perS: number; readonly burst: number };
}

/** How late a gap is beyond its wait, in ms. */
export type Late = (isFirst: boolean) => number;

export function machine(draw: RandomStream, busy = 1): Late {
  return (isFirst) =>
    (isFirst ? 8 + draw.exponential(1 / (15 * busy)) : 0.5 + draw.exponential(1 / (2 * busy))) +
    (draw.uniform() < 0.03 ? 30 * busy * draw.uniform() : 0);
}

/** The calls of one process. */
function callsOf(client: TrueClient, script: Script, start: number, late: Late, draw: RandomStream): Call[] {
  let left = client.quota ?? Infinity;
  const passMs = bucket(client.gate);
  let nowMs = 0;
  return Array.from({ length: client.calls ?? (client.quota === undefined ? 1 : CALLS) }, (_, place) => {
    const attempts = Math.min(client.attempts, 1 + left);
    const beganMs = nowMs;
    const gate = (ms: number) => passMs(beganMs + ms) - beganMs;
    const call = callOf({ ...client, attempts }, script, start, late, draw, place, gate);
    if (client.refunds !== true || call.ending !== 'served') left -= call.attempts.length - 1;
    nowMs += call.attempts.at(-1)!.endedMs;
    return call;
  });
}

const CALLS = 12;

/** When a send passes that comes at the given time, in ms. */
function bucket(gate: TrueClient['gate']): (nowMs: number) => number {
  if (gate === undefined) return (nowMs) => nowMs;
  const { perS, burst } = gate;
  let [tokens, atMs] = [burst, 0];
  return (nowMs) => {
    tokens = Math.min(burst, tokens + ((nowMs - atMs) / 1000) * perS);
    const passedMs = nowMs + (Math.max(0, 1 - tokens) / perS) * 1000;
    tokens = Math.max(0, tokens - 1);
    atMs = passedMs;
    return passedMs;
  };
}

export function callOf(
  client: TrueClient,
  script: Script,
  start: number,
  late: Late,
  draw: RandomStream,
  place = 0,
  gate: (nowMs: number) => number = (nowMs) => nowMs,
): Call {
  const attempts: SeenAttempt[] = [];
  let [nowMs, lastMs] = [gate(0), 0];
  const over = (ending: Call['ending'], silentMs = 0): Call => ({
    script,
    method: 'GET',
    start,
    place,
    isFresh: place === 0,
    attempts,
    ending,
    silentMs,
    isRunning: ending === 'silent',
  });
  for (;;) {
    const reply = replyAt(script, attempts.length);
    const heldMs = reply.heldMs ?? 0;
    const hungUp = heldMs > (client.timeoutMs ?? Infinity);
    const endedMs = nowMs + (hungUp ? client.timeoutMs! : heldMs);
    attempts.push({ arrivedMs: nowMs, endedMs, reply, hungUp });
    const k = attempts.length;
    if (reply.status === 200 && !hungUp) return over('served');
    if (k >= client.attempts || !client.retries(reply)) return over('given up');
    const ownMs = client.wait(k, draw, lastMs, reply);
    const toldMs = reply.retryAfter === undefined ? undefined : reply.retryAfter.seconds * 1000;
    const waitMs = toldMs === undefined ? ownMs : (client.advice ?? ((_, own) => own))(toldMs, ownMs, draw);
    if (waitMs === undefined || endedMs + waitMs > (client.deadlineMs ?? Infinity)) return over('given up');
    if (waitMs > Math.max(script.patienceMs, 4 * lastMs))
      return over('silent', Math.max(script.patienceMs, 4 * lastMs));
    lastMs = waitMs;
    nowMs = gate(endedMs + waitMs) + late(k === 1 && place === 0);
  }
}

/** A machine beside much other work: late by tens of ms, and now and then it stalls. */
export function loadedMachine(draw: RandomStream): Late {
  const late = machine(draw, 8);
  return (isFirst) => late(isFirst) + (draw.uniform() < 0.02 ? 1_000 + 4_000 * draw.uniform() : 0);
}

/** How late timers are: on an idle machine, and beside much other work. */
const IDLE = { averageMs: 2, oftenMs: 6 };
const BUSY = { averageMs: 16, oftenMs: 45 };

/** @param first for the first gaps alone */
type MakeLate = (draw: RandomStream, first: RandomStream) => Late;

/** What is said of a client. @param lateOf of a machine beside much other work; without it, the machine is idle */
export function answerFor(client: TrueClient, seed: number, lateOf?: MakeLate): ClientAnswer {
  const draw = drawsOf(seed);
  const late = lateOf === undefined ? machine(draw('late')) : lateOf(draw('late'), draw('first'));
  const draws = draw('client');
  const play = (scripts: readonly Script[], start: number) =>
    scripts.flatMap((script, i) => callsOf(client, script, start + i, late, draws));
  return answerOf(investigateClient(draw('identify client')), play, { timers: lateOf === undefined ? IDLE : BUSY });
}

/** Plays an investigation to its end. @param rounds after which it is stopped */
export function answerOf(
  investigation: ClientInvestigation,
  play: (scripts: readonly Script[], start: number) => Call[],
  { timers = IDLE, rounds = Infinity } = {},
): ClientAnswer {
  const calls: Call[] = [];
  let [start, round] = [0, 0];
  let next = investigation.next();
  while (next.done !== true) {
    const played = play(next.value, start);
    start += next.value.length;
    round += 1;
    calls.push(...played);
    next = investigation.next({ calls: played, leftMs: 180_000, timers, isOver: round >= rounds });
  }
  return clientAnswer('simulated', { policy: next.value, calls, seconds: 0, isMixed: false });
}
