// `weir node record`: exports the record of a machine to a file or standard output.
import { once } from 'node:events';
import * as fs from 'node:fs';
import { readRecord } from '../api/record.js';
import type { NodeClient } from '../client/node-client.js';
import { Failure } from '../schema/failure.js';
import { flag, text } from './command.js';
import { exitOfStop, interruptible } from './interrupt.js';
import { nodeCommand, type Printed, slug } from './node-command.js';
import { warn } from './say.js';

export const record = nodeCommand({
  options: {
    slug,
    out: text('file for it (default: standard output)'),
    json: flag('print the answer of the node as it is, for programs', { local: true, needs: ['out'] }),
  },
  examples: [
    ['node record edge-gateway --out edge.ndjson', 'keep it; `weir verify edge.ndjson` says whether it holds'],
    ['node record edge-gateway | jq .kind', 'its rows, for other programs'],
  ],
  run: (node, given) => exportRecord(node, given),
});

interface Given {
  readonly slug: string;
  readonly out?: string | undefined;
}

interface Target {
  write(chunk: Buffer): Promise<void> | void;
  end(): void;
  drop(): void;
}

/**
 * @returns what to print after the export; undefined for an export to standard output
 * @throws Failure `unwritable_folder`, or the refusal of the node
 */
async function exportRecord({ api }: NodeClient, given: Given): Promise<Printed | undefined> {
  const { slug, out } = given;
  const interrupt = interruptible();
  try {
    const ask = { params: { slug }, query: { format: 'ndjson' } } as const;
    const body = await api.open(readRecord, ask, 'application/x-ndjson', interrupt.signal);
    const target = out === undefined ? standardOutput : fileAt(out);
    let bytes = 0;
    try {
      for await (const { buffer, byteOffset, byteLength } of body) {
        const chunk = Buffer.from(buffer, byteOffset, byteLength);
        await target.write(chunk);
        bytes += chunk.length;
      }
      target.end();
    } catch (error) {
      target.drop();
      throw error;
    }
    if (out === undefined) return undefined;
    return { answer: { ok: true, file: out, bytes }, words: `The record is in ${out}, ${bytes} bytes.` };
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    warn(`weir: stopped before the record was whole${out === undefined ? '' : `; nothing is in ${out}`}\n`);
    process.exitCode = exitOfStop() ?? 0;
    return undefined;
  } finally {
    interrupt.release();
  }
}

const standardOutput: Target = {
  write: (chunk) => (process.stdout.write(chunk) ? undefined : once(process.stdout, 'drain').then(() => {})),
  end: () => {},
  drop: () => {},
};

function fileAt(path: string): Target {
  const draft = `${path}.part`;
  const file = guarded(path, () => fs.openSync(draft, 'w', 0o666));
  return {
    write: (chunk) => guarded(path, () => void fs.writeSync(file, chunk)),
    end: () =>
      guarded(path, () => {
        fs.fsyncSync(file);
        fs.closeSync(file);
        fs.renameSync(draft, path);
      }),
    drop: () => fs.rmSync(draft, { force: true }),
  };
}

function guarded<Result>(path: string, work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw new Failure('unwritable_folder', {
      what: `The record was not written to ${path}.`,
      why: `${(error as Error).message}.`,
      fix: 'Choose another file with --out, or free space on the disk.',
      cause: error,
    });
  }
}
