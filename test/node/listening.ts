// Owns reading a stream of server-sent events in a test. Leaves what should be heard to the tests.
import { afterTest } from '../left-behind.js';
import type { Ask } from './running.js';

export interface Heard {
  readonly id: string;
  readonly event: string;
  readonly data: any;
}

export class Listening {
  readonly heard: Heard[] = [];
  /** Comments: heartbeats. */
  comments = 0;
  hasEnded = false;
  #rest = '';
  #wake = () => {};

  private constructor(
    readonly status: number,
    private readonly stop: AbortController,
  ) {}

  static async to(node: { readonly url: string }, path: string, ask: Ask = {}): Promise<Listening> {
    const stop = new AbortController();
    const headers: Record<string, string> = { ...ask.headers };
    if (ask.key !== undefined) headers['authorization'] = `Bearer ${ask.key}`;
    if (ask.session !== undefined) headers['cookie'] = `weir_session=${ask.session}`;
    const response = await fetch(`${node.url}${path}`, { headers, signal: stop.signal });
    const listening = new Listening(response.status, stop);
    void listening.#read(response);
    afterTest(() => listening.close());
    return listening;
  }

  /** The first message of a kind, after `skip` of them; waits for it. */
  async next(event: string, skip = 0): Promise<Heard> {
    for (;;) {
      const found = this.of(event)[skip];
      if (found !== undefined) return found;
      if (this.hasEnded) throw new Error(`the stream ended before "${event}" was heard`);
      await new Promise<void>((resolve) => (this.#wake = resolve));
    }
  }

  of(event: string): Heard[] {
    return this.heard.filter((one) => one.event === event);
  }

  /** Waits until so many comments were heard. */
  async comment(count: number): Promise<void> {
    while (this.comments < count && !this.hasEnded) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  close(): void {
    this.stop.abort();
  }

  /** Resolves when the other side has ended the stream. */
  async ended(): Promise<void> {
    while (!this.hasEnded) await new Promise<void>((resolve) => (this.#wake = resolve));
  }

  async #read(response: Response): Promise<void> {
    const text = response.body?.pipeThrough(new TextDecoderStream());
    try {
      for await (const chunk of text ?? []) this.#take(chunk);
    } catch {
      // Aborted by close(), or cut by the node: over either way.
    }
    this.hasEnded = true;
    this.#wake();
  }

  #take(chunk: string): void {
    const blocks = (this.#rest + chunk).split('\n\n');
    this.#rest = blocks.pop() ?? '';
    for (const block of blocks) {
      if (block.startsWith(':')) this.comments += 1;
      const { id, event, data } = Object.fromEntries(block.split('\n').map((line) => line.split(/: (.*)/s, 2)));
      if (event !== undefined) this.heard.push({ id: id ?? '', event, data: JSON.parse(data ?? '') });
    }
    this.#wake();
  }
}
