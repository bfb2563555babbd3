// Detects logs whose times, dates or unix s, are all whole seconds.
export class WholeSeconds {
  #holds = true;

  get holds(): boolean {
    return this.#holds;
  }

  opened(timeUnit: string | undefined): void {
    if (timeUnit !== undefined && timeUnit !== 'date' && timeUnit !== 's') this.#holds = false;
  }

  /** A line that counts several requests has a spread of its own. */
  see(unixMs: number, n: number): void {
    if (n !== 1 || unixMs % 1000 !== 0) this.#holds = false;
  }
}
