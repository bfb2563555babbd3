// Plans the clients of a scenario: parses quantities, fills in defaults, assigns names.

import { parseTimeLaw } from '../../core/math/time-law.js';
import { assert, unreachable } from '../../core/schema/failure.js';
import { CYCLE_MS } from '../../core/time/cycle.js';
import type { Behaviour, ClientState } from './behaviour.js';
import { behaviourOf, type ClientChart } from './client-chart.js';
import type { ClientKind, ClientSpec, LikeSpec } from './client-schema.js';
import { closed } from './closed.js';
import { holding } from './holding.js';
import { type ClientLibrary, clientLibraries } from './libraries.js';
import { obedient, open } from './requesting.js';
import { type InstancePlan, limitsOfRetries, RetryReader, refuseField } from './retry-plan.js';

export interface ClientPlan {
  /** For figures, actors and random streams; unique in the run. */
  readonly name: string;
  /** Undefined: as many as needed, so that no job waits for a client. */
  readonly count: number | undefined;
  /** Weight for dealing arriving requests; 0: it takes none. */
  readonly share: number;
  readonly listens: boolean;
  /** Undefined: waits for ever. */
  readonly timeoutMs: number | undefined;
  /** For a job; undefined: unlimited. */
  readonly deadlineMs?: number | undefined;
  /** Undefined: one process that shares nothing. */
  readonly shared?: InstancePlan | undefined;
  readonly behaviour: Behaviour<ClientState>;
  /** Undefined for a client defined by a program. */
  readonly chart?: ClientChart | undefined;
}

/** A client defined by a program as a pure function. It makes one job at a time; there are as many as needed. */
export interface CustomClientSpec extends Behaviour<ClientState> {
  readonly kind: 'custom';
  /** Default: custom. */
  readonly name?: string;
  /** Weight for dealing arriving requests, above 0. Default: 1. */
  readonly share?: number;
  /** How long it waits for an answer: cycles, or a text as `2s`. Default: for ever. */
  readonly timeout?: number | string;
}

/** @throws Failure `invalid_input`, placed below `place`, if a time or rate cannot be read or fields contradict */
export function planClients(
  specs: readonly (ClientSpec | CustomClientSpec)[],
  cycleMs: number,
  place = '',
): ClientPlan[] {
  const taken = new Set<string>();
  return specs.map((spec, index) => {
    const path = `${place}/${index}`;
    const name = spec.name ?? freeName('like' in spec ? spec.like : spec.kind, specs, taken);
    if (taken.has(name)) refuseField(`${path}/name`, `"${name}" is taken by another kind of client`);
    taken.add(name);
    return { name, ...planClient(spec, new RetryReader(cycleMs, path)) };
  });
}

const smallest: { readonly [Kind in ClientKind]: ClientSpec } = {
  open: { kind: 'open' },
  obedient: { kind: 'obedient' },
  retrying: { kind: 'retrying' },
  holding: { kind: 'holding', count: 1 },
  closed: { kind: 'closed', count: 1, think: '1s' },
};

export function chartOf(kind: ClientKind): ClientChart {
  const [plan] = planClients([smallest[kind]], CYCLE_MS);
  assert(plan?.chart !== undefined, `clients of the kind ${kind} have no statechart`);
  return plan.chart;
}

function planClient(given: ClientSpec | CustomClientSpec, read: RetryReader): Omit<ClientPlan, 'name'> {
  const spec = 'like' in given ? libraryClient(given) : given;
  const timeoutMs = spec.timeout === undefined ? undefined : read.ms(spec.timeout, '/timeout', 1);
  const pooled = { count: undefined, listens: false, timeoutMs };
  switch (spec.kind) {
    case 'open':
      return { ...pooled, share: spec.share ?? 1, ...drawn(open()) };
    case 'obedient': {
      const plan = { maxAttempts: spec.max_attempts ?? 10, jitterMs: read.ms(spec.jitter ?? 0, '/jitter') };
      return { ...pooled, share: spec.share ?? 1, ...drawn(obedient(plan)) };
    }
    case 'retrying':
      return { ...pooled, share: spec.share ?? 1, ...read.retrying(spec) };
    case 'holding': {
      const { batch = Number.POSITIVE_INFINITY, spread, jitter = false } = spec.flush ?? {};
      if (jitter && spread === undefined) refuseField(`${read.place}/flush/jitter`, 'has no effect without spread');
      const plan = { buffer: spec.buffer ?? 1000, batch, spreadMs: read.ms(spread ?? 0, '/flush/spread'), jitter };
      const { count, share = 1, listens = true } = spec;
      return { count, share, listens, timeoutMs, ...drawn(holding(plan)) };
    }
    case 'closed': {
      // A client that neither thinks nor waits would never let virtual time pass.
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

/** Given fields replace the defaults of the library; any given limit of retries replaces all of its limits. */
function libraryClient({ like, ...given }: LikeSpec): Extract<ClientSpec, { kind: 'retrying' }> {
  const { client }: ClientLibrary = clientLibraries[like];
  const isLimited = limitsOfRetries.some((field) => given[field] !== undefined);
  const { retry_budget, retry_concurrency, retry_quota, ...others } = client;
  return { kind: 'retrying', ...(isLimited ? others : client), ...given };
}

function freeName(kind: string, specs: readonly { readonly name?: string }[], taken: ReadonlySet<string>): string {
  const isFree = (name: string) => !taken.has(name) && !specs.some((spec) => spec.name === name);
  let name = kind;
  for (let n = 2; !isFree(name); n += 1) name = `${kind}-${n}`;
  return name;
}
