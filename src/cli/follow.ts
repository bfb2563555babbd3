// `weir follow`: prints the events of a machine as they happen, one line each.
import { getMachine } from '../api/machines.js';
import type { StreamMessage } from '../client/event-stream.js';
import type { NodeClient } from '../client/node-client.js';
import { readable } from '../client/refusal.js';
import { interruptible } from './interrupt.js';
import { nodeCommand, slugArgument } from './node-command.js';
import { say, warn } from './say.js';

export const followCommand = nodeCommand({
  options: (yargs) =>
    yargs
      .positional('slug', slugArgument)
      .option('after', {
        type: 'number',
        requiresArg: true,
        describe: 'begin after this row of the record; 0 for all (default: now)',
      })
      .option('events', { type: 'number', requiresArg: true, describe: 'end after this number of events' })
      .option('only', {
        type: 'string',
        requiresArg: true,
        describe: 'only events of this name, for example rate_limited',
      })
      .option('for', {
        type: 'string',
        requiresArg: true,
        describe: 'only what happens to this key of contracts with keys, as the record names it',
      })
      .option('cycles', { type: 'boolean', default: false, describe: 'also when cycles begin' })
      .example('$0 follow edge-gateway', 'until Ctrl-C')
      .example('$0 follow edge-gateway --after 0 --json', 'from the first row on, one CloudEvent a line')
      .example('$0 follow edge-gateway --only rate_limited --events 1', 'wait for the gate to close')
      .example('$0 follow edge-gateway --for client-17', 'one client of a contract with keys'),
  run: async (node, given) => {
    const interrupt = interruptible();
    node.clock.start();
    try {
      await printMessages(node, given, interrupt.signal);
    } finally {
      node.clock.stop();
      interrupt.release();
    }
    return undefined;
  },
});

interface Given {
  readonly slug: string;
  readonly after?: number | undefined;
  readonly events?: number | undefined;
  readonly only?: string | undefined;
  readonly for?: string | undefined;
  readonly cycles: boolean;
  readonly json: boolean;
}

/** Ends when it is interrupted, or after the given number of events. */
async function printMessages({ api, clock, prove }: NodeClient, given: Given, signal: AbortSignal): Promise<void> {
  const { follow } = await import('../client/event-stream.js');
  const { slug, only, for: key, cycles, json, events = Number.POSITIVE_INFINITY } = given;
  const afterSeq = given.after ?? (await api.call(getMachine, { params: { slug } })).machine.head.seq;
  let printed = 0;
  const messages = follow(api, slug, {
    afterSeq,
    signal,
    sleep: (ms) => clock.sleep(ms, signal),
    prove,
    onPause: (ms, seq) => warn(`weir: the stream has ended; reconnecting in ${ms / 1000} s, after row ${seq}\n`),
  });
  for await (const message of messages) {
    const isAsked =
      message.event === 'cycle' ? cycles || only === 'cycle' : only === undefined || only === message.event;
    const isOfKey = key === undefined || ['cycle', 'rows_removed'].includes(message.event);
    if (!isAsked || !(isOfKey || message.envelope?.data.key === key)) continue;
    say(json ? `${message.data}\n` : `${readable(lineOf(message))}\n`);
    printed += 1;
    if (printed >= events) break;
  }
}

/** For example `2026-11-20T23:24:00.000Z  cycle 2345678901  rate_limited  0123456789abcdef  limiting  count 101`. */
function lineOf({ event, data: text, envelope }: StreamMessage): string {
  if (envelope === undefined) return `${event}  ${text}`;
  const { cycle, contract_id, key, from, to, state, count, cause, removed_to_seq: removed } = envelope.data;
  const parts = [envelope.time, cycle === undefined ? '' : `cycle ${cycle}`, event, contract_id ?? '', key ?? ''];
  if (removed !== undefined) parts.push(`up to row ${removed}`);
  if (from !== undefined && to !== undefined) parts.push(`${from} -> ${to}`);
  if (state !== undefined) parts.push(state);
  if (count !== undefined) parts.push(`count ${count}`);
  if (cause !== undefined && cause !== 'trigger') parts.push(cause);
  return parts.filter((part) => part !== '').join('  ');
}
