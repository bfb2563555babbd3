// Field types of an outcome, and its rarer parts.
import type { Static, TSchema } from 'typebox';
import { exact, real, whole } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';

export const Count = (description: string) => whole(0, Number.MAX_SAFE_INTEGER, description);
export const Cycle = (description: string) => whole(Number.MIN_SAFE_INTEGER, Number.MAX_SAFE_INTEGER, description);
export const Measure = (description: string) => real(0, 1e15, description);
export const Text = (description: string) => Type.String({ maxLength: 100_000, description });
export const Any = (description: string) => Type.Unknown({ description });
export const Nullable = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const Read = exact({
  format: Text('Format, and what stands around each line: combined, combined in syslog.'),
  columns: Type.Record(Type.String(), Type.String(), {
    description: 'The fields that were read, by what they were read for: time, count, key, where.',
  }),
  time_unit: Nullable(Text('date, or what the numbers count: s, ms, us, ns.')),
  key: Nullable(Text('Where the key was read from; null without one.')),
  first_at: Nullable(Text('When the first request came, ISO 8601.')),
  last_at: Nullable(Text('When the last request came, ISO 8601.')),
  keys: Nullable(Count('How many keys; null without one.')),
  skipped_lines: Count('Lines that were skipped: they are not requests.'),
  filtered: Count('Requests that a filter left out.'),
  warnings: Type.Array(exact({ code: Text('For programs.'), what: Text('For people.') }), {
    description: 'Likely mistakes.',
  }),
});

export type ReadSummary = Static<typeof Read>;

export const WithoutPlace = exact({
  requests: Count('Requests of keys that had no place: those of the contract "(no place)".'),
  limited: Count('Of these, those that were limited.'),
});

export const GatewayLimit = exact({
  name: Text('Its name in the file: a zone, a table, a plugin.'),
  where: Text('Its place in the file: location /api. Empty: everywhere.'),
  file: Text('The file that applies it.'),
  line: Count('Its line there.'),
  limit: Text("The limit in its product's terms."),
  key: Text('What it counts by.'),
  requests: Count('Requests that it counted.'),
  limited: Count('Of these, those that it refused.'),
  'not_judged?': Text('Why this log does not say what it refuses.'),
});
export type GatewayLimit = Static<typeof GatewayLimit>;
