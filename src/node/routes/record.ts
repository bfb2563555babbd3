// Routes of the record of a machine: in pages, as a whole, verified.
import { Readable } from 'node:stream';
import type { FastifyReply } from 'fastify';
import * as api from '../../api/record.js';
import { closingOf, exportRecord } from '../../core/record/export.js';
import type { AuditRow } from '../../core/record/row.js';
import { signCheckpoint } from '../../core/record/signing.js';
import { Failure } from '../../core/schema/failure.js';
import type { Machine } from '../host/machine.js';
import type { NodeContext } from '../node-context.js';
import { sourceOf } from '../request-source.js';
import { forReaders, type RouteRequest, route } from '../route.js';
import type { RowQuery } from '../store/store.js';

const readRecord = route(api.readRecord, forReaders, {
  summary: 'Reads the record of a machine: audit rows by seq, in pages, or all of it as NDJSON for `weir verify`.',
  example: { query: { kind: 'transition', limit: '10' } },
  async handle(context, request, reply) {
    const { ownership, record, counting, queue } = context;
    const machine = ownership.visible(request.params.slug, request.caller);
    // Later rows come with the next page.
    const head = await counting.head(machine);
    const source = sourceOf(request);
    if (wantsAll(request)) return sendExport(context, reply, machine, head.seq, source);
    const { limit = 100, after_seq = 0, kind, contract_id: id, from_cycle, to_cycle } = request.query;
    // Rows have ids; those of a deleted contract are still found.
    const contractId = id === undefined ? undefined : (machine.named.get(id)?.id ?? id);
    const query: RowQuery = { kind, contractId, fromCycle: from_cycle, toCycle: to_cycle };
    const found: AuditRow[] = [];
    let after = Math.max(after_seq, record.cut(machine.slug)?.removed_to_seq ?? 0);
    const searchNext = async () => {
      const toSeq = Math.min(after + ROWS_SEARCHED, head.seq);
      const wanted = { ...query, afterSeq: after, toSeq, limit: limit + 1 - found.length };
      found.push(...(await record.rows(machine.slug, wanted)));
      after = toSeq;
      return found.length <= limit && after < head.seq;
    };
    while (await queue.of(source, searchNext));
    const rows = found.slice(0, limit);
    const next_after_seq = found.length > limit ? rows.at(-1)!.seq : undefined;
    return { ok: true, machine: machine.slug, head, cut: record.cut(machine.slug), next_after_seq, rows };
  },
});

const ROWS_SEARCHED = 5_000;

const verifyRecord = route(api.verifyRecord, forReaders, {
  summary: 'Walks the record: every hash, link, transition, proof, and the newest signed checkpoint.',
  errors: ['node_overloaded'],
  async handle({ ownership, verifications, counting }, { params, caller, ip }) {
    const machine = ownership.visible(params.slug, caller);
    await counting.durable(machine);
    return { ok: true, ...(await verifications.of(machine.slug, { caller, ip })) };
  },
});

/** @throws Failure `invalid_input` for a part of the whole */
function wantsAll({ query, headers }: RouteRequest<typeof api.readRecord.shapes, 'public_or_owner'>): boolean {
  const { format, ...parts } = query;
  if (format === 'json' || (format === undefined && !headers.accept?.includes(api.NDJSON))) return false;
  const [part] = Object.keys(parts);
  if (part === undefined) return true;
  throw new Failure('invalid_input', {
    what: 'The record was not exported.',
    why: `An export is the whole record, so that it can be verified: ${part} has no effect on it.`,
    fix: `Leave ${part} out, or read pages with format=json.`,
    faults: [{ path: `/${part}`, message: 'has no effect on an export' }],
  });
}

function sendExport(context: NodeContext, reply: FastifyReply, machine: Machine, toSeq: number, source: string) {
  const { record, identity, clock, queue } = context;
  const { signer, successions } = identity;
  const close = ({ machine: slug, seq, hash }: AuditRow) => {
    const checkpoint = signCheckpoint(signer, { machine: slug, seq, hash, cycle: clock.cycle() });
    return closingOf(checkpoint, signer, successions);
  };
  const cut = record.cut(machine.slug);
  // One page per turn.
  const pageAfter = (afterSeq: number) =>
    queue.of(source, async () => {
      const rows = await record.rows(machine.slug, { afterSeq, limit: Math.min(PAGE, toSeq - afterSeq) });
      if (rows.length > 0 && rows[0]!.seq !== afterSeq + 1) throw removedMeanwhile();
      return rows;
    });
  return reply
    .header('content-type', api.NDJSON)
    .header('content-disposition', `attachment; filename="${machine.slug}.ndjson"`)
    .send(Readable.from(exportRecord(pageAfter, close, cut), { objectMode: false }));
}

/** Rows per piece: some 32 KB. */
const PAGE = 32;

/** The reader was so slow that rows were removed before it took them. */
function removedMeanwhile(): Failure {
  return new Failure('store_failed', {
    what: 'The export was cut off.',
    why: 'Rows were removed that its reader had not taken yet.',
    fix: 'Export the record again.',
  });
}

export const recordRoutes = [readRecord, verifyRecord];
