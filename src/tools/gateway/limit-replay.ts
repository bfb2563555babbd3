// Replays logs through the limits of a gateway's files, with the reader of `weir diff`: a contract for each client.
//
//   log ──► LimitTraffic: client, matching limits ──► decided by each ──► rows ──► fold ──► outcome
//
//   state   allowing | limiting        | allowing          from a refusal until the limits of its place would admit again
import { Observable, type Subscriber } from 'rxjs';
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { cycleOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';
import { VirtualClock } from '../../core/time/virtual.js';
import { type CycleRow, RowBuilder, type RunShape } from '../../harness/outcome/cycle-row.js';
import type { GatewayLimit } from '../../harness/outcome/read-schema.js';
import type { LogRequestsOptions } from '../../harness/simulate/log-requests.js';
import type { Warning } from '../../harness/traffic/log/log-options.js';
import { readInOrder } from '../../harness/traffic/log/read.js';
import type { LogReading } from '../../harness/traffic/log/read-bytes.js';
import type { FoundLimiter, GatewayLimits } from './found.js';
import { decided, LimitSide, nextAdmissionAt } from './limit-sides.js';
import { LimitTraffic } from './limit-traffic.js';

export class LimitReplay {
  readings: readonly LogReading[] = [];
  #warnings: readonly Warning[] = [];
  #side: LimitSide | undefined;
  #run: LimitRun | undefined;

  constructor(
    readonly paths: readonly string[],
    readonly gateway: GatewayLimits,
    readonly options: LogRequestsOptions,
  ) {}

  get isPartial(): boolean {
    return this.readings.length < this.paths.length || this.readings.some(({ interrupted }) => interrupted);
  }

  warnings(): Warning[] {
    return [...this.#warnings];
  }

  /** Limits that refuse most come first. */
  limits(): GatewayLimit[] {
    const why = new Map(this.#side?.leftOut.map((one) => [one.limiter, one.isJudged ? undefined : one.why]));
    const all = this.gateway.limiters.map((limiter): GatewayLimit => {
      const { name, where, file, line, key } = limiter;
      const notJudged = why.get(limiter);
      return {
        name,
        where,
        file,
        line,
        limit: limitTitle(limiter),
        key: key.text,
        ...(this.#run?.counts.get(limiter) ?? NONE),
        ...(notJudged !== undefined && { not_judged: notJudged }),
      };
    });
    return all.sort((a, b) => b.limited - a.limited);
  }

  /** Rows of another `run` start over: the logs are read again. Errors: Failure of the log readers, `no_requests`. */
  rows(cycleMs: number): Observable<CycleRow> {
    return new Observable((subscriber) => {
      readInOrder(this.paths, (mostRows) => this.#read(mostRows, cycleMs, subscriber)).then(
        () => subscriber.complete(),
        (error: unknown) => subscriber.error(error),
      );
    });
  }

  async #read(mostRows: number, cycleMs: number, subscriber: Subscriber<CycleRow>): Promise<void> {
    const { log, signal, onRead } = this.options;
    const fresh = () => new LimitSide(this.gateway, log.keyColumn !== undefined);
    const side = fresh();
    const traffic = new LimitTraffic([side, fresh()], false);
    const run = new LimitRun(traffic, cycleMs, (row) => subscriber.next(row));
    this.#side = side;
    this.#run = run;
    const hooks = { signal, onProgress: onRead };
    const read = await traffic.read(this.paths, mostRows, { ...log, hooks }, run);
    this.readings = read.readings;
    this.#warnings = read.warnings;
    run.end();
  }
}

const NONE = { requests: 0, limited: 0 };

/** `10r/s burst 20 nodelay` */
function limitTitle({ limit, isDryRun }: FoundLimiter): string {
  const { like, ...parameters } = limit ?? { like: 'unlimited' };
  const words = Object.entries(parameters).flatMap(([name, value]) =>
    value === undefined || value === false
      ? []
      : value === true
        ? [name]
        : [name === 'rate' ? String(value) : `${name} ${String(value)}`],
  );
  return `${words.length === 0 ? like : words.join(' ')}${isDryRun ? ', dry run' : ''}`;
}

class LimitRun {
  readonly counts = new Map<FoundLimiter, { requests: number; limited: number }>();
  readonly #builder: RowBuilder;
  /** When each limiting client may be admitted again; Infinity: never. */
  readonly #opens = new Map<number, number>();
  readonly #lastRequests: number[] = [];
  #clock: VirtualClock | undefined;
  #cycle = Number.NEGATIVE_INFINITY;
  #limitedAtOnce = 0;

  constructor(
    readonly traffic: LimitTraffic,
    readonly cycleMs: number,
    readonly onRow: (row: CycleRow) => void,
  ) {
    const states = ['allowing', 'limiting'].map((name, state) => ({ name, admits: state === 0 }));
    const run: RunShape = { names: traffic.clients, states, initial: 0, threshold: null, within: 0, rule: 'gateway' };
    this.#builder = new RowBuilder(run);
  }

  takeAtOnce(row: number, ms: number): void {
    const [who, { places }] = this.traffic.requestAt(row);
    if (decided(places[1]!, who, ms).by !== undefined) this.#limitedAtOnce += 1;
  }

  atOnceWords(): string {
    const limited = [...this.counts.values()].reduce((sum, one) => sum + one.limited, 0);
    return `${this.#limitedAtOnce} are limited instead of ${limited}`;
  }

  take(row: number, ms: number): void {
    const [who, { places }] = this.traffic.requestAt(row);
    const place = places[0]!;
    this.#clock ??= new VirtualClock(ms, this.cycleMs);
    this.#clock.run({ untilMs: ms });
    this.#turnTo(ms);
    const { by, delayMs } = decided(place, who, ms);
    this.#builder.requested(who.client, 1, by === undefined ? 1 : 0);
    this.#lastRequests[who.client] = this.#cycle;
    if (delayMs > 0) this.#builder.delayed(delayMs);
    for (const { limiter } of [...place.limits, ...place.counted]) this.#countsOf(limiter).requests += 1;
    if (by === undefined) return;
    this.#countsOf(by).limited += 1;
    this.#limit(who.client, nextAdmissionAt(place, who, ms));
  }

  end(): void {
    this.onRow(this.#builder.take(this.#cycle));
  }

  #countsOf(limiter: FoundLimiter) {
    return getOrInsert(this.counts, limiter, () => ({ ...NONE }));
  }

  /** Closes the previous cycle. */
  #turnTo(ms: number): void {
    const cycle = cycleOf(ms, this.cycleMs);
    if (cycle <= this.#cycle) return;
    if (!this.#builder.isEmpty) this.onRow(this.#builder.take(this.#cycle));
    this.#cycle = cycle;
  }

  #limit(client: number, untilMs: number): void {
    const before = this.#opens.get(client);
    this.#opens.set(client, Math.max(before ?? 0, untilMs));
    if (before !== undefined) return;
    this.#builder.moved(client, 1, 1);
    this.#wakeAt(client, untilMs);
  }

  #wakeAt(client: number, ms: number): void {
    if (ms === Number.POSITIVE_INFINITY) return;
    this.#clock!.agenda.at(ms, Rank.advance, (due) => {
      const opens = this.#opens.get(client)!;
      if (opens > due) return this.#wakeAt(client, opens);
      this.#opens.delete(client);
      this.#turnTo(due);
      this.#builder.moved(client, 0, 0, this.#lastRequests[client]);
    });
  }
}
