import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventStreamReader } from '../../src/client/event-stream.js';

const read = (pieces: readonly Buffer[]) => {
  const reader = new EventStreamReader();
  return { messages: pieces.flatMap((piece) => [...reader.push(piece)]), retryMs: reader.retryMs };
};

describe('server-sent events', () => {
  // What is sent, and what is heard: [id, event, data] of each message.
  it.each([
    ['id: 1\nevent: a\ndata: x\n\n', [['1', 'a', 'x']]],
    ['data: x\n\n', [['', 'message', 'x']]],
    ['data:x\ndata: y\ndata\n\n', [['', 'message', 'x\ny\n']]],
    ['data:  two blanks\n\n', [['', 'message', ' two blanks']]],
    [
      'id: 7\ndata: x\n\ndata: y\n\n',
      [
        ['7', 'message', 'x'],
        ['7', 'message', 'y'],
      ],
    ],
    ['event: a\n\ndata: x\n\n', [['', 'message', 'x']]],
    [': a comment\n\ndata: x\n\n', [['', 'message', 'x']]],
    [
      'data: x\r\n\r\ndata: y\r\rdata: z\n\n',
      [
        ['', 'message', 'x'],
        ['', 'message', 'y'],
        ['', 'message', 'z'],
      ],
    ],
    ['\uFEFFdata: x\n\n', [['', 'message', 'x']]],
    ['id: a\0b\ndata: x\n\n', [['', 'message', 'x']]],
    ['data: not ended\n', []],
    ['unknown: x\ndata: \u00e9\u{1F30A}\n\n', [['', 'message', '\u00e9\u{1F30A}']]],
  ])('%j', (text, heard) => {
    const { messages } = read([Buffer.from(text)]);
    expect(messages.map(({ id, event, data }) => [id, event, data])).toEqual(heard);
  });

  it('are the same however the bytes are cut', () => {
    const line = fc.constantFrom(
      'id: 3',
      'event: rate_limited',
      'data: \u00e9\u{1F30A}',
      'data',
      ': beat',
      '',
      'retry: 20',
    );
    const lines = fc.array(fc.tuple(line, fc.constantFrom('\n', '\r\n', '\r')), { maxLength: 30 });
    fc.assert(
      fc.property(lines, fc.array(fc.nat(200), { maxLength: 20 }), (parts, cuts) => {
        const bytes = Buffer.from(parts.flat().join(''));
        const places = [0, ...cuts.map((cut) => cut % (bytes.length + 1)).sort((a, b) => a - b), bytes.length];
        const pieces = places.slice(1).map((end, index) => bytes.subarray(places[index], end));
        expect(read(pieces)).toEqual(read([bytes]));
      }),
    );
  });

  it('tell how long to wait before coming back', () => {
    expect([read([Buffer.from('retry: 1500\n\n')]).retryMs, read([Buffer.from('retry: soon\n\n')]).retryMs]).toEqual([
      1500,
      undefined,
    ]);
  });

  it('are refused where a message never ends', () => {
    expect(() => read([Buffer.alloc(5 << 20, 'x')])).toThrow(/cannot be read/);
  });
});
