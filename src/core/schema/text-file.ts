// Reads a text file whose content or path is not trusted: bounded, and without blocking.
import * as fs from 'node:fs';
import { Failure } from './failure.js';

const MOST_TEXT_BYTES = 16 * 1024 * 1024;

interface TextFileOptions {
  readonly what: string;
  readonly fix: string;
  readonly mostBytes?: number | undefined;
  /** Named on the command line: may be stdin, a pipe of the shell or a device. Otherwise only a regular file is read. */
  readonly isGiven?: boolean | undefined;
}

/** The text of a file in UTF-8. @throws Failure `unreadable_file` */
export function readText(
  path: string,
  { what, fix, mostBytes = MOST_TEXT_BYTES, isGiven = false }: TextFileOptions,
): string {
  try {
    return textOf(bytesOf(path, mostBytes, isGiven));
  } catch (error) {
    throw unreadableFailure(what, error, fix);
  }
}

export function unreadableFailure(what: string, error: unknown, fix: string): Failure {
  const { code = '', message } = error as NodeJS.ErrnoException;
  const why = reasons[code] ?? `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  return new Failure('unreadable_file', { what: `${what} cannot be read.`, why, fix, cause: error });
}

/** Pipes of the shell, whose other end is open. A named pipe may have no other end. */
const OF_THE_SHELL = /^\/(dev\/stdin|(dev|proc\/self)\/fd\/\d+)$/;

function bytesOf(path: string, mostBytes: number, isGiven: boolean): Buffer {
  const isOfShell = isGiven && OF_THE_SHELL.test(path);
  // Without O_NONBLOCK, opening a named pipe waits for a writer.
  const file = fs.openSync(path, fs.constants.O_RDONLY | (isOfShell ? 0 : fs.constants.O_NONBLOCK));
  try {
    refuseKind(fs.fstatSync(file), isGiven, isOfShell);
    const chunks: Buffer[] = [];
    for (let length = 0; ; ) {
      const chunk = Buffer.allocUnsafe(CHUNK_BYTES);
      const read = fs.readSync(file, chunk);
      if (read === 0) return Buffer.concat(chunks, length);
      length += read;
      // The file system cannot say: a pipe has no size, and a device no end.
      if (length > mostBytes) throw new Error(`it is larger than ${mostBytes / 1024 / 1024} MiB`);
      chunks.push(chunk.subarray(0, read));
    }
  } finally {
    fs.closeSync(file);
  }
}

const CHUNK_BYTES = 1 << 16;

/** @throws Error for a named pipe: its other end may never open. A missing file is left to the caller's open. */
export function refuseNamedPipe(path: string): void {
  const stat = OF_THE_SHELL.test(path) ? undefined : fs.statSync(path, { throwIfNoEntry: false });
  if (stat?.isFIFO()) refuseKind(stat, true);
}

/** @throws Error for a kind of file that may have no end */
export function refuseKind(stat: fs.Stats, isGiven: boolean, isOfShell = false): void {
  if (stat.isDirectory()) throw Object.assign(new Error('it is a folder'), { code: 'EISDIR' });
  if (stat.isFile() || isOfShell || (isGiven && stat.isCharacterDevice())) return;
  throw new Error(`it is ${stat.isFIFO() ? 'a named pipe' : 'a device or a socket'}, and not a regular file`);
}

function textOf(bytes: Buffer): string {
  if (bytes.includes(0)) throw new Error('it is no text: there are zero bytes in it');
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    throw new Error('it is no text in UTF-8');
  }
}

const reasons: Readonly<Record<string, string>> = {
  ENOENT: 'There is no such file.',
  ENOTDIR: 'A part of its path is a file, not a folder.',
  EISDIR: 'It is a folder.',
  EACCES: 'Permission is denied.',
  EPERM: 'Permission is denied.',
  ENXIO: 'It is a socket, and not a regular file.',
};
