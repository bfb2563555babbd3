// Ctrl-C: the first stops a command, which keeps its partial results; the second ends the process immediately.
import { setMaxListeners } from 'node:events';

/** As in shells: 128 + the number of the signal. */
const exits: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 130, SIGTERM: 143 };

let stoppedBy: NodeJS.Signals | undefined;
let controller: AbortController | undefined;
let isWaiting = false;

export function exitOfStop(): number | undefined {
  return stoppedBy === undefined ? undefined : exits[stoppedBy];
}

/** Aborted by the first Ctrl-C from now on. A command that never calls this is ended by the first one. */
export function stopSignal(): AbortSignal {
  if (controller !== undefined) return controller.signal;
  controller = new AbortController();
  // Every request in progress adds a listener, which is not a leak.
  setMaxListeners(0, controller.signal);
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.on(name, stop);
  return controller.signal;
}

export function releaseStop(): void {
  for (const name of ['SIGINT', 'SIGTERM'] as const) process.off(name, stop);
  controller = undefined;
}

function stop(name: NodeJS.Signals): void {
  if (controller?.signal.aborted) process.exit(exits[name]);
  stoppedBy = name;
  controller?.abort();
  // Without a listener the next signal ends a process that computes. One that waits may be the first of a container: it would ignore it.
  if (isWaiting) return;
  for (const each of ['SIGINT', 'SIGTERM'] as const) process.off(each, stop);
}

/** For commands that only wait. */
export function untilStopped(): Promise<void> {
  isWaiting = true;
  const signal = stopSignal();
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
