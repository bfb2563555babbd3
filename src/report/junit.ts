// An outcome as JUnit XML for Jenkins, GitLab and GitHub Actions: one case for each expectation, one for the comparison of the arms,
// one for the run itself.
import type { Outcome } from '../outcome/outcome-schema.js';
import { foundWords, verdictSentence } from './words.js';

interface Case {
  readonly name: string;
  readonly result: 'passed' | 'failed' | 'error' | 'skipped';
  readonly message: string;
  readonly details?: string;
}

const MOST_DIFFERENCES = 50;

/** One suite for each run, in the order given. */
export function junitXml(outcomes: readonly Outcome[]): string {
  const suites = outcomes.map((outcome) => ({ outcome, cases: casesOf(outcome) }));
  const all = suites.flatMap(({ cases }) => cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="weir" tests="${all.length}" failures="${count(all, 'failed')}" errors="${count(all, 'error')}">`,
    ...suites.flatMap(({ outcome, cases }) => suiteLines(outcome, cases)),
    '</testsuites>',
    '',
  ].join('\n');
}

function suiteLines(outcome: Outcome, cases: readonly Case[]): string[] {
  const { scenario, weir, kind, seed, digest, requests, admitted, limited, entries } = outcome;
  const seconds =
    outcome.first_cycle === null || outcome.last_cycle === null
      ? 0
      : ((outcome.last_cycle - outcome.first_cycle + 1) * outcome.cycle_ms) / 1000;
  // No `time`: that of a suite is how long it ran, and the cycles of a run may pass in virtual time.
  const run_seconds = seconds.toFixed(3);
  const properties = { weir, kind, seed, digest, requests, admitted, limited, entries, run_seconds };
  return [
    `  <testsuite name="${xmlText(scenario)}" tests="${cases.length}" failures="${count(cases, 'failed')}" errors="${count(cases, 'error')}" skipped="${count(cases, 'skipped')}">`,
    '    <properties>',
    ...Object.entries(properties).map(
      ([name, value]) => `      <property name="${name}" value="${xmlText(String(value))}"/>`,
    ),
    '    </properties>',
    ...cases.flatMap((one) => caseLines(one, scenario)),
    '  </testsuite>',
  ];
}

function caseLines({ name, result, message, details }: Case, scenario: string): string[] {
  const open = `    <testcase classname="weir.${xmlText(scenario)}" name="${xmlText(name)}"`;
  const element = { passed: undefined, failed: 'failure', error: 'error', skipped: 'skipped' }[result];
  if (element === undefined) return [`${open}/>`];
  if (element === 'skipped') return [`${open}>`, `      <skipped>${xmlText(message)}</skipped>`, '    </testcase>'];
  const body = details === undefined ? '/>' : `>${xmlText(details)}</${element}>`;
  return [`${open}>`, `      <${element} type="${result}" message="${xmlText(message)}"${body}`, '    </testcase>'];
}

/** At least one: consumers treat an empty suite as an error. */
function casesOf(outcome: Outcome): Case[] {
  const { expectations, comparison, partial } = outcome;
  const cases: Case[] = expectations.map((one) => ({
    name: one.name === '' ? one.expected : one.name,
    result: !one.held ? 'failed' : partial === true ? 'skipped' : 'passed',
    message: messageOn(one, outcome),
  }));
  if (comparison !== undefined) {
    const { verdict, reason, differences, differences_total } = comparison;
    const result = verdict === 'agrees' ? 'passed' : verdict === 'node differs' ? 'failed' : 'error';
    const listed = differences
      .slice(0, MOST_DIFFERENCES)
      .map(
        (d) =>
          `cycle ${d.cycle}, contract ${d.contract}: ${d.figure} predicted ${d.predicted ?? 'none'}, observed ${d.observed ?? 'none'}`,
      );
    cases.push({
      name: 'observed agrees with predicted',
      result,
      message: reason,
      ...(listed.length === 0 ? {} : { details: [...listed, `${differences_total} in all`].join('\n') }),
    });
  }
  cases.push(
    partial === true
      ? { name: 'the run came to its end', result: 'skipped', message: verdictSentence(outcome) }
      : { name: 'the run came to its end', result: 'passed', message: '' },
  );
  return cases;
}

function messageOn(one: Outcome['expectations'][number], outcome: Outcome): string {
  if (!one.held) return `expected ${one.expected}, ${foundWords(one, outcome)}`;
  return outcome.partial === true ? 'held so far: the run did not come to its end' : '';
}

function count(cases: readonly Case[], result: Case['result']): number {
  return cases.filter((one) => one.result === result).length;
}

const entities: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  '\n': '&#10;',
  '\r': '&#13;',
  '\t': '&#9;',
};

/** Escapes text for attributes and content. Characters that XML 1.0 does not allow are replaced. */
export function xmlText(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"\n\r\t]/g, (character) => entities[character]!);
}
