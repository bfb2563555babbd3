// Ctrl-C: the first is heard by the command, the second ends the process even while it computes.
import { expect, it } from 'vitest';
import { exitOfStop, releaseStop, stopSignal } from '../../../src/report/command/interrupt.js';

it('the first signal stops the command, and leaves the next to the system, which ends the process', () => {
  const before = process.listenerCount('SIGINT');
  const signal = stopSignal();
  expect([process.listenerCount('SIGINT'), signal.aborted]).toEqual([before + 1, false]);
  process.emit('SIGINT', 'SIGINT');
  expect([process.listenerCount('SIGINT'), process.listenerCount('SIGTERM')]).toEqual([before, before]);
  expect([signal.aborted, exitOfStop()]).toEqual([true, 130]);
  releaseStop();
});
