// How much of its rule each contract uses, cycle by cycle: the equivalent of a window's count.
//
//   level   10 |    __                   after a request: capacity of the rule, minus what it would admit now
//              |   |  \__                then it falls as tokens come back or a window ends
//            0 |___|     \____           each cycle keeps its maximum
//   cycle        | 0 | 1 | 2 |           updated in cycles with requests, and in those in which the level falls
import type { Gauge } from '../limiter/gauge.js';
import type { RowBuilder } from '../outcome/cycle-row.js';
import { Agenda, type Ticket } from '../time/agenda.js';
import { cycleOf, startOf } from '../time/cycle.js';
import { Rank } from '../time/rank.js';
import type { SimulatedContract } from './simulated-contract.js';

export class Levels {
  readonly #contracts: readonly SimulatedContract[];
  readonly #builder: RowBuilder;
  readonly #cycleMs: number;
  #asked: number[] = [];
  readonly #most: number[] = [];
  #falling: number[] = [];
  /** Later falls; due in cycles. */
  readonly #agenda = new Agenda(Number.MIN_SAFE_INTEGER);
  readonly #tickets = new Map<number, Ticket>();

  constructor(contracts: readonly SimulatedContract[], builder: RowBuilder, cycleMs: number) {
    this.#contracts = contracts;
    this.#builder = builder;
    this.#cycleMs = cycleMs;
  }

  asked(contract: number): void {
    this.#note(contract, this.#contracts[contract]!.gate.level);
  }

  /** Returns the next cycle in which a level falls, or Infinity. */
  close(cycle: number): number {
    for (const contract of this.#falling) this.#note(contract, 0);
    this.#falling = [];
    while (this.#agenda.nextDue() <= cycle) this.#agenda.step();
    const written = this.#asked;
    this.#asked = [];
    for (const contract of written) this.#write(contract, cycle);
    return this.#falling.length > 0 ? cycle + 1 : this.#agenda.nextDue();
  }

  #note(contract: number, level: number): void {
    const most = this.#most[contract] ?? -1;
    if (most < 0) this.#asked.push(contract);
    if (level > most) this.#most[contract] = level;
  }

  #write(contract: number, cycle: number): void {
    const [gauge] = this.#contracts[contract]!.gate.gauges;
    const level = Math.max(this.#most[contract]!, gauge!.levelAt(startOf(cycle, this.#cycleMs)));
    this.#most[contract] = -1;
    this.#builder.counted(contract, level);
    const ticket = this.#tickets.get(contract);
    if (ticket !== undefined) {
      this.#agenda.cancel(ticket);
      this.#tickets.delete(contract);
    }
    const next = this.#nextAfter(gauge!, cycle, level);
    if (next === cycle + 1) this.#falling.push(contract);
    else if (next < Number.POSITIVE_INFINITY)
      this.#tickets.set(
        contract,
        this.#agenda.at(next, Rank.close, () => {
          this.#tickets.delete(contract);
          this.#note(contract, 0);
        }),
      );
  }

  #nextAfter(gauge: Gauge, cycle: number, level: number): number {
    const nextMs = startOf(cycle + 1, this.#cycleMs);
    if (gauge.levelAt(nextMs) !== level) return cycle + 1;
    const changesMs = gauge.levelChangesAfter(nextMs);
    if (changesMs === Number.POSITIVE_INFINITY) return changesMs;
    const begun = cycleOf(changesMs, this.#cycleMs);
    return Math.max(cycle + 1, startOf(begun, this.#cycleMs) < changesMs ? begun + 1 : begun);
  }
}
