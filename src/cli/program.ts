// Finds the command of a command line, and runs it or shows its help.
import { readFileSync } from 'node:fs';
import { packageFile } from '../core/files/package-file.js';
import { nearest } from '../core/schema/did-you-mean.js';
import { VERSION } from '../core/version.js';
import { endWith, usageFailure } from '../report/command/exit-codes.js';
import { releaseStop } from '../report/command/interrupt.js';
import { eraseProgress, say } from '../report/command/say.js';
import { terminalAtHand } from '../report/command/terminal.js';
import { commands, namedBy } from './commands.js';
import { commandPage, commandsPage, firstPage, groupPage } from './help.js';
import { topics } from './topics/topics.js';

/** Runs the command and reports its failure. Sets the exit code without exiting. */
export async function runCommandLine(words: readonly string[]): Promise<void> {
  try {
    const asked = helpIn(words);
    if (['--version', '-V', 'version'].includes(words[0] ?? '')) say(`${VERSION}\n`);
    else if (words[0] === '--get-yargs-completions') await (await import('./parser.js')).complete(words, commands);
    else if (asked !== undefined) await help(asked);
    else await runNamed(words);
  } catch (error) {
    endWith(error, words.includes('--json'));
  } finally {
    eraseProgress();
    releaseStop();
  }
}

async function runNamed(words: readonly string[]): Promise<void> {
  const found = await (await import('./parser.js')).read(words, commands);
  if (found === undefined) throw unknown(words);
  (await import('../tools.js')).addTools();
  await found.command.run(found.given, found.line);
}

/** What help is asked about; undefined if none is. */
function helpIn(words: readonly string[]): readonly string[] | undefined {
  if (words[0] === 'help') return words.slice(1);
  const ended = words.indexOf('--');
  const before = ended === -1 ? words : words.slice(0, ended);
  const isAsked = words.length === 0 || before.some((word) => word === '--help' || word === '-h');
  return isAsked ? words.filter((word) => !word.startsWith('-')) : undefined;
}

function known(words: string): boolean {
  return commands.some(({ name }) => `${name} `.startsWith(`${words} `));
}

function groupIn(words: readonly string[]): string | undefined {
  const asked = [words.slice(0, 2), words.slice(0, 1)].map((part) => part.join(' '));
  return asked.find((part) => part !== '' && known(part));
}

async function help(words: readonly string[]): Promise<void> {
  const terminal = terminalAtHand();
  const first = words.every((word) => word === '--help' || word === '-h') ? undefined : words[0];
  const named = topics.find(({ name }) => name === first?.trim().toLowerCase());
  // In the words that people type: `weir help N replicas`. One word may be in the list of another topic, too.
  const typed = words.join(' ').toLowerCase();
  const asked = topics.find(({ about }) => about.toLowerCase().split(':')[0]!.split(', ').includes(typed));
  const topic = words.length === 1 ? (named ?? asked) : (asked ?? named);
  const listed = namedBy(words, commands);
  const group = groupIn(words);
  if (first === undefined) say(`${firstPage(terminal)}\n`);
  else if (listed !== undefined) say(`${commandPage(listed, await listed.load(), terminal)}\n`);
  else if (group === words.join(' ')) say(`${groupPage(group, terminal)}\n`);
  else if (topic !== undefined) await showTopic(topic.name, topic === asked ? '' : words.slice(1).join('.'));
  else throw unknown(words, true);
}

const MOST_COLUMNS = 100;

async function showPage(page: string): Promise<void> {
  const terminal = terminalAtHand();
  const [{ asciiOnly }, { pageText }] = await Promise.all([
    import('../report/terminal-text.js'),
    import('../report/topic-text.js'),
  ]);
  const text = `${pageText(page, { ...terminal, columns: Math.min(MOST_COLUMNS, terminal.columns) })}\n`;
  say(terminal.unicode ? text : asciiOnly(text));
}

async function showTopic(name: string, word = ''): Promise<void> {
  if (name === 'fields') {
    const [{ fieldPage }, { Scenario }] = await Promise.all([
      import('../core/schema/field-reference.js'),
      import('../harness/scenario/scenario-schema.js'),
    ]);
    return showPage(fieldPage(Scenario, word));
  }
  if (word !== '') throw usageFailure(`The topic ${name} takes no further word.`, `See \`weir help ${name}\`.`);
  await showPage(
    name === 'commands' ? await commandsPage() : readFileSync(packageFile(`dist/topics/${name}.md`), 'utf8'),
  );
}

function unknown(words: readonly string[], isHelp = false) {
  const group = groupIn(words);
  const at = group === undefined ? 0 : group.split(' ').length;
  const word = words[at] ?? '';
  const see =
    isHelp && group === undefined
      ? `The topics are ${topics.map(({ name }) => name).join(', ')}; \`weir --help\` lists the commands.`
      : `See \`weir ${group === undefined ? '' : `${group} `}--help\`.`;
  if (!isHelp && (word === '' || word.startsWith('-'))) return usageFailure('Say what to do.', see);
  const before = group === undefined ? '' : `${group} `;
  const names = [
    ...(group === undefined ? ['help'] : []),
    ...commands.map(({ name }) => name).filter((name) => name.startsWith(before)),
    ...(isHelp ? topics.map(({ name }) => name) : []),
  ];
  const guess =
    nearest(
      word,
      names.map((name) => name.slice(before.length)),
    ) ??
    nearest(
      word,
      names.map((name) => name.slice(name.lastIndexOf(' ') + 1)),
    );
  const meant = names.find((name) => name.slice(before.length) === guess || name.endsWith(` ${guess}`));
  const asked = isHelp && meant !== 'help' ? `help ${meant}` : meant;
  return usageFailure(
    `There is no ${isHelp ? 'topic and no command' : 'command'} "${before}${word}".`,
    `${meant === undefined ? '' : `Did you mean \`weir ${asked}\`? `}${see}`,
  );
}
