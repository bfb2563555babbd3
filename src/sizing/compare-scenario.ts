// `compare:` of a scenario: a run with each rule, under the same seed. The same requests come; clients react to each rule in their own way.
import type { Seed } from '../math/seed.js';
import type { ComparedRule, ComparedRules } from '../outcome/compared-rules.js';
import type { Outcome } from '../outcome/outcome-schema.js';
import type { LoadedScenario } from '../scenario/loaded-scenario.js';
import { assert } from '../schema/failure.js';
import { simulate } from '../simulate/simulate.js';
import type { World } from '../simulate/world.js';
import { comparedRule, KeyEffects } from './key-effects.js';
import { RefusalTimeline } from './refusal-timeline.js';

interface ComparedRuns {
  /** As of `simulate`: the last cycle, from the start. */
  readonly untilCycle?: number | undefined;
  readonly signal?: AbortSignal | undefined;
  /** Called before each run. */
  readonly onRule?: ((rule: string, index: number, rules: number) => void) | undefined;
}

/**
 * The runs of a scenario that says `compare`, its own window first.
 * @returns undefined where it does not, and where `signal` stops it
 * @throws Failure when a log of the scenario cannot be read
 */
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
    let effects: readonly KeyEffects[] = [];
    const onWorld = (world: World) => {
      effects = watched(world, timeline);
    };
    const { outcome } = await simulate(scenario, {
      seed,
      top: 0,
      signal,
      onWorld,
      ...(untilCycle !== undefined && { untilCycle }),
    });
    if (signal?.aborted === true) return undefined;
    rules.push({ ...comparedRule({ name: rule, definition }, effects), ...reactions(outcome) });
    timelines.push(timeline);
    keys = effects.length;
  }
  return rules.length === 0 ? undefined : { keys, rules, timeline: RefusalTimeline.together(timelines) };
}

/** What happens to each contract of a world, as it runs. */
function watched(world: World, timeline: RefusalTimeline): KeyEffects[] {
  const effects = world.contracts.map(() => new KeyEffects());
  world.onDecided = (contract, isAdmitted, delayMs) => {
    const ms = world.clock.now();
    const one = effects[contract]!;
    if (isAdmitted) one.started(ms + delayMs);
    one.decided(ms, 1, isAdmitted ? 1 : 0, () => opensMs(world, contract));
    timeline.add(ms, 1, isAdmitted ? 1 : 0);
  };
  return effects;
}

function opensMs(world: World, contract: number): number {
  const { gate } = world.contracts[contract]!;
  const { plan } = gate;
  assert(plan.rule !== undefined, 'rules are compared');
  const { rule } = plan.rule;
  return gate.askRule((state, nowMs) => rule.nextAdmission(state, nowMs, 1))!;
}

function reactions({ clients, service }: Outcome): Partial<ComparedRule> {
  const all = clients?.[0];
  return {
    ...(all === undefined ? {} : { retries: all.retries, goodput_per_second: all.goodput_per_second }),
    ...(service === undefined ? {} : { served_in_vain: service.wasted }),
  };
}
