// Which requests of a log would have been refused: what a run limited in each cycle, laid over the log when it is read again.
//
//   cycle 7 of key a: 5 requests, 2 admitted            the first 2 lines of it pass, the other 3 are refused
import type { CycleRow } from '../outcome/cycle-row.js';
import { cycleOf, instantText } from '../time/cycle.js';
import type { RequestSink } from '../traffic/log/intake.js';
import { spreadOverCycles } from '../traffic/spread.js';

/** A line with requests that would have been refused. */
export interface RefusedLine {
  readonly line: number;
  readonly time: string;
  /** Null where all requests go through one contract. */
  readonly key: string | null;
  /** How many requests the line stands for, and how many of them would have been refused. */
  readonly requests: number;
  readonly refused: number;
  readonly text: string;
}

/**
 * Remembers for each contract and cycle with limited requests how many were admitted. Within a cycle a limiter that limits goes
 * on limiting, so those are the first.
 */
export class Refusals {
  #admitted = new Map<string, Map<number, number>>();

  /** Forgets what was seen before: a replay may start over. */
  restart(): void {
    this.#admitted = new Map();
  }

  see({ cycle, run, contracts, limited, admitted }: CycleRow): void {
    for (let i = 0; i < contracts.length; i += 1) {
      if (limited[i] === 0) continue;
      const name = run.names[contracts[i]!]!;
      const cycles = this.#admitted.get(name) ?? new Map<number, number>();
      this.#admitted.set(name, cycles.set(cycle, admitted[i]!));
    }
  }

  /** A sink for reading the log again, in the same order. */
  sink(cycleMs: number, isKeyed: boolean, take: (refused: RefusedLine) => void): RequestSink {
    let line = 0;
    let text = '';
    return {
      line: (number, bytes, from, to) => {
        line = number;
        text = bytes.toString('utf8', from, to);
      },
      request: (unixMs, n, key, spreadMs) => {
        const cycles = this.#admitted.get(isKeyed ? key : 'all');
        if (cycles === undefined) return;
        let refused = 0;
        const add = (cycle: number, requests: number): void => {
          const left = cycles.get(cycle);
          if (left === undefined) return;
          refused += Math.max(0, requests - left);
          cycles.set(cycle, Math.max(0, left - requests));
        };
        if (spreadMs === 0 || n === 1) add(cycleOf(unixMs, cycleMs), n);
        else spreadOverCycles(unixMs, n, spreadMs, cycleMs, add);
        if (refused === 0) return;
        take({ line, time: instantText(unixMs), key: isKeyed ? key : null, requests: n, refused, text });
      },
    };
  }
}
