// A node for one run, on a free loopback port, in its own thread so that node and generator do not delay each other. Its store is discarded.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { packageFile } from '../package-file.js';
import { Failure } from '../schema/failure.js';

export interface EmbeddedNodeTask {
  readonly cycleMs: number;
  readonly dir: string;
}

export type EmbeddedNodeMessage =
  | { readonly url: string }
  | { readonly error: string }
  | { readonly failure: FailureTold };

/** A class instance cannot pass between threads; its fields can. */
type FailureTold = Pick<Failure, 'code' | 'what' | 'why' | 'fix'>;

export interface EmbeddedNode {
  readonly url: string;
  utilization(before?: EventLoopUtilization): EventLoopUtilization;
  close(): Promise<void>;
}

const START_MS = 60_000;
const CLOSE_MS = 5_000;

/** @throws Failure that of the node; `unwritable_folder` without temporary storage; `node_unreachable` if it does not start */
export async function startEmbeddedNode(cycleMs: number): Promise<EmbeddedNode> {
  const dir = await mkdtemp(join(tmpdir(), 'weir-load-')).catch((error: Error) => {
    throw new Failure('unwritable_folder', {
      what: `No folder for the embedded node can be made in ${tmpdir()}.`,
      why: `${error.message}.`,
      fix: 'Give the user of this process the right to write there, make room on the disk, or name another folder in TMPDIR.',
      cause: error,
    });
  });
  const task: EmbeddedNodeTask = { cycleMs, dir };
  const worker = new Worker(packageFile('dist/worker/node.js'), { workerData: task });
  const remove = () => rmSync(dir, { recursive: true, force: true });
  process.once('exit', remove);
  const removeNow = () => {
    process.off('exit', remove);
    remove();
  };
  const close = async () => {
    const ended = once(worker, 'exit', { signal: AbortSignal.timeout(CLOSE_MS) });
    worker.postMessage('close');
    try {
      await ended;
    } catch {
      await worker.terminate();
    }
    removeNow();
  };
  try {
    const started = once(worker, 'message', { signal: AbortSignal.timeout(START_MS) }).catch((error: Error) => {
      if (error.name !== 'AbortError') throw error;
      throw new Error(`It was not ready within ${START_MS / 1000} s: this machine is very busy`);
    });
    const [message] = (await started) as [EmbeddedNodeMessage];
    if ('error' in message) throw new Error(message.error);
    if ('failure' in message) throw new Failure(message.failure.code, message.failure);
    return { url: message.url, utilization: (before) => worker.performance.eventLoopUtilization(before), close };
  } catch (error) {
    await worker.terminate();
    removeNow();
    if (error instanceof Failure) throw error;
    throw new Failure('node_unreachable', {
      what: 'The embedded node did not start.',
      why: `${error instanceof Error ? error.message : String(error)}.`,
      fix: 'Start a node with `weir serve`, and give its address with --url.',
      cause: error,
    });
  }
}
