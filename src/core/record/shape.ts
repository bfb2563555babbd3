// Reads the parts of a record: what does not have the shape of row.ts is refused. verify-record.ts checks the content.
import type { Static, TSchema } from 'typebox';
import { compileSchema } from '../schema/compile-schema.js';
import { valueFaults } from '../schema/value-faults.js';
import {
  type AuditRow,
  type Checkpoint,
  CheckpointShape,
  type Cut,
  CutShape,
  ROW_KINDS,
  rowShapeOf,
  type Succession,
  SuccessionShape,
} from './row.js';

type Read<T> = { readonly value: T } | { readonly fault: string };

export function reader<S extends TSchema>(schema: S): (value: unknown) => Read<Static<S>> {
  const fits = compileSchema(schema);
  return (value) => {
    if (fits(value)) return { value };
    const [first] = valueFaults(schema, value);
    return { fault: first === undefined ? 'it does not fit its schema' : `${first.path} ${first.message}` };
  };
}

const rowReaders = new Map<unknown, (value: unknown) => Read<unknown>>(
  ROW_KINDS.map((kind) => [kind, reader(rowShapeOf(kind))]),
);

export function readRow(value: unknown): Read<AuditRow> {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return { fault: 'it is not an object' };
  const read = rowReaders.get('kind' in value ? value.kind : undefined)?.(value);
  if (read === undefined) return { fault: `/kind must be one of ${ROW_KINDS.join(', ')}` };
  return 'fault' in read ? read : { value: read.value as AuditRow };
}

export const readCheckpoint: (value: unknown) => Read<Checkpoint> = reader(CheckpointShape);
export const readCut: (value: unknown) => Read<Cut> = reader(CutShape);
export const readSuccession: (value: unknown) => Read<Succession> = reader(SuccessionShape);
