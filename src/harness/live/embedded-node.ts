// A node for one run, on a free loopback port, in its own thread so that node and generator do not delay each other. Its store is discarded.
import { once } from 'node:events';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { EventLoopUtilization } from 'node:perf_hooks';
import { Worker } from 'node:worker_threads';
import { packageFile } from '../../core/files/package-file.js';
import { Failure } from '../../core/schema/failure.js';

export interface EmbeddedNodeTask {
  readonly cycleMs: number;
  readonly dir: string;
}

/** A class instance cannot pass between threads; its fields can. */
export type EmbeddedNodeMessage =
  | { readonly url: string }
  | { readonly failure: Pick<Failure, 'code' | 'what' | 'why' | 'fix'> };

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
    const started = once(worker, 'message', { signal: AbortSignal.timeout(START_MS) });
    const [message] = (await started) as [EmbeddedNodeMessage];
    if ('failure' in message) throw new Failure(message.failure.code, message.failure);
    return { url: message.url, utilization: (before) => worker.performance.eventLoopUtilization(before), close };
  } catch (error) {
    await worker.terminate();
    removeNow();
    throw startFailure(error);
  }
}

export function startFailure(error: unknown): Failure {
  if (error instanceof Failure) return error;
  const { name, message } = error instanceof Error ? error : new Error(String(error));
  const why =
    name === 'AbortError' ? `It was not ready within ${START_MS / 1000} s: this machine is very busy` : message;
  return new Failure('node_unreachable', {
    what: 'The embedded node did not start.',
    why: `${why}.`,
    fix: 'Start a node with `weir serve`, and give its address with --url.',
    cause: error,
  });
}
