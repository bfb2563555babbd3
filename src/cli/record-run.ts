// Owns the export of a record from a node to a file or to standard output, verified on the way where that is asked for. Leaves
// verifying to core/record/, its words to verdict.ts.
import { once } from 'node:events';
import * as fs from 'node:fs';
import type { Readable } from 'node:stream';
import type { Api } from '../client/api.js';
import type { NodeClient } from '../client/node-client.js';
import { rootKeyOf } from '../client/pin.js';
import { ExportVerifier } from '../record/verify-export.js';
import { Failure } from '../schema/failure.js';
import { exitOfStop, interruptible } from './interrupt.js';
import type { Told } from './node-command.js';
import { NOT_HELD, type Verdict, verdictOf, wordsOf } from './verdict.js';

interface Given {
  readonly slug: string;
  readonly out?: string | undefined;
  readonly verify: boolean;
  readonly json: boolean;
}

/** Where the bytes go. A file comes into its place when it is whole. */
interface Target {
  write(chunk: Buffer): Promise<void> | void;
  end(): void;
  drop(): void;
}

/**
 * @returns what there is to tell beside the record itself; undefined for a record that went to standard output unverified
 * @throws Failure `unwritable_folder`, and what the node refuses with
 */
export async function exportRecord({ api, trusted: { pin } }: NodeClient, given: Given): Promise<Told | undefined> {
  const { slug, out, verify, json } = given;
  const interrupt = interruptible();
  const verifier = verify ? new ExportVerifier({ pinned: rootKeyOf(pin) }) : undefined;
  try {
    const body = await api.record(slug, interrupt.signal);
    const target = out === undefined ? standardOutput : fileAt(out);
    let bytes = 0;
    try {
      for await (const chunk of chunksOf(api, body)) {
        await target.write(chunk);
        verifier?.bytes(chunk);
        bytes += chunk.length;
      }
      target.end();
    } catch (error) {
      target.drop();
      throw error;
    }
    const verdict = verifier && verdictOf(verifier.end(), pin);
    if (out === undefined) {
      if (verdict === undefined) return undefined;
      process.stderr.write(`${wordsOf(verdict)}\n`);
      if (!verdict.valid) process.exitCode = NOT_HELD;
      return undefined;
    }
    return told(out, bytes, verdict, json);
  } catch (error) {
    if (!interrupt.signal.aborted) throw error;
    process.stderr.write(
      `weir: stopped before the record was whole${out === undefined ? '' : `; nothing is in ${out}`}\n`,
    );
    process.exitCode = exitOfStop() ?? 0;
    return undefined;
  } finally {
    interrupt.release();
  }
}

function told(file: string, bytes: number, verdict: Verdict | undefined, json: boolean): Told {
  const answer = { ok: true, file, bytes, ...(verdict === undefined ? {} : { verification: verdict }) };
  const kept = `The record is in ${file}, ${bytes} bytes.`;
  if (verdict === undefined) return { answer, words: kept };
  return { answer, words: json ? '' : `${kept}\n${wordsOf(verdict)}`, exit: verdict.valid ? 0 : NOT_HELD };
}

async function* chunksOf(api: Api, body: Readable): AsyncGenerator<Buffer> {
  try {
    for await (const chunk of body) yield chunk as Buffer;
  } catch (error) {
    throw api.broken(error);
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
      fix: 'Choose another place with --out, or make room on the disk.',
      cause: error,
    });
  }
}
