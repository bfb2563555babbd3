// Recognises files that are not text by their first bytes.

const kinds: readonly (readonly [start: string, what: string, fix: string])[] = [
  ['89504e47', 'a PNG image', ''],
  ['ffd8ff', 'a JPEG image', ''],
  ['47494638', 'a GIF image', ''],
  ['25504446', 'a PDF document', ''],
  ['7f454c46', 'a program', ''],
  ['504b0304', 'a ZIP archive, or an office document', 'Unpack it, or save the sheet as CSV.'],
  ['1f8b08', 'gzip within gzip', 'Unpack it once.'],
  ['425a68', 'packed with bzip2', 'Unpack it with `bzip2 -d`.'],
  ['fd377a585a', 'packed with xz', 'Unpack it with `xz -d`.'],
  ['28b52ffd', 'packed with zstd', 'Unpack it with `zstd -d`.'],
  ['377abcaf271c', 'a 7z archive', 'Unpack it.'],
  ['53514c69746520666f726d6174', 'an SQLite database', 'Export the table as CSV.'],
  ['50415231', 'a Parquet file', 'Export it as CSV.'],
  ['d4c3b2a1', 'a packet capture', ''],
];

const START_BYTES = 13;

export function knownBinary(head: Buffer): { readonly what: string; readonly fix: string | undefined } | undefined {
  const start = head.toString('hex', 0, START_BYTES);
  const kind = kinds.find(([bytes]) => start.startsWith(bytes));
  return kind && { what: kind[1], fix: kind[2] === '' ? undefined : kind[2] };
}

/** Control bytes in a truncated or attacked text: at most two plus 5 %. Packed data have 9 % and more. */
const MAX_CONTROL = 2;
const MAX_CONTROL_SHARE = 0.05;

/** Many control bytes. NULs in a row do not count: log rotation leaves them at the start, a crash anywhere. */
export function looksBinary(head: Buffer): boolean {
  let control = 0;
  let length = 0;
  for (let at = 0; at < head.length; at++) {
    const byte = head[at]!;
    if (byte === 0 && (at === 0 || head[at - 1] === 0)) continue;
    length++;
    if (byte < 0x20 && !(byte >= 0x08 && byte <= 0x0d) && byte !== 0x1b) control++;
  }
  return length === 0 ? head.length > 0 : control > MAX_CONTROL + MAX_CONTROL_SHARE * length;
}
