// `weir node record` and `weir node follow`: exports the record of a machine, or follows it.
import { once } from 'node:events';
import * as fs from 'node:fs';
import type { StreamMessage } from '../api/client/event-stream.js';
import { getContract } from '../api/contracts.js';
import { getMachine } from '../api/machines.js';
import { readRecord } from '../api/record.js';
import { unwritableFailure } from '../core/schema/unwritable.js';
import { text, whole } from '../report/command/command.js';
import { exitOfStop, stopSignal } from '../report/command/interrupt.js';
import { jsonOf } from '../report/command/options.js';
import { say, warn } from '../report/command/say.js';
import { nodeCommand } from './node-route.js';

const machine = text('slug of the machine', { place: true, required: true });

export const record = nodeCommand({
  options: {
    machine,
    out: text('file for it (default: standard output)'),
    json: { ...jsonOf('record'), needs: 'out' },
  },
  examples: [
    ['node record edge-gateway --out edge.ndjson', 'keep it; `weir verify edge.ndjson` says whether it holds'],
    ['node record edge-gateway | jq .kind', 'its rows, for other programs'],
  ],
  run: async ({ api }, { machine: slug, out }) => {
    const signal = stopSignal();
    try {
      const ask = { params: { slug }, query: { format: 'ndjson' } } as const;
      const body = await api.open(readRecord, ask, 'application/x-ndjson', signal);
      if (out === undefined) {
        for await (const chunk of body) if (!process.stdout.write(chunk)) await once(process.stdout, 'drain');
        return undefined;
      }
      const bytes = await writeWhole(out, body);
      return { answer: { ok: true, file: out, bytes }, words: `The record is in ${out}, ${bytes} bytes.` };
    } catch (error) {
      if (!signal.aborted) throw error;
      warn(`weir: stopped before the record was whole${out === undefined ? '' : `; nothing is in ${out}`}\n`);
      process.exitCode = exitOfStop() ?? 0;
      return undefined;
    }
  },
});

/** The file appears only when complete. @returns its size in bytes @throws Failure `unwritable_folder` */
async function writeWhole(path: string, chunks: AsyncIterable<Uint8Array>): Promise<number> {
  const draft = `${path}.part`;
  let bytes = 0;
  try {
    const file = fs.openSync(draft, 'w', 0o666);
    for await (const chunk of chunks) bytes += fs.writeSync(file, chunk);
    fs.fsyncSync(file);
    fs.closeSync(file);
    fs.renameSync(draft, path);
    return bytes;
  } catch (error) {
    fs.rmSync(draft, { force: true });
    throw unwritableFailure(path, error, 'Choose another file with --out, or free space on the disk.');
  }
}

export const follow = nodeCommand({
  options: {
    machine,
    after: whole(0, Number.MAX_SAFE_INTEGER, 'begin after this row of the record; 0 for all (default: now)'),
    count: whole(1, Number.MAX_SAFE_INTEGER, 'end after this number of events'),
    type: text('only events of this name, for example rate_limited; cycle for the beginnings of cycles'),
    client: text('only what happens to this key of contracts with keys, also where the record has its hash'),
  },
  examples: [
    ['node follow edge-gateway', 'until Ctrl-C'],
    ['node follow edge-gateway --after 0 --json', 'from the first row on, one CloudEvent a line'],
    ['node follow edge-gateway --type rate_limited --count 1', 'wait for the gate to close'],
    ['node follow edge-gateway --client client-17', 'one client of a contract with keys'],
  ],
  run: async ({ api, prove }, { machine: slug, type, client, json, after, count = Number.POSITIVE_INFINITY }) => {
    const { follow } = await import('../api/client/event-stream.js');
    const messages = follow(api, slug, {
      afterSeq: after ?? (await api.call(getMachine, { params: { slug } })).machine.head.seq,
      signal: stopSignal(),
      prove,
      onPause: (ms, seq) => warn(`weir: the stream has ended; reconnecting in ${ms / 1000} s, after row ${seq}\n`),
    });
    const names = new Map<string, string>();
    // Each contract that stores hashes has its own of a key. One that does not answer now is asked again.
    const nameIn = async (contract_id: string, key: string) => {
      const known = names.get(contract_id);
      if (known !== undefined) return known;
      const asked = api.call(getContract, { params: { slug, contract_id }, query: { key } });
      const name = (await asked.catch(() => undefined))?.contract.key;
      if (name !== undefined) names.set(contract_id, name);
      return name;
    };
    const isOf = async (
      key: string,
      { key: named, contract_id = '' }: NonNullable<StreamMessage['envelope']>['data'] = {},
    ) => named !== undefined && (named === key || named === (await nameIn(contract_id, key)));
    let printed = 0;
    for await (const message of messages) {
      const isAsked = type === undefined ? message.event !== 'cycle' : type === message.event;
      const isOfClient = client === undefined || ['cycle', 'rows_removed'].includes(message.event);
      if (!isAsked || !(isOfClient || (await isOf(client, message.envelope?.data)))) continue;
      say(`${json ? message.data : lineOf(message).replaceAll('\n', ' ')}\n`);
      printed += 1;
      if (printed >= count) break;
    }
    return undefined;
  },
});

function lineOf({ event, data: text, envelope }: StreamMessage): string {
  if (envelope === undefined) return `${event}  ${text}`;
  const { cycle, contract_id, key, from, to, state, count, cause, removed_to_seq: removed } = envelope.data;
  const parts = [
    envelope.time,
    cycle === undefined ? undefined : `cycle ${cycle}`,
    event,
    contract_id,
    key,
    removed === undefined ? undefined : `up to row ${removed}`,
    from === undefined || to === undefined ? undefined : `${from} -> ${to}`,
    state,
    count === undefined ? undefined : `count ${count}`,
    cause === 'trigger' ? undefined : cause,
  ];
  return parts.filter(Boolean).join('  ');
}
