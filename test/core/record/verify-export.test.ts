import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exportLine } from '../../../src/core/record/export.js';
import type { AuditRow } from '../../../src/core/record/row.js';
import { publicKeyFrom, signCheckpoint, signSuccession } from '../../../src/core/record/signing.js';
import { ExportVerifier, MAX_LINE_BYTES, type VerifyExportOptions } from '../../../src/core/record/verify-export.js';
import { Failure } from '../../../src/core/schema/failure.js';
import { forAll } from '../../draws.js';
import {
  closing,
  contractCreated,
  drafts,
  edited,
  exported,
  first,
  recordOf,
  relinked,
  START,
  second,
  third,
} from './sample-record.js';
import { verdictOf, verifyExport } from './verifying.js';

const rows = recordOf(drafts);
const lines = exported(rows);
const text = lines.join('');
const pinned = publicKeyFrom(first.publicKey);

const verdict = (content: string | Uint8Array, options: VerifyExportOptions = { pinned }) =>
  verdictOf(verifyExport(content, options));

const joined = (values: readonly AuditRow[], end = closing(values)) => [...values, end].map(exportLine).join('');

it('an export that holds is told with its head, its checkpoint, and what the trust in it rests on', () => {
  const expected = {
    valid: true,
    machine: 'gateway',
    rows: 12,
    head: { seq: 12, hash: rows[11]?.hash },
    first_broken: null,
    checkpoint: { seq: 12, cycle: START + 151, signed_by: first.fingerprint, pinned: true },
    proofs: 11,
  };
  expect(verifyExport(text, { pinned })).toEqual(expected);
  expect(verifyExport(text)).toEqual({ ...expected, checkpoint: { ...expected.checkpoint, pinned: false } });
});

it('an export holds in chunks of any size', () => {
  const bytes = Buffer.from(text);
  const whole = verifyExport(bytes, { pinned });
  forAll([fc.array(fc.integer({ min: 0, max: 900 }), { maxLength: 60 })], (sizes) => {
    const verifier = new ExportVerifier({ pinned });
    let start = 0;
    for (const size of sizes) {
      verifier.bytes(bytes.subarray(start, start + size));
      start += size;
    }
    verifier.bytes(bytes.subarray(start));
    expect(verifier.end()).toEqual(whole);
  });
});

it.each([
  ['without its last line feed', text.slice(0, -1)],
  ['with empty lines behind it', `${text}\n \r\n`],
  ['with lines ended as on Windows', text.replaceAll('\n', '\r\n')],
  ['with blanks between its tokens', text.replaceAll('":', '": ').replaceAll(',"', ', "')],
  [
    'with its members in another order',
    lines.map((line) => `${JSON.stringify(Object.fromEntries(Object.entries(JSON.parse(line)).reverse()))}\n`).join(''),
  ],
])('an export holds %s', (_, content) => {
  expect(verdict(content)).toBe('holds');
});

it('an export holds by a key that followed the pinned one', () => {
  const successions = [
    signSuccession(first, second.publicKey, START),
    signSuccession(second, third.publicKey, START + 1),
  ];
  expect(verifyExport(joined(rows, closing(rows, third, successions)), { pinned })).toMatchObject({
    valid: true,
    checkpoint: { signed_by: third.fingerprint, pinned: true },
  });
});

const early = signCheckpoint(first, { machine: 'gateway', seq: 9, hash: rows[8]!.hash, cycle: START + 90 });
const forged = relinked(rows.map((row) => (row.seq === 6 ? { ...row, failure: { code: 'x', detail: '' } } : row)));
const end = closing(rows);
const replaced = rows.map((row) => (row.seq === 6 ? { ...row, failure: { code: 'x', detail: '\ufffd' } } : row));
const lossy = Buffer.from(joined(relinked(replaced)))
  .toString('latin1')
  .replace('\xef\xbf\xbd', '\xff');

// biome-ignore format: one case a line
it.each([
    ['nothing', '', 'seq 1 line 1: tail'],
    ['only the closing line', exportLine(end), 'seq 1 line 1: tail'],
    ['no closing line: cut off between two lines', lines.slice(0, 7).join(''), 'seq 8 line 8: tail'],
    ['cut off within a line', text.slice(0, lines[0]!.length + 40), 'seq 2 line 2: text'],
    ['its last row taken out', [...lines.slice(0, 11), lines[12]].join(''), 'seq 12 line 12: tail'],
    ['its first row taken out', lines.slice(1).join(''), 'seq 1 line 1: seq'],
    ['a row in the middle taken out', [...lines.slice(0, 5), ...lines.slice(6)].join(''), 'seq 6 line 6: seq'],
    ['rows behind its closing line', text + lines[11], 'seq 13 line 14: text'],
    ['two closing lines', text + lines[12], 'seq 13 line 14: text'],
    ['an empty line between its rows', lines.join('\n'), 'seq 2 line 2: text'],
    ['a row that was written anew, with all behind it', joined(forged, end), 'seq 12 line 13: checkpoint'],
    ['the same, closed by whoever did it', joined(forged, closing(forged, second)), 'line 13: key'],
    ['rows that the checkpoint does not cover', joined(rows, { ...end, checkpoint: early }), 'seq 9 line 13: checkpoint'],
    ['the key of another node', exported(rows, second).join(''), 'line 13: key'],
    [
      'the right key named, and another used',
      joined(rows, { ...closing(rows, second), public_key: first.publicKey, fingerprint: first.fingerprint }),
      'line 13: key',
    ],
    [
      'a key that calls itself the next',
      joined(rows, closing(rows, second, [signSuccession(second, second.publicKey, START)])),
      'line 13: key',
    ],
    [
      'a key that signs before its time',
      joined(rows, closing(rows, second, [signSuccession(first, second.publicKey, START + 152)])),
      'line 13: key',
    ],
    [
      'a key that signs after its time',
      joined(rows, closing(rows, first, [signSuccession(first, second.publicKey, START + 150)])),
      'line 13: key',
    ],
    ['an array of rows', JSON.stringify(rows), 'seq 1 line 1: shape'],
    ['a page of another kind', '<!doctype html>\n', 'seq 1 line 1: text'],
    ['no UTF-8', Buffer.from(text, 'utf16le'), 'seq 1 line 1: text'],
    ['a byte that decoders replace by what stood there', Buffer.from(lossy, 'latin1'), 'seq 6 line 6: text'],
    ['a mark of byte order', `\ufeff${text}`, 'seq 1 line 1: text'],
    ['a line without end', 'x'.repeat(3 * MAX_LINE_BYTES), 'seq 1 line 1: text'],
    ['brackets without end', '['.repeat(MAX_LINE_BYTES), 'seq 1 line 1: text'],
    ['a value as deep as a line allows', `${'['.repeat(1e5)}${']'.repeat(1e5)}\n`, 'seq 1 line 1: shape'],
    ['such a value in a row', text.replace('"emitted":[]', `"emitted":${'['.repeat(1e5)}${']'.repeat(1e5)}`), 'seq 1 line 1: shape'],
    ['a capital exponent', text.replace('5.972e+24', '5.972E+24'), 'seq 5 line 5: text'],
    ['another spelling of the same double', text.replace('0.30000000000000004', '0.30000000000000005'), 'seq 5 line 5: text'],
    ['minus zero', text.replace('"result":0,', '"result":-0,'), 'seq 11 line 11: text'],
    ['a member twice', text.replace('"seq":7', '"seq":7,"seq":7'), 'seq 7 line 7: text'],
    ['a needless escape', text.replace('"to":"held"', '"to":"\\u0068eld"'), 'seq 8 line 8: text'],
    ['a needless escape in the closing line', text.replace('"weir-record/1"', '"\\u0077eir-record/1"'), 'line 13: text'],
  ])('an export does not hold: %s', (_, content, expected) => {
    expect(verdict(content)).toBe(expected);
  });

it('an export is compared with a signed head that was saved: what was lost or written anew since shows', () => {
  const saved = lines.at(-1)!;
  const against = (content: string, head: string, options: VerifyExportOptions = { pinned }) => {
    const verifier = new ExportVerifier(options);
    verifier.expect(head);
    verifier.bytes(Buffer.from(content));
    const { valid, first_broken: broken } = verifier.end();
    return valid ? 'holds' : broken?.check;
  };
  const older = exported(rows.slice(0, 9)).join('');
  const [firstRow, ...others] = drafts;
  const forked = exported(recordOf([firstRow!, contractCreated('forked', 'a'), ...others.slice(1, 3)])).join('');
  const forged = exported(rows, second).join('');
  const unpinned = [forged, text].map((content) => against(content, saved, {}));
  expect([against(text, saved), against(text, older), against(older, text)]).toEqual(['holds', 'holds', 'tail']);
  expect(against(forked, exported(rows.slice(0, 3)).join(''))).toBe('checkpoint');
  expect([against(forged, saved), against(text, exported(rows, second).at(-1)!)]).toEqual(['key', 'key']);
  expect(unpinned).toEqual(['key', 'holds']);
  for (const head of [lines[0]!, 'nonsense']) expect(() => new ExportVerifier().expect(head)).toThrow(Failure);
});

it('an export signed by a retired key after its time does not hold, though it names no succession', () => {
  const known = [signSuccession(first, second.publicKey, START + 150)];
  expect([verdict(text, { pinned, known }), verdict(text, { pinned })]).toEqual(['line 13: key', 'holds']);
});

it('an export shows what one looks for first: what a line says, then how it is spelt', () => {
  const both = text.replace('"m":5.972e+24', '"m":5.973E+24');
  expect(verdict(both)).toBe('seq 5 line 5: hash');
});

it('an export is read no further than the first line that does not hold', () => {
  const verifier = new ExportVerifier({ pinned });
  const bytes = lines.map((line, index) => Buffer.from(index === 3 ? line.replace('limiting', 'limitinh') : line));
  expect(bytes.map((chunk) => verifier.bytes(chunk))).toEqual([true, true, true, ...Array(10).fill(false)]);
  expect(verifier.end().first_broken).toMatchObject({ seq: 4, line: 4, check: 'hash' });
});

const others = exported(recordOf(drafts, 'another'));
const anyLine = fc.constantFrom(...lines, ...others, ...exported(rows, second));

it('lines taken out, put in, or put elsewhere show at the first line that is not what it was', () => {
  forAll([edited(lines, anyLine)], (values) => {
    // Row 1 says whose record it is to be.
    const meant = values[0] === others[0] ? others : lines;
    const at = values.findIndex((value, index) => value !== meant[index]);
    const whole = at < 0 && values.length === meant.length;
    const { valid, first_broken: broken } = verifyExport(values.join(''), { pinned });
    expect({ valid, line: broken?.line }).toEqual(
      whole ? { valid: true } : { valid: false, line: (at < 0 ? values.length : at) + 1 },
    );
  });
});

const fromRow = (seq: number, content: string, options: VerifyExportOptions = { pinned }) => {
  const verifier = new ExportVerifier(options);
  verifier.expect(exportLine(closing(rows.slice(0, seq))), true);
  verifier.bytes(Buffer.from(content));
  return verifier.end();
};

it.each([1, 2, 7, 11, 12])('what comes behind a head at row %i is verified, and how much is not is said', (seq) => {
  const whole = verifyExport(text, { pinned });
  const found = fromRow(seq, text);
  expect({ ...found, proofs: 0 }).toEqual({ ...whole, proofs: 0, earlier: seq });
  const firings = rows
    .slice(seq - 1)
    .reduce((sum, { kind, substrate }) => sum + (kind !== 'transition' ? 0 : substrate ? 2 : 1), 0);
  expect(found.proofs).toBe(firings);
});

it('a verifier finds every change of a row from a head on, as verifying everything does', () => {
  forAll(
    [fc.integer({ min: 1, max: 12 }), fc.integer({ min: 0, max: 11 }), fc.nat()],
    { examples: [[1, 0, 1_238_466_508]] },
    (seq, at, where) => {
      const line = lines[at]!;
      const place = where % (line.length - 1);
      const flipped = `${line.slice(0, place)}${String.fromCharCode(line.charCodeAt(place) ^ 1)}${line.slice(place + 1)}`;
      const changed = [...lines.slice(0, at), flipped, ...lines.slice(at + 1)].join('');
      const whole = verifyExport(changed, { pinned });
      expect([whole.valid, whole.first_broken?.line]).toEqual([false, at + 1]);
      const { valid, rows: held, first_broken } = fromRow(seq, changed);
      if (at + 1 < seq) return;
      expect([valid, held, first_broken?.line]).toEqual([false, whole.rows, at + 1]);
      // Without a head the machine of a record is that of its first row: if its name is changed, it is the hash that does not hold.
      if (at > 0) expect(first_broken).toEqual(whole.first_broken);
    },
  );
});

it('a verifier refuses a record rolled back behind a head, written anew, or lacking a row before it', () => {
  const shorter = joined(rows.slice(0, 5));
  const other = joined(relinked([{ ...rows[0]!, at: '2020-01-01T00:00:00.000Z' }, ...rows.slice(1)]));
  const lacking = [...lines.slice(0, 3), ...lines.slice(4)].join('');
  expect(
    [fromRow(7, shorter), fromRow(7, other), fromRow(7, lacking)].map(({ first_broken }) => first_broken?.check),
  ).toEqual(['tail', 'checkpoint', 'seq']);
});

it('a verifier takes no head of another key', () => {
  expect(fromRow(7, text, { pinned: publicKeyFrom(second.publicKey) }).first_broken?.check).toBe('key');
});
