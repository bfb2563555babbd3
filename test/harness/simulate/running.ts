// Owns running scenarios in tests: every outcome is held against the published schema, and a timeline is told cycle by cycle.
import { Compile } from 'typebox/compile';
import { expect } from 'vitest';
import { sealed } from '../../../src/harness/outcome/assemble.js';
import { Outcome } from '../../../src/harness/outcome/outcome-schema.js';
import type { Timeline } from '../../../src/harness/outcome/timeline.js';
import { type Run, type SimulateOptions, simulate } from '../../../src/harness/simulate/simulate.js';
import { read } from '../scenario/reading.js';

const schema = Compile(Outcome);

/** Fails unless the outcome is one, as it would be read from its file. */
export function checkOutcome(outcome: Outcome): Outcome {
  const again: unknown = JSON.parse(JSON.stringify(outcome));
  expect(schema.Errors(again)).toEqual([]);
  expect(again).toEqual(outcome);
  expect(sealed(outcome).digest).toBe(outcome.digest);
  return outcome;
}

export async function run(text: string, options: Partial<SimulateOptions> = {}, path?: string): Promise<Run> {
  const ran = await simulate(read(text, path), options);
  checkOutcome(ran.outcome);
  return ran;
}

/** One cycle of one contract. */
export interface Told {
  readonly requests: number;
  readonly admitted: number;
  readonly count: number;
  readonly state: string;
}

/** A contract cycle by cycle from `first` to `last`: a cycle without a row is like the one before, without requests. */
export function everyCycle(timeline: Timeline, contract: string, first: number, last: number): Told[] {
  const rows = new Map([...timeline.rows()].filter((row) => row.contract === contract).map((row) => [row.cycle, row]));
  expect([...rows.keys()].filter((cycle) => cycle < first || cycle > last)).toEqual([]);
  let [count, state] = [0, 'allowing'];
  return Array.from({ length: last - first + 1 }, (_, at) => {
    const row = rows.get(first + at);
    if (row !== undefined) ({ count, state } = row);
    return { requests: row?.requests ?? 0, admitted: row?.admitted ?? 0, count, state };
  });
}

/** `2.1` for a cycle of 2 requests of which 1 was admitted, `.` for one without; limiting at its end: in brackets. */
export function drawn(told: readonly Told[]): string {
  return told
    .map(({ requests, admitted, state }) => {
      const text = requests === 0 ? '.' : `${requests}:${admitted}`;
      return state === 'limiting' ? `[${text}]` : text;
    })
    .join(' ');
}
