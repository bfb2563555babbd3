// A closed loop: a fixed number of requests in flight; each answer triggers the next request.
//
//   connection 1   o────o──o─────o───o      as fast as the target answers: measures throughput, keeps no schedule
//   connection 2   o──o────────o──o──o
import { cycleOf, startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';
import type { Sending, Stage } from './sending.js';

export const CLOSED_LOOP =
  'A closed loop: each connection sends its next request when the last one was answered. While the target is slow less is sent, so the latencies leave out the waiting that users at a steady rate would have (coordinated omission). A rate, as --rate 50/s, measures that.';

export function closedLoop(
  { clock, firstCycle, inFlight, observer }: Stage,
  connections: number,
  cycles: number,
): Sending {
  const endMs = startOf(firstCycle + cycles, clock.cycleMs);
  let isStopped = false;
  const send = (): void => {
    const nowMs = clock.now();
    if (isStopped || nowMs >= endMs) return;
    observer.plan(cycleOf(nowMs, clock.cycleMs), 1);
    inFlight.launch(0, nowMs, undefined, send);
  };
  return {
    isScheduled: false,
    start: () =>
      void clock.agenda.at(startOf(firstCycle, clock.cycleMs), Rank.arrival, () => {
        for (let n = 0; n < connections; n += 1) send();
      }),
    stop: () => {
      isStopped = true;
    },
  };
}
