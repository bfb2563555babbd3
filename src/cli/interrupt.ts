// Owns Ctrl-C: the first one lets a command end well, with what it has done so far; the second one ends it at once.

/** Aborted by the first SIGINT or SIGTERM. */
export function interruptible(): { readonly signal: AbortSignal; release(): void } {
  const controller = new AbortController();
  const stop = (name: NodeJS.Signals) => {
    if (controller.signal.aborted) process.exit(name === 'SIGINT' ? 130 : 143);
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
