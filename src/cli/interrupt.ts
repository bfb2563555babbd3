// Owns Ctrl-C: the first one lets a command end well, with what it has done so far; the second one ends it at once.
import { setMaxListeners } from 'node:events';

/** Exit codes of shells for who was ended by a signal: 128 + its number. */
const exits: Partial<Record<NodeJS.Signals, number>> = { SIGINT: 130, SIGTERM: 143 };

let stoppedBy: NodeJS.Signals | undefined;

/** The exit code of a command that was stopped, whatever the part that it did shows; undefined when nobody stopped it. */
export function exitOfStop(): number | undefined {
  return stoppedBy === undefined ? undefined : exits[stoppedBy];
}

/** Aborted by the first SIGINT or SIGTERM. */
export function interruptible(): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  // Every request under way listens: that is no leak to be warned of.
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
