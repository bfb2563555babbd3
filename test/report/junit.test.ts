// JUnit XML has no standard. What Weir promises is the part that the well-known readers agree on, stated here as a table.
import { expect, it } from 'vitest';
import { comparedRuns, compareRuns } from '../../src/cli/compare-runs.js';
import { documentsJunit } from '../../src/report/junit.js';
import type { Reported } from '../../src/report/reported.js';
import { runDocument } from '../../src/report/run-document.js';
import { emptyRun, fleetRun, hostile, liveRun, sampleRun, shortRun } from './sample.js';

/** Of each element its attributes, those with a question mark being optional, and what may be in it. */
const elements: Readonly<Record<string, { attributes: readonly string[]; children: readonly string[] }>> = {
  '': { attributes: [], children: ['testsuites'] },
  testsuites: { attributes: ['name', 'tests', 'failures', 'errors?'], children: ['testsuite'] },
  testsuite: {
    attributes: ['name', 'tests', 'failures', 'errors?', 'skipped?', 'time?'],
    children: ['properties', 'testcase'],
  },
  properties: { attributes: [], children: ['property'] },
  property: { attributes: ['name', 'value'], children: [] },
  testcase: { attributes: ['classname', 'name'], children: ['failure', 'error', 'skipped'] },
  failure: { attributes: ['type', 'message'], children: ['text'] },
  error: { attributes: ['type', 'message'], children: ['text'] },
  skipped: { attributes: [], children: ['text'] },
};

interface Element {
  readonly name: string;
  readonly attributes: Readonly<Record<string, string>>;
  readonly inside: Element[];
}

const XML = /<\?xml [^<>]*\?>|<(\/?)(\w+)((?:\s+\w+="[^"<>\n]*")*)\s*(\/?)>|[^<>]+|[<>]/g;
const NOT_XML = /[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]|&(?!(?:amp|lt|gt|quot|#\d+);)/u;

/** What is wrong with a file, each with the element in which it is. */
function faultsOf(text: string): string[] {
  const faults: string[] = NOT_XML.test(text) ? ['a character that XML does not have'] : [];
  const open: Element[] = [{ name: '', attributes: {}, inside: [] }];
  for (const [token, closing, name, attributes = '', empty] of text.matchAll(XML)) {
    const inner = open.at(-1)!;
    if (closing === '/') {
      if (open.pop()!.name !== name) return [...faults, `${inner.name} is closed as ${name}`];
    } else if (name !== undefined) {
      const values = [...attributes.matchAll(/(\w+)="([^"]*)"/g)].map(
        ([, key = '', value = '']) => [key, value] as const,
      );
      const element = { name, attributes: Object.fromEntries(values), inside: [] };
      inner.inside.push(element);
      if (empty !== '/') open.push(element);
    } else if (token.trim() !== '' && !token.startsWith('<?xml')) {
      inner.inside.push({ name: token === '<' || token === '>' ? token : 'text', attributes: {}, inside: [] });
    }
  }
  return open.length === 1
    ? [...faults, ...elementFaults(open[0]!)]
    : [...faults, `${open.at(-1)!.name} is not closed`];
}

function elementFaults({ name, attributes, inside }: Element): string[] {
  if (name === 'text') return [];
  const rule = elements[name]!;
  const strange = inside.filter((one) => !rule.children.includes(one.name));
  if (strange.length > 0) return strange.map((one) => `${name} contains ${one.name}`);
  const needed = rule.attributes.filter((key) => !key.endsWith('?'));
  const missing = needed.filter((key) => !(key in attributes));
  const extra = Object.keys(attributes).filter((key) => ![key, `${key}?`].some((one) => rule.attributes.includes(one)));
  return [
    ...missing.map((key) => `${name} needs ${key}`),
    ...extra.map((key) => `${name} has no ${key}`),
    ...wrongCounters(name, attributes, inside),
    ...inside.flatMap(elementFaults),
  ];
}

/** The counters say what is in the file. */
function wrongCounters(name: string, attributes: Element['attributes'], inside: readonly Element[]): string[] {
  if (!name.startsWith('testsuite')) return [];
  const within = (all: readonly Element[]): Element[] => all.flatMap((one) => [one, ...within(one.inside)]);
  const count = (element: string) => within(inside).filter((one) => one.name === element).length;
  const counted = {
    tests: count('testcase'),
    failures: count('failure'),
    errors: count('error'),
    skipped: count('skipped'),
  };
  return Object.entries(counted)
    .filter(([key, n]) => attributes[key] !== undefined && attributes[key] !== String(n))
    .map(([key, n]) => `${name} says ${attributes[key]} ${key}, and has ${n}`);
}

const junitXml = (runs: readonly Reported[]) => documentsJunit(runs.map((run) => runDocument(run, 'junit')));
const all = [sampleRun(), liveRun(), fleetRun(), shortRun(), emptyRun(), sampleRun({ more: { partial: true } })];

it.each(all.map((run, index) => [index, run] as const))('JUnit XML has the promised structure: run %i', (_, run) => {
  expect(faultsOf(junitXml([run]))).toEqual([]);
});

it('JUnit XML has the promised structure for several runs, for none, and for a comparison', () => {
  const outcomes = all.map(({ outcome }) => outcome);
  const compared = compareRuns(
    outcomes.map((outcome, index) => ({ name: String(index), outcome })),
    true,
  );
  expect([junitXml(all), junitXml([]), documentsJunit(comparedRuns(compared))].flatMap(faultsOf)).toEqual([]);
});

it('JUnit XML holds any name whatever it is made of', () => {
  const run = sampleRun({
    more: {
      scenario: `${hostile}\ud800\ufffe`,
      expectations: [{ name: ']]>\u0007', expected: '<&>', actual: '"\n', held: false }],
    },
  });
  expect(faultsOf(junitXml([run]))).toEqual([]);
});

it.each([
  '<testsuites><testsuite name="x"/></testsuites>',
  '<testsuites name="" tests="0" failures="0" errors="0"><testcase classname="" name=""/></testsuites>',
  '<testsuites name="" tests="1" failures="0" errors="0"></testsuites>',
  '<testsuites name="" tests="0" failures="0" errors="0"></testsuite>',
  '<testsuites name="" tests="0" failures="0" errors="0">',
  '<testsuites name="a & b" tests="0" failures="0" errors="0"/>',
  '<testsuites name="\u0000" tests="0" failures="0" errors="0"/>',
  '<testsuites name="<" tests="0" failures="0" errors="0"/>',
])('the table that checks JUnit XML can refuse: %j', (text) => expect(faultsOf(text)).not.toEqual([]));

it.each([
  ['a & b < c > "d"', 'a &amp; b &lt; c &gt; &quot;d&quot;'],
  ['\u0000\u0008\u001b\ud800\uffff', '\ufffd\ufffd\ufffd\ufffd\ufffd'],
  ['tab\tline\nfeed\r', 'tab&#9;line&#10;feed&#13;'],
  ['😀 ü', '😀 ü'],
])('JUnit XML has %j as %j', (text, expected) => {
  const check = { name: text, result: 'passed' } as const;
  const xml = documentsJunit([{ title: '', sentence: '', blocks: [{ kind: 'checks', rows: [check] }] }]);
  expect(/<testcase .* name="([^"]*)"/.exec(xml)?.[1]).toBe(expected);
});
