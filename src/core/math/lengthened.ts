// Typed arrays that grow: a longer copy.

/** A longer column with the same numbers; further ones are 0. */
export function lengthened<Column extends Float64Array | Int32Array | Uint32Array | Uint8Array>(
  column: Column,
  length: number,
): Column {
  const longer = new (column.constructor as new (length: number) => Column)(length);
  longer.set(column);
  return longer;
}
