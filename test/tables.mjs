// `npm run tables`: what tests of five kinds found, as tables in reports/. `npm run tables -- logs attacks` makes these two; attacks need
// a machine on which nothing else runs. A row is a test, or what it left in its meta as `rows`.
import { spawnSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { relative } from 'node:path';
import { foundBy } from './found-by.mjs';

const kinds = {
  logs: { title: 'Logs', files: 'log/traces log/kinds' },
  configurations: { title: 'Configurations', files: 'gateway/real gateway/real-conditions gateway/explain-real' },
  clients: {
    title: 'Clients',
    files: 'clients/libraries identify/real-clients identify/random-clients',
    settings: { WEIR_ALL: '1' },
  },
  identify: {
    title: 'Limiters, identified',
    files: 'identify/random identify/outsiders identify/real',
    settings: { WEIR_CASES: '20', WEIR_TIMES: '1' },
  },
  attacks: { title: 'Attacks beside a victim', files: 'node/victim', settings: { WEIR_VICTIM: '1' } },
};

const asked = process.argv.slice(2);
const unknown = asked.filter((kind) => !(kind in kinds));
if (unknown.length > 0) throw new Error(`No table is called ${unknown.join(', ')}: ${Object.keys(kinds).join(', ')}.`);

const commit = spawnSync('git', ['rev-parse', '--short', 'HEAD'], { encoding: 'utf8' }).stdout.trim();
for (const [kind, { title, files, settings = {} }] of Object.entries(kinds)) {
  if (asked.length > 0 && !asked.includes(kind)) continue;
  const found = foundBy(files, settings);
  if (found === undefined) throw new Error(`The tests of ${kind} did not end.`);
  if (found.some(({ status }) => status === 'failed')) process.exitCode = 1;
  const sections = found.toSorted((a, b) => a.name.localeCompare(b.name)).map(sectionOf);
  const made = `\`npm run tables -- ${kind}\` of ${commit}, on ${cpus().length} cores (${cpus()[0]?.model.trim()}), Node ${process.version}.`;
  writeFileSync(`reports/${kind}.md`, [`# ${title}`, made, ...sections].join('\n\n').concat('\n'));
}

/** Under the sentence with which the file begins: a table for each kind of row. */
function sectionOf({ name, assertionResults }) {
  const file = relative('.', name);
  const sentence = /^\/\/ (.*(?:\n\/\/ .+)*)/.exec(readFileSync(name, 'utf8'))?.[1]?.replaceAll('\n// ', ' ') ?? '';
  const rows = assertionResults.filter(({ status }) => status !== 'skipped').flatMap(rowsOf);
  const byColumns = new Map();
  for (const row of rows) {
    const columns = Object.keys(row).join(' | ');
    byColumns.set(columns, [...(byColumns.get(columns) ?? []), row]);
  }
  const skipped = assertionResults.filter(({ status }) => status === 'skipped').length;
  return [
    `## ${file}`,
    sentence,
    ...[...byColumns].map(([columns, some]) => tableOf(columns, some)),
    ...(skipped > 0 ? [`Not run here: ${skipped}.`] : []),
  ].join('\n\n');
}

function rowsOf({ ancestorTitles, title, status, meta }) {
  if (meta.rows !== undefined) return meta.rows;
  const found = status === 'passed' ? 'holds' : 'fails';
  return [{ what: [...ancestorTitles, title].join(': '), found }];
}

function tableOf(columns, rows) {
  const cells = (row) =>
    `| ${Object.values(row)
      .map((value) => String(value).replaceAll('|', '\\|'))
      .join(' | ')} |`;
  return [`| ${columns} |`, `|${' - |'.repeat(columns.split(' | ').length)}`, ...rows.map(cells)].join('\n');
}
