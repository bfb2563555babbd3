// The README and the topics are executed, those of the page of live runs in a file of their own, beside nothing that computes.
// Leaves `npm ci && npm start` and `npm test` to .ci/run, which walks as a newcomer does.
import { execFileSync } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { parse } from 'yaml';
import { topics } from '../src/cli/topics/topics.js';
import { clientKinds } from '../src/harness/clients/client-schema.js';
import { Scenario } from '../src/harness/scenario/scenario-schema.js';
import { arrivalKinds } from '../src/harness/traffic/arrival/arrival-schema.js';
import { weirHere } from './cli/command-line.js';
import { recordedLogs } from './harness/traffic/log/recorded.js';
import { bash, blocksOf, folder, LIVE_PAGE, patternOf, root, runBlock, runsItsBlocks, textOf } from './pages.js';

const readme = textOf('README.md');

const walked = blocksOf(readme).filter(({ text }) => text.includes('npm ci'));
/** What the table of questions answers with. */
const typed = [...readme.matchAll(/^\| .*\? +\| `(weir [^`]+)`/gm)].map(([, command = '']) => command);
const pages = ['README.md', ...topics.flatMap(({ path }) => path ?? [])];
/** The blocks of each page that no page before it has. */
const seen = new Set<string>();
const executed = pages.map((path) => {
  const fresh = blocksOf(textOf(path)).filter(({ text }) => !text.includes('npm ci') && !seen.has(text));
  for (const { text } of fresh) seen.add(text);
  return [path, fresh] as const;
});

const computing = executed.filter(([path, blocks]) => path !== LIVE_PAGE && blocks.length > 0);
describe.each(computing)('%s', (_, blocks) => void runsItsBlocks(blocks));

it('CI walks the two lines of the README', () => {
  const ci = readFileSync(join(root, '.ci/run'), 'utf8');
  const steps = [...readme.matchAll(/npm ci && (npm \w+)/g)].map(([, step]) => step!);
  expect([
    walked.length,
    ...['npm ci', ...steps].map((step) => new RegExp(`^(walk|judged) ${step}$`, 'm').test(ci)),
  ]).toEqual([1, true, true, true]);
});

it('the README links every topic, and is a screen and a half of short lines', () => {
  expect(topics.filter(({ name, path }) => path !== undefined && !readme.includes(`[${name}](${path})`))).toEqual([]);
  expect(readme.split('\n').length).toBeLessThan(100);
  const prose = readme.replace(/^```[\s\S]*?^```$/gm, '').replace(/^\|.*$|^!.*$/gm, '');
  expect(prose.split('\n').filter((line) => line.replace(/\]\([^)]*\)/g, ']').length > 100)).toEqual([]);
});

it('the README begins with the pull request, and answers each question with a command', () => {
  expect([readme.match(/^## .*/gm)?.[0], typed.length]).toEqual(['## In the pull request', 8]);
});

// The others are blocks of a page.
it.each(typed.filter((text) => !seen.has(`${text}\n`)))('a command of the README runs: %s', async (text) => {
  await runBlock({ language: 'sh', text, shown: undefined });
});

it('the picture of the README is drawn from the runs', () => {
  const drawn = execFileSync(process.execPath, ['test/moving-picture.mjs'], { cwd: root, encoding: 'utf8' });
  expect(drawn).toBe(textOf('reports/example/storm.svg'));
});

it.each(pages)('%s links to what is there', (path) => {
  const links = [...textOf(path).matchAll(/\]\(([^)#]+)\)/g)].map(([, link = '']) => link);
  expect(links.filter((link) => !/^https?:/.test(link) && !existsSync(join(root, dirname(path), link)))).toEqual([]);
});

it('the page of scenarios names every scenario with its question, every arrival, client and field', () => {
  const page = textOf('scenarios/README.md').replace(/ +\|/g, ' |');
  const questions = readdirSync(join(root, 'scenarios'))
    .filter((name) => name.endsWith('.yaml'))
    .map((name) => {
      const { question } = parse(readFileSync(join(root, 'scenarios', name), 'utf8'));
      return `| [${name.replace('.yaml', '')}](${name}) | ${question} |`;
    });
  const fields = Object.keys(Scenario.properties).filter(
    (field) => !['name', 'start_cycle', 'warm_up'].includes(field),
  );
  const words = [...Object.keys(arrivalKinds), ...Object.keys(clientKinds), ...fields].map((word) => `\`${word}\``);
  expect([...questions, ...words].filter((part) => !page.includes(part))).toEqual([]);
});

const programs = readdirSync(join(root, 'scenarios/programs'));

it.each(programs)('the program %s has some 20 lines, and prints what its last comment says', async (name) => {
  const [code = '', shown = ''] = textOf(`scenarios/programs/${name}`).split(/\n\n(?=(?:\/\/ .*\n)+$)/);
  const how = name.endsWith('.test.mjs') ? '--test --test-reporter=tap' : '';
  const out = await bash(`"${process.execPath}" ${how} "${join(root, 'scenarios/programs', name)}"`);
  expect(out.replace(/ +$/gm, '')).toMatch(patternOf(shown.replace(/^\/\/ /gm, '')));
  expect(code.split('\n').length).toBeLessThanOrEqual(24);
});

it('the page of the library names every program', () => {
  const page = textOf('src/cli/topics/library.md');
  expect(programs.filter((name) => !page.includes(`| \`${name}\``))).toEqual([]);
});

const commands: Readonly<Record<string, string>> = {
  apache: 'access.log',
  azure: 'calls.csv',
  nasa: 'visits.tsv',
  nginx: 'counts.csv',
};

it.each(recordedLogs.filter(({ name }) => name in commands).map((log) => [commands[log.name]!, log] as const))(
  'the command of the page of logs for %s gives the known figures of such a log',
  async (name, { text, figures }) => {
    const known = `known ${name}`;
    writeFileSync(join(folder, known), text!);
    const command = new RegExp(`^weir (replay ${name}.*)$`, 'm').exec(textOf('src/cli/topics/logs.md'))![1]!;
    const words = command.split(' ').map((word) => (word === name ? known : word));
    const { out } = await weirHere([...words, '--within', '60', '--out', 'none'], {}, '', folder);
    expect(out).toMatch(new RegExp(`limited +${figures.limited.toLocaleString('en')} `));
    expect(out).toMatch(new RegExp(`entries into limiting +${figures.entries}\\n`));
  },
);
