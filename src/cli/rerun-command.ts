// Owns the command that gives one run again: what a report says under "Run it again". Leaves which options a command has to its file.
import { shellWord } from '../report/reported.js';

/** What an option was given; one that is undefined or false was not. */
export type Flag = string | number | boolean | readonly string[] | undefined;

/**
 * @param files the one scenario, or the logs, of the run: others that were named with it are none of its business
 * @param flags by name, those that have a say in the result. Where the report goes has none. A key of a node is none of them, nor are
 * name and password in a URL: a report is shown to others
 */
export function commandAgain(command: string, files: readonly string[], flags: Readonly<Record<string, Flag>>): string {
  const options = Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    return (Array.isArray(value) ? value : [value]).flatMap((one) => {
      const text = name === 'url' ? withoutCredentials(String(one)) : String(one);
      // What begins with a dash would be taken for another option.
      return text.startsWith('-') ? [`--${name}=${text}`] : [`--${name}`, text];
    });
  });
  return ['weir', command, ...files.map(asFile), ...options].map(shellWord).join(' ');
}

function withoutCredentials(url: string): string {
  return url.replace(/^(\w+:\/\/)[^/]*@/, '$1');
}

function asFile(path: string): string {
  return path.startsWith('-') && path !== '-' ? `./${path}` : path;
}
