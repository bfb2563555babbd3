// Prints a page of `weir help`: a topic, or any Markdown text.
import { readFileSync } from 'node:fs';
import { packageFile } from '../package-file.js';
import { usageFailure } from './exit-codes.js';
import { say } from './say.js';
import { terminalAtHand } from './terminal.js';

const MOST_COLUMNS = 100;

export async function showPage(page: string): Promise<void> {
  const terminal = terminalAtHand();
  const [{ asciiOnly }, { pageText }] = await Promise.all([
    import('../report/terminal-text.js'),
    import('../report/topic-text.js'),
  ]);
  const text = `${pageText(page, { ...terminal, columns: Math.min(MOST_COLUMNS, terminal.columns) })}\n`;
  say(terminal.unicode ? text : asciiOnly(text));
}

export async function showTopic(name: string, word = ''): Promise<void> {
  if (name === 'fields') return showPage(await fieldText(word));
  if (word !== '') throw usageFailure(`The topic ${name} takes no further word.`, `See \`weir help ${name}\`.`);
  await showPage(readFileSync(packageFile(`dist/topics/${name}.md`), 'utf8'));
}

async function fieldText(field: string): Promise<string> {
  const [{ fieldPage }, { Scenario }] = await Promise.all([
    import('../schema/field-reference.js'),
    import('../scenario/scenario-schema.js'),
  ]);
  return fieldPage(Scenario, field);
}
