// Owns the text of a scenario file: a file or a pipe, read up to a bound, refused in words when it holds no text.
// Leaves what the text says to document.ts.
import { open } from 'node:fs/promises';
import { Failure } from '../schema/failure.js';

/** The longest scenario that is read, in bytes. */
const MOST_BYTES = 16 * 1024 * 1024;

/** @throws Failure `unreadable_file` */
export async function readSource(path: string): Promise<string> {
  try {
    return textOf(await bytesOf(path));
  } catch (error) {
    const { code = '', message } = error as NodeJS.ErrnoException;
    throw new Failure('unreadable_file', {
      what: `The scenario ${path} cannot be read.`,
      why: reasons[code] ?? `${message.charAt(0).toUpperCase()}${message.slice(1)}.`,
      fix: 'Give the path of a YAML or JSON file, for example scenarios/burst.yaml.',
      cause: error,
    });
  }
}

/** By what is read, not by what the file system says: a pipe has no size, and a device no end. */
async function bytesOf(path: string): Promise<Buffer> {
  const file = await open(path, 'r');
  try {
    const chunks: Buffer[] = [];
    let length = 0;
    for await (const chunk of file.createReadStream({ autoClose: false })) {
      chunks.push(chunk as Buffer);
      length += (chunk as Buffer).length;
      if (length > MOST_BYTES) throw new Error(`it is larger than ${MOST_BYTES / 1024 / 1024} MiB`);
    }
    return Buffer.concat(chunks, length);
  } finally {
    await file.close();
  }
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
};
