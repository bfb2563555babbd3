import fc from 'fast-check';
import { expect, it } from 'vitest';
import { exportLine, exportRecord, isSpeltCanonically, parseLine } from '../../../src/core/record/export.js';
import type { AuditRow } from '../../../src/core/record/row.js';
import { signSuccession } from '../../../src/core/record/signing.js';
import { canonicalJson } from '../../../src/core/schema/canonical.js';
import { forAll } from '../../draws.js';
import { closing, drafts, first, recordOf, second } from './sample-record.js';

const rows = recordOf(drafts);

/** The lines of an export that is read in pages of two. */
async function exported(of: readonly AuditRow[], close = (_last: AuditRow) => closing(of)): Promise<string[]> {
  const pageAfter = async (after: number) => of.filter(({ seq }) => seq > after).slice(0, 2);
  let text = '';
  for await (const piece of exportRecord(pageAfter, close)) text += piece;
  return text.split(/(?<=\n)/);
}

it('an export is a canonical line a row, so that line n is row n, and one that closes it', async () => {
  const text = (await exported(rows)).join('');
  expect(text).toBe([...rows, closing(rows)].map((value) => `${canonicalJson(value)}\n`).join(''));
  const lines = text.split('\n');
  expect(lines.slice(0, 12).map((line) => JSON.parse(line))).toEqual(rows);
  expect(JSON.parse(lines[12]!)).toEqual({
    format: 'weir-record/1',
    checkpoint: closing(rows).checkpoint,
    public_key: first.publicKey,
    fingerprint: first.fingerprint,
  });
  expect(lines.slice(13)).toEqual(['']);
});

it('an export has the last row signed, when all have been taken', async () => {
  const taken: number[] = [];
  const close = (last: AuditRow) => {
    taken.push(last.seq);
    return closing([last]);
  };
  const lines = await exported(rows.slice(0, 5), close);
  expect({ taken, end: JSON.parse(lines[5]!).checkpoint.hash }).toEqual({ taken: [5], end: rows[4]?.hash });
});

it('an export of no rows is empty, for there is nothing to sign', async () => {
  expect(await exported([])).toEqual(['']);
});

it('an export keeps a row on one line, whatever separators its words contain', () => {
  const failure = { code: 'x', detail: 'a\nb\r\u2028\u2029\u0085\u000b' };
  const line = exportLine({ ...rows[5]!, failure });
  expect([line.indexOf('\n'), JSON.parse(line).failure]).toEqual([line.length - 1, failure]);
});

const end = closing(rows, second, [signSuccession(first, second.publicKey, 7)]);

it.each([
  ['a row', exportLine(rows[0]!), { kind: 'row', value: rows[0] }],
  ['any other value: whether it is a row is asked later', '[1]', { kind: 'row', value: [1] }],
  ['the closing line', exportLine(end), { kind: 'closing', value: end }],
  ['no JSON', '{"at":', { kind: 'fault', reason: expect.stringMatching(/^The line is not JSON: /) }],
  ['nothing', '', { kind: 'fault', reason: expect.stringMatching(/^The line is not JSON: /) }],
  [
    'a closing line of a format to come',
    canonicalJson({ ...end, format: 'weir-record/2' }),
    { kind: 'fault', reason: 'The closing line does not look like one: /format must be "weir-record/1".' },
  ],
  [
    'a closing line with something more',
    canonicalJson({ ...end, note: 1 }),
    { kind: 'fault', reason: expect.stringMatching(/^The closing line does not look like one: \/note is not known/) },
  ],
  [
    'a key that is none',
    canonicalJson({ ...end, public_key: 'none' }),
    { kind: 'fault', reason: 'The public_key of the closing line is not 32 bytes in base64.' },
  ],
  [
    'the fingerprint of another key',
    canonicalJson({ ...end, fingerprint: first.fingerprint }),
    { kind: 'fault', reason: 'The fingerprint of the closing line is not that of its public_key.' },
  ],
])('a line is read as what it holds: %s', (_, text, line) => {
  expect(parseLine(text)).toEqual(line);
});

it.each([
  ['in another order', '{"b":1,"a":[1.5,"x y"]}', true],
  ['with blanks between', ' {\t"a" : [ 1.5 , "x y" ] ,\r\n"b":1 } ', true],
  ['with blanks and quotes within a string', '{ "a": "\\" , \\\\ \\" " }', true],
  ['names that look like numbers, in their canonical order', '{"10":1,"2":1}', true],
  ['a capital exponent', '{"a":5.972E+24}', false],
  ['an exponent that is not needed', '{"a":1e2}', false],
  ['a zero too many', '{"a":1.50}', false],
  ['a digit that changes nothing', '{"a":0.30000000000000005}', false],
  ['minus zero', '{"a":-0}', false],
  ['an escape that is not needed', '{"a":"\\u0041"}', false],
  ['a capital in an escape', '{"a":"\\u001F"}', false],
  ['a slash escaped', '{"a":"\\/"}', false],
  ['a member that comes twice', '{"a":1,"a":1}', false],
])('%s: that %s is spelt canonically is %s', (_, text, canonical) => {
  expect(isSpeltCanonically(text, JSON.parse(text))).toBe(canonical);
});

it('every value is spelt canonically as canonical JSON or JSON.stringify writes it, dense or spread out', () => {
  forAll([fc.jsonValue({ stringUnit: 'binary', depthSize: 'small', maxDepth: 3 })], (value) => {
    const clean = JSON.parse(canonicalJson(value));
    const texts = [canonicalJson(clean), JSON.stringify(clean), JSON.stringify(clean, null, 3)];
    expect(texts.map((text) => isSpeltCanonically(text, JSON.parse(text)))).toEqual([true, true, true]);
  });
});
