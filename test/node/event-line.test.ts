import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventLine } from '../../src/node/event-line.js';
import { Failure } from '../../src/schema/failure.js';

/** What a line says, read on its own; for a line that is refused, why. */
function read(text: string, line = new EventLine()): unknown {
  const bytes = Buffer.from(`ab${text}cd`);
  try {
    line.read(bytes, 2, bytes.length - 2);
  } catch (error) {
    if (error instanceof Failure) return error.code;
    throw error;
  }
  const { type, count, cycle, contractId } = line;
  return { type, count, cycle, contractId };
}

/** The same by JSON.parse and the schema alone. */
function naive(text: string): unknown {
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    return 'invalid_json';
  }
  const line = new EventLine();
  try {
    line.take(value);
  } catch (error) {
    return (error as Failure).code;
  }
  const { type, count, cycle, contractId } = line;
  return { type, count, cycle, contractId };
}

const plain = { type: 'request', count: 1, cycle: undefined, contractId: undefined };

describe('a line is read', () => {
  it.each([
    ['{"type":"request"}', plain],
    ['{"type": "request"}', plain],
    ['{ "type" : "request" }', plain],
    ['{"type":"request","count":3}', { ...plain, count: 3 }],
    ['{"type": "request", "count": 3}', { ...plain, count: 3 }],
    ['{"count":3,"type":"request"}', { ...plain, count: 3 }],
    ['{"type":"request","count":3e2}', { ...plain, count: 300 }],
    ['{"type":"request","cycle":2345678901}', { ...plain, cycle: 2_345_678_901 }],
    ['{"type":"request","cycle":0}', { ...plain, cycle: 0 }],
    ['{"type":"request","contract_id":"0123456789abcdef"}', { ...plain, contractId: '0123456789abcdef' }],
    ['{"type":"Anfrage-ä"}', { ...plain, type: 'Anfrage-ä' }],
    ['{"type":"r\\u0065quest"}', plain],
    ['{"type":"a","type":"request"}', plain],
    ['{"type":"request","count":1000000000}', { ...plain, count: 1e9 }],
    ['{"type":"request","count":1000000001}', 'invalid_input'],
    ['{"type":"request","count":0}', 'invalid_input'],
    ['{"type":"request","count":-1}', 'invalid_input'],
    ['{"type":"request","count":01}', 'invalid_json'],
    ['{"type":"request","count":1.5}', 'invalid_input'],
    ['{"type":"request","cycle":9007199254740993}', 'invalid_input'],
    ['{"type":""}', 'invalid_input'],
    [`{"type":"${'x'.repeat(64)}"}`, { ...plain, type: 'x'.repeat(64) }],
    [`{"type":"${'x'.repeat(65)}"}`, 'invalid_input'],
    ['{"type":"request","kind":1}', 'invalid_input'],
    ['{"count":1}', 'invalid_input'],
    ['{}', 'invalid_input'],
    ['[]', 'invalid_input'],
    ['null', 'invalid_input'],
    ['{"type":"request"', 'invalid_json'],
    ['{"type":"request"}}', 'invalid_json'],
    ['{"type":"request",}', 'invalid_json'],
    ['{"type":"request","count":}', 'invalid_json'],
    ['{"type":"req\nuest"}', 'invalid_json'],
    ['hello', 'invalid_json'],
  ])('%s', (text, expected) => expect(read(text)).toEqual(expected));

  it('by hand as by JSON.parse and the schema, whatever was read before', () => {
    const name = fc.constantFrom('type', 'count', 'cycle', 'contract_id', 'typ', 'count ');
    const value = fc.oneof(
      fc.constantFrom(
        '"request"',
        '"other"',
        '""',
        '"a b"',
        '"\\""',
        '"é"',
        '1',
        '0',
        '07',
        '3',
        '-2',
        '1.0',
        '1e3',
        'true',
        '',
      ),
      fc.nat().map(String),
      fc.maxSafeNat().map(String),
    );
    const gap = fc.constantFrom('', '', '', ' ', '  ', '\t');
    const member = fc.tuple(gap, name, gap, value, gap).map(([a, key, b, text, c]) => `${a}"${key}":${b}${text}${c}`);
    const object = fc.array(member, { maxLength: 4 }).map((members) => `{${members.join(',')}}`);
    const cut = fc.tuple(object, fc.nat({ max: 60 })).map(([text, at]) => text.slice(0, at));
    const line = new EventLine();
    fc.assert(
      fc.property(fc.oneof({ weight: 4, arbitrary: object }, cut), (text) => {
        expect(read(text, line)).toEqual(naive(text));
      }),
      { numRuns: 5_000 },
    );
  });
});
