// A request with an idempotency key counts once (draft-ietf-httpapi-idempotency-key-header). Its answer is kept as long as the longest window
// that counted it: after that, a repetition could not change any decision.
//
//   first     key unknown ─► counted ─► counts and answer written in one transaction ─► answer
//   repeated  key known, same request ─► the same answer, with Idempotent-Replayed: true
//             key known, other request ─► 422 idempotency_key_reused
//
// After `kill -9`, counts and key are on disk together or not at all, so a repetition counts once, in both modes of durability. It is counted in
// turns, in which nothing of its machine is saved; what others have changed is written before, in pieces. Exception: a request beyond MOST_ROWS or
// MOST_SAVED is several transactions.
import { deflateRawSync, inflateRawSync } from 'node:zlib';
import { PAUSE } from '../../caller-queue.js';
import type { Contract } from '../../host/contract.js';
import type { Host } from '../../host/host.js';
import type { Machine } from '../../host/machine.js';
import type { Steps } from '../../host/steps.js';
import type { KeptAnswers } from '../../store/store.js';
import type { Usage } from '../../usage.js';
import { type OnceOnly, Replayed, reachOf, reused } from '../once-only.js';

/** Rows per turn of the loop, for a request with a key: some ten ms. */
const MOST_ROWS = 16;

const MOST_SAVED = 1_024;

/** States that are written in the turn in which the last one was counted; more have a turn of their own. */
const SAVED_AT_ONCE = 64;

const OVERHEAD = 256;

/** In characters; a longer answer is kept without its lists. */
const LONGEST_ANSWER = 64 << 10;

/** Kept as it is; of a longer one what its decisions have in common is kept once, so that a commit writes a page or two of it. */
const SHORT_ANSWER = 1_024;

/** More decisions are always longer than that. */
const LONGEST_LIST = 512;

const LONGEST_CYCLES = 100_000;

const PURGED_AT_ONCE = 2_000;

export class Idempotency {
  readonly #host: Host;
  readonly #answers: KeptAnswers;
  readonly #usage: Usage;

  constructor(host: Host, answers: KeptAnswers, usage: Usage) {
    this.#host = host;
    this.#answers = answers;
    this.#usage = usage;
    for (const { machine, count, length } of answers.sizes()) this.#add(machine, length + count * OVERHEAD);
  }

  /**
   * Runs `count`, or returns the kept answer if the request was counted before. If `count` throws, nothing is kept.
   * @throws Failure `idempotency_key_reused`, `too_many_requests`
   */
  *once<T extends object>(
    machine: Machine,
    once: OnceOnly,
    cycle: number,
    count: () => Steps<T>,
    windows: (answer: T) => Iterable<Contract>,
  ): Steps<T | Replayed> {
    const kept = this.#answers.find(machine.slug, once.key);
    if (kept !== undefined && kept.untilCycle > cycle) {
      if (kept.request !== once.request) throw reused();
      const { answer } = kept;
      return new Replayed(answer.startsWith('{') ? answer : inflateRawSync(Buffer.from(answer, 'base64')).toString());
    }
    this.#usage.refuseFurther(machine.image.owner, 'answersKib', OVERHEAD / 1024);
    // Afterwards only this request's changes are unsaved: nothing else counts on the machine meanwhile.
    while (this.#host.saveOne(machine) !== undefined) yield;
    const { context } = machine;
    context.isSavedAtOnce = true;
    try {
      const answer = yield* withRows(machine, count());
      const untilCycle = cycle + Math.min(LONGEST_CYCLES, reachOf(windows(answer), context.clock.cycleMs));
      const text = textOf(answer);
      // Rows that wait for a commit are committed with the counts.
      if (context.changed.length > SAVED_AT_ONCE && machine.durableSeq === machine.head.seq) yield PAUSE;
      if (kept !== undefined) this.#add(machine.slug, -kept.answer.length - OVERHEAD);
      this.#answers.put({ machine: machine.slug, ...once, untilCycle, answer: text });
      this.#add(machine.slug, text.length + OVERHEAD);
      context.isSavedAtOnce = false;
      for (let left = MOST_SAVED; left > 0 && this.#host.saveOne(machine) !== undefined; left -= 1);
      context.hasUncommitted = true;
      return answer;
    } finally {
      context.isSavedAtOnce = false;
    }
  }

  purge(cycle: number): void {
    if (!this.#usage.keepsAnswers) return;
    for (const { machine, length } of this.#answers.purge(cycle, PURGED_AT_ONCE))
      this.#add(machine, -length - OVERHEAD);
  }

  #add(slug: string, bytes: number): void {
    // Answers of a machine that is being removed are subtracted already.
    const machine = this.#host.machines.get(slug);
    if (machine !== undefined) this.#usage.keep(machine, { answersKib: bytes / 1024 });
  }
}

/** Without a turn between two rows, up to MOST_ROWS. */
function* withRows<T>(machine: Machine, steps: Steps<T>): Steps<T> {
  for (let { seq } = machine.head; ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    const rows = machine.head.seq - seq;
    if (rows > 0 && rows < MOST_ROWS) continue;
    seq = machine.head.seq;
    yield;
  }
}

function textOf(answer: object): string {
  const isLong = Object.values(answer).some((value) => Array.isArray(value) && value.length > LONGEST_LIST);
  const text = isLong ? '' : JSON.stringify(answer);
  if (text !== '' && text.length <= LONGEST_ANSWER)
    return text.length < SHORT_ANSWER ? text : deflateRawSync(text, { level: 1 }).toString('base64');
  const short = Object.entries(answer).map(([name, value]) => [name, Array.isArray(value) ? [] : value]);
  return JSON.stringify(Object.fromEntries(short));
}
