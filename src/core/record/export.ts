// The exported record as text: one line per row, and a closing line. verify-export.ts checks it.
//
//   {"cut":{…"removed_to_seq":7…},"format":"…"}    only if the node removed the first rows; the next line is then row 8
//   {"at":"…","cause":"system",…,"seq":1}          line n is row n
//   {"at":"…","cause":"trigger",…,"seq":2}
//   {"checkpoint":{…"seq":2…},"fingerprint":"SHA256:…","format":"weir-record/1","public_key":"…"}
//
// Every line is the canonical JSON (RFC 8785) of its value and ends with a line feed. The closing line contains a checkpoint of
// the last row: a file without it is incomplete, and only the node can write another one.
import type { Static } from 'typebox';
import { canonicalJson } from '../schema/canonical.js';
import { exact } from '../schema/fields.js';
import { Type } from '../schema/json-schema.js';
import { type AuditRow, type Checkpoint, CheckpointShape, type Cut, CutShape, type Succession } from './row.js';
import { reader } from './shape.js';
import { fingerprintOf, isRawKey, publicKeyFrom, type Signer } from './signing.js';

const FORMAT = 'weir-record/1';

const ClosingShape = exact({
  format: Type.Literal(FORMAT),
  checkpoint: CheckpointShape,
  public_key: Type.String({ description: 'The key that signed the checkpoint: its 32 bytes in base64.' }),
  fingerprint: Type.String({ description: 'Of the key: what people compare.' }),
  'successions?': Type.Array(Type.Unknown(), { maxItems: 1000, description: 'From the first key to the present one.' }),
});
const readClosing = reader(ClosingShape);
const OpeningShape = exact({ format: Type.Literal(FORMAT), cut: CutShape });
const readOpening = reader(OpeningShape);

/** The first line, if the first rows were removed. */
type Opening = Static<typeof OpeningShape>;

/** Its successions are not checked yet; key-ring.ts does that. */
export type ParsedClosing = Static<typeof ClosingShape>;
export type Closing = Omit<ParsedClosing, 'successions'> & { readonly successions?: readonly Succession[] };

/** Page by page. `close` signs the last row; a machine has at least one row. `cut`: the first rows were removed. */
export async function* exportRecord(
  pageAfter: (seq: number) => Promise<readonly AuditRow[]>,
  close: (last: AuditRow) => Closing,
  cut?: Cut,
): AsyncGenerator<string> {
  if (cut !== undefined) yield exportLine({ format: FORMAT, cut });
  let last: AuditRow | undefined;
  for (;;) {
    const rows = await pageAfter(last?.seq ?? cut?.removed_to_seq ?? 0);
    if (rows.length === 0) break;
    last = rows.at(-1)!;
    yield rows.map(exportLine).join('');
  }
  if (last !== undefined) yield exportLine(close(last));
}

export function exportLine(value: AuditRow | Opening | Closing): string {
  return `${canonicalJson(value)}\n`;
}

/** @param checkpoint of the last row of the export, signed by `signer` */
export function closingOf(checkpoint: Checkpoint, signer: Signer, successions: readonly Succession[] = []): Closing {
  const { publicKey: public_key, fingerprint } = signer;
  const closing = { format: FORMAT, checkpoint, public_key, fingerprint } as const;
  return successions.length === 0 ? closing : { ...closing, successions };
}

type Line =
  | { readonly kind: 'row'; readonly value: unknown }
  | { readonly kind: 'opening'; readonly value: Opening }
  | { readonly kind: 'closing'; readonly value: ParsedClosing }
  | { readonly kind: 'fault'; readonly reason: string };

/** `text` has no line feed. The shape of a row is not checked here. */
export function parseLine(text: string): Line {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return fault(`The line is not JSON: ${error instanceof Error ? error.message : String(error)}.`);
  }
  if (typeof value !== 'object' || value === null || !Object.hasOwn(value, 'format')) return { kind: 'row', value };
  if (Object.hasOwn(value, 'cut')) {
    const opening = readOpening(value);
    if ('value' in opening) return { kind: 'opening', value: opening.value };
    return fault(`The line of the removed rows does not look like one: ${opening.fault}.`);
  }
  const read = readClosing(value);
  if ('fault' in read) return fault(`The closing line does not look like one: ${read.fault}.`);
  const { public_key: key, fingerprint } = read.value;
  if (!isRawKey(key)) return fault('The public_key of the closing line is not 32 bytes in base64.');
  if (fingerprint !== fingerprintOf(publicKeyFrom(key)))
    return fault('The fingerprint of the closing line is not that of its public_key.');
  return { kind: 'closing', value: read.value };
}

/**
 * Every string and number is written as RFC 8785 demands. Whitespace and the order of members may differ, because programs that
 * pass a record on change them. `1E+30` for `1e+30` is refused: it is the same number, but a bit has flipped.
 */
export function isSpeltCanonically(text: string, value: unknown): boolean {
  if (JSON.stringify(value) === text) return true;
  const dense = text.replace(/("(?:[^"\\]|\\.)*")|[ \t\r\n]+/g, '$1');
  return JSON.stringify(value) === dense || canonicalJson(value) === dense;
}

function fault(reason: string): Line {
  return { kind: 'fault', reason };
}
