// A trace as a Mermaid sequence diagram.
import type { TracedMessage } from './trace.js';

export const MOST_DRAWN = 200;

/** @param total messages of the run: a comment counts those that are left out */
export function sequenceDiagram(messages: readonly TracedMessage[], total = messages.length): string {
  const names = new Map<string, string>();
  const idOf = (name: string) => {
    const known = names.get(name);
    if (known !== undefined) return known;
    const id = `p${names.size}`;
    names.set(name, id);
    return id;
  };
  const drawn = messages.slice(0, MOST_DRAWN);
  let cycle: number | undefined;
  const lines = drawn.flatMap((message) => {
    const from = idOf(message.from);
    const to = idOf(message.to);
    const moved = message.before === message.after || message.after === '' ? '' : `: ${message.after}`;
    const line = `  ${from}->>${to}: ${plain(message.event)}${plain(moved)}`;
    if (message.cycle === cycle) return [line];
    cycle = message.cycle;
    return [`  Note over ${from}: cycle ${cycle}`, line];
  });
  const participants = [...names].map(([name, id]) => `  participant ${id} as ${plain(name)}`);
  const left = total > drawn.length ? [`  %% and ${total - drawn.length} more messages`] : [];
  return `${['sequenceDiagram', ...participants, ...lines, ...left].join('\n')}\n`;
}

/** Mermaid ends a line at a semicolon and starts a comment at a hash. */
function plain(text: string): string {
  return text.replace(/[;#\n]/g, ' ');
}
