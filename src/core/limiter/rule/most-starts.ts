// The most starts that one client can get in an interval, if it tries hardest.
//
//   attack     |  :|||| . . . |    steps (a rest, then some requests), then every request as soon as it is admitted
//              1   rest  greedy    a request that opens a window, a rest almost to its end, its last places, the next window
//
// Attacks suited to windows and buckets come first, with rests near the lengths in the rule's parameters. The best are then mutated at
// random, with a fixed seed, within the effort. The result is a lower bound, and exact if it meets a known upper bound. Requests have
// cost 1 and arrive at whole ms, or at the very instant of the next admission.
import { RandomStream } from '../../math/random.js';
import { LIMITED, type Rule } from './rule.js';
import { type RuleDefinition, ruleOf } from './rule-definition.js';

interface MostStarts {
  /** Infinity for a rule that admits any number at once, or only delays. */
  readonly starts: number;
  readonly exact: boolean;
}

/** Default time in flight for limits on concurrency, in ms. */
export const HOLD_MS = 100;
/** Far from 1970: windows of the epoch begin at multiples of their length. */
const ABOUT_MS = 1_700_000_000_000;
const EFFORT = 20_000;
/** Combined rules have more attacks; and delays may depend on the whole order of the requests before. */
const EFFORTS: Readonly<Partial<Record<RuleDefinition['primitive'], number>>> = {
  and: 150_000,
  and_all_charged: 150_000,
  or: 150_000,
  fixed_window_exec_evenly: 3_000_000,
};
const FIRST_ATTACKS = 16;
/** After this many at one instant, an infinite `remaining` is accepted as true. */
const MANY = 1000;
const MOST_QUESTIONS = 2_000_000;
/** Questions that many requests at one instant count as. */
const MOST_OF_ONE = 20_000;
const KEPT = 12;
const MOST_STEPS = 8;

export function mostStarts(definition: RuleDefinition, intervalMs: number): MostStarts {
  const bound = startsBound(definition, intervalMs);
  if (bound === Number.POSITIVE_INFINITY) return { starts: bound, exact: true };
  const spans = spansOf(definition.params);
  const longest = Math.max(1, ...spans);
  const effort = EFFORTS[definition.primitive] ?? EFFORT;
  const search = new Search(ruleOf(definition), longest, intervalMs, definition.hold_ms ?? HOLD_MS, effort);
  const rests = restsFor(spans, intervalMs);
  for (const attack of knownAttacks(rests, definition.primitive === 'adaptive')) if (!search.try(attack)) break;
  const random = new RandomStream(7, 'attack');
  while (search.best !== bound && search.try(varied(random, search.oneOfBest(random), rests, longest)));
  if (search.isOpen) return { starts: Number.POSITIVE_INFINITY, exact: true };
  return { starts: search.best, exact: search.best === bound };
}

interface Step {
  readonly restMs: number;
  readonly take: number;
  readonly refused: number;
}

interface Attack {
  readonly steps: readonly Step[];
  /** Repeated after the steps: a rest, at least until the next admission, then all that is admitted. */
  readonly loop: Omit<Step, 'take'>;
}

/** Requests that start at one instant. */
interface Starts {
  readonly at: number;
  n: number;
}

class Search {
  best = 0;
  isOpen = false;
  readonly #rule: Rule;
  readonly #startMs: number;
  readonly #intervalMs: number;
  readonly #holdMs: number;
  readonly #latestMs: number;
  readonly #effort: number;
  #tried = 0;
  #asked = 0;
  #left = 0;
  readonly #kept: { readonly attack: Attack; readonly starts: number }[] = [];

  constructor(rule: Rule, longestMs: number, intervalMs: number, holdMs: number, effort: number) {
    this.#effort = effort;
    this.#rule = rule;
    this.#startMs = Math.ceil(ABOUT_MS / longestMs) * longestMs;
    this.#intervalMs = intervalMs;
    this.#holdMs = holdMs;
    this.#latestMs = intervalMs + 2 * longestMs;
  }

  try(attack: Attack): boolean {
    this.#left = MOST_QUESTIONS;
    const starts = this.#mostIn(this.#startsOf(attack));
    this.#asked += MOST_QUESTIONS - this.#left;
    this.#tried += 1;
    const kept = this.#kept;
    const worst = kept.at(-1);
    if (kept.length < KEPT || starts >= worst!.starts) {
      if (kept.length === KEPT) kept.pop();
      const place = kept.findIndex((one) => one.starts <= starts);
      kept.splice(place < 0 ? kept.length : place, 0, { attack, starts });
    }
    this.best = Math.max(this.best, starts);
    return !this.isOpen && (this.#tried < FIRST_ATTACKS || this.#asked < this.#effort);
  }

  oneOfBest(random: RandomStream): Attack {
    return this.#kept[random.integer(0, this.#kept.length - 1)]!.attack;
  }

  #startsOf({ steps, loop }: Attack): Starts[] {
    const starts: Starts[] = [];
    const rule = this.#rule;
    let at = this.#startMs;
    const state = rule.fresh(at);
    for (const { restMs, take, refused } of steps) {
      at += restMs;
      this.#take(state, at, take, refused, starts);
    }
    const end = at + this.#intervalMs;
    for (let waitMs = 0; this.#left > 0 && !this.isOpen; waitMs = loop.restMs) {
      at = rule.nextAdmission(state, at + waitMs, 1);
      if (!(at < end)) break;
      const taken = this.#take(state, at, Number.POSITIVE_INFINITY, loop.refused, starts);
      // The rule only delays, or its clock has coarse steps.
      if (taken === 0) at += 1;
      this.#left -= 1;
    }
    return starts;
  }

  /** @returns how many have started, or will */
  #take(state: unknown, at: number, most: number, refused: number, starts: Starts[]): number {
    const rule = this.#rule;
    let taken = 0;
    while (taken < most && this.#left > 0) {
      if (rule.nextAdmission(state, at, 1) > at) break;
      // Many at one instant as one request: a limit of a million takes as long as one of ten.
      const room = rule.additive === true ? rule.remaining(state, at) : 1;
      const n = room === Number.POSITIVE_INFINITY ? 1 : Math.min(most - taken, Math.max(1, room));
      const delay = rule.admit(state, at, n, this.#holdMs);
      this.#left -= Math.min(2 * n, MOST_OF_ONE);
      if (delay === LIMITED || delay > this.#latestMs) break;
      const newest = starts.at(-1);
      if (newest?.at === at + delay) newest.n += n;
      else starts.push({ at: at + delay, n });
      if (taken === MANY && delay === 0 && rule.remaining(state, at) === Number.POSITIVE_INFINITY) this.isOpen = true;
      taken += n;
      if (this.isOpen) return taken;
    }
    for (let k = 0; k < refused && rule.nextAdmission(state, at, 1) > at; k += 1) {
      rule.admit(state, at, 1, this.#holdMs);
      this.#left -= 2;
    }
    return taken;
  }

  #mostIn(starts: Starts[]): number {
    starts.sort((a, b) => a.at - b.at);
    let [most, oldest, within] = [0, 0, 0];
    for (const { at, n } of starts) {
      within += n;
      for (; starts[oldest]!.at <= at - this.#intervalMs; oldest += 1) within -= starts[oldest]!.n;
      most = Math.max(most, within);
    }
    return most;
  }
}

const ALL = Number.POSITIVE_INFINITY;
const GREEDY = { restMs: 0, refused: 0 };

function* knownAttacks(rests: readonly number[], isAdaptive: boolean): Generator<Attack> {
  yield { steps: [], loop: GREEDY };
  for (const [take, refused] of [
    [1, 0],
    [0, 0],
    [ALL, 0],
    [ALL, 1],
    [2, 0],
  ] as const)
    for (const restMs of rests) {
      const opener = { restMs: 0, take, refused };
      yield { steps: [opener, { restMs, take: ALL, refused: 0 }], loop: GREEDY };
    }
  for (const refused of [1, 2, 5, 0]) for (const restMs of rests) yield { steps: [], loop: { restMs, refused } };
  // An adaptive limit grows only while requests are answered.
  if (isAdaptive)
    for (const restMs of [HOLD_MS + 1, HOLD_MS, HOLD_MS / 2, HOLD_MS / 10])
      for (const times of [10, 100, 400])
        yield { steps: new Array<Step>(times).fill({ restMs, take: ALL, refused: 0 }), loop: GREEDY };
}

function varied(random: RandomStream, { steps, loop }: Attack, rests: readonly number[], longestMs: number): Attack {
  const aRest = () => {
    const one = random.integer(0, 2);
    return one === 0 ? random.integer(0, 2 * longestMs) : rests[random.integer(0, rests.length - 1)]!;
  };
  const aRefusal = () => Math.max(0, random.integer(-9, 5));
  const aStep = (): Step => ({
    restMs: aRest(),
    take: random.integer(0, 2) === 0 ? ALL : random.integer(0, 4),
    refused: aRefusal(),
  });
  const place = random.integer(0, steps.length);
  const at = steps[place];
  switch (random.integer(0, 5)) {
    case 0:
      return {
        steps: steps.length < MOST_STEPS ? [...steps.slice(0, place), aStep(), ...steps.slice(place)] : steps,
        loop,
      };
    case 1:
      return { steps: steps.filter((_, i) => i !== place), loop };
    case 2:
      if (at === undefined) return { steps, loop: { restMs: aRest(), refused: aRefusal() } };
      return { steps: steps.with(place, { ...aStep(), restMs: at.restMs }), loop };
    case 3:
      return at === undefined
        ? { steps, loop: GREEDY }
        : { steps: steps.with(place, { ...at, restMs: aRest() }), loop };
    default: {
      if (at === undefined) return { steps: [...steps, aStep()], loop };
      const restMs = Math.max(0, at.restMs + random.integer(-3, 3));
      return { steps: steps.with(place, { ...at, restMs }), loop };
    }
  }
}

/** Whole ms near the lengths in the parameters, and between them. */
function restsFor(spans: readonly number[], intervalMs: number): number[] {
  const rests = new Set<number>();
  const add = (ms: number) => {
    if (ms >= 0) rests.add(Math.floor(ms));
  };
  for (const span of spans)
    for (const ms of [span - 1, 2 * span - 1, span, 2 * span, span + 1, 2 * span + 1, 2 * span - 2, span - 2]) add(ms);
  for (const span of spans) for (const ms of [span - intervalMs, 2 * span - intervalMs]) add(ms);
  add(0);
  add(1);
  for (const span of spans.slice(0, 3)) for (let k = 1; k < 10; k += 1) add((span * k) / 10);
  return [...rests];
}

function spansOf(params: unknown): number[] {
  const spans: number[] = [];
  const look = (at: unknown) => {
    if (typeof at !== 'object' || at === null) return;
    const fields = at as Readonly<Record<string, unknown>>;
    const number = (name: string) => (typeof fields[name] === 'number' ? fields[name] : Number.NaN);
    for (const [name, value] of Object.entries(fields)) {
      if (typeof value === 'number' && name.endsWith('_ms')) spans.push(value);
      if (name === 'limits') spans.push(...(value as readonly number[][]).map(([, ms]) => ms!));
      look(value);
    }
    spans.push(number('per_ms') / number('rate'), (number('per_ms') * number('capacity')) / number('rate'));
    spans.push(1_000_000 / number('rate_1000'), (1_000_000 * (number('burst') + 1)) / number('rate_1000'));
    spans.push(number('window_ms') / number('segments'), number('spacing_ms') * (number('slack') + 1));
    spans.push(number('T_ms') + number('tau_ms'), number('interval_ms') * number('max_stored'));
    spans.push((number('within') || 60) * number('cycle_ms'));
  };
  look(params);
  const usable = spans.filter((ms) => ms >= 1 && ms <= LONGEST_MS).map(Math.ceil);
  return [...new Set(usable)].sort((a, b) => b - a).slice(0, 8);
}

const LONGEST_MS = 31_536_000_000;

/** No more than these start in an interval; undefined if no bound is known. */
export function startsBound({ primitive, params, hold_ms }: RuleDefinition, intervalMs: number): number | undefined {
  const given = params as Readonly<Record<string, number>>;
  const has = (...names: readonly string[]) => Object.keys(given).every((name) => names.includes(name));
  const { limit = 0, window_ms: span = 1 } = given;
  switch (primitive) {
    case 'fixed_window_delay':
      return Number.POSITIVE_INFINITY;
    case 'fixed_window':
      // An interval touches one window more than fit into it. A request that opens a window may precede the interval.
      if (!has('limit', 'window_ms', 'align', 'phase_ms', 'edge', 'count_refused', 'announce')) return undefined;
      return limit * (Math.ceil(intervalMs / span) + 1) - ((params as { align?: string }).align === 'epoch' ? 0 : 1);
    case 'sliding_log':
      return has('limit', 'window_ms') ? limit * Math.ceil(intervalMs / span) : undefined;
    case 'token_bucket':
      if (!has('rate', 'per_ms', 'capacity')) return undefined;
      return Math.ceil(given['capacity']! + (given['rate']! * intervalMs) / given['per_ms']!) - 1;
    case 'gcra':
      return Math.ceil(given['tau_ms']! / given['T_ms']! + 1 + intervalMs / given['T_ms']!) - 1;
    case 'nginx_limit_req':
      // Its clock counts whole ms, and its excess whole thousandths.
      if ((params as { nodelay?: boolean }).nodelay !== true) return undefined;
      return Math.floor((given['burst'] ?? 0) + 1 + Math.floor((given['rate_1000']! * (intervalMs - 1)) / 1000) / 1000);
    case 'concurrency':
    case 'concurrency_queue':
      return limit * Math.ceil(intervalMs / (hold_ms ?? HOLD_MS));
    default:
      return undefined;
  }
}
