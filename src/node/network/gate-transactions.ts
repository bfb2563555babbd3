// Contracts that Redis does not count by itself: rules, definitions with states of their own, operators that may refuse.
//
//   read version and state ─► the gate of this process decides, as on one node ─► written if the version is still that one
//        ▲                                                                             └ another node was first: once more
//        └──────────────────────────────────────────────────────────────────────────────┘
//
// The rows of the gate become entries in the same step as the state is written, and are linked later.
import { adaptedImage } from '../../core/limiter/carry-over.js';
import { spanCycles } from '../../core/limiter/plan.js';
import type { AuditRow } from '../../core/record/row.js';
import { Failure } from '../../core/schema/failure.js';
import type { Clock } from '../../core/time/clock.js';
import { cycleOf } from '../../core/time/cycle.js';
import { Contract } from '../host/contract.js';
import { tooManyKeys } from '../host/contract-failures.js';
import { detachedContext } from '../host/host-context.js';
import { Chain } from '../host/ledger.js';
import { Wakes } from '../host/wakes.js';
import { decodeState, encodeState } from '../store/state-codec.js';
import type { ContractState } from '../store/store.js';
import { prefixOf } from './redis/buckets.js';
import type { RedisConnection } from './redis/connection.js';
import { GateBytes } from './redis/gate-bytes.js';

const MOST_TRIES = 40;

/** A contract, or one of its keys, in Redis. */
interface GatePlace {
  readonly image: Contract;
  readonly name: string | undefined;
  readonly gate: string;
  readonly prefix: string;
}

export function gatePlace(image: Contract, name?: string): GatePlace {
  return { image, name, gate: gateName(image, name), prefix: prefixOf(image.machine.slug) };
}

interface Draft {
  readonly contract: Contract;
  readonly rows: AuditRow[];
}

interface TransactionResult<T> {
  readonly value: T;
  /** Number of its last entry; 0 for none. */
  readonly entry: number;
}

type StoredGate = Buffer | readonly [version: Buffer, state: Buffer] | number;

export class GateTransactions {
  readonly #connection: RedisConnection;
  readonly #clock: Clock;
  /** Local transactions of a gate run one after the other: at once they would only refuse each other. */
  readonly #queues = new Map<string, Promise<unknown>>();

  constructor(connection: RedisConnection, clock: Clock) {
    this.#connection = connection;
    this.#clock = clock;
  }

  /**
   * Works on a contract, or on one of its keys, in the running cycle. @param name of the key
   * @throws Failure `store_away`, `node_overloaded`, `too_many_keys`, and what the work throws, after its commit
   */
  run<T>(
    image: Contract,
    name: string | undefined,
    work: (contract: Contract, cycle: number) => T,
  ): Promise<TransactionResult<T>> {
    const place = gatePlace(image, name);
    const { gate } = place;
    const before = this.#queues.get(gate) ?? Promise.resolve();
    const transaction = before.then(() => this.#run(place, work));
    const settled: Promise<unknown> = transaction
      .catch(() => {})
      .finally(() => {
        if (this.#queues.get(gate) === settled) this.#queues.delete(gate);
      });
    this.#queues.set(gate, settled);
    return transaction;
  }

  /** A copy; an unknown key is as new. @param upTo the last cycle to which it is advanced */
  async snapshot(image: Contract, name?: string, upTo = Number.POSITIVE_INFINITY): Promise<Contract> {
    const place = gatePlace(image, name);
    const { nowMs, saved } = await this.#read(place);
    const { contract } = this.#draft(place, nowMs, saved);
    contract.advance(Math.min(upTo, cycleOf(nowMs, this.#clock.cycleMs)));
    return contract;
  }

  /** After what is due has moved it. */
  async settledState(image: Contract): Promise<{ readonly version: number; readonly state: string }> {
    await this.run(image, undefined, () => {});
    const { version, saved } = await this.#read(gatePlace(image));
    return { version, state: saved?.state ?? image.state };
  }

  async #run<T>(place: GatePlace, work: (contract: Contract, cycle: number) => T): Promise<TransactionResult<T>> {
    const { image } = place;
    for (let tries = 0; tries < MOST_TRIES; tries += 1) {
      const { nowMs, saved, version } = await this.#read(place);
      const draft = this.#draft(place, nowMs, saved);
      const cycle = Math.max(cycleOf(nowMs, this.#clock.cycleMs), draft.contract.gate.cycle);
      let outcome: { readonly value: T } | { readonly error: unknown };
      try {
        draft.contract.wake(nowMs);
        draft.contract.advance(cycle);
        outcome = { value: work(draft.contract, cycle) };
      } catch (error) {
        // The refusal of an operator leaves a row.
        if (draft.rows.length === 0) throw error;
        outcome = { error };
      }
      const entry = await this.#commit(place, version, draft);
      if (entry === -1) throw tooManyKeys(image.image);
      if (entry === -2) throw lost(image);
      if (entry < 0) continue;
      if ('error' in outcome) throw outcome.error;
      return { value: outcome.value, entry };
    }
    throw new Failure('node_overloaded', {
      what: 'Nothing was decided.',
      why: 'Other nodes decided on the same contract each time before this one did.',
      fix: 'Try again.',
    });
  }

  async #read({ image, name, gate, prefix }: GatePlace) {
    const [nowMs, found] = await this.#connection.call<StoredGate>('look', prefix, [gate], { isBinary: true });
    if (found instanceof Buffer) return { nowMs, version: 0, saved: stateOf(image, found) };
    // A key is made with its first request, a contract when it is deployed.
    if (!Array.isArray(found) && (name === undefined || found === -1)) throw lost(image);
    if (!Array.isArray(found)) return { nowMs, version: 0, saved: undefined };
    const [version, state] = found as readonly [Buffer, Buffer];
    const stored = decodeState({ id: image.id, key: name }, Buffer.from(state.toString(), 'base64'));
    if (stored === undefined) throw damaged(image);
    // It may be from an earlier definition, or from a later one that this node does not know yet.
    const converted = adaptedImage(stored, image.plan);
    return { nowMs, version: Number(version.toString()), saved: converted && { ...stored, ...converted } };
  }

  #draft({ image, name }: GatePlace, nowMs: number, saved: ContractState | undefined): Draft {
    const { plan, machine } = image;
    const rows: AuditRow[] = [];
    const { cycleMs, agenda } = this.#clock;
    const clock: Clock = { cycleMs, agenda, now: () => nowMs, cycle: () => cycleOf(nowMs, cycleMs) };
    const wakes = new Wakes(clock);
    wakes.hold();
    const context = { ...detachedContext(clock, wakes, (row) => rows.push(row)), busyMs: nowMs };
    const cycle =
      saved?.windows[0]?.cycle ?? (saved === undefined ? cycleOf(nowMs, cycleMs) : image.image.createdCycle);
    return { contract: new Contract(image.image, plan, new Chain(machine.slug), cycle, context, saved, name), rows };
  }

  async #commit({ image, name, gate, prefix }: GatePlace, version: number, { contract, rows }: Draft): Promise<number> {
    const { cycleMs } = this.#clock;
    const { wakeMs, gate: decided } = contract;
    const due = wakeMs === Number.POSITIVE_INFINITY ? -1 : cycleOf(wakeMs, cycleMs);
    const { keyed } = image.image;
    const list = name === undefined || keyed === undefined ? '' : `${prefix}k:${gateName(image)}`;
    const [, entry] = await this.#connection.call<number>('commit', prefix, [
      ...[gate, String(version), stateText(contract), String(due), list],
      ...[String(keyed?.maxKeys ?? 0), String(decided.cycle + spanCycles(contract.plan, cycleMs))],
      String(rows[0]?.cycle ?? decided.cycle),
      ...rows.map(
        ({ seq: _, previous_hash: __, hash: ___, machine: ____, ...e }) => `${e.cycle}${JSON.stringify({ e })}`,
      ),
    ]);
    return entry;
  }
}

export function stateText(contract: Contract): string {
  return encodeState(contract.saved()).toString('base64');
}

export function gateName({ id, machine }: Pick<Contract, 'id' | 'machine'>, name?: string): string {
  return name === undefined ? `${machine.slug}/${id}` : `${machine.slug}/${id}/${name}`;
}

export function lost({ id, machine }: Contract): Failure {
  return new Failure('contract_not_found', {
    what: `The machine "${machine.slug}" has no contract "${id}" any more.`,
    why: 'It was deleted, or Redis has lost it: the record of the machine shows which.',
    fix: 'Deploy another one.',
  });
}

/** Ignores that another node has deleted a contract. */
export function unlessGone(error: unknown): undefined {
  if (!(error instanceof Failure) || error.code !== 'contract_not_found') throw error;
}

function damaged({ id, machine }: Contract): Failure {
  return new Failure('store_damaged', {
    what: `The state of contract "${id}" of machine "${machine.slug}" cannot be read.`,
    why: 'What Redis holds does not fit its checksum, or another version of this program has written it.',
    fix: 'Give Redis a copy of its data that is whole, or delete the contract and deploy it again.',
  });
}

function stateOf({ id, plan }: Contract, bytes: Buffer): ContractState {
  const gate = new GateBytes(bytes);
  const state = plan.states[gate.isLimiting ? 1 - plan.initial : plan.initial]!.name;
  return { id, state, heldUntilCycle: gate.heldUntilCycle, windows: [gate.window] };
}
