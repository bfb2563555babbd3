// Owns the promise of a clock, to be run over everyone who makes it. Leaves how time is made to pass to the maker.
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/core/time/clock.js';
import { cycleOf } from '../../src/core/time/cycle.js';
import { Rank } from '../../src/core/time/rank.js';

export interface ClockUnderTest {
  readonly clock: Clock;
  /** Lets `ms` pass and everything that becomes due run. */
  pass(ms: number): void;
}

/** @param make a clock with cycles of 777 ms, driven from its beginning */
export function clockPromise(name: string, make: () => ClockUnderTest): void {
  describe(`the promise of a clock: ${name}`, () => {
    it('now never decreases, cycle is that of now, and no task sees a now before its due', () => {
      const { clock, pass } = make();
      const start = clock.now();
      const seen: { before: boolean; early: boolean; cycleOfNow: boolean }[] = [];
      let latest = start;
      const look = (due: number) => {
        const now = clock.now();
        seen.push({
          before: now < latest,
          early: now < due,
          cycleOfNow: clock.cycle() === cycleOf(now, clock.cycleMs),
        });
        latest = now;
      };
      for (let i = 0; i < 200; i++) clock.agenda.at(start + ((i * 389) % 5_000), Rank.client, look);
      for (let i = 0; i < 10; i++) {
        pass(600);
        look(start);
      }
      expect(seen).toEqual(Array.from({ length: 210 }, () => ({ before: false, early: false, cycleOfNow: true })));
    });

    it('a clock runs by due, rank and order of asking, also what is asked for on the way', () => {
      const { clock, pass } = make();
      const start = clock.now();
      const ran: string[] = [];
      const at = (ms: number, rank: Rank, label: string, then = () => {}) =>
        clock.agenda.at(start + ms, rank, () => {
          ran.push(label);
          then();
        });
      at(20, Rank.report, '20 report');
      at(20, Rank.client, '20 client');
      at(20, Rank.advance, '20 advance', () => at(20, Rank.arrival, '20 arrival'));
      at(10, Rank.client, '10', () => at(15, Rank.client, '15'));
      at(30, Rank.client, '30', () => at(5, Rank.client, 'asked for the past'));
      at(31, Rank.client, '31');
      pass(100);
      expect(ran).toEqual([
        '10',
        '15',
        '20 advance',
        '20 arrival',
        '20 client',
        '20 report',
        '30',
        'asked for the past',
        '31',
      ]);
    });
  });
}
