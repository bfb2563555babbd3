// Ctrl-C: the first one stops a command, which keeps its results so far; the second one ends the process immediately.
import { setMaxListeners } from 'node:events';

/** Exit codes of shells for a process that a signal ended: 128 + its number. */
const exits: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 130, SIGTERM: 143 };

let stoppedBy: NodeJS.Signals | undefined;

/** The exit code of a stopped command, for any partial result; undefined if the command was not stopped. */
export function exitOfStop(): number | undefined {
  return stoppedBy === undefined ? undefined : exits[stoppedBy];
}

export function interruptible(): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  // Every request in progress adds a listener, which is not a leak.
  setMaxListeners(0, controller.signal);
  const stop = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(exits[name]);
    stoppedBy = name;
    controller.abort();
  };
  process.on('SIGINT', stop);
  process.on('SIGTERM', stop);
  return {
    signal: controller.signal,
    release: () => {
      process.off('SIGINT', stop);
      process.off('SIGTERM', stop);
    },
  };
}

export function aborted(signal: AbortSignal): Promise<void> {
  if (signal.aborted) return Promise.resolve();
  return new Promise((resolve) => signal.addEventListener('abort', () => resolve(), { once: true }));
}
