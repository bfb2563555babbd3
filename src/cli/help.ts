// Help texts, derived from the commands: the first page, the page of a command, and the page of all commands.

import { type Command, entriesOf, type Option, optionName, usageOf } from '../report/command/command.js';
import { filled, type Terminal } from '../report/terminal-text.js';
import { commands, groups, type ListedCommand } from './commands.js';
import { topics } from './topics/topics.js';

const MOST_COLUMNS = 110;

const EXIT_CODES =
  'Exit codes: 0 all held; 1 an expectation did not hold; 2 wrong use or unreadable input; 3 observed differs from predicted; 4 the run is invalid; 5 the node could not be reached; 70 an internal error; 74 the disk; 130 stopped by Ctrl-C; 143 by SIGTERM.';

export const HELP = 'print a page about a topic, or the help of a command';

type Rows = readonly (readonly [name: string, about: string])[];

const start: Rows = [
  ['weir recommend access.log --key client', 'which limit fits a log'],
  ['weir simulate scenarios/burst.yaml', 'what a limiter does with a burst'],
  ['weir load scenarios/burst.yaml', 'the same requests against a live node, compared'],
  ['weir play', 'the playground in the browser'],
];

export function firstPage(terminal: Terminal): string {
  const width = widthOf(terminal);
  const parts = groups.map(({ title, about }) => {
    const rows = commands.flatMap(({ name, group, about: what }) => (group === title ? [[name, what] as const] : []));
    if (title === 'node')
      rows.push(['node …', 'ask a running node: mint, machine, deploy, gate, event, follow, record, …']);
    if (title === 'more') rows.push(['help …', HELP]);
    return `${title}: ${about}\n${columns(rows, width, 12)}`;
  });
  return [
    'weir <command>',
    paragraph('Simulates rate limiters, load-tests them live, and compares the two cycle by cycle.', width),
    columns(start, width, 42),
    ...parts,
    paragraph('weir <command> --help lists the options of a command, weir help commands those of all.', width),
    paragraph(`weir help <topic> explains: ${topics.map(({ name }) => name).join(', ')}.`, width),
    paragraph(EXIT_CODES, width),
  ].join('\n\n');
}

export function groupPage(words: string, terminal: Terminal): string {
  const width = widthOf(terminal);
  const rows = commands.flatMap(({ name, about }) =>
    name.startsWith(`${words} `) ? [[`weir ${name}`, about] as const] : [],
  );
  return [`weir ${words} <command>`, columns(rows, width, 26)].join('\n\n');
}

export function commandPage({ name, about }: ListedCommand, command: Command, terminal: Terminal): string {
  const width = widthOf(terminal);
  const { places, rest } = partsOf(command);
  const examples = command.examples.map(([words, what]) => [`weir ${words}`, what] as const);
  return [
    `weir ${usageOf(name, command.options)}`,
    paragraph(about, width),
    ...(places.length === 0 ? [] : [columns(places, width)]),
    ...(rest.length === 0 ? [] : [`Options:\n${columns(rest, width)}`]),
    `Examples:\n${columns(examples, width, 50)}`,
    ...(command.more === undefined ? [] : [paragraph(command.more, width)]),
  ].join('\n\n');
}

export async function commandsPage(): Promise<string> {
  const parts = await Promise.all(
    commands.map(async (listed) => {
      const command = await listed.load();
      const { places, rest } = partsOf(command);
      const rows = [...places, ...rest].map(
        ([name, about]) => `| \`${name.replaceAll('|', '\\|')}\` | ${about.replace(/[|<]/g, '\\$&')} |`,
      );
      const examples = command.examples.map(([words]) => `weir ${words}`).join('\n');
      return [
        `## weir ${usageOf(listed.name, command.options)}`,
        `${listed.about[0]!.toUpperCase()}${listed.about.slice(1)}.`,
        ...(rows.length === 0 ? [] : [['| option | |', '|---|---|', ...rows].join('\n')]),
        `\`\`\`text\n${examples}\n\`\`\``,
        ...(command.more === undefined ? [] : [command.more]),
      ].join('\n\n');
    }),
  );
  return `# Commands\n\n${parts.join('\n\n')}\n`;
}

function partsOf({ options }: Command): { readonly places: Rows; readonly rest: Rows } {
  const rows = (isPlace: boolean): Rows =>
    entriesOf(options).flatMap(([name, option]) =>
      (option.place === true) === isPlace ? [[isPlace ? name : optionWords(name, option), aboutOf(option)]] : [],
    );
  return { places: rows(true), rest: rows(false) };
}

/** A longer list has its own help page, which the description names. */
const MOST_WORDS = 8;

function optionWords(key: string, { type, letter, bare, items, enum: words }: Option): string {
  const name = `${letter === undefined ? '' : `-${letter}, `}--${optionName(key)}`;
  const kind = (items ?? { type }).type;
  if (kind === 'boolean') return name;
  const value =
    words === undefined ? (kind === 'string' ? '…' : 'N') : words.length > MOST_WORDS ? '…' : words.join('|');
  return bare === undefined ? `${name} ${value}` : `${name}[=…]`;
}

function aboutOf({ description, type, default: preset, required }: Option): string {
  if (required) return description;
  return preset === undefined || type === 'boolean' ? description : `${description} (default: ${preset})`;
}

function widthOf({ columns: width }: Terminal): number {
  return Math.min(MOST_COLUMNS, width);
}

function paragraph(text: string, width: number): string {
  return filled(text.split(' '), ' ', width).join('\n');
}

function columns(rows: Rows, width: number, most = 30): string {
  const left = Math.min(most, width - 34, Math.max(...rows.map(([name]) => name.length))) + 2;
  return rows
    .flatMap(([name, about]) => {
      const [first = '', ...lines] = filled(about.split(' '), ' ', Math.max(30, width - left - 2));
      const isLong = name.length > left - 2;
      const head = isLong ? [`  ${name}`, `  ${' '.repeat(left)}${first}`] : [`  ${name.padEnd(left)}${first}`];
      return [...head, ...lines.map((line) => `  ${' '.repeat(left)}${line}`)].map((line) => line.trimEnd());
    })
    .join('\n');
}
