// `weir help <topic>`: a page about one topic, as text for the terminal.
import { readFileSync } from 'node:fs';
import { lexer, type Token, type Tokens } from 'marked';
import type { Argv } from 'yargs';
import { asciiOnly, hued, type Terminal, wrapped } from '../report/terminal-text.js';
import { nearest } from '../schema/did-you-mean.js';
import { topics } from '../topics/topics.js';
import type { GivenTo } from './command.js';
import { usageFailure } from './ending.js';
import { facts, terminalAtHand } from './terminal.js';

const MOST_COLUMNS = 100;

export const options = (yargs: Argv) =>
  yargs
    .positional('topic', { type: 'string', describe: 'one of the topics below' })
    .example('$0 help limits', 'which limit fits')
    .example('$0 help simulate', 'the help of a command, as `weir simulate --help`')
    .epilogue(listed());

export function run({ topic }: GivenTo<typeof options>): void {
  const terminal = terminalAtHand();
  if (topics.every(({ name }) => name !== topic)) throw unknownTopic(String(topic));
  const page = readFileSync(new URL(`../topics/${topic}.md`, import.meta.url), 'utf8');
  const text = `${pageText(page, { ...terminal, columns: Math.min(MOST_COLUMNS, terminal.columns) })}\n`;
  process.stdout.write(terminal.unicode ? text : asciiOnly(text));
}

function listed(): string {
  return `Topics:\n${facts(topics.map(({ name, about }) => [name, about]))}`;
}

function unknownTopic(topic: string): Error {
  const guess = nearest(
    topic,
    topics.map(({ name }) => name),
  );
  const names = topics.map(({ name }) => name).join(', ');
  const fix = guess === undefined ? '' : `Did you mean \`weir help ${guess}\`? `;
  return usageFailure(`There is no topic and no command "${topic}".`, `${fix}Topics: ${names}.`);
}

/** A page in Markdown as text, in lines of at most the width of the terminal, but for code. */
export function pageText(page: string, terminal: Terminal): string {
  return lexer(page)
    .flatMap((block) => blockText(block, terminal) ?? [])
    .join('\n\n');
}

/** A block without a line feed at its end. Undefined for what says nothing in a terminal: a picture, a space. */
function blockText(block: Token, terminal: Terminal): string | undefined {
  const { columns } = terminal;
  switch (block.type) {
    case 'heading':
      return hued(wordsOf(block.tokens), 'strong', terminal);
    case 'code':
      return indented((block as Tokens.Code).text.split('\n')).join('\n');
    case 'list':
      return (block as Tokens.List).items
        .map(({ tokens }) => indented(wrapped(wordsOf(tokens), columns - 2), '- ').join('\n'))
        .join('\n');
    case 'table':
      return tableText(block as Tokens.Table, terminal).join('\n');
    case 'paragraph':
      return wrapped(wordsOf(block.tokens), columns).join('\n') || undefined;
    default:
      return undefined;
  }
}

/** Rows of names and what is said of them. A row of more cells has a line for each of them. */
function tableText({ header, rows }: Tokens.Table, terminal: Terminal): string[] {
  const names = rows.map(([first]) => wordsOf(first!.tokens));
  const width = Math.max(...names.map((name) => name.length));
  if (header.length === 2 && width <= 30)
    return rows.flatMap(([, said], row) => {
      const lines = wrapped(wordsOf(said!.tokens), terminal.columns - width - 4);
      return indented(lines, `  ${names[row]!.padEnd(width)}  `);
    });
  return rows.flatMap(([, ...cells], row) => [
    `  ${hued(names[row]!, 'strong', terminal)}`,
    ...cells.flatMap(({ tokens }, index) => {
      const head = wordsOf(header[index + 1]!.tokens);
      const said = `${head === '' || header.length === 2 ? '' : `${head}: `}${wordsOf(tokens)}`;
      return indented(wrapped(said, terminal.columns - 6), '    ', '      ');
    }),
  ]);
}

/** Lines behind a beginning, and the further ones below it. */
function indented(lines: readonly string[], first = '  ', further = ' '.repeat(first.length)): string[] {
  return lines.map((line, index) => (line === '' ? '' : `${index === 0 ? first : further}${line}`));
}

/** The words of a block on one line. Code keeps its quotes, links lose their address, pictures go. */
function wordsOf(tokens: readonly Token[] | undefined): string {
  const words = (tokens ?? []).map((token): string => {
    if (token.type === 'codespan') return token.raw;
    if (token.type === 'image') return '';
    if ('tokens' in token && token.tokens !== undefined) return wordsOf(token.tokens);
    return 'text' in token ? String(token.text) : '';
  });
  return words.join('').replace(/\s+/g, ' ').trim();
}
