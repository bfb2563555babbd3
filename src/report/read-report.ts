// Reads the outcome.json of a report, and checks it against its schema.
import { join } from 'node:path';
import type { Static } from 'typebox';
import { compileSchema } from '../core/schema/compile-schema.js';
import { Failure } from '../core/schema/failure.js';
import { strict } from '../core/schema/fields.js';
import { Type } from '../core/schema/json-schema.js';
import { readText } from '../core/schema/text-file.js';
import { valueFaults } from '../core/schema/value-faults.js';
import { Outcome } from '../harness/outcome/outcome-schema.js';
import { Timeline } from '../harness/outcome/timeline.js';
import { ChartSpec } from './chart-specs/spec.js';
import type { Reported } from './reported.js';

/** The outcome of a run, and of a report also the command and the charts. */
export const ReportedOutcome = Type.Object(
  {
    ...Outcome.properties,
    command: Type.Optional(Type.String({ description: 'In a report: the command that gives the run again.' })),
    charts: Type.Optional(Type.Array(ChartSpec, { maxItems: 100, description: 'In a report: what its charts draw.' })),
  },
  { ...strict, $schema: 'https://json-schema.org/draft/2020-12/schema', title: 'Weir outcome' },
);

const FIX =
  'Give the folder of a run, for example reports/burst/7. Reports of `weir diff` and others have their files in it.';
const MOST_JSON_BYTES = 256 * 1024 * 1024;

/** @param path a report folder or its outcome.json @throws Failure `unreadable_file`, `invalid_json`, `invalid_input` */
export function readRun(path: string): Reported {
  const file = path.endsWith('.json') ? path : join(path, 'outcome.json');
  const { command, charts = [], ...outcome } = checked(file, readJson(file));
  return { outcome, charts, ...(command !== undefined && { command }), timeline: undefined, totals: new Timeline([]) };
}

function readJson(path: string): unknown {
  const text = readText(path, { what: path, fix: FIX, mostBytes: MOST_JSON_BYTES });
  try {
    return JSON.parse(text);
  } catch (error) {
    throw new Failure('invalid_json', {
      what: `${path} is not valid JSON.`,
      why: (error as Error).message,
      cause: error,
    });
  }
}

const isReported = compileSchema(ReportedOutcome);

function checked(path: string, value: unknown): Static<typeof ReportedOutcome> {
  if (isReported(value)) return value;
  const faults = valueFaults(ReportedOutcome, value);
  throw new Failure('invalid_input', {
    what: `${path} was not written by this version of Weir, or was changed.`,
    ...(faults[0] === undefined ? {} : { why: `${faults[0].path} ${faults[0].message}.` }),
    fix: FIX,
    faults,
  });
}
