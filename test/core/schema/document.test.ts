import { expect, it } from 'vitest';
import { readDocument } from '../../../src/core/schema/document.js';
import { read, refusalOf, saidBy } from '../../harness/scenario/reading.js';

const body = 'question: Q?\nduration: 100\narrivals:\n  - { model: constant, rate: 1 }\n';

// biome-ignore format: one case a line
it.each<[what: string, text: string, faults: string[]]>([
    ['a key given twice', `${body}question: again\n`, ['line 5, column 1: Map keys must be unique']],
    ['a bracket that is never closed',
      'question: [1,\n', ['line 2, column 1: Flow sequence in block collection must be sufficiently indented and end with a ]']],
    ['tabs as indentation',
      'question: Q?\nlimiter:\n\tthreshold: 3\n', ['line 3, column 1: a tab stands where blanks are needed: YAML indents with blanks']],
    ['two documents', `${body}---\nquestion: R?\n`, ['line 5, column 1: a second document begins here: a file holds one scenario']],
    ['fields merged of a number', 'question: Q?\nlimiter:\n  <<: 3\n', ['line 3, column 3: << takes the fields of *NAME, where NAME is a map']],
    ['an alias of nothing', 'question: *nope\n', ['line 1, column 11: nothing before it is called &nope']],
    ['a byte order mark', '\ufeffquestion: *nope\n', ['line 1, column 11: nothing before it is called &nope']],
    ['a value inside itself', 'question: Q?\nexpect: &a [*a]\n', ['line 2, column 13: a value refers to itself']],
    [
      'a text that unfolds without end',
      ['a: &a [x, x]', ...'bcdefgh'.split('').map((k, i) => `${k}: &${k} [${`*${'abcdefg'[i]}, `.repeat(8)}]`)].join('\n'),
      ['line 1, column 1: more than 100 references: write the values out instead'],
    ],
    ['brackets without end', `question: ${'['.repeat(20_000)}`, ['line 1, column 1: it is nested too deeply']],
    ['a tag', 'question: !mine Q?\n', ['line 1, column 11: tags have no meaning in a scenario']],
  ])('a text that is no document is refused at its place: %s', (_, text, faults) => {
    expect(refusalOf(text)).toEqual(faults);
  });

it.each<[what: string, text: string, found: string]>([
  ['an empty file', '', 'it is empty'],
  ['a file of comments', '# nothing yet\n', 'it is empty'],
  ['a list', '- 1\n- 2\n', 'it is a list'],
  ['a word', 'hello\n', 'it is a single value'],
  ['a number', '7\n', 'it is a single value'],
])('%s is no scenario', (_, text, found) => {
  expect(refusalOf(text)).toEqual([
    expect.stringMatching(/^line 1, column \d+: a scenario has fields, as question and arrivals, but /),
  ]);
  expect(refusalOf(text)[0]).toContain(found);
});

const plain = saidBy(read(body));
it.each([
  ['JSON', JSON.stringify({ question: 'Q?', duration: 100, arrivals: [{ model: 'constant', rate: 1 }] })],
  ['lines that end as on Windows', body.replaceAll('\n', '\r\n')],
  ['a byte order mark', `\uFEFF${body}`],
  ['no line feed at the end', body.trimEnd()],
  ['merged references', 'question: Q?\n<<: { duration: 100 }\narrivals:\n  - { model: constant, rate: 1 }\n'],
  ['references', 'question: Q?\nduration: &d 100\narrivals:\n  - { model: constant, rate: 1 }\n'],
])('a scenario is the same in any spelling: %s', (_, text) => {
  expect(saidBy(read(text))).toEqual(plain);
});

const { located } = readDocument('a:\n  b: [1, { c: 2 }]\n"d/e": 3\nf: &f { g: 4 }\nh: *f\n', 'file');
it.each([
  ['/a', 'line 1, column 1 (/a)'],
  ['/a/b/1/c', 'line 2, column 12 (/a/b/1/c)'],
  ['/a/b/0', 'line 2, column 7 (/a/b/0)'],
  ['/a/missing', 'line 1, column 1 (/a/missing)'],
  ['/d~1e', 'line 3, column 1 (/d~1e)'],
  ['/h/g', 'line 4, column 9 (/h/g)'],
  ['', 'line 1, column 1'],
])('a place in the value leads back to the text: %s', (path, place) => {
  expect(located([{ path, message: 'm' }])).toEqual([{ path: place, message: 'm' }]);
});
