// `weir node follow`: prints the events of a machine as they happen, one line each.
import { getMachine } from '../api/machines.js';
import type { StreamMessage } from '../client/event-stream.js';
import { readable } from '../client/http-transport.js';
import type { NodeClient } from '../client/node-client.js';
import { text, whole } from './command.js';
import { interruptible } from './interrupt.js';
import { nodeCommand, slug } from './node-command.js';
import { say, warn } from './say.js';

export const followMachine = nodeCommand({
  options: {
    slug,
    after: whole(0, Number.MAX_SAFE_INTEGER, 'begin after this row of the record; 0 for all (default: now)'),
    count: whole(1, Number.MAX_SAFE_INTEGER, 'end after this number of events'),
    type: text('only events of this name, for example rate_limited; cycle for the beginnings of cycles'),
    client: text('only what happens to this key of contracts with keys, as the record names it'),
  },
  examples: [
    ['node follow edge-gateway', 'until Ctrl-C'],
    ['node follow edge-gateway --after 0 --json', 'from the first row on, one CloudEvent a line'],
    ['node follow edge-gateway --type rate_limited --count 1', 'wait for the gate to close'],
    ['node follow edge-gateway --client client-17', 'one client of a contract with keys'],
  ],
  run: async (node, given) => {
    const interrupt = interruptible();
    try {
      await printMessages(node, given, interrupt.signal);
    } finally {
      interrupt.release();
    }
    return undefined;
  },
});

interface Given {
  readonly slug: string;
  readonly after?: number;
  readonly count?: number;
  readonly type?: string;
  readonly client?: string;
  readonly json: boolean;
}

/** Ends when it is interrupted, or after the given number of events. */
async function printMessages({ api, prove }: NodeClient, given: Given, signal: AbortSignal): Promise<void> {
  const { follow } = await import('../client/event-stream.js');
  const { slug, type, client, json, count = Number.POSITIVE_INFINITY } = given;
  const afterSeq = given.after ?? (await api.call(getMachine, { params: { slug } })).machine.head.seq;
  let printed = 0;
  const messages = follow(api, slug, {
    afterSeq,
    signal,
    prove,
    onPause: (ms, seq) => warn(`weir: the stream has ended; reconnecting in ${ms / 1000} s, after row ${seq}\n`),
  });
  for await (const message of messages) {
    const isAsked = type === undefined ? message.event !== 'cycle' : type === message.event;
    const isOfClient = client === undefined || ['cycle', 'rows_removed'].includes(message.event);
    if (!isAsked || !(isOfClient || message.envelope?.data.key === client)) continue;
    say(json ? `${message.data}\n` : `${readable(lineOf(message))}\n`);
    printed += 1;
    if (printed >= count) break;
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
