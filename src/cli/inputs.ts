// Owns numbers given by name on the command line: `--input level=3`.
import { usageFailure } from './ending.js';

export const inputOption = {
  type: 'string',
  array: true,
  requiresArg: true,
  describe: 'an input as name=number; several times for several',
} as const;

/** @throws Failure `wrong_usage` */
export function inputsFrom(texts: readonly string[] = []): Record<string, number> {
  const entries = texts.map((text) => {
    const [, name, number] = /^([^=]+)=(.+)$/.exec(text) ?? [];
    const value = Number(number);
    if (name === undefined || !Number.isFinite(value))
      throw usageFailure(`--input takes name=number, and not "${text}".`);
    return [name, value] as const;
  });
  return Object.fromEntries(entries);
}
