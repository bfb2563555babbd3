// The endpoints of the record: read, verify.
import { CutShape, ROW_KINDS, RowShape } from '../core/record/row.js';
import { HeadShape, VerificationShape } from '../core/record/verification.js';
import { exact } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { get } from './endpoint.js';
import { ContractId, Cycle, limitOf, OfMachine, ok, Seq } from './shapes.js';

const Query = exact({
  'after_seq?': Seq,
  limit: limitOf('Rows'),
  'kind?': Type.Enum(ROW_KINDS),
  'contract_id?': ContractId,
  'from_cycle?': Cycle,
  'to_cycle?': Cycle,
  'format?': Type.Enum(['json', 'ndjson'], {
    description:
      'ndjson: the whole record, a row a line, closed by a signed checkpoint; where rows were removed, a signed cut comes first. The header Accept asks for it, too.',
  }),
});
const shapes = { params: OfMachine, querystring: Query } as const;

export const NDJSON = 'application/x-ndjson';

const page = ok('A page of rows, or the whole record.', {
  machine: Type.String(),
  rows: Type.Array(RowShape),
  head: HeadShape,
  'cut?': CutShape,
  'next_after_seq?': Type.Integer({ description: '`after_seq` of the next page; absent on the last page.' }),
});

const answers = { 200: { ...page[200], alsoType: NDJSON } };
export const readRecord = get('/api/chain/{slug}/state', { shapes, answers });

export const verifyRecord = get('/api/chain/{slug}/state/verify', {
  shapes: { params: OfMachine },
  answers: ok('Whether the record is valid, and if not, the first broken place.', VerificationShape.properties),
});
