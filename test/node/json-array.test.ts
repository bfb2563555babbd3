import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cutArray } from '../../src/node/json-array.js';

/** The elements that are cut out, parsed; or why the text is no array. */
function cut(text: string): unknown[] | string {
  const elements: unknown[] = [];
  const element = (bytes: Buffer, from: number, to: number) => {
    elements.push(JSON.parse(bytes.toString('utf8', from, to)));
    return 0;
  };
  const steps = cutArray(Buffer.from(text), { element });
  for (;;) {
    const { done, value } = steps.next();
    if (done === true) return value ?? elements;
  }
}

describe('an array that is cut into its elements', () => {
  it('has those of JSON.parse, whatever they are and wherever blanks stand', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.constantFrom(undefined, 1, '\t', '\r\n'), (values, blanks) => {
        const text = JSON.stringify(values, undefined, blanks);
        expect(cut(text)).toEqual(JSON.parse(text));
      }),
    );
  });

  it('is refused where JSON.parse refuses it, when anything is cut off, doubled or put in', () => {
    fc.assert(
      fc.property(fc.array(fc.jsonValue()), fc.nat(), fc.nat(3), fc.string(), (values, place, length, more) => {
        const text = JSON.stringify(values);
        const at = 1 + (place % text.length);
        const changed = text.slice(0, at) + more + text.slice(at + length);
        const whole = outcomeOf(() => JSON.parse(changed));
        expect(outcomeOf(() => cut(changed))).toEqual(whole);
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(['[', '[1', '[1,', '[,]', '[1,]', '[,1]', '[1 2]', '[]]', '[] x', '["a', '[{]', '[1}', '[{"a":1]'])(
    '%s is none',
    (text) => expect(outcomeOf(() => cut(text))).toBe('none'),
  );
});

function outcomeOf(read: () => unknown): unknown {
  try {
    const told = read();
    return Array.isArray(told) ? told : 'none';
  } catch {
    return 'none';
  }
}
