// Messages of event streams: server-sent events, each a CloudEvents 1.0 envelope.
import type { AuditRow, Cut } from '../core/record/row.js';
import { instantText, startOf } from '../core/time/cycle.js';

/** The transition of a row, then what it emitted; empty for other rows. */
export function messagesOf(row: AuditRow): string {
  if (row.kind !== 'transition') return '';
  const { machine, contract_id, key, seq, cycle, at, to: state, emitted } = row;
  const source = `${sourceOf(machine)}/contracts/${contract_id}`;
  const count = row.substrate?.inputs['S'] ?? row.inputs?.['S'];
  const messages = emitted.map((event, index) => {
    const data = { event, machine, contract_id, key, state, count, cycle, seq };
    return message(seq, event, { ...envelope(source, at, `${seq}/${index}`, event), data });
  });
  const transition = { ...envelope(source, at, `${seq}`, 'transition'), data: row };
  return message(seq, 'transition', transition) + messages.join('');
}

export function removedMessage({ machine, ...cut }: Cut): string {
  const { removed_to_seq: seq, at } = cut;
  const data = { machine, ...cut };
  return message(seq, 'rows_removed', {
    ...envelope(sourceOf(machine), at, `removed/${seq}`, 'rows_removed'),
    data,
  });
}

export function cycleMessage(machine: string, seq: number, cycle: number, missed: number, cycleMs: number): string {
  const time = instantText(startOf(cycle, cycleMs));
  const data = { machine, cycle, missed, seq };
  return message(seq, 'cycle', { ...envelope(sourceOf(machine), time, `cycle/${cycle}`, 'cycle'), data });
}

/** @param contracts JSON of their counts up to `cycle` */
export function countsMessage(machine: string, seq: number, cycle: number, contracts: string, cycleMs: number): string {
  const time = instantText(startOf(cycle + 1, cycleMs));
  const head = JSON.stringify(envelope(sourceOf(machine), time, `counts/${cycle}`, 'counts')).slice(0, -1);
  const data = JSON.stringify({ machine, cycle }).slice(0, -1);
  return `id: ${seq}\nevent: counts\ndata: ${head},"data":${data},"contracts":${contracts}}}\n\n`;
}

function sourceOf(machine: string): string {
  return `/api/chain/${machine}`;
}

function envelope(source: string, time: string, id: string, event: string) {
  return { specversion: '1.0', source, time, id, type: `weir.${event}`, datacontenttype: 'application/json' };
}

function message(seq: number, event: string, envelope: object): string {
  return `id: ${seq}\nevent: ${event}\ndata: ${JSON.stringify(envelope)}\n\n`;
}
