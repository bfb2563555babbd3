// Clients that keep what a node has told them, and hold it against what the next node on the same data knows.
import { publicKeyFrom } from '../../src/core/record/signing.js';
import type { Serving } from '../cli/command-line.js';
import { verifyExport } from '../core/record/verifying.js';
import { ask } from './asking.js';
import { Caller, Holder } from './caller.js';
import { Listening } from './listening.js';

/** What the clients were told, and so must be there. */
export interface Kept {
  readonly key: string;
  /** Counts everything, and never closes. */
  readonly counting: string;
  /** Opens and closes all the time. */
  readonly flapping: string;
  /** Of rows that were acknowledged: by an answer, or by the stream. */
  readonly hashes: Map<number, string>;
  /** What the counting contract held when the load began. */
  base: number;
  /** Events acknowledged since, by the cycle of the answer. */
  acknowledged: Map<number, number>;
  /** Events sent since. */
  sent: number;
}

export interface Findings {
  readonly valid: boolean;
  /** Rows whose place a signed cut has taken. */
  readonly removed: number;
  readonly lostRows: number;
  /** Whether more was counted than was ever sent. */
  readonly invented: boolean;
  /** Cycles, from the last acknowledged one back, of which acknowledged counts are missing. */
  readonly forgottenCycles: number;
}

export async function prepare(node: Serving): Promise<Kept> {
  const owner = await Holder.minted(node.url);
  const counting = await owner.contractOn('edge', { threshold: 1_000_000_000, within: 100_000 });
  const flapping = await owner.deploy('edge', { threshold: 1, within: 1 });
  return { key: owner.key, counting, flapping, hashes: new Map(), base: 0, acknowledged: new Map(), sent: 0 };
}

/** Holds what the node knows against what was acknowledged, and takes that as the new beginning. */
export async function compare(node: Serving, kept: Kept): Promise<Findings> {
  const { key, counting, hashes } = kept;
  const pinned = publicKeyFrom((await ask(node.url, 'GET', '/api/updates/pubkey')).public_key);
  const exported = () => new Caller(node.url, key).exported('edge');
  // Rows that are removed meanwhile cut an export off, and then it is to be made again.
  const text = await exported().catch(exported);
  const verification = verifyExport(text, { pinned });
  const { valid, removed: { to_seq: removed } = { to_seq: 0 } } = verification;
  const present = new Map(text.split('\n').flatMap((line) => seqAndHash(line)));
  const lostRows = [...hashes].filter(([seq, hash]) => seq > removed && present.get(seq) !== hash).length;
  const { contract } = await ask(node.url, 'GET', `/api/chain/edge/contracts/${counting}`, key);
  const count: number = contract.count;
  const forgottenCycles = cyclesForgotten(kept, count);
  const invented = count > kept.base + kept.sent;
  kept.base = count;
  kept.acknowledged = new Map();
  kept.sent = 0;
  return { valid, removed, lostRows, invented, forgottenCycles };
}

/** From the newest acknowledged cycle back: how many have to be left out for the rest to be covered by what was found. */
function cyclesForgotten({ base, acknowledged }: Kept, found: number): number {
  if (found < base) return Number.POSITIVE_INFINITY;
  const cycles = [...acknowledged.keys()].sort((a, b) => b - a);
  const [newest = 0] = cycles;
  let expected = base + [...acknowledged.values()].reduce((sum, n) => sum + n, 0);
  let forgotten = 0;
  for (const cycle of cycles) {
    if (expected <= found) break;
    expected -= acknowledged.get(cycle) ?? 0;
    forgotten = newest - cycle + 1;
  }
  return forgotten;
}

/** Clients that go on until the node is gone. */
export async function startLoad(node: Serving, kept: Kept): Promise<void> {
  const { key, counting, flapping, hashes } = kept;
  const event = async (contract_id: string, count: number) =>
    ask(node.url, 'POST', '/api/chain/edge/event', key, { type: 'request', count, contract_id });
  const count = async () => {
    kept.sent += 3;
    const { cycle } = await event(counting, 3);
    kept.acknowledged.set(cycle, (kept.acknowledged.get(cycle) ?? 0) + 3);
  };
  const flap = () => event(flapping, 2);
  const move = async () => {
    const moved = await ask(node.url, 'POST', `/api/chain/edge/contracts/${counting}/transition`, key, {
      to: 'limiting',
    });
    // From where it is already it cannot be moved, and that is an answer, too.
    if (moved.ok) hashes.set(moved.seq, moved.hash);
  };
  await Promise.all([count, count, flap, move].map((work) => untilGone(work)).concat(listen(node, kept)));
}

export async function firstAnswer({ acknowledged }: Kept): Promise<void> {
  while (acknowledged.size === 0) await after(5);
}

export function after(ms: number): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, ms));
}

async function untilGone(work: () => Promise<void>): Promise<void> {
  for (;;) {
    try {
      await work();
    } catch (error) {
      if (error instanceof TypeError) return;
      // Refused where the disk fails.
      if (!(error instanceof Error && /The store has stopped|The disk is full/.test(error.message))) throw error;
      await after(5);
    }
  }
}

/** Whoever hears of a row on the stream was told of it, too. */
async function listen(node: Serving, { key, hashes }: Kept): Promise<void> {
  const listening = await Listening.to(node, '/api/chain/edge/stream', { key }).catch(() => undefined);
  for (let n = 0; ; n += 1) {
    const row = (await listening?.next('transition', n).catch(() => undefined))?.data.data;
    if (row === undefined) return;
    hashes.set(row.seq, row.hash);
  }
}

function seqAndHash(line: string): [number, string][] {
  if (line === '') return [];
  const { seq, hash } = JSON.parse(line);
  return seq === undefined ? [] : [[seq, hash]];
}
