// What counts for an owner is made by one node at a time, which knows before what all others have made: so nodes together never exceed a bound.
//
//   turn taken ─► log read ─► room? ─► made ─► announced ─► turn given back
//
// A node that ends meanwhile, or does not know whether it was made, gives no turn back. It is over once nothing can be made in it any more, and
// the next node announces what was made.
import { randomUUID } from 'node:crypto';
import { Failure } from '../../core/schema/failure.js';
import { pause } from '../../core/time/wall.js';
import type { Directory } from './directory.js';
import { DIRECTORY } from './redis/buckets.js';

const POLL_MS = 4;

/** How far clocks of servers may differ. */
const MOST_APART_MS = 2_000;

export class MakingTurns {
  readonly #directory: Directory;
  readonly #withinMs: number;
  #last: Promise<unknown> = Promise.resolve();

  /** @param withinMs how long a request waits for other nodes */
  constructor(directory: Directory, withinMs: number) {
    this.#directory = directory;
    this.#withinMs = withinMs;
  }

  /**
   * @param slug of the machine on which something is made, empty for a key
   * @param work acts before an instant of the clock of Redis, and announces what it made
   * @throws Failure `store_away`: then it may exist; and what the work throws
   */
  of<T>(slug: string, work: (untilMs: number) => Promise<T>): Promise<T> {
    const turn = this.#last.then(() => this.#turn(slug, work));
    this.#last = turn.catch(() => {});
    return turn;
  }

  async #turn<T>(slug: string, work: (untilMs: number) => Promise<T>): Promise<T> {
    const id = randomUUID();
    const untilMs = await this.#begin(id, slug);
    try {
      await this.#directory.follow();
      const done = await work(untilMs - MOST_APART_MS);
      await this.#take(id, '0', '');
      return done;
    } catch (error) {
      if (error instanceof Failure && error.code !== 'store_away') await this.#take(id, '0', '');
      throw error;
    }
  }

  async #begin(id: string, slug: string): Promise<number> {
    const { connection } = this.#directory;
    for (const startMs = connection.monotonicMs(); ; ) {
      const untilMs = Math.ceil(connection.nowMs() + 2 * connection.deadlineMs + MOST_APART_MS);
      const left = await this.#take(id, String(untilMs), slug);
      if (left === '') return untilMs;
      if (left !== undefined) {
        await this.#directory.announce(left);
        return untilMs;
      }
      if (connection.monotonicMs() - startMs > this.#withinMs) throw busy();
      await pause(POLL_MS);
    }
  }

  async #take(...args: readonly [id: string, untilMs: string, slug: string]): Promise<string | undefined> {
    return (await this.#directory.connection.call<string | undefined>('turn', DIRECTORY, args))[1];
  }
}

function busy(): Failure {
  return new Failure('node_overloaded', {
    what: 'Nothing was made.',
    why: 'Other nodes are making something for owners, or one has ended meanwhile.',
    fix: 'Try again.',
  });
}
