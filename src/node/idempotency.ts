// A request with an idempotency key is counted once (draft-ietf-httpapi-idempotency-key-header). Its answer is kept for as long as the
// longest window that counted it reaches: after that a repeated request could not change what is decided.
//
//   first     key unknown ─► counted ─► counts and answer written in one transaction ─► answer
//   repeated  key known, same request ─► the same answer, with Idempotent-Replayed: true
//             key known, other request ─► 422 idempotency_key_reused
//
// What holds after `kill -9`: counts and key are on disk together or not at all, so a repeated request counts once, in both modes of
// durability, however many contracts and keys of the machine others have changed: those are written first, in pieces. One exception: a
// request whose counting costs more than MOST_IN_ONE_TURN, or that changes more contracts and keys than MOST_SAVED, is several transactions.
import type { FastifyReply } from 'fastify';
import type { Contract } from '../host/contract.js';
import type { Host } from '../host/host.js';
import type { Machine } from '../host/machine.js';
import type { Steps } from '../limiter/plan.js';
import { spanCycles } from '../limiter/plan.js';
import { canonicalJson, sha256Hex } from '../schema/canonical.js';
import { Failure } from '../schema/failure.js';
import type { KeptAnswers } from '../store/kept-answers.js';
import { type Limits, poolOf } from './limits.js';

/** Units of work that one turn of the event loop does for a request with a key: some milliseconds. */
const MOST_IN_ONE_TURN = 1_024;

/** Contracts, and keys of one, whose counts are written with a key: some ms. */
const MOST_SAVED = 1_024;

/** What writing the counts of one costs, in units. */
const SAVED = 4;

/** Bytes of a key and its place, beside the answer. */
const OVERHEAD = 256;

/** An answer beyond this is kept without its lists, in characters. */
const LONGEST_ANSWER = 64 << 10;

/** No window is kept for longer, in cycles. */
const LONGEST_CYCLES = 100_000;

/** Expired answers that are forgotten in one go. */
const PURGED_AT_ONCE = 2_000;

/** A request that is to be counted once. */
export interface OnceOnly {
  readonly key: string;
  readonly request: string;
}

export class Idempotency {
  readonly #host: Host;
  readonly #answers: KeptAnswers;
  readonly #limits: Pick<Limits, 'answersKib' | 'answersKibPerOwner'>;
  /** Bytes of what is kept, by owner, and of all. */
  readonly #bytes = new Map<string, number>();
  /** The same, by the network of addresses that owners share; see limits.ts. */
  readonly #byPool = new Map<string, number>();
  readonly #poolName: (owner: string) => string;
  #all = 0;

  constructor(
    host: Host,
    answers: KeptAnswers,
    limits: Pick<Limits, 'answersKib' | 'answersKibPerOwner'>,
    poolName = (owner: string) => owner,
  ) {
    this.#host = host;
    this.#poolName = poolName;
    this.#answers = answers;
    this.#limits = limits;
    for (const { machine, count, length } of answers.sizes()) this.#add(machine, length + count * OVERHEAD);
  }

  /**
   * Counts by `count`, unless the request was counted before.
   * @param once undefined: it has no key, and is counted
   * @param windows the contracts that may have counted
   * @returns what `count` gives, or the kept answer as JSON
   * @throws Failure `idempotency_key_reused`, `too_many_requests`, and what `count` throws: then nothing is kept
   */
  *once<T extends object>(
    machine: Machine,
    once: OnceOnly | undefined,
    cycle: number,
    count: () => Steps<T>,
    windows: () => Iterable<Contract>,
  ): Steps<T | Replayed> {
    if (once === undefined) return yield* count();
    const kept = this.#answers.find(machine.slug, once.key);
    if (kept !== undefined && kept.untilCycle > cycle) {
      if (kept.request !== once.request) throw reused();
      return new Replayed(kept.answer);
    }
    this.#refuseTooMany(machine);
    // Then what is left to be written is what this request has changed. Nobody else counts on the machine meanwhile.
    while (this.#host.saveOne(machine) !== undefined) yield SAVED;
    const answer = yield* inOneTurn(count());
    const untilCycle = cycle + reachOf(windows(), machine.parts.clock.cycleMs);
    const text = textOf(answer);
    this.#answers.put({ machine: machine.slug, ...once, untilCycle, answer: text });
    this.#add(machine.slug, text.length + OVERHEAD);
    for (let left = MOST_SAVED; left > 0 && this.#host.saveOne(machine) !== undefined; left -= 1);
    return answer;
  }

  /** Forgets what has expired, as much as one turn of the event loop may. */
  purge(cycle: number): void {
    if (this.#all === 0) return;
    for (const { machine, length } of this.#answers.purge(cycle, PURGED_AT_ONCE))
      this.#add(machine, -length - OVERHEAD);
  }

  #add(slug: string, bytes: number): void {
    const owner = this.#host.machines.get(slug)?.image.owner ?? '';
    this.#bytes.set(owner, (this.#bytes.get(owner) ?? 0) + bytes);
    if (this.#bytes.get(owner) === 0) this.#bytes.delete(owner);
    const pool = this.#poolName(owner);
    this.#byPool.set(pool, (this.#byPool.get(pool) ?? 0) + bytes);
    if (this.#byPool.get(pool) === 0) this.#byPool.delete(pool);
    this.#all += bytes;
  }

  #refuseTooMany({ image }: Machine): void {
    const { answersKib, answersKibPerOwner } = this.#limits;
    const isOwner = (this.#bytes.get(image.owner) ?? 0) >= answersKibPerOwner * 1024;
    const pool = this.#byPool.get(this.#poolName(image.owner)) ?? 0;
    const room = poolOf({ perOwner: answersKibPerOwner * 1024, onNode: answersKib * 1024 }, this.#all - pool);
    if (!isOwner && pool < room) return;
    throw new Failure('too_many_requests', {
      what: 'Nothing was counted.',
      why: `As many answers as ${isOwner ? 'an owner' : 'this node, or one network of addresses,'} may have are kept under idempotency keys.`,
      fix: 'Wait until the windows that they are kept for have passed, or send fewer requests with more events each.',
    });
  }
}

/** An answer that was given before, as JSON. */
export class Replayed {
  readonly #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  /** The body, and the header that says what it is. */
  sentBy(reply: Pick<FastifyReply, 'header'>): Buffer {
    reply.header('idempotent-replayed', 'true');
    return Buffer.from(this.#text);
  }
}

/**
 * The key of a request, from its header: a string of the draft, or the same without its quotes.
 * @param content the request: its path and body
 * @throws Failure `invalid_input`
 */
export function onceOnly(header: unknown, content: readonly unknown[]): OnceOnly | undefined {
  if (header === undefined) return undefined;
  const key =
    typeof header === 'string'
      ? /^(?:"([\x20\x21\x23-\x5b\x5d-\x7e]{1,128})"|([\x21\x23-\x7e]{1,128}))$/.exec(header)
      : null;
  if (key === null)
    throw new Failure('invalid_input', {
      what: 'Nothing was counted.',
      why: 'The header Idempotency-Key is no string of 1 to 128 printable ASCII characters.',
      fix: 'Send for example Idempotency-Key: "8e03978e-40d5-43dd-bc93-6894a57f9324".',
      faults: [{ path: '/Idempotency-Key', message: 'must be 1 to 128 printable ASCII characters in quotes' }],
    });
  const request = sha256Hex(content.map((part) => (typeof part === 'string' ? part : canonicalJson(part))).join('\n'));
  return { key: sha256Hex(key[1] ?? key[2]!).slice(0, 32), request: request.slice(0, 32) };
}

/** For how long some contracts remember, in cycles. */
function reachOf(contracts: Iterable<Contract>, cycleMs: number): number {
  let reach = 1;
  for (const { plan } of contracts) reach = Math.max(reach, spanCycles(plan, cycleMs));
  return Math.min(LONGEST_CYCLES, reach);
}

/** The same work in one turn of the event loop, up to a budget. */
function* inOneTurn<T>(steps: Steps<T>): Steps<T> {
  for (let cost = 0; ; ) {
    const step = steps.next();
    if (step.done === true) return step.value;
    cost += step.value;
    if (cost < MOST_IN_ONE_TURN) continue;
    yield cost;
    cost = 0;
  }
}

function textOf(answer: object): string {
  const text = answer instanceof Uint8Array ? Buffer.from(answer).toString() : JSON.stringify(answer);
  if (text.length <= LONGEST_ANSWER) return text;
  const short = JSON.parse(text, (name, value) => (name === 'contracts' || name === 'outcomes' ? [] : value));
  return JSON.stringify(short);
}

export function reused(): Failure {
  return new Failure('idempotency_key_reused', {
    what: 'Nothing was counted.',
    why: 'The same Idempotency-Key came with another request before.',
    fix: 'Make a new key for each request, and repeat a request as it was.',
  });
}
