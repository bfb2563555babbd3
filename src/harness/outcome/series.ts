// The schema of `series.json`: schedule, queue, retries and latency by cycle. It is not part of the digest of an outcome.
import type { Static, TSchema } from 'typebox';
import { exact, titled, whole } from '../../core/schema/fields.js';
import { Type } from '../../core/schema/json-schema.js';

const Column = <T extends TSchema>(value: T, description: string) => Type.Array(value, { description });
const Measure = Type.Number({ minimum: 0, maximum: 1e15 });
const Measured = Type.Union([Measure, Type.Null()]);
const Cycle = Type.Integer({ minimum: Number.MIN_SAFE_INTEGER, maximum: Number.MAX_SAFE_INTEGER });

export const Band = exact('Over replications.', {
  runs: whole(1, 1_000, 'How many runs; of more the first thousand.'),
  stretch_cycles: whole(
    1,
    Number.MAX_SAFE_INTEGER,
    'Length of a stretch in cycles. Of each run its largest count in the stretch is taken.',
  ),
  cycle: Type.Array(Cycle, { description: 'First cycle of each stretch.' }),
  low: Type.Array(Measure, { description: 'The count that 5 % of the runs stay at or below.' }),
  middle: Type.Array(Measure, { description: 'The median.' }),
  high: Type.Array(Measure, { description: 'The count that 95 % of the runs stay at or below.' }),
});

/** Columns are parallel to `cycle`; unmeasured columns are absent. */
export const Series = titled('Weir series', {
  cycle: Type.Array(Cycle, {
    description:
      'Cycles, ascending. A live run leaves out cycles without any value; a simulation of more than 8,000 cycles ' +
      'keeps of every thousandth of itself the first and the last cycle, and the least and the most of every column.',
  }),
  'planned?': Column(Measure, 'Requests that the schedule has for the cycle.'),
  'queue?': Column(Measure, 'Most requests that waited at the service in the cycle.'),
  'open_jobs?': Column(
    Measure,
    'Jobs that clients had not finished at the end of the cycle: held back, on the way, or between two attempts.',
  ),
  'retries?': Column(Measure, 'Attempts in the cycle that were not the first of their job.'),
  'latency_ms_p50?': Column(Measured, 'Median latency of the answers of the cycle in ms; null where none came.'),
  'latency_ms_p99?': Column(Measured, '99th percentile of it in ms, by the nearest rank; null where none came.'),
  'response_ms_p50?': Column(
    Measured,
    'Median response time of the service in ms, also of requests whose client had given up.',
  ),
  'response_ms_p99?': Column(Measured, '99th percentile of it in ms, by the nearest rank.'),
  'latency_taken?': Type.String({
    maxLength: 1_000,
    description: 'What the latency is timed from and to. Default: from the intended instant to the answer.',
  }),
  'band?': Band,
});

export type Series = Static<typeof Series>;
export type Band = Static<typeof Band>;
