// Kept answers in memory, lost when the process ends.
import type { KeptAnswer, KeptAnswers, KeptSize } from './store.js';

export class MemoryAnswers implements KeptAnswers {
  readonly #answers = new Map<string, Map<string, KeptAnswer>>();
  readonly #byCycle = new Map<number, KeptAnswer[]>();

  put(answer: KeptAnswer): void {
    const ofMachine = this.#answers.get(answer.machine) ?? new Map<string, KeptAnswer>();
    this.#answers.set(answer.machine, ofMachine.set(answer.key, answer));
    const same = this.#byCycle.get(answer.untilCycle);
    if (same === undefined) this.#byCycle.set(answer.untilCycle, [answer]);
    else same.push(answer);
  }

  find(machine: string, key: string): KeptAnswer | undefined {
    return this.#answers.get(machine)?.get(key);
  }

  purge(cycle: number, most: number): readonly KeptSize[] {
    const purged: KeptSize[] = [];
    const due = [...this.#byCycle.keys()].filter((until) => until <= cycle).sort((a, b) => a - b);
    for (const until of due) {
      const answers = this.#byCycle.get(until)!;
      while (answers.length > 0 && purged.length < most) {
        const answer = answers.pop()!;
        const { machine, key } = answer;
        if (this.find(machine, key) !== answer) continue;
        this.#delete(answer);
        purged.push({ machine, length: answer.answer.length });
      }
      if (answers.length === 0) this.#byCycle.delete(until);
    }
    return purged;
  }

  remove(machine: string, most: number): number {
    let removed = 0;
    for (const answer of this.#answers.get(machine)?.values() ?? []) {
      if (removed === most) break;
      this.#delete(answer);
      removed += 1;
    }
    return removed;
  }

  *sizes(): Generator<KeptSize & { readonly count: number }> {
    for (const [machine, answers] of this.#answers) {
      let length = 0;
      for (const { answer } of answers.values()) length += answer.length;
      yield { machine, count: answers.size, length };
    }
  }

  #delete({ machine, key }: KeptAnswer): void {
    const ofMachine = this.#answers.get(machine)!;
    ofMachine.delete(key);
    if (ofMachine.size === 0) this.#answers.delete(machine);
  }
}
