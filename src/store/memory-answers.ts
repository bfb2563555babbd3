// Kept answers in memory, lost when the process ends.
import type { KeptAnswer, KeptAnswers, KeptSize } from './kept-answers.js';

export class MemoryAnswers implements KeptAnswers {
  readonly #answers = new Map<string, KeptAnswer>();
  /** The names of those that are forgotten in a cycle. */
  readonly #byCycle = new Map<number, string[]>();

  put(answer: KeptAnswer): void {
    const name = nameOf(answer.machine, answer.key);
    this.#answers.set(name, answer);
    const same = this.#byCycle.get(answer.untilCycle);
    if (same === undefined) this.#byCycle.set(answer.untilCycle, [name]);
    else same.push(name);
  }

  find(machine: string, key: string): KeptAnswer | undefined {
    return this.#answers.get(nameOf(machine, key));
  }

  purge(cycle: number, most: number): readonly KeptSize[] {
    const purged: KeptSize[] = [];
    const due = [...this.#byCycle.keys()].filter((until) => until <= cycle).sort((a, b) => a - b);
    for (const until of due) {
      const names = this.#byCycle.get(until)!;
      while (names.length > 0 && purged.length < most) {
        const name = names.pop()!;
        const answer = this.#answers.get(name);
        if (answer?.untilCycle !== until) continue;
        this.#answers.delete(name);
        purged.push({ machine: answer.machine, length: answer.answer.length });
      }
      if (names.length === 0) this.#byCycle.delete(until);
    }
    return purged;
  }

  *sizes(): Generator<KeptSize & { readonly count: number }> {
    const sizes = new Map<string, { count: number; length: number }>();
    for (const { machine, answer } of this.#answers.values()) {
      const size = sizes.get(machine) ?? { count: 0, length: 0 };
      sizes.set(machine, { count: size.count + 1, length: size.length + answer.length });
    }
    for (const [machine, size] of sizes) yield { machine, ...size };
  }
}

function nameOf(machine: string, key: string): string {
  return `${machine}/${key}`;
}
