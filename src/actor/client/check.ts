// Owns the words for a client that does not fit its schema: only its own kind's rules are spoken of. Leaves those to schema.ts.

import { nearest } from '../../schema/did-you-mean.js';
import type { Fault } from '../../schema/failure.js';
import { valueFaults } from '../../schema/value-faults.js';
import { type ClientKind, clientKinds } from './schema.js';

/** Every fault of one kind of client, its path a JSON pointer from `place`; none when it fits. */
export function clientFaults(input: unknown, place = ''): Fault[] {
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    return [{ path: place, message: 'must be an object with a field kind' }];
  }
  const kind = (input as { kind?: unknown }).kind;
  if (!isKind(kind)) return [{ path: `${place}/kind`, message: unknownKind(kind) }];
  return valueFaults(clientKinds[kind], input, place);
}

function isKind(kind: unknown): kind is ClientKind {
  return typeof kind === 'string' && Object.hasOwn(clientKinds, kind);
}

function unknownKind(kind: unknown): string {
  const names = Object.keys(clientKinds);
  const among = `one of ${names.join(', ')}`;
  if (kind === undefined) return `is required: ${among}`;
  const guess = typeof kind === 'string' ? nearest(kind, names) : undefined;
  return guess === undefined ? `must be ${among}` : `must be ${among}; did you mean "${guess}"?`;
}
