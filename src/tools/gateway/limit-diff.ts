// Runs the requests of logs through the limits of two versions of a gateway's files, in one pass: what each refuses.
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { drawsOf } from '../../core/math/random.js';
import { VirtualClock } from '../../core/time/virtual.js';
import type { SentAttempt } from '../../harness/clients/client.js';
import { planClients } from '../../harness/clients/client-plan.js';
import type { LibraryName } from '../../harness/clients/libraries.js';
import { type Population, populationOf } from '../../harness/clients/population.js';
import { summaryOf } from '../../harness/outcome/read-summary.js';
import type { SourceHooks } from '../../harness/traffic/log/log-bytes.js';
import type { LogOptions } from '../../harness/traffic/log/log-options.js';
import { readInOrder } from '../../harness/traffic/log/read.js';
import type { LogReading } from '../../harness/traffic/log/read-bytes.js';
import type { ChangeCounts, DiffTraffic, RetryCost } from './diff-answer.js';
import type { FoundLimiter, GatewayLimits } from './found.js';
import { wholeOf } from './limit-changes.js';
import { announcedBy, decided, type LeftOut, LimitSide } from './limit-sides.js';
import { LimitTraffic } from './limit-traffic.js';

export interface LimitDiff
  extends Omit<DiffTraffic, 'log' | 'share' | 'newly_refused_share' | 'keys' | 'by_limiter' | 'left_out' | 'unjudged'> {
  readonly by_client: readonly ChangeCounts[];
  /** Newly refused requests. */
  readonly by_limiter: ReadonlyMap<FoundLimiter, number>;
  readonly left_out: { readonly old: readonly LeftOut[]; readonly new: readonly LeftOut[] };
  /** Those left out in one version and not, for the same reason, in the other. A limit that is removed refuses nothing. */
  readonly unjudged: readonly LeftOut[];
  readonly readings: readonly LogReading[];
}

const MINUTE_MS = 60_000;

/** @param options `keyColumn`: for keys a log lacks @throws Failure `invalid_input`, `no_requests`, of the readers */
export function diffLimits(
  paths: readonly string[],
  { old, new: fresh }: { readonly old: GatewayLimits; readonly new: GatewayLimits },
  { clients, ...options }: LogOptions & { readonly clients?: LibraryName | undefined },
  hooks: SourceHooks,
): Promise<LimitDiff> {
  return readInOrder(paths, async (mostRows) => {
    const hasKey = options.keyColumn !== undefined;
    const sides = [new LimitSide(old, hasKey), new LimitSide(fresh, hasKey)] as const;
    // Retries count against the new limits too, so that side keeps its own states.
    const retried = clients === undefined ? [] : [new LimitSide(fresh, hasKey)];
    const atOnce = [new LimitSide(old, hasKey), new LimitSide(fresh, hasKey)];
    const traffic = new LimitTraffic([...sides, ...atOnce, ...retried], true);
    const run = new Differences(traffic, clients);
    const read = await traffic.read(paths, mostRows, { ...options, hooks }, run);
    const left_out = { old: sides[0].leftOut, new: sides[1].leftOut };
    const warnings = [...summaryOf(read.readings, undefined, options.nowMs).warnings, ...read.warnings];
    return { ...run.found(), left_out, unjudged: unjudgedOf(left_out, fresh), readings: read.readings, warnings };
  });
}

function unjudgedOf({ old, new: fresh }: LimitDiff['left_out'], { limiters }: GatewayLimits): LeftOut[] {
  const unjudgedIn = (some: readonly LeftOut[]) => some.filter(({ isJudged }) => !isJudged);
  const [before, after] = [unjudgedIn(old), unjudgedIn(fresh)];
  const nameOf = ({ limiter, why }: LeftOut) => `${why} ${wholeOf(limiter)}`;
  const isIn = (some: readonly LeftOut[], one: LeftOut) => some.some((other) => nameOf(other) === nameOf(one));
  const isOne = (a: FoundLimiter, b: FoundLimiter) => a.name === b.name && a.where === b.where;
  const changed = after.filter((one) => !isIn(before, one));
  const isLeft = ({ limiter }: LeftOut) =>
    limiters.some((one) => isOne(one, limiter)) && !changed.some((one) => isOne(one.limiter, limiter));
  return [...changed, ...before.filter((one) => !isIn(after, one) && isLeft(one))];
}

class Counts {
  requests = 0;
  refused_old = 0;
  refused_new = 0;
  newly_refused = 0;
  newly_admitted = 0;

  add(isRefusedOld: boolean, isRefused: boolean): void {
    this.requests += 1;
    if (isRefusedOld) this.refused_old += 1;
    if (isRefused) this.refused_new += 1;
    if (isRefused && !isRefusedOld) this.newly_refused += 1;
    if (isRefusedOld && !isRefused) this.newly_admitted += 1;
  }
}

class Differences {
  readonly #all = new Counts();
  readonly #atOnce = new Counts();
  /** By client, and by target. */
  readonly #clients: Counts[] = [];
  readonly #targets: Counts[] = [];
  readonly #byPath = new Map<string, Counts>();
  readonly #byMinute = new Map<number, Counts>();
  readonly #byLimiter = new Map<FoundLimiter, number>();
  readonly #retries: LogRetries | undefined;
  #minute = new Counts();
  #minuteEndMs = Number.NaN;

  constructor(
    readonly traffic: LimitTraffic,
    clients: LibraryName | undefined,
  ) {
    this.#retries = clients && new LogRetries(clients, (row, ms) => this.#refusedWithRetries(row, ms));
  }

  #refusedWithRetries(row: number, ms: number) {
    const [who, { places }] = this.traffic.requestAt(row);
    const retried = places[4];
    const turn = this.#all.requests;
    const { by } = decided(retried!, who, ms, turn);
    return by && { status: by.status, retryAfterMs: announcedBy(retried!, by, who, ms, turn) };
  }

  takeAtOnce(row: number, ms: number): void {
    const [who, { places }] = this.traffic.requestAt(row);
    const [old, fresh] = [places[2]!, places[3]!].map((place) => decided(place, who, ms, this.#atOnce.requests).by);
    this.#atOnce.add(old !== undefined, fresh !== undefined);
  }

  atOnceWords(): string {
    return `${this.#atOnce.newly_refused} are newly refused`;
  }

  take(row: number, ms: number): void {
    const [who, { id, path, places }] = this.traffic.requestAt(row);
    const [old, fresh] = places;
    const turn = this.#all.requests;
    const isRefusedOld = decided(old!, who, ms, turn).by !== undefined;
    const { by } = decided(fresh!, who, ms, turn);
    const isRefused = by !== undefined;
    if (this.#retries !== undefined) {
      this.#retries.passTo(ms);
      const refused = this.#refusedWithRetries(row, ms);
      if (refused !== undefined && !isRefusedOld) this.#retries.refused(row, ms, refused);
    }
    this.#clients[who.client] ??= new Counts();
    this.#targets[id] ??= getOrInsert(this.#byPath, path, newCounts);
    this.#all.add(isRefusedOld, isRefused);
    this.#clients[who.client]!.add(isRefusedOld, isRefused);
    this.#targets[id]!.add(isRefusedOld, isRefused);
    if (!(ms < this.#minuteEndMs && ms >= this.#minuteEndMs - MINUTE_MS)) {
      const minute = Math.floor(ms / MINUTE_MS);
      this.#minuteEndMs = (minute + 1) * MINUTE_MS;
      this.#minute = getOrInsert(this.#byMinute, minute, newCounts);
    }
    this.#minute.add(isRefusedOld, isRefused);
    if (isRefused && !isRefusedOld) this.#byLimiter.set(by, (this.#byLimiter.get(by) ?? 0) + 1);
  }

  found(): Omit<LimitDiff, 'left_out' | 'unjudged' | 'readings' | 'warnings'> {
    const clients = this.#clients.map((counts, i) => ({ ...counts, name: this.traffic.clients[i]! }));
    const minutes = [...this.#byMinute].sort(([a], [b]) => a - b);
    const byMinute = minutes.map(([minute, counts]) => ({ ...counts, name: minuteText(minute) }));
    return {
      ...this.#all,
      clients: clients.length,
      clients_newly_refused: clients.filter((one) => one.newly_refused > 0).length,
      clients_newly_admitted: clients.filter((one) => one.newly_admitted > 0).length,
      ...(this.#atOnce.requests > 0 && { newly_refused_at_once: this.#atOnce.newly_refused }),
      by_client: worstFirst(clients),
      by_path: worstFirst([...this.#byPath].map(([name, counts]) => ({ ...counts, name }))),
      by_minute: byMinute.filter(differs),
      by_limiter: this.#byLimiter,
      retries: this.#retries?.end(this.#all.requests),
    };
  }
}

const minuteText = (minute: number) => `${new Date(minute * MINUTE_MS).toISOString().slice(0, 16)}Z`;

const newCounts = () => new Counts();

const differs = ({ newly_refused, newly_admitted }: ChangeCounts) => newly_refused > 0 || newly_admitted > 0;

function worstFirst(all: readonly ChangeCounts[]): ChangeCounts[] {
  return all
    .filter(differs)
    .sort(
      (a, b) => b.newly_refused - a.newly_refused || b.newly_admitted - a.newly_admitted || (a.name < b.name ? -1 : 1),
    );
}

interface Refused {
  readonly status: number | undefined;
  readonly retryAfterMs: number | undefined;
}

// The cost of retries after newly refused requests: the clients of `weir simulate`, in virtual time along the log.
//
//   log       |   x     |        x: newly refused, a client begins
//   client        x..x....✓      its attempts count against the new limits, between the requests of the log
class LogRetries {
  #world: { readonly clock: VirtualClock; readonly population: Population } | undefined;
  #first: Refused | undefined;
  #refused = 0;
  #notRetried = 0;

  constructor(
    readonly like: LibraryName,
    readonly decide: (row: number, ms: number) => Refused | undefined,
  ) {}

  passTo(ms: number): void {
    this.#world?.clock.run({ untilMs: ms });
  }

  /** Starts the client of a newly refused request. Call `passTo(ms)` first. */
  refused(row: number, ms: number, refused: Refused): void {
    this.#refused += 1;
    if (refused.status !== 429 && refused.status !== 503) {
      this.#notRetried += 1;
      return;
    }
    this.#world ??= this.#begin(ms);
    this.#first = refused;
    this.#world.population.arrive(row);
  }

  #begin(ms: number) {
    const clock = new VirtualClock(ms, 1);
    const send = (attempt: SentAttempt) => {
      const refused = this.#first ?? this.decide(attempt.job.contract, clock.now());
      this.#first = undefined;
      attempt.answer(
        refused === undefined ? { type: 'served' } : { type: 'limited', retryAfterMs: refused.retryAfterMs },
      );
    };
    const population = populationOf({
      clock,
      transport: { send, abandon: () => {} },
      plans: planClients([{ like: this.like }], 1),
      draws: drawsOf('diff'),
      contracts: 1,
    });
    return { clock, population };
  }

  end(requests: number): RetryCost {
    this.passTo(Infinity);
    const figures = this.#world?.population.figures()[0];
    const { retries = 0, succeeded = 0, given_up = 0, dropped = 0 } = figures ?? {};
    return {
      like: this.like,
      refused: this.#refused,
      not_retried: this.#notRetried,
      retries,
      extra_load: requests === 0 ? 0 : retries / requests,
      served: succeeded,
      given_up: given_up + dropped,
      wait_ms: figures?.job_latency_ms ?? null,
    };
  }
}
