// Shell completion of the word at the cursor: commands, options, values of enumerations.
import { topics } from '../topics/topics.js';
import { entriesOf, optionName } from './command.js';
import { commands } from './commands.js';

/** @param words shell, then words to the cursor @returns a candidate per line, with descriptions for zsh and fish */
export async function candidates([shell = '', ...typed]: readonly string[]): Promise<string> {
  const words = typed.slice(1, -1).filter((word) => !word.startsWith('-'));
  const [before = '', last = ''] = typed.slice(-2);
  const named = words.join(' ');
  const listed = commands.find(({ name }) => `${named} `.startsWith(`${name} `));
  const found: [word: string, about: string][] = [];
  if (listed !== undefined) {
    const options = entriesOf((await listed.load()).options).filter(([, { hidden }]) => !hidden);
    const open = options.find(([name, { place }]) => !place && `--${optionName(name)}` === before)?.[1];
    const place = options.find(([, { place }]) => place)?.[1];
    for (const word of (open ?? place)?.enum ?? (open ?? place)?.items?.enum ?? []) found.push([word, '']);
    if (open === undefined || open.type === 'boolean' || open.bare !== undefined)
      for (const [name, { place, description }] of options)
        if (!place) found.push([`--${optionName(name)}`, description]);
  } else if (words[0] === 'help') found.push(...topics.map(({ name, about }) => [name, about] as [string, string]));
  else {
    const start = named === '' ? '' : `${named} `;
    const also = { name: 'help', about: 'a page about a topic, or the help of a command' };
    for (const { name, about } of [...commands, also]) {
      if (!name.startsWith(start)) continue;
      const [word = '', ...more] = name.slice(start.length).split(' ');
      if (found.every(([one]) => one !== word)) found.push([word, more.length === 0 ? about : 'several commands']);
    }
  }
  const fits = found.filter(([word]) => word.startsWith(last));
  return fits.map(([word, about]) => `${candidateFor(shell, word, about)}\n`).join('');
}

function candidateFor(shell: string, word: string, about: string): string {
  if (shell === 'zsh') return `${word.replaceAll(':', '\\:')}${about === '' ? '' : `:${about}`}`;
  return shell === 'fish' && about !== '' ? `${word}\t${about}` : word;
}
