// A scenario in a link: compressed, base64url, and behind the #, which browsers do not send.

/** Limit of the inflated text: a short link could hold gigabytes. */
const MOST_BYTES = 1_000_000;

const through = async (bytes: Uint8Array, stream: ReadableWritablePair<Uint8Array, BufferSource>) => {
  const reader = new Blob([bytes as BlobPart]).stream().pipeThrough(stream).getReader();
  const parts: Uint8Array[] = [];
  let length = 0;
  for (let read = await reader.read(); !read.done; read = await reader.read()) {
    length += read.value.length;
    if (length > MOST_BYTES) throw new Error('The text of the link is too long.');
    parts.push(read.value);
  }
  return new Uint8Array(await new Blob(parts as BlobPart[]).arrayBuffer());
};

export interface Linked {
  readonly name: string;
  readonly text: string;
}

export async function linkOf({ name, text }: Linked): Promise<string> {
  const bytes = await through(new TextEncoder().encode(text), new CompressionStream('deflate-raw') as never);
  const letters = btoa(Array.from(bytes, (byte) => String.fromCharCode(byte)).join(''));
  return `#${name}.${letters.replaceAll('+', '-').replaceAll('/', '_').replace(/=+$/, '')}`;
}

export async function linkedBy(link: string): Promise<Linked | undefined> {
  const [, name, letters] = /^#([a-z0-9][a-z0-9._-]{0,63})\.([\w-]+)$/.exec(link) ?? [];
  if (name === undefined || letters === undefined) return undefined;
  try {
    const bytes = Uint8Array.from(atob(letters.replaceAll('-', '+').replaceAll('_', '/')), (one) => one.charCodeAt(0));
    return {
      name,
      text: new TextDecoder().decode(await through(bytes, new DecompressionStream('deflate-raw') as never)),
    };
  } catch {
    return undefined;
  }
}
