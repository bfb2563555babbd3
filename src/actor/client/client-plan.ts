// From the clients of a scenario to behaviours: texts into numbers, defaults filled in, names given.

import { parseTimeLaw } from '../../math/time-law.js';
import { Failure, unreachable } from '../../schema/failure.js';
import { parseRate, parseTimeMs } from '../../schema/quantity.js';
import { type BackoffPlan, pauses } from './backoff.js';
import type { Behaviour } from './behaviour.js';
import type { ClientState } from './client.js';
import { behaviourOf, type ClientChart } from './client-chart.js';
import type { ClientSpec } from './client-schema.js';
import { closed } from './closed.js';
import { holding } from './holding.js';
import { obedient, open, retrying } from './requesting.js';
import { type RetryBudgetPlan, SLICES } from './retry-budget.js';

/** One kind of client, ready to be made. */
export interface ClientPlan {
  /** Names its figures, actors and random streams; unique in the run. */
  readonly name: string;
  /** How many there are; undefined: as many as are needed, so that no job waits for a client. */
  readonly count: number | undefined;
  /** Weight when arriving requests are dealt; 0: it takes none. */
  readonly share: number;
  /** Whether it receives the events that the contract emits. */
  readonly listens: boolean;
  /** How long it waits for an answer, in ms. */
  readonly timeoutMs: number | undefined;
  /** The retries that the clients of the kind may make together; undefined for as many as each wants. */
  readonly budget?: RetryBudgetPlan | undefined;
  /** One behaviour for all clients of the kind. */
  readonly behaviour: Behaviour<ClientState>;
  /** The statechart that the behaviour was made of; undefined for one that a program defines. */
  readonly chart?: ClientChart | undefined;
}

/**
 * A client that a program defines by a pure function; a scenario file cannot contain one. Like the kinds of a file it makes one job
 * at a time, and there are as many clients as are needed.
 */
export interface CustomClientSpec extends Behaviour<ClientState> {
  readonly kind: 'custom';
  /** Default: custom. */
  readonly name?: string;
  /** Weight when arriving requests are dealt, above 0. Default: 1. */
  readonly share?: number;
  /** How long it waits for an answer: cycles, or a text as `2s`. Default: until the answer arrives. */
  readonly timeout?: number | string;
}

/**
 * @param place JSON pointer to the specifications, for failures
 * @throws Failure `invalid_input`, its faults placed, when a time or rate cannot be read or the fields contradict each other
 */
export function planClients(
  specs: readonly (ClientSpec | CustomClientSpec)[],
  cycleMs: number,
  place = '',
): ClientPlan[] {
  const taken = new Set<string>();
  return specs.map((spec, index) => {
    const path = `${place}/${index}`;
    const name = spec.name ?? freeName(spec.kind, specs, taken);
    if (taken.has(name)) refuse(`${path}/name`, `"${name}" is taken by another kind of client`);
    taken.add(name);
    return { name, ...planClient(spec, new Reader(cycleMs, path)) };
  });
}

function planClient(spec: ClientSpec | CustomClientSpec, read: Reader): Omit<ClientPlan, 'name'> {
  const timeoutMs = spec.timeout === undefined ? undefined : read.ms(spec.timeout, '/timeout', 1);
  const pooled = { count: undefined, listens: false, timeoutMs };
  switch (spec.kind) {
    case 'open':
      return { ...pooled, share: spec.share ?? 1, ...drawn(open()) };
    case 'obedient': {
      const plan = { maxAttempts: spec.max_attempts ?? 10, jitterMs: read.ms(spec.jitter ?? 0, '/jitter') };
      return { ...pooled, share: spec.share ?? 1, ...drawn(obedient(plan)) };
    }
    case 'retrying': {
      const plan = {
        maxAttempts: spec.max_attempts ?? 3,
        honoursRetryAfter: spec.honours_retry_after ?? false,
        takesLateAnswers: spec.takes_late_answers ?? false,
      };
      const backoff = pauses(read.backoff(spec.backoff ?? { policy: 'none' }));
      const budget = spec.retry_budget && read.budget(spec.retry_budget);
      return { ...pooled, share: spec.share ?? 1, budget, ...drawn(retrying(plan, backoff)) };
    }
    case 'holding': {
      const { batch = Number.POSITIVE_INFINITY, spread = 0, jitter = false } = spec.flush ?? {};
      const plan = { buffer: spec.buffer ?? 1000, batch, spreadMs: read.ms(spread, '/flush/spread'), jitter };
      const { count, share = 1, listens = true } = spec;
      return { count, share, listens, timeoutMs, ...drawn(holding(plan)) };
    }
    case 'closed': {
      // A client that neither thinks nor waits would ask without end in one instant of virtual time.
      const plan = { think: parseTimeLaw(spec.think, read.cycleMs, `${read.place}/think`, 1) };
      return { count: spec.count, share: 0, listens: false, timeoutMs, ...drawn(closed(plan)) };
    }
    case 'custom':
      return { ...pooled, share: spec.share ?? 1, behaviour: spec };
    default:
      return unreachable(spec);
  }
}

function drawn(chart: ClientChart): Pick<ClientPlan, 'behaviour' | 'chart'> {
  return { behaviour: behaviourOf(chart), chart };
}

/** Reads the quantities of one specification; faults name their place in it. */
class Reader {
  constructor(
    readonly cycleMs: number,
    readonly place: string,
  ) {}

  ms(value: number | string, path: string, leastMs = 0): number {
    return parseTimeMs(value, this.cycleMs, `${this.place}${path}`, leastMs);
  }

  backoff({ policy, base = '100ms', cap }: NonNullable<RetryingSpec['backoff']>): BackoffPlan {
    const baseMs = this.ms(base, '/backoff/base');
    const capMs = cap === undefined ? Math.max(baseMs, 20_000) : this.ms(cap, '/backoff/cap', baseMs);
    return { policy, baseMs, capMs };
  }

  budget({ share, floor = 0, over = '10s' }: NonNullable<RetryingSpec['retry_budget']>): RetryBudgetPlan {
    const overMs = this.ms(over, '/retry_budget/over', SLICES);
    const rate = parseRate(floor, this.cycleMs, `${this.place}/retry_budget/floor`);
    return { share, floor: (rate.requests / rate.cycles) * (overMs / this.cycleMs), overMs };
  }
}

type RetryingSpec = Extract<ClientSpec, { kind: 'retrying' }>;

/** The kind itself, or the kind with the first free number from 2. */
function freeName(kind: string, specs: readonly { readonly name?: string }[], taken: ReadonlySet<string>): string {
  const isFree = (name: string) => !taken.has(name) && !specs.some((spec) => spec.name === name);
  let name = kind;
  for (let n = 2; !isFree(name); n += 1) name = `${kind}-${n}`;
  return name;
}

/** Throws the Failure for clients that cannot be made; `path` is a JSON pointer. */
export function refuse(path: string, message: string): never {
  throw new Failure('invalid_input', {
    what: 'The clients cannot be made.',
    why: `${path} ${message}.`,
    fix: 'Correct the field named.',
    faults: [{ path, message }],
  });
}
