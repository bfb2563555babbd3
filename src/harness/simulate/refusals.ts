// Finds the lines of a log that would have been refused, in a second reading.
//
//   cycle 7 of key a: 5 requests, 2 admitted            its first 2 requests pass, the other 3 are refused
//   a rule: second 31 of key a: .000 passes, .250 is refused, .500 passes         each line has the decision of its ms
import { getOrInsert } from '../../core/math/get-or-insert.js';
import { cycleOf, instantText } from '../../core/time/cycle.js';
import type { CycleRow, RunShape } from '../outcome/cycle-row.js';
import type { RequestSink } from '../traffic/log/intake.js';
import { secondOf, spreadOverCycles } from '../traffic/spread.js';

interface RefusedLine {
  readonly line: number;
  readonly time: string;
  readonly key: string | null;
  readonly requests: number;
  readonly refused: number;
  readonly text: string;
}

interface Decided {
  readonly ms: number;
  readonly isRefused: boolean;
  isTaken: boolean;
}

interface Second {
  /** In the order of their ms. */
  readonly decided: Decided[];
  /** The first that may be free. */
  from: number;
}

/** What a rule decided for the requests of a key, by second; seconds without a refusal are dropped. */
class SecondsOfKey {
  readonly #seconds = new Map<number, Second>();
  #last: number | undefined;

  add(ms: number, isRefused: boolean): void {
    const second = secondOf(ms);
    if (second !== this.#last) this.#dropLast();
    this.#last = second;
    const { decided } = getOrInsert(this.#seconds, second, () => ({ decided: [], from: 0 }));
    decided.push({ ms, isRefused, isTaken: false });
  }

  #dropLast(): void {
    if (this.#last !== undefined && this.#seconds.get(this.#last)?.decided.some(({ isRefused }) => isRefused) !== true)
      this.#seconds.delete(this.#last!);
  }

  /** How many of `n` requests at this time were refused. In a log of whole seconds they were spread over it, in their order. */
  take(ms: number, n: number): number {
    const second = this.#seconds.get(secondOf(ms));
    let refused = 0;
    for (let k = 0; second !== undefined && k < n; k += 1) {
      const { decided } = second;
      while (decided[second.from]?.isTaken === true) second.from += 1;
      let at = second.from;
      while (at < decided.length && (decided[at]!.isTaken || decided[at]!.ms < ms)) at += 1;
      const one = decided[at]?.ms === ms ? decided[at] : decided[second.from];
      if (one === undefined) break;
      one.isTaken = true;
      if (one.isRefused) refused += 1;
    }
    return refused;
  }
}

/** For windows: admitted requests by contract and cycle. These are its first, since limiting lasts to the end of the cycle. */
export class Refusals {
  #admitted = new Map<string, Map<number, number>>();
  #decided = new Map<string, SecondsOfKey>();
  #run: RunShape | undefined;

  see({ cycle, run, contracts, limited, admitted, decisions }: CycleRow): void {
    if (run !== this.#run) {
      this.#admitted = new Map();
      this.#decided = new Map();
    }
    this.#run = run;
    if (run.rule !== undefined && decisions !== undefined) {
      for (const [i, contract] of decisions.contracts.entries())
        this.#secondsOf(run.names[contract]!).add(decisions.atMs[i]!, Number.isNaN(decisions.delaysMs[i]!));
      return;
    }
    for (let i = 0; i < contracts.length; i += 1) {
      if (limited[i] === 0) continue;
      const name = run.names[contracts[i]!]!;
      getOrInsert(this.#admitted, name, () => new Map()).set(cycle, admitted[i]!);
    }
  }

  #secondsOf(name: string): SecondsOfKey {
    return getOrInsert(this.#decided, name, () => new SecondsOfKey());
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
        const name = isKeyed ? key : 'all';
        const cycles = this.#admitted.get(name);
        let refused = this.#decided.get(name)?.take(unixMs, n) ?? 0;
        const add = (cycle: number, requests: number): void => {
          const left = cycles?.get(cycle);
          if (cycles === undefined || left === undefined) return;
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
