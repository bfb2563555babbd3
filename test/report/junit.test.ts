// The XML against the schema that Jenkins publishes for it (MIT licence, as its head says).
import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { validateXML } from 'xmllint-wasm';
import { compareRuns } from '../../src/report/compare-runs.js';
import { comparisonJunit } from '../../src/report/comparison-text.js';
import { junitXml, xmlText } from '../../src/report/junit.js';
import { emptyRun, fleetRun, hostile, liveRun, sampleRun, shortRun } from './sample.js';

const schema = { fileName: 'junit.xsd', contents: readFileSync(new URL('schema/junit.xsd', import.meta.url), 'utf8') };

async function faultsOf(contents: string) {
  const { errors } = await validateXML({ xml: [{ fileName: 'junit.xml', contents }], schema: [schema] });
  return errors.map(({ message }) => message);
}

const all = [sampleRun(), liveRun(), fleetRun(), shortRun(), emptyRun(), sampleRun({ more: { partial: true } })];

describe('JUnit XML', () => {
  it.each(all.map(({ outcome }, index) => [index, outcome] as const))('fits the schema: run %i', async (_, outcome) => {
    expect(await faultsOf(junitXml([outcome]))).toEqual([]);
  });

  it('fits the schema for several runs, for none, and for a comparison', async () => {
    const outcomes = all.map(({ outcome }) => outcome);
    const compared = compareRuns(
      outcomes.map((outcome, index) => ({ name: String(index), outcome })),
      { baseline: 0 },
    );
    expect(await Promise.all([junitXml(outcomes), junitXml([]), comparisonJunit(compared)].map(faultsOf))).toEqual([
      [],
      [],
      [],
    ]);
  });

  it('holds any name whatever it is made of', async () => {
    const { outcome } = sampleRun({
      more: {
        scenario: `${hostile}\ud800\ufffe`,
        expectations: [{ name: ']]>\u0007', expected: '<&>', actual: '"\n', held: false }],
      },
    });
    expect(await faultsOf(junitXml([outcome]))).toEqual([]);
  });

  it('is checked by a schema that can refuse', async () => {
    expect(await faultsOf('<testsuites><testsuite name="x"/></testsuites>')).toHaveLength(1);
  });

  it.each([
    ['a & b < c > "d"', 'a &amp; b &lt; c &gt; &quot;d&quot;'],
    ['\u0000\u0008\u001b\ud800\uffff', '\ufffd\ufffd\ufffd\ufffd\ufffd'],
    ['tab\tline\nfeed\r', 'tab&#9;line&#10;feed&#13;'],
    ['😀 ü', '😀 ü'],
  ])('writes %j as %j', (text, expected) => {
    expect(xmlText(text)).toBe(expected);
  });
});
