// What a gate keeps when its contract gets another definition in place.
//
//   windows      before  | 5 | 0 | 3 | 2 |        within 4      after  | 3 | 2 |            within 2: older counts leave
//                                                               after  | ? | ? | 5 | 0 | 3 | 2 |     6: older counts are unknown
//   rule         the same primitive, with parameters that its state does not depend on: the state is kept
//   otherwise    nothing: the gate starts anew
//
// Nothing is evaluated here: the state changes at the next event or cycle, by the new definition.
import { canonicalJson } from '../schema/canonical.js';
import type { GateImage } from './gate-record.js';
import type { Plan } from './plan.js';
import type { RuleDefinition } from './rule/rule-definition.js';
import type { WindowImage } from './window.js';

const FREE_PARAMETERS: Readonly<Record<string, readonly string[]>> = {
  token_bucket: ['rate', 'capacity', 'max_wait_ms'],
  gcra: ['T_ms', 'tau_ms'],
  nginx_limit_req: ['rate_1000', 'burst', 'delay', 'nodelay'],
  sliding_log: ['limit', 'window_ms'],
  fixed_window: ['limit'],
  sliding_counter: ['limit'],
  rolling_count: ['limit'],
};

interface CarryOver {
  readonly resets: boolean;
  readonly forgotten: string | undefined;
  /** For each window of the new plan, the index of the old window that it continues; -1 for none. */
  readonly sources: readonly number[];
}

export function carryOver(before: Plan, after: Plan): CarryOver {
  const why = resetReason(before, after);
  if (why !== undefined) return { resets: true, forgotten: why, sources: after.aggregates.map(() => -1) };
  if (after.rule !== undefined) return { resets: false, forgotten: undefined, sources: [0] };
  const sources = after.aggregates.map(({ event }) => longestOf(before, event));
  const shorter = after.aggregates.flatMap(({ within }, index) => {
    const source = before.aggregates[sources[index]!];
    return source === undefined || source.within >= within ? [] : [source.within];
  });
  const forgotten =
    shorter.length === 0
      ? undefined
      : `Requests that are older than ${Math.min(...shorter)} cycles had left the window, and are not counted by the longer one.`;
  return { resets: false, forgotten, sources };
}

export function carried(image: GateImage, { resets, sources }: CarryOver, after: Plan): GateImage | undefined {
  return resets ? undefined : adaptedImage(image, after, sources);
}

interface Instant {
  readonly cycle: number;
  readonly ms: number;
}

/** Undefined starts the gate anew. @param sources see `CarryOver` @param from the earliest time of the result */
export function adaptedImage(
  image: GateImage,
  after: Plan,
  sources: readonly number[] = [],
  from: Instant = { cycle: 0, ms: 0 },
): GateImage | undefined {
  const initial = after.states[after.initial]!.name;
  const state = after.states.some(({ name }) => name === image.state) ? image.state : initial;
  if ((after.rule === undefined) !== (image.rule === undefined)) return undefined;
  const cycle = Math.max(from.cycle, image.windows[0]?.cycle ?? image.heldUntilCycle);
  if (image.rule !== undefined) {
    const rule = { ...image.rule, atMs: Math.max(from.ms, image.rule.atMs) };
    return { ...image, state, windows: [{ cycle, counts: [] }], rule };
  }
  const windows = after.aggregates.map(({ within }, index) =>
    shortened(image.windows[sources[index] ?? index], within, cycle),
  );
  return { ...image, state, windows: windows.length === 0 ? [{ cycle, counts: [] }] : windows };
}

function resetReason(before: Plan, after: Plan): string | undefined {
  const [initial, next] = [before.states[before.initial]!.name, after.states[after.initial]!.name];
  if (initial !== next) return `It began in ${initial}, and begins in ${next} now: all counts begin anew.`;
  const [was, is] = [before.rule?.definition, after.rule?.definition];
  if (was === undefined && is === undefined) return undefined;
  if (was === undefined || is === undefined || was.primitive !== is.primitive)
    return `${nameOf(is)} does not count as ${nameOf(was)} does: all counts begin anew.`;
  if (shapeOf(was) === shapeOf(is)) return undefined;
  return `${nameOf(is)} counts in another way with these parameters: all counts begin anew.`;
}

function nameOf(rule: RuleDefinition | undefined): string {
  return rule?.primitive ?? 'a window';
}

function shapeOf({ params, ...beside }: RuleDefinition): string {
  const free = FREE_PARAMETERS[beside.primitive] ?? [];
  const kept = Object.entries(params as object).filter(([name]) => !free.includes(name));
  return canonicalJson({ ...beside, params: Object.fromEntries(kept) });
}

function longestOf({ aggregates }: Plan, event: string): number {
  let found = -1;
  for (const [index, one] of aggregates.entries())
    if (one.event === event && one.within > (aggregates[found]?.within ?? 0)) found = index;
  return found;
}

function shortened(image: WindowImage | undefined, within: number, cycle: number): WindowImage {
  const counts: number[] = [];
  const older = cycle - (image?.cycle ?? cycle);
  for (let at = 0; at < (image?.counts.length ?? 0); at += 2) {
    const age = image!.counts[at]! + older;
    if (age < within) counts.push(age, image!.counts[at + 1]!);
  }
  return { cycle, counts };
}
