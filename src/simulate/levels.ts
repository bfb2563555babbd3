// How much of their rules the contracts of a run have used up, cycle by cycle: what a window's count is to other contracts.
//
//   level   10 |    __                   after a request: what a rule admits at once, less what it would admit now
//              |   |  \__                then it falls as tokens come back or a window ends
//            0 |___|     \____           of a cycle the most is kept
//   cycle        | 0 | 1 | 2 |           a contract is looked at in cycles with requests, and where its level falls
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
  /** Contracts that were asked in this cycle, with the most of their levels. */
  readonly #asked = new Map<number, number>();
  /** Due in cycles. */
  readonly #agenda = new Agenda(Number.MIN_SAFE_INTEGER);
  readonly #tickets = new Map<number, Ticket>();

  constructor(contracts: readonly SimulatedContract[], builder: RowBuilder, cycleMs: number) {
    this.#contracts = contracts;
    this.#builder = builder;
    this.#cycleMs = cycleMs;
  }

  /** A contract has decided. */
  asked(contract: number): void {
    const { gate } = this.#contracts[contract]!;
    this.#asked.set(contract, Math.max(gate.level, this.#asked.get(contract) ?? 0));
  }

  /** Writes the levels of a cycle. Returns the next cycle in which one falls; Infinity for none. */
  close(cycle: number): number {
    while (this.#agenda.nextDue() <= cycle) this.#agenda.step();
    for (const [contract, most] of this.#asked) this.#write(contract, cycle, most);
    this.#asked.clear();
    return this.#agenda.nextDue();
  }

  #write(contract: number, cycle: number, most: number): void {
    const { gate } = this.#contracts[contract]!;
    const level = Math.max(most, gate.gauges[0]!.levelAt(startOf(cycle, this.#cycleMs)));
    this.#builder.counted(contract, level);
    const ticket = this.#tickets.get(contract);
    if (ticket !== undefined) this.#agenda.cancel(ticket);
    const next = this.#nextAfter(gate.gauges[0]!, cycle, level);
    if (next === Number.POSITIVE_INFINITY) this.#tickets.delete(contract);
    else
      this.#tickets.set(
        contract,
        this.#agenda.at(next, Rank.close, () => this.#fell(contract)),
      );
  }

  /** The first cycle at whose beginning the level is another. */
  #nextAfter(gauge: Gauge, cycle: number, level: number): number {
    const nextMs = startOf(cycle + 1, this.#cycleMs);
    if (gauge.levelAt(nextMs) !== level) return cycle + 1;
    const changesMs = gauge.levelChangesAfter(nextMs);
    if (changesMs === Number.POSITIVE_INFINITY) return changesMs;
    const begun = cycleOf(changesMs, this.#cycleMs);
    return Math.max(cycle + 1, startOf(begun, this.#cycleMs) < changesMs ? begun + 1 : begun);
  }

  #fell(contract: number): void {
    this.#tickets.delete(contract);
    if (!this.#asked.has(contract)) this.#asked.set(contract, 0);
  }
}
