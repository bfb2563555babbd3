// `weir help <topic>`: a page about one topic, as text for the terminal.
import { readFileSync } from 'node:fs';
import type { Argv } from 'yargs';
import { nearest } from '../schema/did-you-mean.js';
import { topics } from '../topics/topics.js';
import type { GivenTo } from './command.js';
import { commands, nameOf, nodeCommands } from './commands.js';
import { usageFailure } from './ending.js';
import { say } from './say.js';
import { facts, terminalAtHand } from './terminal.js';

const MOST_COLUMNS = 100;

export const options = (yargs: Argv) =>
  yargs
    .positional('topic', { type: 'string', describe: 'one of the topics below' })
    .example('$0 help limits', 'which limit fits')
    .example('$0 help simulate', 'the help of a command, as `weir simulate --help`')
    .epilogue(listed());

export async function run({ topic }: GivenTo<typeof options>): Promise<void> {
  const terminal = terminalAtHand();
  if (topics.every(({ name }) => name !== topic)) throw unknownTopic(String(topic));
  const [{ asciiOnly }, { pageText }] = await Promise.all([
    import('../report/terminal-text.js'),
    import('../report/topic-text.js'),
  ]);
  const page = readFileSync(new URL(`../topics/${topic}.md`, import.meta.url), 'utf8');
  const text = `${pageText(page, { ...terminal, columns: Math.min(MOST_COLUMNS, terminal.columns) })}\n`;
  say(terminal.unicode ? text : asciiOnly(text));
}

function listed(): string {
  return `Topics:\n${facts(topics.map(({ name, about }) => [name, about]))}`;
}

function unknownTopic(topic: string): Error {
  const guess = nearest(topic, [
    ...topics.map(({ name }) => name),
    ...commands.map(nameOf),
    ...nodeCommands.map(nameOf),
  ]);
  const names = topics.map(({ name }) => name).join(', ');
  const fix = guess === undefined ? '' : `Did you mean \`weir help ${guess}\`? `;
  return usageFailure(`There is no topic and no command "${topic}".`, `${fix}Topics: ${names}.`);
}
