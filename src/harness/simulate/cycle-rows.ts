// The rows of a run in virtual time. A cycle closes when the scheduler passes it, before anything of the next one happens: each in which
// requests came, a state changed, requests leave the window, or the level of a contract falls.
//
//   windows    count += requests of this row - requests of the row `within` cycles before
//
//   level   10 |    __                   of a rule, or with costs: what requests take of it
//              |   |  \__                then it falls, as tokens come back or a window ends
//            0 |___|     \____           each cycle keeps its maximum
//   cycle        | 0 | 1 | 2 |
import type { Due, Gate } from '../../core/limiter/gate.js';
import { cycleOf, startOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';
import type { VirtualClock } from '../../core/time/virtual.js';
import { type CycleRow, type Decisions, RowBuilder, type RunShape } from '../outcome/cycle-row.js';
import type { SimulatedContract } from './simulated-contract.js';

const NEVER = Number.POSITIVE_INFINITY;

interface RowOptions {
  readonly clock: VirtualClock;
  readonly run: RunShape;
  readonly contracts: readonly SimulatedContract[];
  /** Rows have columns. */
  readonly byContract: boolean;
  readonly withDecisions: boolean;
  readonly onRow: (row: CycleRow) => void;
}

export class CycleRows {
  /** By contract. */
  readonly lastRequests: number[] = [];
  readonly #options: RowOptions;
  readonly #builder: RowBuilder;
  /** A rule or costs decide, in rows with columns: a level also falls between the cycles in which requests leave. */
  readonly #hasLevels: boolean;
  /** Cycles after which the requests of a row leave their windows; 0 in rows that count none. */
  readonly #within: number;
  #decisions: OpenDecisions | undefined;
  #lastRow = -NEVER;
  readonly #closing = new Map<number, Closing>();
  /** A cycle of `#closing`. */
  #open = -NEVER;
  /** Contracts whose level is written when the cycle closes. */
  #noted: number[] = [];
  /** By contract: maximum of the cycle; below 0 if it is not noted. */
  readonly #most: number[] = [];
  /** By contract with a rule or costs: when its level falls next, and when that is looked at. Requests postpone a fall. */
  readonly #falls: number[] = [];
  readonly #looks: number[] = [];

  constructor(options: RowOptions) {
    this.#options = options;
    this.#builder = new RowBuilder(options.run, options.byContract);
    const { run, byContract } = options;
    this.#hasLevels = byContract && (run.rule !== undefined || run.costs !== undefined);
    this.#within = byContract && !this.#hasLevels ? run.within : 0;
    if (options.withDecisions) this.#decisions = noDecisions();
  }

  /** In the present cycle. For rows without columns, of any contracts. @param level after a decision by a rule or with costs */
  requested(contract: number, n: number, admitted: number, cycle: number, level = 0): void {
    this.#builder.requested(contract, n, admitted, this.#within > 0 ? n : 0);
    if (this.#hasLevels) this.#note(contract, level);
    if (cycle !== this.#open) this.#closingOf(cycle);
  }

  /** Without asking the contract: they do not enter its window. */
  refused(contract: number, n: number, cycle: number): void {
    this.#builder.requested(contract, n, 0);
    if (this.#hasLevels) this.#note(contract, 0);
    if (cycle !== this.#open) this.#closingOf(cycle);
  }

  moved(contract: number, { event: { cycle }, transition: { to }, count, emitted }: Due): void {
    const events = emitted.map(({ type }) => type);
    this.#builder.moved(contract, to, count, this.lastRequests[contract], events);
    if (cycle !== this.#open) this.#closingOf(cycle);
  }

  /** Records the decision of one request. @param delayMs undefined: limited @param opensMs when a limited one would be admitted */
  decided(contract: number, delayMs: number | undefined, opensMs: () => number): void {
    if (delayMs !== undefined && delayMs > 0) this.#builder.delayed(delayMs);
    if (this.#decisions === undefined) return;
    const { contracts, atMs, delaysMs, opensMs: opens } = this.#decisions;
    contracts.push(contract);
    atMs.push(this.#options.clock.now());
    delaysMs.push(delayMs ?? Number.NaN);
    opens.push(delayMs === undefined ? opensMs() : Number.NaN);
  }

  /** When the scheduler has passed it, or before, if its requests have come. */
  close(cycle: number): void {
    const closing = this.#closing.get(cycle);
    if (closing === undefined) return;
    this.#closing.delete(cycle);
    this.#open = -NEVER;
    if (closing.leaving !== undefined) this.#leave(closing.leaving);
    for (const contract of closing.looked) this.#look(contract, cycle);
    const noted = this.#noted;
    this.#noted = [];
    for (const contract of noted) this.#write(contract, cycle);
    if (!this.#builder.isEmpty) this.#emit(cycle);
  }

  /** The last cycle has a row even if nothing changed. */
  end(cycle: number): void {
    this.close(cycle);
    if (this.#lastRow < cycle) this.#emit(cycle);
  }

  #emit(cycle: number): void {
    const row = this.#builder.take(cycle, this.#decisions);
    const { contracts, requests, totals } = row;
    if (this.#decisions !== undefined) this.#decisions = noDecisions();
    this.#lastRow = cycle;
    // Not the row, whose other columns would be kept as long.
    if (this.#within > 0 && totals.requests > 0)
      this.#closingOf(cycle + this.#within).leaving = { contracts, requests };
    this.#options.onRow(row);
  }

  #leave({ contracts, requests }: Requests): void {
    for (let index = 0; index < contracts.length; index += 1) {
      const contract = contracts[index]!;
      // One that was never asked refuses all: nothing entered its window.
      if (requests[index]! > 0 && this.lastRequests[contract] !== undefined)
        this.#builder.left(contract, requests[index]!);
    }
  }

  #closingOf(cycle: number): Closing {
    this.#open = cycle;
    const known = this.#closing.get(cycle);
    if (known !== undefined) return known;
    const { clock } = this.#options;
    const closing: Closing = { looked: [], leaving: undefined };
    this.#closing.set(cycle, closing);
    clock.agenda.at(startOf(cycle + 1, clock.cycleMs), Rank.close, this.#onPassed);
    return closing;
  }

  readonly #onPassed = (ms: number): void => this.close(cycleOf(ms, this.#options.clock.cycleMs) - 1);

  #note(contract: number, level: number): void {
    const most = this.#most[contract] ?? -1;
    if (most < 0) this.#noted.push(contract);
    if (level > most) this.#most[contract] = level;
  }

  #write(contract: number, cycle: number): void {
    const { contracts, clock } = this.#options;
    const { gate } = contracts[contract]!;
    const level = Math.max(this.#most[contract]!, gate.levelAt(startOf(cycle, clock.cycleMs)));
    this.#most[contract] = -1;
    this.#builder.counted(contract, level);
    this.#falls[contract] = this.#nextFall(gate, cycle, level);
    this.#lookAt(contract, this.#falls[contract]!);
  }

  #lookAt(contract: number, cycle: number): void {
    if (cycle >= (this.#looks[contract] ?? NEVER)) return;
    this.#looks[contract] = cycle;
    this.#closingOf(cycle).looked.push(contract);
  }

  #look(contract: number, cycle: number): void {
    if (this.#looks[contract] === cycle) this.#looks[contract] = NEVER;
    const falls = this.#falls[contract]!;
    if (falls === cycle) this.#note(contract, 0);
    else if (falls > cycle) this.#lookAt(contract, falls);
  }

  #nextFall(gate: Gate, cycle: number, level: number): number {
    const { cycleMs } = this.#options.clock;
    const nextMs = startOf(cycle + 1, cycleMs);
    if (gate.levelAt(nextMs) !== level) return cycle + 1;
    const changesMs = gate.levelChangesAfter(nextMs);
    if (changesMs === NEVER) return NEVER;
    const begun = cycleOf(changesMs, cycleMs);
    return Math.max(cycle + 1, startOf(begun, cycleMs) < changesMs ? begun + 1 : begun);
  }
}

type Requests = Pick<CycleRow, 'contracts' | 'requests'>;

interface Closing {
  /** Contracts whose level may fall. */
  readonly looked: number[];
  /** They leave their windows. */
  leaving: Requests | undefined;
}

type OpenDecisions = { [Column in keyof Decisions]: number[] };

function noDecisions(): OpenDecisions {
  return { contracts: [], atMs: [], delaysMs: [], opensMs: [] };
}
