// Finds the lines of a log that would have been refused, in a second reading.
//
//   cycle 7 of key a: 5 requests, 2 admitted            its first 2 requests pass, the other 3 are refused
import type { CycleRow, RunShape } from '../outcome/cycle-row.js';
import { cycleOf, instantText } from '../time/cycle.js';
import type { RequestSink } from '../traffic/log/intake.js';
import { spreadOverCycles } from '../traffic/spread.js';

interface RefusedLine {
  readonly line: number;
  readonly time: string;
  readonly key: string | null;
  readonly requests: number;
  readonly refused: number;
  readonly text: string;
}

/** Admitted requests by contract and cycle. These are its first, since limiting lasts to the end of the cycle. */
export class Refusals {
  #admitted = new Map<string, Map<number, number>>();
  #run: RunShape | undefined;

  see({ cycle, run, contracts, limited, admitted }: CycleRow): void {
    if (run !== this.#run) this.#admitted = new Map();
    this.#run = run;
    for (let i = 0; i < contracts.length; i += 1) {
      if (limited[i] === 0) continue;
      const name = run.names[contracts[i]!]!;
      const cycles = this.#admitted.get(name) ?? new Map<number, number>();
      this.#admitted.set(name, cycles.set(cycle, admitted[i]!));
    }
  }

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
