// The command that repeats a run: a report shows it under "Run it again".
import { shellWord } from '../report/reported.js';

/** The value of an option; undefined or false if it was not given. */
export type Flag = string | number | boolean | readonly string[] | undefined;

/**
 * @param files the scenario or the logs of this run, without those of other runs
 * @param flags by name, the options that affect the result. The folder of the report does not. A key, and the user name and password
 * of a URL, are secrets and must not be in a report
 */
export function rerunCommand(command: string, files: readonly string[], flags: Readonly<Record<string, Flag>>): string {
  const options = Object.entries(flags).flatMap(([name, value]) => {
    if (value === undefined || value === false) return [];
    if (value === true) return [`--${name}`];
    return (Array.isArray(value) ? value : [value]).flatMap((one) => {
      const text = name === 'url' ? withoutCredentials(String(one)) : String(one);
      // A value with a leading dash would be parsed as another option.
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
