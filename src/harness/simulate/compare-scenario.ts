// `compare:` of a scenario: one run per rule, with the same seed and arrivals. Clients react to each rule in their own way.
import { lastValueFrom, tap } from 'rxjs';
import type { Seed } from '../../core/math/seed.js';
import { assert } from '../../core/schema/failure.js';
import type { ComparedRule, ComparedRules } from '../outcome/compared-rules.js';
import type { CycleRow } from '../outcome/cycle-row.js';
import type { Outcome } from '../outcome/outcome-schema.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { comparedRule, KeyEffects, RefusalTimeline } from './key-effects.js';
import { simulate$, toRun } from './simulate.js';

interface ComparedRuns {
  readonly untilCycle?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  readonly onRule?: ((rule: string, index: number, rules: number) => void) | undefined;
}

/** @returns undefined without `compare`, or if `signal` stops it @throws Failure if a log cannot be read */
export async function compareScenario(
  { compared }: LoadedScenario,
  seed: Seed,
  { signal, onRule, untilCycle }: ComparedRuns = {},
): Promise<ComparedRules | undefined> {
  const rules: ComparedRule[] = [];
  const timelines: RefusalTimeline[] = [];
  let keys = 0;
  for (const [index, { rule, definition, scenario }] of compared.entries()) {
    onRule?.(rule, index, compared.length);
    const timeline = new RefusalTimeline();
    const effects: KeyEffects[] = [];
    const asked = { seed, signal, untilCycle, withDecisions: true };
    const rows = simulate$(scenario, asked).pipe(tap((row) => count(row, effects, timeline)));
    const { run } = await lastValueFrom(rows.pipe(toRun(scenario, { seed, top: 0 })));
    if (signal?.aborted === true) return undefined;
    rules.push({ ...comparedRule({ name: rule, definition }, effects), ...reactions(run.outcome) });
    timelines.push(timeline);
    keys = effects.length;
  }
  return rules.length === 0 ? undefined : { keys, rules, timeline: RefusalTimeline.together(timelines) };
}

function count({ run, decisions }: CycleRow, effects: KeyEffects[], timeline: RefusalTimeline): void {
  while (effects.length < run.names.length) effects.push(new KeyEffects());
  assert(decisions !== undefined, 'rows with decisions were asked for');
  for (const [index, contract] of decisions.contracts.entries()) {
    const ms = decisions.atMs[index]!;
    const delayMs = decisions.delaysMs[index]!;
    const admitted = Number.isNaN(delayMs) ? 0 : 1;
    const one = effects[contract]!;
    if (admitted === 1) one.started(ms + delayMs);
    one.decided(ms, 1, admitted, () => decisions.opensMs[index]!);
    timeline.add(ms, 1, admitted);
  }
}

function reactions({ clients, service }: Outcome): Partial<ComparedRule> {
  const all = clients?.[0];
  return {
    ...(all === undefined ? {} : { retries: all.retries, goodput_per_second: all.goodput_per_second }),
    ...(service === undefined ? {} : { served_in_vain: service.wasted }),
  };
}
