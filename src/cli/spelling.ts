// Owns what yargs lets pass and no command can use: numbers that are none, options given twice. Leaves everything else to yargs.
import { usageFailure } from './ending.js';

/**
 * A number that is none, and an option that was given twice, reach a command as NaN and as a list.
 * @param lists options that may be given several times
 * @throws Failure `wrong_usage`
 */
export function checkSpelling(given: object, lists: readonly string[] = []): void {
  for (const [name, value] of Object.entries(given)) {
    if (name === '_') continue;
    if (typeof value === 'number' && Number.isNaN(value)) throw usageFailure(`--${name} takes a number.`);
    if (Array.isArray(value) && !lists.includes(name)) throw usageFailure(`--${name} was given more than once.`);
  }
}
