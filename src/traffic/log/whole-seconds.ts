// Whether all requests of a log have times in whole seconds, of a unit that has no ms.
export class WholeSeconds {
  #holds = true;

  /** True while nothing else was seen. */
  get holds(): boolean {
    return this.#holds;
  }

  /** As of `RequestSink`. */
  opened(timeUnit: string | undefined): void {
    if (timeUnit !== undefined && timeUnit !== 'date' && timeUnit !== 's') this.#holds = false;
  }

  /** A line that counts several requests says how they are spread. */
  see(unixMs: number, n: number): void {
    if (n !== 1 || unixMs % 1000 !== 0) this.#holds = false;
  }
}
