// The parts of a node, each made here and handed what it needs. Handlers of routes get all of them. Port, start and close are in node.ts.
import { Host } from '../host/host.js';
import { type OperatorRegistry, standardOperators } from '../operator/registry.js';
import { KeyRing } from '../record/key-ring.js';
import type { Signer, Succession } from '../record/signing.js';
import { Failure } from '../schema/failure.js';
import type { Credentials } from '../store/credential-store.js';
import type { MissingRows } from '../store/head-mark.js';
import { MemoryStore } from '../store/memory.js';
import type { Store } from '../store/store.js';
import type { WallClock } from '../time/wall.js';
import { VERSION } from '../version.js';
import { Access } from './access.js';
import { ActiveMachines } from './active-machines.js';
import { Checkpoints } from './checkpoints.js';
import { Courses } from './courses.js';
import { Durability, type DurabilityMode } from './durability.js';
import { Turns } from './fair-queue.js';
import { holdClock } from './hold-clock.js';
import { Idempotency } from './idempotency.js';
import { KeyRecord } from './key-record.js';
import { defaultLimits, type Limits } from './limits.js';
import { MachineWork } from './machine-work.js';
import { heapOfProcess, MemoryGuard } from './memory-guard.js';
import { Counts, Metrics } from './metrics.js';
import { MintLimit } from './mint-limit.js';
import { NetworkMint } from './network/mint.js';
import { Network, type NetworkOptions } from './network/network.js';
import { NetworkDurability } from './network/network-durability.js';
import { Upkeep } from './network/upkeep.js';
import { Overload } from './overload.js';
import { Ownership } from './ownership.js';
import { deleteHere } from './removal.js';
import { Retention } from './retention.js';
import { SourceLimit } from './source-limit.js';
import { Streams } from './stream.js';
import { Usage } from './usage.js';
import { Verifications } from './verifications.js';

/** A route as it is listed. */
interface ListedRoute {
  readonly method: string;
  readonly path: string;
  readonly auth: string;
  readonly scope?: string | undefined;
  readonly tier: string;
  readonly domain: string;
  /** One sentence. */
  readonly summary: string;
}

export interface PartsOptions {
  readonly store: Store;
  readonly credentials: Credentials;
  readonly clock: WallClock;
  readonly signer: Signer;
  /** How the present key followed from earlier ones, oldest first. */
  readonly successions?: readonly Succession[];
  /** Acknowledged rows that the store lacks: each machine that is still there gets a row that says so. */
  readonly lost?: readonly MissingRows[];
  /** Rows of each record that are kept; older ones are removed, and a signed cut stands in their place. All when absent. */
  readonly keepRows?: number | undefined;
  /** Default `cycle`. */
  readonly durability?: DurabilityMode;
  /** Those of this build when absent. */
  readonly operators?: OperatorRegistry;
  /** Of a node of many over one Redis; the store is then one in memory, in which nothing counts. */
  readonly network?: Pick<NetworkOptions, 'connection' | 'directory' | 'mark'>;
  readonly onError?: (error: unknown) => void;
  /** Default: of the heap of this process. */
  readonly memoryGuard?: MemoryGuard;
  readonly limits?: Partial<Limits>;
}

/**
 * @param isDraining whether the node is closing
 * @throws Failure `wrong_usage` when the successions do not lead to the key of the signer, and what the store throws
 */
export function assemble(options: PartsOptions, routes: readonly ListedRoute[], isDraining: () => boolean) {
  const { clock, store, credentials, signer, successions = [], operators = standardOperators() } = options;
  const keys = keysOf(signer, successions);
  const set = { ...defaultLimits, ...options.limits };
  const limits = store instanceof MemoryStore && options.network === undefined ? withinHeap(set) : set;
  const memory = options.memoryGuard ?? new MemoryGuard();
  const host = new Host({
    clock,
    store,
    findOperator: (id) => operators.get(id),
    holdClock: (newestCycle) => holdClock(clock, newestCycle),
    claimMemory: () => memory.refuse('The event was not counted.'),
  });
  for (const { machine: slug, toSeq } of options.lost ?? []) {
    const machine = host.machines.get(slug);
    if (machine !== undefined) host.noteLoss(machine, toSeq);
  }
  const counts = new Counts();
  const onCommit = (tookMs: number) => counts.commitSeconds.observe(tookMs / 1000);
  const network =
    options.network &&
    new Network({ ...options.network, clock, signer, limits, onError: options.onError ?? (() => {}) }, host);
  const durabilityOf = [host, clock, options.durability ?? 'cycle', () => clock.monotonicMs(), onCommit] as const;
  const durability =
    network === undefined ? new Durability(...durabilityOf) : new NetworkDurability(network.directory, ...durabilityOf);
  const record = network?.directory ?? store;
  const access = new Access(credentials);
  const turns = new Turns(clock);
  const streams = new Streams({
    record,
    clock,
    turns,
    counts,
    limits,
    holds: (caller) => access.holdsAt(caller, clock.now()),
    courses: () => parts.courses,
  });
  /** What is made of the machines of the host: anew, when these are. */
  const views = () => {
    // First: it makes the machine of the node where there is none.
    const mintLimit =
      limits.mint.threshold === 0
        ? undefined
        : network === undefined
          ? new MintLimit(host, limits.mint)
          : new NetworkMint(network, host, limits.mint);
    const active = new ActiveMachines(host, network === undefined);
    active.load(store, clock.cycle());
    const ownership = new Ownership(host);
    const usage = new Usage(host, store, credentials, ownership, limits);
    const onRemoved = (owner: string, rows: number, bytes: number) => usage.add(owner, -rows, -bytes);
    return {
      active,
      ownership,
      usage,
      retention: new Retention({
        ...{ host, store, signer, clock, turns, ownership, credentials, onRemoved },
        keepRows: options.keepRows,
        retentionMs: limits.retentionMs,
        onOrphan: (machine) => void deleteHere(parts, machine),
      }),
      upkeep:
        network &&
        new Upkeep({
          ...{ network, host, ownership, credentials },
          retentionMs: limits.retentionMs,
          fingerprint: signer.fingerprint,
        }),
      keyRecord: new KeyRecord(host, ownership, network),
      mintLimit,
      courses: new Courses(host, limits, network && ((contracts) => network.looks(contracts))),
      checkpoints: new Checkpoints(host, store, signer),
      idempotency: new Idempotency(host, store.answers, limits, (owner) => usage.poolName(owner)),
    };
  };
  const parts = {
    version: VERSION,
    limits,
    memory,
    clock,
    host,
    network,
    store,
    /** Where the rows of records are read. */
    record,
    credentials,
    operators,
    signer,
    successions,
    access,
    durability,
    verifications: new Verifications({
      store: record,
      keys: () => network?.keys() ?? keys,
      headOf: (slug) => host.machines.get(slug)?.head,
      turns,
      most: limits.verifications,
    }),
    turns,
    work: new MachineWork(turns),
    machineLimit: new SourceLimit(clock, limits.newMachines),
    sessionLimit: new SourceLimit(clock, limits.sessions),
    definitionLimit: new SourceLimit(clock, limits.definitionKib),
    streams,
    counts,
    overload: new Overload(clock, counts, limits.overload),
    metrics: new Metrics({ counts, host, clock, readers: () => streams.size, version: VERSION }),
    routes,
    isDraining,
    ...views(),
    /** Goes on after the disk was full, if it has room again. Every part has to be taken from here anew after that. */
    recover(): boolean {
      if (!host.recover()) return false;
      Object.assign(parts, views());
      return true;
    },
  };
  return parts;
}

/** Of the heap, what records may take that are kept in it; their rows take a few times the bytes of their text. */
const HEAP_OF_RECORDS = 1 / 8;

/** Bounds for records that are kept in memory. */
function withinHeap(limits: Limits): Limits {
  const most = Math.floor((heapOfProcess().limitBytes * HEAP_OF_RECORDS) / 1024);
  const { perOwner, onNode } = limits.recordKib;
  return { ...limits, recordKib: { perOwner: Math.min(perOwner, most), onNode: Math.min(onNode, most) } };
}

export type Parts = Readonly<ReturnType<typeof assemble>>;

/** @throws Failure `wrong_usage` when the successions do not lead to the key of the signer */
export function keysOf(signer: Signer, successions: readonly Succession[]): KeyRing {
  const read = KeyRing.read({ named: signer.publicKey, successions });
  if ('ring' in read) return read.ring;
  throw new Failure('wrong_usage', {
    what: 'The node was not started.',
    why: read.fault,
    fix: 'Start it with the key that the last succession names.',
  });
}
