// Reads the bytes of a log from a file, a pipe or standard input, and unpacks gzip.
import { type FileHandle, open } from 'node:fs/promises';
import { stdin } from 'node:process';
import { addAbortSignal, pipeline, Readable } from 'node:stream';
import { createGunzip } from 'node:zlib';
import { Failure } from '../../../core/schema/failure.js';
import { refuseNamedPipe } from '../../../core/schema/text-file.js';

/** Large enough to be rare, small enough to stay in the CPU cache while it is parsed. */
const CHUNK_BYTES = 1 << 18;

export interface SourceHooks {
  readonly signal?: AbortSignal | undefined;
  /** After each piece: bytes read from disk (before unpacking), and the total, undefined for a pipe. */
  readonly onProgress?: ((bytesRead: number, totalBytes: number | undefined) => void) | undefined;
}

/**
 * `-` is standard input. Gzip, also of several members, is recognised by its bytes, not by the name, and unpacked.
 * A chunk is valid only until the next one is requested.
 * @throws Failure `unreadable_file`
 */
export async function* bytesOf(path: string, hooks: SourceHooks): AsyncGenerator<Buffer, void, undefined> {
  try {
    const raw = path === '-' ? pieces(stdin, hooks) : fileBytes(path, hooks);
    yield* unpacked(raw);
  } catch (error) {
    if (hooks.signal?.aborted === true && !(error instanceof Failure)) return;
    throw error instanceof Failure ? error : unreadable(path, error);
  }
}

async function* fileBytes(path: string, hooks: SourceHooks): AsyncGenerator<Buffer> {
  refuseNamedPipe(path);
  const file = await open(path, 'r');
  try {
    const stats = await file.stat();
    if (stats.isDirectory()) throw Object.assign(new Error('it is a directory'), { code: 'EISDIR' });
    if (stats.isFile()) yield* pieces(readAhead(file), hooks, stats.size);
    else yield* pieces(file.createReadStream({ highWaterMark: CHUNK_BYTES, autoClose: false }), hooks);
  } finally {
    await file.close();
  }
}

/** One buffer is parsed while the thread pool fills the other: twice the lines/s of a stream, which has a new buffer for each piece. */
async function* readAhead(file: FileHandle): AsyncGenerator<Buffer> {
  let free = Buffer.allocUnsafeSlow(CHUNK_BYTES);
  let reading = file.read(Buffer.allocUnsafeSlow(CHUNK_BYTES));
  try {
    for (let read = await reading; read.bytesRead > 0; read = await reading) {
      reading = file.read(free);
      // It is thrown where it is awaited: the consumer may take longer than the disk to fail.
      reading.catch(() => undefined);
      yield read.buffer.subarray(0, read.bytesRead);
      free = read.buffer;
    }
  } finally {
    // No read may be pending when the file is closed.
    await Promise.allSettled([reading]);
  }
}

async function* pieces(source: AsyncIterable<Buffer>, hooks: SourceHooks, totalBytes?: number): AsyncGenerator<Buffer> {
  if (hooks.signal !== undefined && source instanceof Readable) addAbortSignal(hooks.signal, source);
  let bytesRead = 0;
  for await (const piece of source) {
    if (hooks.signal?.aborted === true) return;
    yield piece;
    bytesRead += piece.length;
    hooks.onProgress?.(bytesRead, totalBytes);
  }
}

async function* unpacked(raw: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  try {
    let head = Buffer.alloc(0);
    for (let piece = await raw.next(); !piece.done; piece = await raw.next()) {
      head = Buffer.concat([head, piece.value]);
      if (head.length >= 3) break;
    }
    if (head[0] === 0x1f && head[1] === 0x8b && head[2] === 0x08) yield* gunzipped(head, raw);
    else {
      if (head.length > 0) yield head;
      yield* raw;
    }
  } finally {
    await raw.return(undefined);
  }
}

async function* gunzipped(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  const gunzip = createGunzip({ chunkSize: CHUNK_BYTES });
  // Errors of either side reach the loop below through `gunzip`; pipeline only requires a callback.
  pipeline(Readable.from(copies(head, rest)), gunzip, () => undefined);
  for await (const chunk of gunzip) yield chunk;
}

/** The stream reads ahead, so its pieces cannot be views of a reused buffer. */
async function* copies(head: Buffer, rest: AsyncGenerator<Buffer>): AsyncGenerator<Buffer> {
  yield head;
  for await (const piece of rest) yield Buffer.from(piece);
}

function unreadable(path: string, error: unknown): Failure {
  const code = (error as NodeJS.ErrnoException).code ?? '';
  const [why, fix] = reasons[code] ?? [(error as Error).message, undefined];
  return new Failure('unreadable_file', { what: `${path} cannot be read.`, why, ...(fix && { fix }), cause: error });
}

const reasons: Readonly<Record<string, readonly [why: string, fix: string]>> = {
  ENOENT: ['There is no such file.', 'Check the name and the folder you are in.'],
  ENOTDIR: ['A part of its path is a file, not a folder.', 'Check the path.'],
  EISDIR: ['It is a folder.', 'Name the log files in it, as in `access.log*`.'],
  EACCES: ['You are not allowed to read it.', 'Ask its owner, or read a copy that is yours.'],
  EPERM: ['You are not allowed to read it.', 'Ask its owner, or read a copy that is yours.'],
  Z_BUF_ERROR: [
    'It ends in the middle of its compressed data.',
    'Fetch the file again; to read what is there all the same, unpack it with `gzip -dc` and read that.',
  ],
  Z_DATA_ERROR: ['Its compressed data are damaged.', 'Fetch the file again.'],
};
