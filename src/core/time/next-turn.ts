// Lets signals, sockets and the screen run during long work. It waits for no time, so timers are still set in wall.ts only.

/** By `setImmediate`; in a browser, by a message of the page to itself. */
export const nextTurn: () => Promise<void> =
  typeof setImmediate === 'function' ? () => new Promise((resolve) => void setImmediate(resolve)) : messages();

function messages(): () => Promise<void> {
  const { port1, port2 } = new MessageChannel();
  const waiting: (() => void)[] = [];
  (port1 as unknown as { onmessage?: () => void }).onmessage = () => waiting.shift()?.();
  return () =>
    new Promise((resolve) => {
      waiting.push(resolve);
      port2.postMessage(undefined);
    });
}
