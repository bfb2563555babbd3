// Makes everything that serves the requests of a node, each with what it needs. Handlers of routes get all of it. Port, start and close are
// in node.ts.
import { KeyRing } from '../core/record/key-ring.js';
import type { Succession } from '../core/record/row.js';
import type { Signer } from '../core/record/signing.js';
import { Failure } from '../core/schema/failure.js';
import type { WallClock } from '../core/time/wall.js';
import { VERSION } from '../core/version.js';
import { Access } from './access.js';
import { ActiveMachines } from './active-machines.js';
import { boundsOf, Sockets } from './bounds.js';
import { CallerQueue } from './caller-queue.js';
import { ContractHistories } from './contract-histories.js';
import type { Counting } from './counting/counting.js';
import { LocalCounting } from './counting/local/counting.js';
import { Idempotency } from './counting/local/idempotency.js';
import { Durability, type DurabilityMode } from './durability.js';
import { holdClock } from './hold-clock.js';
import { Host } from './host/host.js';
import { defaultLimits, type Limits } from './limits.js';
import { MachineWork } from './machine-work.js';
import { heapOfProcess, MemoryGuard } from './memory-guard.js';
import { Counts, Metrics } from './metrics.js';
import { Overload } from './overload.js';
import { Ownership } from './ownership.js';
import type { Caller } from './permission.js';
import { LocalRegistry } from './registry/local.js';
import type { JoinNetwork, Registry } from './registry/registry.js';
import type { Credentials, Key } from './store/credential-store.js';
import { MemoryStore } from './store/memory.js';
import type { RecordReader, Store } from './store/store.js';
import { Streams } from './stream.js';
import { QUOTAS, Usage } from './usage.js';
import { Verifications } from './verifications.js';

interface ListedRoute {
  readonly method: string;
  readonly path: string;
  readonly auth: string;
  readonly scope?: string | undefined;
  readonly tier: string;
  readonly domain: string;
  readonly summary: string;
}

interface Surface {
  readonly routes: readonly ListedRoute[];
  openApi(): Buffer;
  isDraining(): boolean;
}

export interface NodeContextOptions {
  readonly store: Store;
  readonly credentials: Credentials;
  readonly clock: WallClock;
  readonly signer: Signer;
  /** From earlier keys to the present one, oldest first. */
  readonly successions?: readonly Succession[];
  /** Rows kept per record; a signed cut replaces older ones. Default: all. */
  readonly keepRows?: number | undefined;
  readonly durability?: DurabilityMode;
  /** For one of many nodes; its own store is then in memory, and nothing counts in it. */
  readonly network?: JoinNetwork | undefined;
  /** Addresses or networks of proxies whose `X-Forwarded-*` is trusted. Default: none. */
  readonly trustProxy?: readonly string[];
  readonly onError?: (error: unknown) => void;
  readonly memoryGuard?: MemoryGuard;
  readonly limits?: Partial<Limits>;
}

/** @throws Failure `wrong_usage` if the successions do not lead to the signer's key, and what the store throws */
export function createNodeContext(options: NodeContextOptions, surface: Surface) {
  const base = permanentContext(options);
  const { clock, host, limits, network, record, access, queue, counts, sockets, bounds } = base;
  const keys = keysOf(options.signer, options.successions ?? []);
  const holds = (caller: Caller) => access.holdsAt(caller, clock.now());
  const histories = () => services.histories;
  const streams = new Streams({ ...base, holds, histories });
  let services = machineServices(base, streams);
  const context = {
    ...surface,
    ...{ clock, host, limits, bounds, record, access, queue, counts, sockets, streams },
    memory: base.memory,
    credentials: options.credentials,
    identity: { version: VERSION, signer: options.signer, successions: options.successions ?? [] },
    verifications: new Verifications({ ...base, keys: () => network?.keys() ?? keys }),
    overload: new Overload(clock, counts, limits.overload),
    metrics: new Metrics({ ...base, version: VERSION }),
    ...services,
    /** Resumes after a full disk, if there is room. Everything must then be read from here again. */
    recover(): boolean {
      if (!host.recover()) return false;
      // Their machines are read anew: readers connect again, and go on behind their last row.
      streams.end(() => true);
      services = machineServices(base, streams);
      Object.assign(context, services);
      return true;
    },
  };
  return context;
}

/** What lives as long as the node. */
function permanentContext(options: NodeContextOptions) {
  const { clock, store, credentials, signer, onError = () => {} } = options;
  const set = { ...defaultLimits, ...options.limits };
  const ofHeap = store instanceof MemoryStore ? withinHeap(set) : set;
  const limits = options.network === undefined ? ofHeap : withoutShares(set);
  const memory = options.memoryGuard ?? new MemoryGuard();
  const counts = new Counts();
  const host = new Host({
    clock,
    store,
    holdClock: (newestCycle) => holdClock(clock, newestCycle),
    claimMemory: () => memory.refuse('The event was not counted.'),
    onFailed(failure) {
      counts.failedContracts += 1;
      onError(failure);
    },
  });
  const bounds = boundsOf(clock, limits);
  const network = options.network?.({ clock, signer, limits, onError }, host);
  const queue = new CallerQueue(clock);
  return {
    ...{ clock, store, credentials, signer, onError, limits, memory, host, counts, network, queue, bounds },
    keepRows: options.keepRows,
    sockets: new Sockets(bounds.sockets, options.trustProxy ?? []),
    durability: new Durability(host, clock, options.durability ?? 'cycle', counts.commitSeconds),
    record: (network?.record ?? store) as RecordReader,
    access: new Access(credentials),
    work: new MachineWork(queue),
  };
}

/** What knows the host's machines: made anew with those. */
function machineServices(base: ReturnType<typeof permanentContext>, streams: Streams) {
  const { clock, host, store, credentials, network, access, queue, bounds } = base;
  const active = new ActiveMachines(host, network === undefined);
  active.load(store, clock.cycle());
  // Its slug may get another owner.
  host.changes.subscribe(({ kind, machine: { slug } }) => {
    if (kind === 'machine_removed') streams.end(({ machine }) => machine.slug === slug);
  });
  const usage = new Usage(host, store, credentials, bounds);
  const ownership = new Ownership(host, usage);
  const onKey = (key: Key) => {
    access.dropKey(key.id);
    if (key.isRevoked) streams.end(({ asking }) => asking.caller?.key.id === key.id);
  };
  const known = { ...base, ownership, usage, onKey };
  const registry: Registry = network?.registry(known) ?? new LocalRegistry(known);
  const idempotency = new Idempotency(host, store.answers, usage);
  const counting: Counting = network?.counting(queue) ?? new LocalCounting({ ...base, idempotency });
  return {
    ...{ active, ownership, usage, registry, counting },
    histories: new ContractHistories(host, counting.samples, bounds.watchedContracts),
  };
}

/** Share of the heap for records in memory; rows take a few times the bytes of their text. */
const HEAP_OF_RECORDS = 1 / 8;

function withinHeap(limits: Limits): Limits {
  const most = Math.floor((heapOfProcess().limitBytes * HEAP_OF_RECORDS) / 1024);
  const { perOwner, onNode } = limits.recordKib;
  return { ...limits, recordKib: { perOwner: Math.min(perOwner, most), onNode: Math.min(onNode, most) } };
}

/** Nodes of a network keep no share of what counts in all of them for a network of addresses. */
function withoutShares(limits: Limits): Limits {
  return { ...limits, ...Object.fromEntries(QUOTAS.map((name) => [name, { ...limits[name], share: 1 }])) };
}

export type NodeContext = Readonly<ReturnType<typeof createNodeContext>>;

/** @throws Failure `wrong_usage` if the successions do not lead to the signer's key */
export function keysOf(signer: Signer, successions: readonly Succession[]): KeyRing {
  const read = KeyRing.read({ named: signer.publicKey, successions });
  if ('ring' in read) return read.ring;
  throw new Failure('wrong_usage', {
    what: 'The node was not started.',
    why: read.fault,
    fix: 'Start it with the key that the last succession names.',
  });
}
