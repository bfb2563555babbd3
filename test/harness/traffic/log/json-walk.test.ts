import fc from 'fast-check';
import { expect, it } from 'vitest';
import { JsonWalk, locate, plainText, WantedField } from '../../../../src/harness/traffic/log/json.js';
import { forAll } from '../../../draws.js';

/** The text of each wanted value in the object, undefined for one that is not there; or that the text is no object. */
function found(text: string, names: readonly string[]): (string | undefined)[] | 'no object' {
  const bytes = Buffer.from(`x${text}x`);
  const wanted = names.map((name) => new WantedField(name));
  if (!locate(new JsonWalk(), bytes, 1, bytes.length - 1, wanted)) return 'no object';
  return wanted.map(({ from, to }) => (from < 0 ? undefined : bytes.toString('utf8', from, to)));
}

const name = fc.oneof(fc.constantFrom('a', 'b', 'a.b', 'a"b', 'a\\b', '', 'é', '\n'), fc.string());
const object = fc.dictionary(name, fc.jsonValue());

it('members of an object are found as JSON.parse finds them, however the text is spaced and escaped', () => {
  forAll([object, fc.constantFrom('', ' ', '\t'), fc.boolean()], (value, space, isEscaped) => {
    const plain = JSON.stringify(value, null, space);
    const text = isEscaped
      ? plain.replace(/[^\t\n -~]/g, (c) => `\\u${c.charCodeAt(0).toString(16).padStart(4, '0')}`)
      : plain;
    const names = Object.keys(value);
    const values = found(text, names);
    expect(values === 'no object' ? values : values.map((part) => part && JSON.parse(part))).toEqual(
      names.map((key) => JSON.parse(JSON.stringify(value[key]))),
    );
  });
});

it('a text that ends before its object does is no object', () => {
  forAll([object, fc.double({ min: 0, max: 1, noNaN: true })], (value, share) => {
    const text = JSON.stringify(value);
    expect(found(text.slice(0, Math.floor(share * (text.length - 1))), [])).toBe('no object');
  });
});

// biome-ignore format: one line for each kind
it.each([
    '', '5', '"a"', '[]', '[{"a":1}]',
    '{', '}', '{"a"}', '{"a":}', '{"a":1,}', '{,}', '{"a" 1}', '{"a":1}}', '{"a":1 2}', '{a:1}', '{"a":"}',
  ])('the text %s is no object', (text) => {
    expect(found(text, [])).toBe('no object');
  });

it.each<[string, string[] | 'broken']>([
  ['[]', []],
  [' [ 1 , "a,]" , [2,3] , {"b":[]} ] ', ['1', '"a,]"', '[2,3]', '{"b":[]}']],
  ['[1,]', 'broken'],
  ['[,1]', 'broken'],
  ['[1 2]', 'broken'],
  ['[1', 'broken'],
])('the elements of an array are walked in order, unless it is broken: %s', (text, elements) => {
  const bytes = Buffer.from(text);
  const walk = new JsonWalk();
  const seen: string[] = [];
  walk.enter(bytes, 0, bytes.length);
  while (walk.next()) seen.push(bytes.toString('utf8', walk.valueFrom, walk.valueTo));
  expect(walk.end < 0 ? 'broken' : seen).toEqual(elements);
});

it.each([
  ['"a"', 'a'],
  ['"\\u00e9\\n"', 'é\n'],
  ['"\\x"', '\\x'],
  ['12.50', '12.50'],
])('the text of %s is %s', (written, text) => {
  const bytes = Buffer.from(written);
  expect(plainText(bytes, 0, bytes.length)).toBe(text);
});
