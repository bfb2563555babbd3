// Owns what a stream says: every message is a CloudEvents 1.0 envelope (JSON), in the framing of server-sent events. Everything is
// made from a row of the record, so that what is told live and what is told again later say the same, under the same id.
//
//   row 12: transition, emits rate_limited   ──►   id: 12  event: transition    data: {"specversion":"1.0",…}
//                                                  id: 12  event: rate_limited  data: {"specversion":"1.0",…}

import type { AuditRow } from '../record/row.js';
import { startOf } from '../time/cycle.js';

interface CloudEvent {
  readonly specversion: '1.0';
  /** Unique together with `source`. */
  readonly id: string;
  readonly source: string;
  readonly type: string;
  readonly time: string;
  readonly datacontenttype: 'application/json';
  readonly data: unknown;
}

/** The messages of a row, in one piece: its transition, then what it emitted. Empty for rows that are no transition. */
export function messagesOf(row: AuditRow): string {
  if (row.kind !== 'transition') return '';
  const { machine, contract_id, seq, cycle, at: time, to: state, emitted } = row;
  const envelope = { specversion: '1.0', source: `/api/chain/${machine}/contracts/${contract_id}`, time } as const;
  const count = row.substrate?.inputs['S'] ?? row.inputs?.['S'];
  const messages = emitted.map((event, index) => {
    const data = { event, machine, contract_id, state, count, cycle, seq };
    return message(seq, event, { ...envelope, ...typed(`${seq}/${index}`, event), data });
  });
  return message(seq, 'transition', { ...envelope, ...typed(`${seq}`, 'transition'), data: row }) + messages.join('');
}

/** A cycle has begun on a machine whose record had come to `seq`. */
export function cycleMessage(machine: string, seq: number, cycle: number, missed: number, cycleMs: number): string {
  return message(seq, 'cycle', {
    specversion: '1.0',
    source: `/api/chain/${machine}`,
    time: new Date(startOf(cycle, cycleMs)).toISOString(),
    ...typed(`cycle/${cycle}`, 'cycle'),
    data: { machine, cycle, missed, seq },
  });
}

function typed(id: string, event: string) {
  return { id, type: `weir.${event}`, datacontenttype: 'application/json' } as const;
}

function message(seq: number, event: string, envelope: CloudEvent): string {
  return `id: ${seq}\nevent: ${event}\ndata: ${JSON.stringify(envelope)}\n\n`;
}
