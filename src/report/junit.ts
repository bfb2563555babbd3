// Documents as JUnit XML for Jenkins, GitLab and GitHub Actions: a suite per document, a case per check.
import { type CheckRow, type ReportDocument, shownIn } from './block.js';

export function documentsJunit(documents: readonly ReportDocument[]): string {
  const suites = documents.map((document) => ({ document, cases: casesOf(document) }));
  const all = suites.flatMap(({ cases }) => cases);
  return [
    '<?xml version="1.0" encoding="UTF-8"?>',
    `<testsuites name="weir" tests="${all.length}" failures="${count(all, 'failed')}" errors="${count(all, 'error')}">`,
    ...suites.flatMap(({ document, cases }) => suiteLines(document, cases)),
    '</testsuites>',
    '',
  ].join('\n');
}

function casesOf({ blocks }: ReportDocument): CheckRow[] {
  return shownIn(blocks, 'junit').flatMap((block) => (block.kind === 'checks' ? block.rows : []));
}

// No `time`: JUnit means the real duration, and cycles may pass in virtual time.
function suiteLines({ title, properties = {} }: ReportDocument, cases: readonly CheckRow[]): string[] {
  const named = Object.entries(properties).map(
    ([name, value]) => `      <property name="${name}" value="${xmlText(String(value))}"/>`,
  );
  return [
    `  <testsuite name="${xmlText(title)}" tests="${cases.length}" failures="${count(cases, 'failed')}" errors="${count(cases, 'error')}" skipped="${count(cases, 'skipped')}">`,
    ...(named.length === 0 ? [] : ['    <properties>', ...named, '    </properties>']),
    ...cases.flatMap((one) => caseLines(one, title)),
    '  </testsuite>',
  ];
}

function caseLines({ name, condition = '', result, message = '', details }: CheckRow, title: string): string[] {
  const open = `    <testcase classname="weir.${xmlText(title)}" name="${xmlText(name === '' ? condition : name)}"`;
  const element = { passed: undefined, failed: 'failure', error: 'error', skipped: 'skipped' }[result];
  if (element === undefined) return [`${open}/>`];
  if (element === 'skipped') return [`${open}>`, `      <skipped>${xmlText(message)}</skipped>`, '    </testcase>'];
  const body = details === undefined ? '/>' : `>${xmlText(details)}</${element}>`;
  return [`${open}>`, `      <${element} type="${result}" message="${xmlText(message)}"${body}`, '    </testcase>'];
}

function count(cases: readonly CheckRow[], result: CheckRow['result']): number {
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

/** Replaces characters that XML 1.0 does not allow. */
function xmlText(text: string): string {
  return text
    .replace(/[^\t\n\r\u0020-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, '\ufffd')
    .replace(/[&<>"\n\r\t]/g, (character) => entities[character]!);
}
