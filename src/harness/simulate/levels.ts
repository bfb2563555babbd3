// How much of its rule each contract uses, cycle by cycle: the equivalent of a window's count.
//
//   level   10 |    __                   after a request: capacity of the rule, minus what it would admit now
//              |   |  \__                then it falls as tokens come back or a window ends
//            0 |___|     \____           each cycle keeps its maximum
//   cycle        | 0 | 1 | 2 |           updated in cycles with requests, and in those in which the level falls
import type { Gauge } from '../../core/limiter/gauge.js';
import { Agenda } from '../../core/time/agenda.js';
import { cycleOf, startOf } from '../../core/time/cycle.js';
import { Rank } from '../../core/time/rank.js';
import type { RowBuilder } from '../outcome/cycle-row.js';
import type { SimulatedContract } from './simulated-contract.js';

const NEVER = Number.POSITIVE_INFINITY;

export class Levels {
  readonly #contracts: readonly SimulatedContract[];
  readonly #builder: RowBuilder;
  readonly #cycleMs: number;
  #asked: number[] = [];
  readonly #most: number[] = [];
  /** By contract: the cycle in which its level falls next. */
  readonly #falls: number[] = [];
  /** By contract: the cycle in which it is looked at. Requests postpone a fall, so it may then fall later. */
  readonly #looks: number[] = [];
  readonly #lookedAt = new Map<number, number[]>();
  /** The cycles of `#lookedAt`. */
  readonly #agenda = new Agenda(Number.MIN_SAFE_INTEGER);

  constructor(contracts: readonly SimulatedContract[], builder: RowBuilder, cycleMs: number) {
    this.#contracts = contracts;
    this.#builder = builder;
    this.#cycleMs = cycleMs;
  }

  asked(contract: number): void {
    this.#note(contract, this.#contracts[contract]!.gate.level);
  }

  /** Returns the next cycle in which a level may fall, or Infinity. */
  close(cycle: number): number {
    while (this.#agenda.nextDue() <= cycle) this.#agenda.step();
    const written = this.#asked;
    this.#asked = [];
    for (const contract of written) this.#write(contract, cycle);
    return this.#agenda.nextDue();
  }

  #note(contract: number, level: number): void {
    const most = this.#most[contract] ?? -1;
    if (most < 0) this.#asked.push(contract);
    if (level > most) this.#most[contract] = level;
  }

  #write(contract: number, cycle: number): void {
    const gauge = this.#contracts[contract]!.gate.gauges[0]!;
    const level = Math.max(this.#most[contract]!, gauge.levelAt(startOf(cycle, this.#cycleMs)));
    this.#most[contract] = -1;
    this.#builder.counted(contract, level);
    this.#falls[contract] = this.#nextAfter(gauge, cycle, level);
    this.#lookAt(contract, this.#falls[contract]!);
  }

  #lookAt(contract: number, cycle: number): void {
    if (cycle >= (this.#looks[contract] ?? NEVER)) return;
    this.#looks[contract] = cycle;
    const others = this.#lookedAt.get(cycle);
    if (others !== undefined) others.push(contract);
    else {
      this.#lookedAt.set(cycle, [contract]);
      this.#agenda.at(cycle, Rank.close, this.#look);
    }
  }

  readonly #look = (cycle: number): void => {
    const contracts = this.#lookedAt.get(cycle)!;
    this.#lookedAt.delete(cycle);
    for (const contract of contracts) {
      if (this.#looks[contract] === cycle) this.#looks[contract] = NEVER;
      const falls = this.#falls[contract]!;
      if (falls === cycle) this.#note(contract, 0);
      else if (falls > cycle) this.#lookAt(contract, falls);
    }
  };

  #nextAfter(gauge: Gauge, cycle: number, level: number): number {
    const nextMs = startOf(cycle + 1, this.#cycleMs);
    if (gauge.levelAt(nextMs) !== level) return cycle + 1;
    const changesMs = gauge.levelChangesAfter(nextMs);
    if (changesMs === Number.POSITIVE_INFINITY) return changesMs;
    const begun = cycleOf(changesMs, this.#cycleMs);
    return Math.max(cycle + 1, startOf(begun, this.#cycleMs) < changesMs ? begun + 1 : begun);
  }
}
