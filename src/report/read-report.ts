// Reads a report folder: checks the outcome against its schema and the timeline row by row.
import { createReadStream } from 'node:fs';
import { stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { TSchema } from 'typebox';
import { compileSchema } from '../core/schema/compile-schema.js';
import { Failure, type Fault } from '../core/schema/failure.js';
import { faultsOf } from '../core/schema/schema-faults.js';
import { readText, unreadableFailure } from '../core/schema/text-file.js';
import { RowBuilder } from '../harness/outcome/cycle-row.js';
import { Outcome } from '../harness/outcome/outcome-schema.js';
import { Series } from '../harness/outcome/series.js';
import { Timeline, type TimelineRow, TotalsTimeline } from '../harness/outcome/timeline.js';
import { limitingStates, type Reported } from './reported.js';

/** @param path a report folder or its outcome.json @throws Failure `unreadable_file`, `invalid_json`, `invalid_input` */
export async function readRun(path: string): Promise<Reported> {
  const folder = path.endsWith('.json') ? join(path, '..') : path;
  const outcomePath = path.endsWith('.json') ? path : join(path, 'outcome.json');
  const outcome = checked<Outcome>(Outcome, await readJson(outcomePath), outcomePath);
  const timeline = await readTimeline(join(folder, 'timeline.ndjson'), outcome);
  const predicted = await readTimeline(join(folder, 'predicted.ndjson'), outcome);
  const seriesPath = join(folder, 'series.json');
  const series = (await exists(seriesPath))
    ? checked<Series>(Series, await readJson(seriesPath), seriesPath)
    : undefined;
  const shared = {
    outcome,
    ...(outcome.command === undefined ? {} : { command: outcome.command }),
    ...(predicted === undefined ? {} : { predicted }),
    ...(series === undefined ? {} : { series }),
  };
  if (timeline === undefined) return { ...shared, timeline, totals: new Timeline(['all']) };
  const isTotals = outcome.contracts > 1 && timeline.contracts.every((name) => name === 'all');
  return isTotals
    ? { ...shared, timeline: undefined, totals: timeline }
    : { ...shared, timeline, totals: totalsOf(timeline, limitingStates(outcome)) };
}

export function totalsOf(timeline: Timeline, limiting: ReadonlySet<string>): Timeline {
  const names = timeline.contracts;
  const states = [true, false].map((admits) => ({ name: admits ? 'allowing' : 'limiting', admits }));
  const row = new RowBuilder({ names, states, initial: 0, threshold: null, within: 0 }, false);
  const totals = new TotalsTimeline();
  const indexes = new Map(names.map((name, index) => [name, index]));
  const inLimiting = new Set<string>();
  let last: number | undefined;
  for (const { cycle, contract, requests, admitted, count, state } of timeline.rows()) {
    if (last !== undefined && cycle !== last) totals.next(row.take(last));
    last = cycle;
    const index = indexes.get(contract)!;
    row.requested(index, requests, admitted);
    if (limiting.has(state) === inLimiting.has(contract)) continue;
    const admits = inLimiting.delete(contract);
    if (!admits) inLimiting.add(contract);
    row.moved(index, admits ? 0 : 1, count);
  }
  if (last !== undefined) totals.next(row.take(last));
  return totals;
}

const FIX = 'Give the folder of a report, for example reports/burst/7.';
const MOST_JSON_BYTES = 256 * 1024 * 1024;

async function readJson(path: string): Promise<unknown> {
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

function checked<T>(schema: TSchema, value: unknown, path: string): T {
  const compiled = compileSchema(schema);
  if (compiled.fits(value)) return value as T;
  throw notReport(path, faultsOf(schema, compiled.errors(value)));
}

function notReport(path: string, faults: readonly Fault[]): Failure {
  return new Failure('invalid_input', {
    what: `${path} was not written by this version of Weir, or was changed.`,
    ...(faults[0] === undefined ? {} : { why: `${faults[0].path} ${faults[0].message}.` }),
    fix: FIX,
    faults,
  });
}

async function readTimeline(path: string, { first_cycle, last_cycle }: Outcome): Promise<Timeline | undefined> {
  if (!(await exists(path))) return undefined;
  const contracts: string[] = [];
  const indexes = new Map<string, number>();
  const timeline = new Timeline(contracts);
  let line = 0;
  let earliest = first_cycle ?? Number.POSITIVE_INFINITY;
  try {
    for await (const text of linesOf(path)) {
      line += 1;
      if (text === '') continue;
      const row = rowOf(text);
      if (row === undefined) throw notReport(path, [{ path: `line ${line}`, message: 'is not a row of a timeline' }]);
      const { cycle, contract, requests, admitted, count, state } = row;
      if (cycle < earliest || cycle > (last_cycle ?? Number.NEGATIVE_INFINITY))
        throw notReport(path, [{ path: `line ${line}`, message: 'is out of order, or not in a cycle of the run' }]);
      earliest = cycle;
      let index = indexes.get(contract);
      if (index === undefined) {
        index = contracts.push(contract) - 1;
        indexes.set(contract, index);
      }
      timeline.add(cycle, index, requests, admitted, count, state);
    }
  } catch (error) {
    throw error instanceof Failure ? error : unreadableFailure(path, error, FIX);
  }
  return timeline;
}

const MOST_LINE = 1 << 20;

async function* linesOf(path: string): AsyncGenerator<string> {
  let rest = '';
  for await (const chunk of createReadStream(path, 'utf8')) {
    const lines = `${rest}${chunk as string}`.split('\n');
    rest = lines.pop()!;
    if (rest.length > MOST_LINE) throw new Error('A line is longer than 1 MiB');
    for (const line of lines) yield line.trimEnd();
  }
  if (rest !== '') yield rest.trimEnd();
}

function rowOf(text: string): TimelineRow | undefined {
  let row: TimelineRow;
  try {
    row = JSON.parse(text) as TimelineRow;
  } catch {
    return undefined;
  }
  const isRow =
    typeof row === 'object' &&
    row !== null &&
    [row.cycle, row.requests, row.admitted, row.count].every(Number.isSafeInteger) &&
    row.count >= 0 &&
    row.admitted >= 0 &&
    row.admitted <= row.requests &&
    typeof row.contract === 'string' &&
    typeof row.state === 'string';
  return isRow ? row : undefined;
}

async function exists(path: string): Promise<boolean> {
  return stat(path).then(
    (found) => found.isFile(),
    () => false,
  );
}
