// The part of an outcome that says how a log was read.
import type { TSchema } from 'typebox';
import { Type } from '../schema/json-schema.js';

const strict = { additionalProperties: false } as const;
const count = (description: string) => Type.Integer({ minimum: 0, maximum: Number.MAX_SAFE_INTEGER, description });
const text = (description: string) => Type.String({ maxLength: 100_000, description });
const orNull = <T extends TSchema>(schema: T) => Type.Union([schema, Type.Null()]);

export const Read = Type.Object(
  {
    format: text('Format, and what stands around each line: combined, combined in syslog.'),
    columns: Type.Record(Type.String(), Type.String(), {
      description: 'The fields that were read, by what they were read for: time, count, key, where.',
    }),
    time_unit: orNull(text('date, or what the numbers count: s, ms, us, ns, filetime, webkit, ticks, serial.')),
    key: orNull(text('Where the key was read from; null without one.')),
    first_at: orNull(text('When the first request came, ISO 8601.')),
    last_at: orNull(text('When the last request came, ISO 8601.')),
    keys: orNull(count('How many keys; null without one.')),
    skipped_lines: count('Lines that are no requests.'),
    filtered: count('Requests that a filter left out.'),
    warnings: Type.Array(Type.Object({ code: text('For programs.'), what: text('For people.') }, strict), {
      description: 'What is hardly meant so.',
    }),
  },
  strict,
);
