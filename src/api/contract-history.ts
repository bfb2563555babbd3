// What a stream reports of a contract for each cycle. Without schemas, because pages import it too.

export const HISTORY_CYCLES = 600;

export const columns = [
  'count',
  'admitted',
  'limited',
  'entries',
  'restores',
  'limiting',
  'state',
  'keys',
  'limited_keys',
  'would_limit',
] as const;

export type Column = (typeof columns)[number];

export type NumberColumn = Exclude<Column, 'state'>;

export const numberColumns = columns.filter((name): name is NumberColumn => name !== 'state');
