// Loaded into the process of a node (`node --import`). Measures how long marked requests waited, in the time that the node was at work.
// What counts is the thread that answers, where the system says what it used: a collector that marks beside it on other threads takes up
// to 76 ms of processor time for each of its rounds, and keeps nobody waiting.
//
//   wall       ──────────────────────────────────────────►          a header says when a request was sent, by the clock that all
//   processor  ──.....────────..─────────────.....────────►          processes of a machine share; what the node worked from then
//                     sent ▲                  ▲ answered            to its answer is the wait, however busy the machine is
//
// X-Sent: <ns>. At SIGUSR2 the file WEIR_PROBE gets the waits of all answers since the last one, and the longest turn of the event loop
// meanwhile; in ms of processor time.
import { subscribe } from 'node:diagnostics_channel';
import { existsSync, openSync, readSync, renameSync, writeFileSync } from 'node:fs';
import { performance } from 'node:perf_hooks';

const KEPT_TURNS = 4_096;
/** The last turns: when each ended, the processor time until then, and for how long it had waited at its beginning; in ms. */
const turns = [];
let seen = { processorMs: [], longestTurnMs: 0 };

const wallMs = (ns = process.hrtime.bigint()) => Number(ns) / 1e6;
/** Of Linux: the ns that this thread has run for, then other figures; or only zeros, where the system does not count. */
const SCHEDULED = '/proc/thread-self/schedstat';
const scheduled = existsSync(SCHEDULED) ? openSync(SCHEDULED) : undefined;
const text = Buffer.alloc(64);
const scheduledNs = () => Number.parseInt(text.toString('latin1', 0, readSync(scheduled, text, 0, 64, 0)), 10);
const ofThread = scheduled !== undefined && scheduledNs() > 0;
const usedMs = () => {
  // Asked for first, also where the other figure is taken: it makes the system count up to now, not to the last of its ticks of 4 ms.
  const { user, system } = process.cpuUsage();
  return ofThread ? scheduledNs() / 1e6 : (user + system) / 1e3;
};
const now = () => ({ endMs: wallMs(), usedMs: usedMs(), idleMs: performance.nodeTiming.idleTime });

/** The processor time at an earlier instant: a turn waits first and works then, evenly. */
function usedAt(ms) {
  let after = now();
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const before = turns[at];
    if (before.endMs <= ms) {
      const busySinceMs = before.endMs + after.idleMs - before.idleMs;
      const share = (ms - busySinceMs) / Math.max(1e-6, after.endMs - busySinceMs);
      return before.usedMs + Math.max(0, share) * (after.usedMs - before.usedMs);
    }
    after = before;
  }
  return 0;
}

function nextTurn() {
  const turn = now();
  const before = turns.at(-1);
  if (before !== undefined) seen.longestTurnMs = Math.max(seen.longestTurnMs, turn.usedMs - before.usedMs);
  turns.push(turn);
  if (turns.length > 2 * KEPT_TURNS) turns.splice(0, KEPT_TURNS);
  // One that keeps no loop awake: it comes once in every turn.
  setImmediate(nextTurn).unref();
}
nextTurn();

subscribe('http.server.response.finish', ({ request }) => {
  const sent = request.headers['x-sent'];
  if (sent !== undefined) seen.processorMs.push(usedMs() - usedAt(wallMs(BigInt(sent))));
});
process.on('SIGUSR2', () => {
  const file = process.env.WEIR_PROBE;
  writeFileSync(`${file}.part`, JSON.stringify(seen));
  renameSync(`${file}.part`, file);
  seen = { processorMs: [], longestTurnMs: 0 };
});
