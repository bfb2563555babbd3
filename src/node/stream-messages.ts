// Messages of event streams: server-sent events, each a CloudEvents 1.0 envelope.
import type { AuditRow, Cut } from '../record/row.js';
import { instantText, startOf } from '../time/cycle.js';

interface CloudEvent {
  readonly specversion: '1.0';
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: unknown;
}

/** The transition of a row, then what it emitted; empty for other rows. */
export function messagesOf(row: AuditRow): string {
  if (row.kind !== 'transition') return '';
  const { machine, contract_id, key, seq, cycle, at: time, to: state, emitted } = row;
  const envelope = { specversion: '1.0', source: `/api/chain/${machine}/contracts/${contract_id}`, time } as const;
  const count = row.substrate?.inputs['S'] ?? row.inputs?.['S'];
  const messages = emitted.map((event, index) => {
    const data = { event, machine, contract_id, key, state, count, cycle, seq };
    return message(seq, event, { ...envelope, ...typed(`${seq}/${index}`, event), data });
  });
  return message(seq, 'transition', { ...envelope, ...typed(`${seq}`, 'transition'), data: row }) + messages.join('');
}

export function removedMessage({ machine, ...cut }: Cut): string {
  const { removed_to_seq: seq, at: time } = cut;
  const envelope = { specversion: '1.0', source: `/api/chain/${machine}`, time } as const;
  return message(seq, 'rows_removed', {
    ...envelope,
    ...typed(`removed/${seq}`, 'rows_removed'),
    data: { machine, ...cut },
  });
}

export function cycleMessage(machine: string, seq: number, cycle: number, missed: number, cycleMs: number): string {
  return message(seq, 'cycle', {
    specversion: '1.0',
    source: `/api/chain/${machine}`,
    time: instantText(startOf(cycle, cycleMs)),
    ...typed(`cycle/${cycle}`, 'cycle'),
    data: { machine, cycle, missed, seq },
  });
}

/** @param contracts JSON of their counts up to `cycle` */
export function countsMessage(machine: string, seq: number, cycle: number, contracts: string, cycleMs: number): string {
  const source = `/api/chain/${machine}`;
  const envelope = {
    specversion: '1.0',
    source,
    time: instantText(startOf(cycle + 1, cycleMs)),
    ...typed(`counts/${cycle}`, 'counts'),
  };
  const data = JSON.stringify({ machine, cycle }).slice(0, -1);
  return `id: ${seq}\nevent: counts\ndata: ${JSON.stringify(envelope).slice(0, -1)},"data":${data},"contracts":${contracts}}}\n\n`;
}

function typed(id: string, event: string) {
  return { id, type: `weir.${event}`, datacontenttype: 'application/json' } as const;
}

function message(seq: number, event: string, envelope: CloudEvent): string {
  return `id: ${seq}\nevent: ${event}\ndata: ${JSON.stringify(envelope)}\n\n`;
}
